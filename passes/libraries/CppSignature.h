//===- CppSignature.h - C++ functions by their mangled name -----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Library summaries describe C++ functions by their qualified name, and need
// the sizes of their template arguments. All of that is in the mangled name.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_LIBRARIES_CPPSIGNATURE_H
#define DRAGON_PASSES_LIBRARIES_CPPSIGNATURE_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dragon {

struct CppSignature {
  std::string Name; ///< qualified, without template arguments at its end
  std::vector<std::string> TemplateArguments;
  std::vector<std::string> Parameters; ///< their types
};

/// Nothing if the symbol is no mangled name of a function.
std::optional<CppSignature> cppSignature(llvm::StringRef Symbol);

/// "a::b<c::d>::e" -> a, b, e.
llvm::SmallVector<llvm::StringRef, 4> nameComponents(llvm::StringRef Name);

/// The name begins and ends as the pattern does. Namespaces in between, such as
/// inline namespaces with a version, do not count.
bool matchesQualifiedName(llvm::StringRef Name, llvm::StringRef Pattern);

/// The size of a type, given by its name, on x86-64. Nothing: not known.
std::optional<int64_t> sizeOfType(llvm::StringRef Name);
/// The same for what a pointer type points to.
std::optional<int64_t> pointeeSize(llvm::StringRef Name);

} // namespace dragon

#endif // DRAGON_PASSES_LIBRARIES_CPPSIGNATURE_H
