//===- main.cpp - what the runtime knows of library functions -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   dragon-library-table share/dragon/summaries/*.yaml > LibraryTable.inc
//
// A part of the build: the C functions that the summaries describe, for calls
// that no compiler of ours has seen (runtime/cudart/libraries/ForeignCalls.h),
// sorted.
//
//===----------------------------------------------------------------------===//

#include "passes/libraries/LibrarySummaries.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace llvm;
using namespace dragon;

int main(int Count, char **Args) {
  std::vector<std::string> Paths(Args + 1, Args + Count);
  Expected<LibrarySummaries> Summaries = LibrarySummaries::read(Paths);
  if (!Summaries) {
    errs() << "error: " << toString(Summaries.takeError()) << '\n';
    return 1;
  }
  // What is put into a descriptor is used by the calls with that one.
  LibraryFunction Describes;
  Describes.Neutral = true;
  std::map<StringRef, const LibraryFunction *> Functions;
  for (StringRef Name : Summaries->describing())
    Functions[Name] = &Describes;
  Summaries->visit([&](const LibraryFunction &F) {
    if (!F.Compiled && StringRef(F.Name).find(':') == StringRef::npos)
      Functions[F.Name] = &F;
  });
  for (const auto &[Name, F] : Functions) {
    bool Keeps = any_of(F->Uses, [](const LibraryUse &Use) {
      // Who is not compiled does not say how long an array is.
      return Use.Mode == LibraryMode::Keep || Use.Array;
    });
    outs() << "DRAGON_LIBRARY_FUNCTION(\"" << Name << "\", "
           << F->Parameters.size() << ", "
           << (F->Neutral ? "Neutral"
               : Keeps    ? "Keeps"
                          : "Uses")
           << ", " << F->Failure.value_or(-1) << ")\n";
  }
  for (StringRef Prefix : Summaries->prefixes())
    outs() << "DRAGON_LIBRARY_PREFIX(\"" << Prefix << "\")\n";
  return 0;
}
