//===- Strings.h - lists of strings -----------------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Command lines are lists of strings, put together from shorter ones.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_CC_STRINGS_H
#define DRAGON_TOOLS_DRAGON_CC_STRINGS_H

#include <string>
#include <vector>

namespace dragon::driver {

using Strings = std::vector<std::string>;

inline void append(Strings &To, const Strings &From) {
  To.insert(To.end(), From.begin(), From.end());
}

} // namespace dragon::driver

#endif // DRAGON_TOOLS_DRAGON_CC_STRINGS_H
