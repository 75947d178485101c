//===- Mistakes.cpp - wrong summaries, made on purpose --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/access/Mistakes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;

namespace dragon {

static void change(PointerSummary &Pointer, StringRef Kind) {
  if (Kind == "read-only") {
    erase_if(Pointer.Accesses, [](const AccessSummary &Access) {
      return (Access.Flags & AccessWrite) && !(Access.Flags & AccessRead);
    });
    Pointer.Mode =
        Pointer.Accesses.empty() ? AccessMode::None : AccessMode::Read;
  }
  if (Kind == "certain")
    Pointer.Flags &= ~uint8_t(PointerReadBeforeWrite);
  for (AccessSummary &Access : Pointer.Accesses) {
    if (Kind == "narrow")
      Access.Width = 1;
    if (Kind == "read-only")
      Access.Flags &= ~uint8_t(AccessWrite);
    if (Kind == "certain" && (Access.Flags & AccessWrite)) {
      Access.Flags |= AccessExact;
      Access.Flags &= ~uint8_t(AccessConditional);
      Access.Guards.clear();
    }
  }
}

void makeMistakes(ModuleSummary &Summary, StringRef Mistakes) {
  SmallVector<StringRef, 8> All;
  Mistakes.split(All, ',');
  for (StringRef Mistake : All) {
    auto [Kind, Of] = Mistake.split(':');
    for (KernelSummary &Kernel : Summary.Kernels)
      if (!Of.empty() && StringRef(Kernel.Name).contains(Of))
        for (PointerSummary &Pointer : Kernel.Pointers)
          change(Pointer, Kind);
  }
}

} // namespace dragon
