//===- SourceNames.cpp - places in the user's source ----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/SourceNames.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Instruction.h"

using namespace llvm;

namespace dragon {

static bool isLibraryHeader(StringRef File) {
  StringRef Name = File.rsplit('/').second;
  return File.contains("/include/c++/") || File.contains("/include/crt/") ||
         File.contains("/lib/clang/") || Name.starts_with("cuda_runtime") ||
         Name.starts_with("driver_types") || Name.starts_with("vector_");
}

const DILocation *userLocation(const Instruction &I) {
  const DILocation *Location = I.getDebugLoc();
  while (Location && Location->getInlinedAt() &&
         (Location->getLine() == 0 || isLibraryHeader(Location->getFilename())))
    Location = Location->getInlinedAt();
  return Location;
}

} // namespace dragon
