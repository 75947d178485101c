//===- LibrarySummariesReader.cpp - what libraries do, in YAML ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reader.h"

#include "passes/libraries/LibrarySummaries.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;

DRAGON_READER("library-summaries") {
  StringRef Text(reinterpret_cast<const char *>(data), bytes);
  // YAML I/O wants a zero behind the text, as a file's buffer has.
  const std::string Copy = Text.str();
  dragon::LibrarySummaries Summaries;
  if (Error Failed = Summaries.add(MemoryBufferRef(Copy, "file"))) {
    consumeError(std::move(Failed));
    return;
  }
  Summaries.visit([&](const dragon::LibraryFunction &F) {
    Summaries.find(F.Name, F.Parameters.size());
    (void)F.shownName();
  });
  // A C++ function, by what its mangled name says.
  Summaries.find("_ZN6thrust4fillINS_10device_ptrIiEEiEEvT_S3_RKT0_", 3);
  raw_null_ostream Nowhere;
  Summaries.print(Nowhere);
}
