//===- PlaceSinks.cpp - output that goes straight to its file -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// launch compute write(d)
// copy-out h d
// file-write f h
//
// If nothing looks at the file in between, and the write comes on every path,
// the buffer is the file's from the front of its first writer on: the sink's
// anchor. Paths on which the program reports an error need not write: where
// they use the file, it is what the program made of it.
//
// The file may also be made behind the anchor, if nothing but the write uses it
// then. The runtime has a file without a name in the meantime, which gets the
// name when the program makes the file, if no file has it by then.
//
//===----------------------------------------------------------------------===//

#include "passes/placement/Decisions.h"
#include "passes/placement/ForwardWalk.h"
#include "passes/placement/Writers.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dragon {

namespace {

/// A write of a device buffer's bytes to a file, by way of a staging buffer.
class SinkSearch {
public:
  SinkSearch(const ProgramFacts &Facts, EventRef Write,
             PlacementBuilder &Result)
      : Facts(Facts), Program(Facts.Program), Graph(Facts.Graph),
        Result(Result), Write(Write) {}

  void run();

private:
  bool findCopy();
  bool findDevice();
  std::optional<RemarkId> whyNotWhole() const;
  bool mayUseFile(const Event &E) const;
  bool isUsed(EventRef At, EventRef Anchor) const;
  void endWhereUsed(EventRef Anchor);
  bool isMadeBehind(EventRef Anchor, EventRef Open) const;
  std::optional<Reason> whyNotFrom(EventRef Anchor);
  Reason missed(RemarkId Id) const;

  int file() const { return Program.event(Write).onFile()->File; }
  const Event &firstWriter() const { return Program.event(Writers[0]); }

  const ProgramFacts &Facts;
  const BufferProgram &Program;
  const FlowGraph &Graph;
  PlacementBuilder &Result;
  const EventRef Write;
  EventRef Copy;
  unsigned Staging = 0;
  const BufferUse *Device = nullptr;
  /// It is not the only copy, or not the only buffer.
  bool Ambiguous = false;
  SmallVector<EventRef, 4> Writers;
  /// What opens the file, if it comes behind the anchor.
  std::optional<EventRef> LateOpen;
};

bool SinkSearch::findCopy() {
  bool Found = false;
  for (const StagingFlow &F : Facts.Staging.Flows) {
    if (!(F.To == Write))
      continue;
    Ambiguous |= Found;
    Found = true;
    Copy = F.From;
    Staging = F.Staging;
  }
  return Found;
}

bool SinkSearch::findDevice() {
  for (const BufferUse &U : Program.event(Copy).Uses) {
    if (Facts.buffer(U.Buffer).Kind == BufferKind::Host)
      continue;
    Ambiguous |= Device != nullptr;
    Device = Device ? Device : &U;
  }
  return Device && !Facts.buffer(Device->Buffer).Escapes;
}

Reason SinkSearch::missed(RemarkId Id) const {
  return Facts.about(Device->Buffer, Id)
      .with("WriteAt", Facts.at(Write, firstWriter().Where))
      .with("Launch", firstWriter().Name)
      .with("Staging", Facts.buffer(Staging).Name);
}

/// Why the write is not once of all that the buffer holds.
std::optional<RemarkId> SinkSearch::whyNotWhole() const {
  const unsigned B = Device->Buffer;
  const Event &W = Program.event(Write), &C = Program.event(Copy);
  const SizeId Written = W.sized()->Bytes;
  auto MayBeOther = [](const Event &E, size_t Buffers) {
    return E.OtherMemory || E.Uses.size() > Buffers;
  };
  if (Ambiguous || MayBeOther(C, 2) || MayBeOther(W, 1) ||
      Facts.buffer(B).IsSummary || Facts.buffer(Staging).IsSummary)
    return RemarkId::SinkSeveral;
  if (!W.find(Staging)->Must || !C.find(Staging)->Must || !Device->Must ||
      !Device->Whole || Written == 0 || C.sized()->Bytes != Written)
    return RemarkId::SinkPart;
  bool Changed = any_of(Program.uses(B), [&](EventRef At) {
    return Program.event(At).writes(B) && Graph.mayPrecede(Copy, At) &&
           Graph.mayPrecede(At, Write);
  });
  if (Changed || Graph.inCycle(Write.Block) || Graph.inCycle(Copy.Block) ||
      !Graph.dominates(Copy, Write))
    return RemarkId::SinkRepeated;
  return std::nullopt;
}

/// Whether the event may depend on the file, or change it.
bool SinkSearch::mayUseFile(const Event &E) const {
  if (E.is<FileUseEvent, FileReadEvent, FileWriteEvent>()) {
    const int Used = E.onFile()->File;
    return Used == file() || Used < 0 ||
           (Program.Files[Used].Escapes && Program.Files[file()].Escapes);
  }
  return E.is<OpaqueEvent>() && Program.Files[file()].Escapes;
}

/// Whether it may do so between the anchor and the write.
bool SinkSearch::isUsed(EventRef At, EventRef Anchor) const {
  return mayUseFile(Program.event(At)) && !(At == Write) &&
         Graph.mayPrecede(At, Write) &&
         (At == Anchor || Graph.mayPrecede(Anchor, At));
}

/// On the paths that do not come to the write.
void SinkSearch::endWhereUsed(EventRef Anchor) {
  const unsigned B = Device->Buffer;
  auto End = [&](EventRef At) {
    const bool Dead = !Facts.Live.liveWithin(At.Block)[At.Index][B];
    Result.add({B, At, SinkEndsDirective{Dead}});
  };
  walkForward(Program, Anchor, [&](EventRef At) {
    if (At == Write)
      return Walk::Leave;
    if (!mayUseFile(Program.event(At)))
      return Walk::On;
    End(At);
    return Walk::Leave;
  });
}

/// Whether Open, behind the anchor, makes the file that Write writes to, and
/// nothing else does.
bool SinkSearch::isMadeBehind(EventRef Anchor, EventRef Open) const {
  return !LateOpen && Program.event(Open).as<FileOpenEvent>()->IsNew &&
         Graph.dominates(Anchor, Open) && Graph.dominates(Open, Write) &&
         !Graph.inCycle(Open.Block);
}

std::optional<Reason> SinkSearch::whyNotFrom(EventRef Anchor) {
  bool OpenedBefore = false;
  for (unsigned Block : Graph.order()) {
    const auto &Events = Program.Blocks[Block].Events;
    for (unsigned I = 0; I < Events.size(); ++I) {
      const EventRef At{Block, I};
      const Event &E = Events[I];
      if (const auto *Open = E.as<FileOpenEvent>();
          Open && Open->File == file()) {
        const bool Before = Graph.dominates(At, Anchor);
        OpenedBefore |= Before;
        if (!Before) {
          if (!isMadeBehind(Anchor, At))
            return missed(RemarkId::SinkOpenedLate);
          LateOpen = At;
        }
      }
      if (isUsed(At, Anchor))
        return missed(RemarkId::SinkFileUsed)
            .with("CauseAt", describe(E.Where, firstWriter().Where));
    }
  }
  if (LateOpen && OpenedBefore)
    return missed(RemarkId::SinkOpenedLate);
  if (!alwaysReaches(Program, Anchor, Write))
    return missed(RemarkId::SinkConditional);
  // Once written, the file is the program's: what is in it alone may change.
  if (Facts.Live.liveWithin(Write.Block)[Write.Index + 1][Device->Buffer])
    return missed(RemarkId::SinkReadAgain);
  return std::nullopt;
}

void SinkSearch::run() {
  if (!findCopy() || !findDevice())
    return;
  Writers = writersBefore(Program, Graph, Device->Buffer, Copy);
  if (Writers.empty())
    return;
  const unsigned B = Device->Buffer;
  const Position &Where = firstWriter().Where;
  if (std::optional<RemarkId> Id = whyNotWhole())
    return Result.tell({B, Where, missed(*Id)});
  const std::optional<EventRef> Anchor =
      pointInFrontOf(Writers, Program, Graph);
  if (file() < 0 || !Anchor)
    return;
  if (std::optional<Reason> Why = whyNotFrom(*Anchor))
    return Result.tell({B, Where, std::move(*Why)});
  Reason Done =
      Facts.about(B, LateOpen ? RemarkId::SinkToNewFile : RemarkId::SinkToFile)
          .with("WriteAt", Facts.at(Write, Where));
  Directive D{B, *Anchor, SinkDirective{Write, LateOpen}};
  if (LateOpen) {
    Done = std::move(Done).with("OpenAt", Facts.at(*LateOpen, Where));
    D.Otherwise = missed(RemarkId::SinkOpenedLate);
  }
  Result.add(std::move(D), Where, std::move(Done));
  endWhereUsed(*Anchor);
}

} // namespace

void placeSinks(const ProgramFacts &Facts, PlacementBuilder &Result) {
  for (unsigned Block : Facts.Graph.order()) {
    const auto &Events = Facts.Program.Blocks[Block].Events;
    for (unsigned I = 0; I < Events.size(); ++I)
      if (Events[I].is<FileWriteEvent>())
        SinkSearch(Facts, {Block, I}, Result).run();
  }
}

} // namespace dragon
