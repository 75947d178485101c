//===- UnitSuffix.h - symbols of static kernels -----------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With relocatable device code, clang makes what is static and what the host
// names visible to the link, under the name of its unit as well:
//
//   _ZL4stepPji -> _ZL4stepPji__intern__f55e867f9a1b68a0
//
// No demangler knows that.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_SUPPORT_UNITSUFFIX_H
#define DRAGON_PASSES_SUPPORT_UNITSUFFIX_H

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

namespace dragon {

inline llvm::StringRef withoutUnitSuffix(llvm::StringRef Symbol) {
  for (llvm::StringRef Mark : {"__intern__", "__static__"}) {
    size_t At = Symbol.rfind(Mark);
    if (At != llvm::StringRef::npos && At > 0 &&
        llvm::all_of(Symbol.drop_front(At + Mark.size()), llvm::isHexDigit))
      return Symbol.take_front(At);
  }
  return Symbol;
}

} // namespace dragon

#endif // DRAGON_PASSES_SUPPORT_UNITSUFFIX_H
