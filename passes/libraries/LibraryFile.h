//===- LibraryFile.h - one file of library summaries ------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A YAML file (docs/summaries.md) as the functions that it describes. Families
// of functions are written out, one function for each type and suffix.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_LIBRARIES_LIBRARYFILE_H
#define DRAGON_PASSES_LIBRARIES_LIBRARYFILE_H

#include "passes/libraries/LibraryFunction.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"

namespace dragon {

struct LibraryFile {
  std::string Library;
  std::vector<std::string> Prefixes; ///< of the library's symbols
  std::vector<LibraryFunction> Functions;
  std::vector<std::string> Describing; ///< see LibrarySummaries::describes
};

/// An error names file, line and column.
llvm::Expected<LibraryFile> readLibraryFile(llvm::MemoryBufferRef File);

} // namespace dragon

#endif // DRAGON_PASSES_LIBRARIES_LIBRARYFILE_H
