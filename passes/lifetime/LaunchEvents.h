//===- LaunchEvents.h - launches of kernels ------------------- -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes launches of kernels events, with uses of all buffers that a kernel can
// reach through its parameters.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_LIFETIME_LAUNCHEVENTS_H
#define DRAGON_PASSES_LIFETIME_LAUNCHEVENTS_H

#include "passes/lifetime/BuilderFacts.h"
#include "passes/lifetime/CursorBuilder.h"
#include "passes/lifetime/ElementIndices.h"
#include "passes/lifetime/EventWriter.h"
#include "passes/lifetime/SymbolicValues.h"
#include "passes/lifetime/UseBuilder.h"

namespace dragon {

class LaunchEvents {
public:
  LaunchEvents(BuilderFacts &Facts, SymbolicValues &Values, UseBuilder &Uses,
               ElementIndices &Elements, CursorBuilder &Cursors,
               EventWriter &Writer)
      : Facts(Facts), Values(Values), Uses(Uses), Elements(Elements),
        Cursors(Cursors), Writer(Writer) {}

  void visit(llvm::CallBase &Call);

private:
  BuilderFacts &Facts;
  SymbolicValues &Values;
  UseBuilder &Uses;
  ElementIndices &Elements;
  CursorBuilder &Cursors;
  EventWriter &Writer;
};

} // namespace dragon

#endif // DRAGON_PASSES_LIFETIME_LAUNCHEVENTS_H
