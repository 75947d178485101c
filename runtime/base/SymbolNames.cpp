//===- SymbolNames.cpp - kernels' names for people ------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/SymbolNames.h"

#include <cstdlib>
#include <cxxabi.h>
#include <memory>

namespace dragon {

std::string shortName(const std::string &symbol) {
  if (!symbol.starts_with("_Z")) // "f" is a mangled type, too
    return symbol;
  int status = 0;
  std::string plain = symbol.substr(0, symbol.rfind("__intern__"));
  std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(plain.c_str(), nullptr, nullptr, &status),
      &std::free);
  if (!text)
    return symbol;
  std::string name = text.get();
  // The parameters are the last parenthesis on the outermost level.
  int depth = 0;
  for (size_t i = name.size(); i-- > 0;) {
    depth += name[i] == ')' ? 1 : name[i] == '(' ? -1 : 0;
    if (name[i] == '(' && depth == 0) {
      name.resize(i);
      break;
    }
  }
  if (name.starts_with("void "))
    name.erase(0, 5);
  return name;
}

} // namespace dragon
