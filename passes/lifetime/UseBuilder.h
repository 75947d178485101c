//===- UseBuilder.h - what calls mean by arguments ------------ -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns the argument of a call, and what the call does with it, into uses of
// the buffers that the argument may point to.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_LIFETIME_USEBUILDER_H
#define DRAGON_PASSES_LIFETIME_USEBUILDER_H

#include "passes/lifetime/BuilderFacts.h"
#include "passes/lifetime/PointerNames.h"
#include "passes/lifetime/SymbolicValues.h"

namespace dragon {

/// The memory that a call can mean by a pointer.
enum class Side { Device, Host, Any };

class UseBuilder {
public:
  UseBuilder(BuilderFacts &Facts, SymbolicValues &Values, PointerNames &Names)
      : Facts(Facts), Values(Values), Names(Names) {}

  bool onSide(const MemoryObject &O, Side Which) const;
  /// Bytes may be null: not known.
  void addUses(Event &E, const llvm::Value *Pointer, Side Which, bool Reads,
               bool Writes, const llvm::SCEV *Bytes);
  /// Pointer may be null: it has no value of its own.
  void addUses(Event &E, const TargetSet &Targets, const llvm::Value *Pointer,
               Side Which, bool Reads, bool Writes, const llvm::SCEV *Bytes);
  /// Uses of all buffers that unknown pointers may point to.
  void addEscapedUses(Event &E, Side Which, bool Reads, bool Writes);

private:
  BuilderFacts &Facts;
  SymbolicValues &Values;
  PointerNames &Names;
};

} // namespace dragon

#endif // DRAGON_PASSES_LIFETIME_USEBUILDER_H
