//===- MapBuffers.cpp - what device buffers are mapped as -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A buffer that only comes in can be read from its file again, one that only
// goes out need not be fetched, and one that does neither is intermediate data.
// The flags are those of dragon.h.
//
//===----------------------------------------------------------------------===//

#include "passes/placement/Decisions.h"

#include "dragon/dragon.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dragon {

namespace {

/// The first events of each sort.
struct BufferTransfers {
  std::optional<EventRef> Allocation, In, Out;
  bool Changed = false; ///< on the device
  bool Touched = false;
};

/// A copy that is no whole range, such as of rows: its other end is a buffer of
/// the device, or else in host memory.
bool comesFromHost(const Event &Copy, unsigned B) {
  return Copy.writes(B) &&
         none_of(Copy.Uses, [](const BufferUse &Use) { return Use.Reads; });
}

bool goesToHost(const Event &Copy, unsigned B) {
  return Copy.reads(B) &&
         none_of(Copy.Uses, [](const BufferUse &Use) { return Use.Writes; });
}

BufferTransfers transfersOf(const BufferProgram &Program, unsigned B) {
  BufferTransfers Result;
  for (EventRef At : Program.uses(B)) {
    const Event &E = Program.event(At);
    if (E.is<FreeEvent>())
      continue;
    if (E.is<AllocateEvent>()) {
      Result.Allocation = At;
      continue;
    }
    const bool IsCopy = E.is<CopyEvent>();
    const bool Comes = E.is<CopyInEvent>() || (IsCopy && comesFromHost(E, B));
    const bool Goes = E.is<CopyOutEvent>() || (IsCopy && goesToHost(E, B));
    if (Comes && !Result.In)
      Result.In = At;
    if (Goes && !Result.Out)
      Result.Out = At;
    Result.Changed |= !Comes && E.writes(B);
    Result.Touched = true;
  }
  return Result;
}

/// The last file read that the copy's bytes come from.
std::optional<EventRef> flowSource(const ProgramFacts &Facts, EventRef CopyIn) {
  std::optional<EventRef> Source;
  for (const StagingFlow &F : Facts.Staging.Flows)
    if (F.To == CopyIn && (!Source || Facts.Graph.mayPrecede(*Source, F.From)))
      Source = F.From;
  return Source;
}

std::optional<EventRef> flowTarget(const ProgramFacts &Facts,
                                   EventRef CopyOut) {
  for (const StagingFlow &F : Facts.Staging.Flows)
    if (F.From == CopyOut)
      return F.To;
  return std::nullopt;
}

std::pair<unsigned, Reason> flagsOf(const ProgramFacts &Facts, unsigned B,
                                    const BufferTransfers &T) {
  auto About = [&](RemarkId Id) { return Facts.about(B, Id); };
  auto At = [&](EventRef Where) {
    return Facts.at(Where, Facts.buffer(B).Where);
  };
  if (T.In && T.Out && T.Changed)
    return {D_READ | D_WRITE, About(RemarkId::MappedReadWrite)
                                  .with("InAt", At(*T.In))
                                  .with("OutAt", At(*T.Out))};
  if (T.In && !T.Changed) {
    if (std::optional<EventRef> Read = flowSource(Facts, *T.In))
      return {D_READ,
              About(RemarkId::MappedReadOnly).with("ReadAt", At(*Read))};
    return {D_READ,
            About(RemarkId::MappedReadOnlyCopied).with("CopyAt", At(*T.In))};
  }
  if (T.In)
    return {D_READ | D_VOLATILE,
            About(RemarkId::MappedPrivate).with("CopyAt", At(*T.In))};
  if (T.Out) {
    if (std::optional<EventRef> Write = flowTarget(Facts, *T.Out))
      return {D_WRITE,
              About(RemarkId::MappedWriteOnly).with("WriteAt", At(*Write))};
    return {D_WRITE,
            About(RemarkId::MappedWriteOnlyCopied).with("CopyAt", At(*T.Out))};
  }
  return {D_VOLATILE, About(RemarkId::MappedVolatile)};
}

void mapBuffer(const ProgramFacts &Facts, unsigned B,
               PlacementBuilder &Result) {
  const Buffer &Of = Facts.buffer(B);
  if (Of.Kind != BufferKind::Device || !Of.Mappable)
    return;
  if (Of.Escapes) {
    const bool Kernel = Of.EscapesToKernel;
    Result.tell({B, Of.Where,
                 Facts
                     .about(B, Of.EscapesUnseen ? RemarkId::NotMappedUnseen
                               : Kernel         ? RemarkId::NotMappedKernel
                                                : RemarkId::NotMapped)
                     .with(Kernel ? "Kernel" : "Cause", Of.EscapesTo)
                     .with("CauseAt", describe(Of.EscapesAt, Of.Where))});
    return;
  }
  const BufferTransfers Transfers = transfersOf(Facts.Program, B);
  if (!Transfers.Allocation || !Transfers.Touched)
    return;
  auto [Flags, Why] = flagsOf(Facts, B, Transfers);
  Result.add({B, *Transfers.Allocation, MapDirective{Flags}}, Of.Where,
             std::move(Why));
}

} // namespace

void mapBuffers(const ProgramFacts &Facts, PlacementBuilder &Result) {
  for (unsigned B = 0; B < Facts.Program.Buffers.size(); ++B)
    mapBuffer(Facts, B, Result);
}

} // namespace dragon
