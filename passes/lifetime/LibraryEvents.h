//===- LibraryEvents.h - calls of library functions ----------- -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes calls of library functions events, by the libraries' summaries
// (passes/libraries).
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_LIFETIME_LIBRARYEVENTS_H
#define DRAGON_PASSES_LIFETIME_LIBRARYEVENTS_H

#include "passes/libraries/LibraryFunction.h"
#include "passes/lifetime/BuilderFacts.h"
#include "passes/lifetime/EventWriter.h"
#include "passes/lifetime/HostAccesses.h"
#include "passes/lifetime/SymbolicValues.h"
#include "passes/lifetime/UseBuilder.h"

namespace dragon {

class LibraryEvents {
public:
  LibraryEvents(BuilderFacts &Facts, SymbolicValues &Values, UseBuilder &Uses,
                HostAccesses &Accesses, EventWriter &Writer)
      : Facts(Facts), Values(Values), Uses(Uses), Accesses(Accesses),
        Writer(Writer) {}

  void visit(llvm::CallBase &Call, const LibraryFunction &Function);

private:
  StreamId libraryStream(llvm::CallBase &Call, const LibraryFunction &Function);
  std::optional<StreamId> handleStream(llvm::CallBase &Call,
                                       const llvm::Value *Handle);

  BuilderFacts &Facts;
  SymbolicValues &Values;
  UseBuilder &Uses;
  HostAccesses &Accesses;
  EventWriter &Writer;
};

} // namespace dragon

#endif // DRAGON_PASSES_LIFETIME_LIBRARYEVENTS_H
