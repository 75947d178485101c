//===- ZeroCopies.cpp - copies of memory that holds nothing ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs copy results to the device before anything is in them, so that a
// kernel can add to them, or for no reason:
//
//   h = malloc(n);
//   cudaMemcpy(d, h, n, cudaMemcpyHostToDevice);
//   kernel<<<...>>>(d);
//
// What is not written since it was allocated is zero (calloc) or has any value,
// of which zero is the one that the system gives. So such a copy is a fill of
// the device's memory, nothing has to come over the link, and what the buffer
// is for does not depend on it.
//
//===----------------------------------------------------------------------===//

#include "passes/placement/Decisions.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dragon {

namespace {

/// The host buffer that all bytes of the copy come from; null: others, too.
const BufferUse *onlySource(const BufferProgram &Program, const Event &Copy) {
  if (!Copy.is<CopyInEvent>() || Copy.OtherMemory || Copy.Unresolved)
    return nullptr;
  const BufferUse *Source = nullptr;
  for (const BufferUse &U : Copy.Uses) {
    if (Program.Buffers[U.Buffer].Kind != BufferKind::Host)
      continue;
    if (Source)
      return nullptr;
    Source = &U;
  }
  return Source;
}

/// All that happens to the buffer's memory are events.
bool isKnown(const BufferProgram &Program, unsigned B) {
  const Buffer &Of = Program.Buffers[B];
  return !Of.Escapes && !Of.IsSummary && !Of.IsArray && Of.StreamedBy.empty() &&
         none_of(Program.uses(B), [&](EventRef At) {
           const Event &E = Program.event(At);
           return E.Unresolved || E.is<OpaqueEvent, LaunchEvent>();
         });
}

/// Its source, if all that happens to that is known.
const BufferUse *knownSource(const BufferProgram &Program, const Event &Copy) {
  const BufferUse *Source = onlySource(Program, Copy);
  return Source && isKnown(Program, Source->Buffer) ? Source : nullptr;
}

std::string targetOf(const BufferProgram &Program, const Event &Copy) {
  for (const BufferUse &U : Copy.Uses)
    if (Program.Buffers[U.Buffer].Kind != BufferKind::Host)
      return Program.Buffers[U.Buffer].Name;
  return "device memory";
}

} // namespace

BufferProgram fillWithZeros(const BufferProgram &Program,
                            PlacementBuilder &Result) {
  BufferProgram Filled = Program;
  if (none_of(Program.Blocks, [&](const Block &B) {
        return any_of(B.Events, [&](const Event &E) {
          return knownSource(Program, E) != nullptr;
        });
      }))
    return Filled; // as most: no need to follow contents
  const FlowGraph Graph(Program);
  const Contents Held(Program, Graph);
  for (unsigned Block : Graph.order())
    for (unsigned I = 0; I < Program.Blocks[Block].Events.size(); ++I) {
      const EventRef At{Block, I};
      const Event &Copy = Program.event(At);
      const BufferUse *Source = knownSource(Program, Copy);
      if (!Source || !Held.mustBeAllocated(Source->Buffer, At) ||
          Held.mayHold(Source->Buffer, At))
        continue;
      Event &Fill = Filled.Blocks[Block].Events[I];
      Fill.What = FillEvent{{Copy.sized()->Bytes}};
      erase_if(Fill.Uses,
               [&](const BufferUse &U) { return U.Buffer == Source->Buffer; });
      Result.add({Source->Buffer, At, ZeroDirective{}}, Copy.Where,
                 Reason(RemarkId::CopyOfNothing)
                     .with("Buffer", Program.Buffers[Source->Buffer].Name)
                     .with("Device", targetOf(Program, Copy)));
    }
  return Filled;
}

} // namespace dragon
