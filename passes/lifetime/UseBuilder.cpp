//===- UseBuilder.cpp - what calls mean by their arguments ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lifetime/UseBuilder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/DebugInfoMetadata.h"

using namespace llvm;

namespace dragon {

bool UseBuilder::onSide(const MemoryObject &O, Side Which) const {
  if (O.Kind != ObjectKind::Buffer || Which == Side::Any)
    return true;
  // Managed memory is on both.
  return O.Buffer !=
         (Which == Side::Host ? BufferKind::Device : BufferKind::Host);
}

void UseBuilder::addEscapedUses(Event &E, Side Which, bool Reads, bool Writes) {
  const std::vector<MemoryObject> &Objects = Facts.Pointers.objects();
  for (unsigned O = 0; O < Objects.size(); ++O)
    if (Objects[O].Kind == ObjectKind::Buffer && Objects[O].Escapes &&
        onSide(Objects[O], Which)) {
      BufferUse U;
      U.Buffer = Facts.BufferOf[O];
      U.Reads = Reads;
      U.Writes = Writes;
      E.add(U);
    }
}

void UseBuilder::addUses(Event &E, const TargetSet &Targets,
                         const Value *Pointer, Side Which, bool Reads,
                         bool Writes, const SCEV *Bytes) {
  SmallVector<Target, 4> Possible;
  for (const Target &T : Targets)
    if (onSide(Facts.Pointers.objects()[T.Object], Which))
      Possible.push_back(T);
  const std::optional<unsigned> By =
      Pointer && Possible.size() == Targets.size() ? Names.pointerOf(Pointer)
                                                   : std::nullopt;
  if (By)
    Names.notePointer(E, *By, Pointer, Reads, Writes, Values.sizeOf(Bytes));
  for (const Target &T : Possible) {
    const MemoryObject &O = Facts.Pointers.objects()[T.Object];
    if (O.Kind != ObjectKind::Buffer) {
      E.OtherMemory |= Which == Side::Host;
      if (T.Object == Aliases::Unknown || O.Escapes)
        addEscapedUses(E, Which, Reads, Writes);
      continue;
    }
    // Host code may look at managed memory, unseen by the staging calls.
    E.OtherMemory |= Which == Side::Host && O.Buffer == BufferKind::Managed;
    BufferUse U;
    U.Buffer = Facts.BufferOf[T.Object];
    U.Reads = Reads;
    U.Writes = Writes;
    U.ByPointer = By.has_value();
    const BuiltProgram::BufferSite &Site = Facts.Result.Sites[U.Buffer];
    U.Must = Possible.size() == 1 && T.At == Place{0, 0} && Pointer &&
             (!Facts.inCycle(*Site.Call) ||
              Pointer->stripPointerCasts() == Site.Pointer);
    SizeId Size = Values.sizeOf(Bytes);
    U.Whole =
        U.Must && Size && Size == Facts.Result.Program.Buffers[U.Buffer].Bytes;
    // What is left of it when it is freed is known by where it begins.
    E.Unresolved |= Which == Side::Host && Writes && !(T.At == Place{0, 0}) &&
                    Facts.Result.Program.Buffers[U.Buffer].IsSummary;
    E.add(U);
  }
}

void UseBuilder::addUses(Event &E, const Value *Pointer, Side Which, bool Reads,
                         bool Writes, const SCEV *Bytes) {
  addUses(E, Facts.Pointers.pointsTo(Pointer), Pointer, Which, Reads, Writes,
          Bytes);
}

} // namespace dragon
