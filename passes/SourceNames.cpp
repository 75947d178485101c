//===- SourceNames.cpp - places in the user's source ----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/SourceNames.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instruction.h"

using namespace llvm;

namespace dragon {

static bool isLibraryHeader(StringRef File) {
  StringRef Name = File.rsplit('/').second;
  return File.contains("/include/c++/") || File.contains("/include/crt/") ||
         File.contains("/lib/clang/") || Name.starts_with("cuda_runtime") ||
         Name.starts_with("driver_types") || Name.starts_with("vector_") ||
         File.contains("/cooperative_groups/") ||
         Name == "cooperative_groups.h";
}

const DILocation *outOfLibraries(const DILocation *Location) {
  while (Location && Location->getInlinedAt() &&
         (Location->getLine() == 0 || isLibraryHeader(Location->getFilename())))
    Location = Location->getInlinedAt();
  return Location;
}

UserLocations::UserLocations(const Function &F) {
  // A call that was inlined is one place, however often it was itself inlined.
  DenseMap<const DISubprogram *, const DILocation *> CalledAt;
  for (const Instruction &I : instructions(F)) {
    const DILocation *Location = I.getDebugLoc();
    for (; Location && Location->getInlinedAt();
         Location = Location->getInlinedAt()) {
      const DISubprogram *Inlined = Location->getScope()->getSubprogram();
      auto [It, New] = CalledAt.try_emplace(Inlined, Location->getInlinedAt());
      if (!New && It->second != Location->getInlinedAt())
        Repeated.insert(Inlined);
    }
  }
}

const DILocation *UserLocations::of(const Instruction &I) const {
  const DILocation *Location = outOfLibraries(I.getDebugLoc());
  while (Location && Location->getInlinedAt() &&
         Repeated.contains(Location->getScope()->getSubprogram()))
    Location = outOfLibraries(Location->getInlinedAt());
  return Location;
}

} // namespace dragon
