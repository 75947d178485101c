//===- MissingTemplates.h - `T::f<4>(x)` without `template` -----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In device code nvcc takes `T::f<4>(x)` for a call of a member template where
// T is a template's parameter. For clang `<` is a comparison until the template
// is instantiated, and then it says that `template` is missing in front of f.
//
// Whether it is missing only clang can tell. So a source that has such a thing
// is compiled from a copy; where that fails for this reason, the word is
// inserted where clang misses it, and the copy is compiled again. What compiles
// at once is never changed.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_CC_MISSINGTEMPLATES_H
#define DRAGON_TOOLS_DRAGON_CC_MISSINGTEMPLATES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <utility>

namespace dragon::driver {

/// Whether the text has `::f<...>(`, `.f<...>(` or `->f<...>(`, after something
/// that is none of the well-known namespaces.
bool mayMissTemplates(llvm::StringRef Text);

/// Inserts what clang's messages say is missing into copies of sources, each
/// with the path that the messages name. Returns whether it did.
bool insertTemplates(
    llvm::StringRef Messages,
    llvm::ArrayRef<std::pair<std::string, std::string>> Copies);

} // namespace dragon::driver

#endif // DRAGON_TOOLS_DRAGON_CC_MISSINGTEMPLATES_H
