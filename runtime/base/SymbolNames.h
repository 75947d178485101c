//===- SymbolNames.h - kernels' names for people ----------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_BASE_SYMBOLNAMES_H
#define DRAGON_RUNTIME_BASE_SYMBOLNAMES_H

#include <string>

namespace dragon {

/// `void f<int>(int *, int)` -> `f<int>`; what is no such name stays. Static
/// kernels that were linked with others have their unit's name at the end.
std::string shortName(const std::string &symbol);

} // namespace dragon

#endif // DRAGON_RUNTIME_BASE_SYMBOLNAMES_H
