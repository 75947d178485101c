//===- SourceWords.h - what a program's own files say -----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Some of what programs of an older CUDA need has names that other programs use
// for something else. It is declared for those that show they need it: by a
// word that is in their source, or in a file that it includes by quotes.
//
// nvcc also reads `kernel<< <grid, block>> >(...)`, which clang does not. Such
// a file is compiled from a copy with `<<<` and `>>>` in the same columns, and
// with its inline assembly in clang's spelling (InlineAssembly.h).
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_CC_SOURCEWORDS_H
#define DRAGON_TOOLS_DRAGON_CC_SOURCEWORDS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <utility>
#include <vector>

namespace dragon::driver {

/// Whether `Word` is in the file or in what it includes by quotes, looked for
/// beside the including file and in `Folders`. A file that cannot be read has
/// none.
bool mentions(llvm::StringRef File, llvm::StringRef Word,
              const std::vector<std::string> &Folders);

/// Whether one of them includes a file whose name begins with one of
/// `Beginnings`, by quotes or not.
bool includesAny(llvm::StringRef File,
                 llvm::ArrayRef<llvm::StringLiteral> Beginnings,
                 const std::vector<std::string> &Folders);

/// The file, and what it includes in the same way, as far as clang reads them
/// differently: each with the text to compile in its place.
std::vector<std::pair<std::string, std::string>>
withClangSpelling(llvm::StringRef File,
                  const std::vector<std::string> &Folders);

/// The file, and what it includes in the same way, as far as `Wanted`: each
/// with its text.
std::vector<std::pair<std::string, std::string>>
filesWith(llvm::StringRef File, const std::vector<std::string> &Folders,
          llvm::function_ref<bool(llvm::StringRef Text)> Wanted);

/// `Text` with its launches joined.
std::string joinLaunches(llvm::StringRef Text);

/// The end of the comment or literal that `At` begins; `At` if it is none.
size_t afterText(llvm::StringRef Text, size_t At);

} // namespace dragon::driver

#endif // DRAGON_TOOLS_DRAGON_CC_SOURCEWORDS_H
