//===- Locations.cpp - -dragon-locations ----------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compilers make operations at unknown locations, and inlining makes of those
// call sites without a place:
//
//   loc(callsite(unknown at "a.mlir":3:4))  ->  loc("a.mlir":3:4)
//
// Upstream's -ensure-debug-info-scope-on-llvm-func asks each call site for a
// file and a line, whether it has them or not.
//
//===----------------------------------------------------------------------===//

#include "dragon/mlir/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace dragon::ir {

#define GEN_PASS_DEF_DRAGONLOCATIONS
#include "dragon/mlir/DragonPasses.h.inc"

namespace {

bool hasPlace(Location Loc) {
  return bool(Loc->findInstanceOf<FileLineColLoc>());
}

/// The same place, such that each call site in it has a place on both sides.
Location withPlaces(Location Loc) {
  if (auto Site = dyn_cast<CallSiteLoc>(Loc)) {
    Location Callee = withPlaces(Site.getCallee()),
             Caller = withPlaces(Site.getCaller());
    if (!hasPlace(Callee))
      return Caller;
    return hasPlace(Caller) ? CallSiteLoc::get(Callee, Caller) : Callee;
  }
  if (auto Named = dyn_cast<NameLoc>(Loc))
    return NameLoc::get(Named.getName(), withPlaces(Named.getChildLoc()));
  if (auto Fused = dyn_cast<FusedLoc>(Loc)) {
    SmallVector<Location> Parts;
    for (Location Part : Fused.getLocations())
      Parts.push_back(withPlaces(Part));
    // Scopes of call sites are made again.
    Attribute Of = Fused.getMetadata();
    if (isa_and_nonnull<LLVM::DILexicalBlockFileAttr>(Of))
      Of = {};
    return FusedLoc::get(Parts, Of, Loc.getContext());
  }
  // A range begins where it begins.
  if (auto Range = dyn_cast<FileLineColRange>(Loc))
    return FileLineColLoc::get(Range.getFilename(), Range.getStartLine(),
                               Range.getStartColumn());
  return Loc;
}

class Locations : public impl::DragonLocationsBase<Locations> {
  void runOnOperation() override {
    getOperation()->walk(
        [](Operation *Op) { Op->setLoc(withPlaces(Op->getLoc())); });
  }
};

} // namespace

} // namespace dragon::ir
