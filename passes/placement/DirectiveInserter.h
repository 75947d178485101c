//===- DirectiveInserter.h - directives into a program -------- -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In which order directives get into a program, of whatever IR, and what
// becomes of the findings of those that do not. What an IR has to say to that
// is a class derived from this one: passes/rewrite for LLVM, passes/mlir for
// MLIR.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_PLACEMENT_DIRECTIVEINSERTER_H
#define DRAGON_PASSES_PLACEMENT_DIRECTIVEINSERTER_H

#include "passes/placement/Directive.h"

namespace dragon {

class DirectiveInserter {
public:
  virtual ~DirectiveInserter() = default;

  /// Returns whether anything was inserted. Findings of directives that were
  /// left out are removed, or replaced by what is to be told then.
  bool run(Placement &Decisions);

protected:
  DirectiveInserter() = default;

private:
  /// Any but maps, elisions and deferrals. Returns false, without a change, if
  /// something that it takes is not available where it belongs.
  virtual bool insert(const Directive &D) = 0;
  /// Of all that Decisions elide, and the copies that they defer.
  virtual void elide(const Placement &Decisions) = 0;
  virtual void map(const Directive &D, const MapDirective &Map) = 0;
};

} // namespace dragon

#endif // DRAGON_PASSES_PLACEMENT_DIRECTIVEINSERTER_H
