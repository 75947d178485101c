//===- SourceNames.cpp - places in the user's source ----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/SourceNames.h"

#include "passes/support/UnitSuffix.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instruction.h"

using namespace llvm;

namespace dragon {

std::string displayName(StringRef Symbol) {
  std::string Name = demangle(withoutUnitSuffix(Symbol));
  // "void f<int>(int*)" -> "f<int>": cut at the parameters, then at the return
  // type, minding template arguments.
  int Depth = 0;
  size_t Begin = 0, End = Name.size();
  for (size_t I = 0; I < Name.size(); ++I) {
    char C = Name[I];
    Depth += C == '<';
    Depth -= C == '>';
    if (Depth == 0 && C == '(' && I > 0 &&
        !StringRef(Name).substr(I).starts_with("(anonymous")) {
      End = I;
      break;
    }
    if (Depth == 0 && C == ' ')
      Begin = I + 1;
  }
  return Begin < End ? Name.substr(Begin, End - Begin) : Name;
}

DiagnosticLocation lineOf(const Function &F) {
  DISubprogram *Subprogram = F.getSubprogram();
  if (!Subprogram)
    return {};
  return DebugLoc(DILocation::get(F.getContext(), Subprogram->getLine(),
                                  /*Column=*/1, Subprogram));
}

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
