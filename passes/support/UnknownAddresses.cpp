//===- UnknownAddresses.cpp - addresses that are data ---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/support/UnknownAddresses.h"

namespace dragon {

std::string whyAddressesUnknown(const KernelSummary &Kernel) {
  if (Kernel.touchesAnything())
    return "which buffers it accesses is not known";
  for (const PointerSummary &Pointer : Kernel.Pointers)
    for (const AccessSummary &Access : Pointer.Accesses)
      if (Access.Flags & (AccessIndirect | AccessUnbounded))
        return (Access.Flags & AccessIndirect)
                   ? "where in '" + Pointer.Name + "' it does is data"
                   : "where in '" + Pointer.Name + "' it does is not known";
  return "";
}

} // namespace dragon
