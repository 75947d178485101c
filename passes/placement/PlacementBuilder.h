//===- PlacementBuilder.h - directives and findings ----------- -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_PLACEMENT_PLACEMENTBUILDER_H
#define DRAGON_PASSES_PLACEMENT_PLACEMENTBUILDER_H

#include "passes/placement/Directive.h"

namespace dragon {

/// Collects what the decisions come to, in their order.
class PlacementBuilder {
public:
  void add(Directive D) { Result.Directives.push_back(std::move(D)); }
  /// With what the directive does, for the user.
  void add(Directive D, const Position &Where, Reason Why) {
    D.Finding = static_cast<int>(Result.Findings.size());
    tell({D.Buffer, Where, std::move(Why)});
    add(std::move(D));
  }
  void tell(Finding Found) { Result.Findings.push_back(std::move(Found)); }
  llvm::ArrayRef<Directive> directives() const { return Result.Directives; }
  Placement take() { return std::move(Result); }

private:
  Placement Result;
};

} // namespace dragon

#endif // DRAGON_PASSES_PLACEMENT_PLACEMENTBUILDER_H
