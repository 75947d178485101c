//===- GivenLibraries.h - the libraries of a compilation --------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The library summaries that the compiler was given, and which calls they
// describe. A function that the translation unit defines itself is described
// only if it is a header library's.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_LIBRARIES_GIVENLIBRARIES_H
#define DRAGON_PASSES_LIBRARIES_GIVENLIBRARIES_H

#include "passes/libraries/LibrarySummaries.h"

#include "llvm/IR/PassManager.h"

namespace llvm {
class CallBase;
} // namespace llvm

namespace dragon {

/// The summaries of -dragon-library-summaries, read once in the process. If a
/// file is wrong there are none: the caller reports librariesError(), which is
/// empty otherwise.
const LibrarySummaries &libraries();
const std::string &librariesError();
/// Adds the summaries of a file to those of the option.
llvm::Error addLibrarySummaries(llvm::MemoryBufferRef File);

/// Null: no summary describes what is called.
const LibraryFunction *describedFunction(const llvm::CallBase &Call);
/// Null: no summary says which buffers the call uses, as far as the pointers
/// that it is given tell. Functions that follow pointers in device memory may
/// use others: what these are is known when they are called.
const LibraryFunction *libraryFunction(const llvm::CallBase &Call);

/// `print<dragon-library-summaries>`: the functions that are described.
class LibrarySummariesPrinterPass
    : public llvm::PassInfoMixin<LibrarySummariesPrinterPass> {
public:
  explicit LibrarySummariesPrinterPass(llvm::raw_ostream &To) : To(To) {}
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }

private:
  llvm::raw_ostream &To;
};

} // namespace dragon

#endif // DRAGON_PASSES_LIBRARIES_GIVENLIBRARIES_H
