//===- LaunchBounds.h - what attributes say of a kernel's launches *- C++
//-*===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_SUPPORT_LAUNCHBOUNDS_H
#define DRAGON_PASSES_SUPPORT_LAUNCHBOUNDS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Function.h"

#include <cstdint>
#include <optional>

namespace dragon {

/// The product of an attribute's numbers, such as "nvvm.maxntid"="16,16,1".
/// Nothing: it is not there, or is something else.
inline std::optional<uint64_t> productOf(const llvm::Function &F,
                                         llvm::StringRef Attribute) {
  llvm::SmallVector<llvm::StringRef, 3> Parts;
  F.getFnAttribute(Attribute).getValueAsString().split(Parts, ',', -1,
                                                       /*KeepEmpty=*/false);
  uint64_t Product = 1;
  for (llvm::StringRef Part : Parts) {
    uint32_t Number = 0;
    if (Part.trim().getAsInteger(10, Number))
      return std::nullopt;
    Product *= Number;
  }
  return Parts.empty() ? std::nullopt : std::optional<uint64_t>(Product);
}

} // namespace dragon

#endif // DRAGON_PASSES_SUPPORT_LAUNCHBOUNDS_H
