//===- Placement.cpp - buffer program -> directives -----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The decisions, in this order: which staging buffers are elided (that makes
// device buffers live longer), what each device buffer is mapped as, where
// contents die, which output goes straight to its file, when contents are
// needed again, and which launches run together.
//
//===----------------------------------------------------------------------===//

#include "passes/placement/Cursors.h"
#include "passes/placement/Directive.h"
#include "passes/placement/ElementDeaths.h"
#include "passes/placement/Legality.h"
#include "passes/placement/Liveness.h"
#include "passes/placement/NextUse.h"
#include "passes/placement/Wavefront.h"
#include "passes/placement/WayDeaths.h"

#include "dragon/dragon.h"

#include "llvm/ADT/STLExtras.h"
#include <optional>

using namespace llvm;

namespace dragon {

namespace {

class Placer {
public:
  Placer(const BufferProgram &Program, const PlacementOptions &Options)
      : Program(Program), Options(Options), Graph(Program),
        Pointers(Program, Graph), Elided(Program.Buffers.size()) {}

  Placement run() {
    elideStaging();
    for (unsigned B = 0; B < Program.Buffers.size(); ++B)
      mapBuffer(B);
    placeSinks();
    endContents();
    if (Options.NextUses)
      tellNextUses();
    if (Options.Wavefront)
      runTogether();
    return std::move(Result);
  }

private:
  const Buffer &buffer(unsigned B) const { return Program.Buffers[B]; }
  void found(unsigned B, const Position &Where, Reason Why) {
    Result.Findings.push_back({B, Where, std::move(Why)});
  }
  /// What the directive just added does.
  void did(unsigned B, const Position &Where, Reason Why) {
    Result.Directives.back().Finding = static_cast<int>(Result.Findings.size());
    found(B, Where, std::move(Why));
  }
  Reason about(unsigned B, RemarkId Id) const {
    return Reason(Id).with("Buffer", buffer(B).Name);
  }
  std::string at(EventRef Where, const Position &From) const {
    return describe(Program.event(Where).Where, From);
  }

  // Staging.
  void elideStaging();
  void reportLookedAt(unsigned B);
  void reportElision(unsigned B);
  void materialise(unsigned B);

  // Maps.
  void mapBuffer(unsigned B);
  std::optional<EventRef> flowSource(EventRef CopyIn) const;
  std::optional<EventRef> flowTarget(EventRef CopyOut) const;

  // Sinks.
  void placeSinks();
  void placeSink(EventRef Write, const Liveness &Live);
  std::optional<EventRef> sinkAnchor(ArrayRef<EventRef> Writers) const;

  // Ends of contents.
  void endContents();
  std::optional<StreamId> streamOf(unsigned B) const;
  void tellStreams(unsigned B, const Event &Last);
  /// By block and index: the buffers that are live in front of the event.
  using LiveWithin = std::vector<std::vector<BitVector>>;
  void endAfter(unsigned B, EventRef At, const LiveWithin *Sure);
  void endAtEntry(unsigned B, unsigned Block, const LiveWithin *Sure);
  void endElements();
  void endByName(const Liveness &Live);
  const Event *lastTouch(const WayDeath &Death) const;
  bool mayEndByName(NameId Name, EventRef At, const Contents &Held) const;
  bool endsByName(unsigned B, EventRef At, const Liveness &Live,
                  const Contents &Held) const;
  void addEndByName(Directive End, ArrayRef<NameId> Names, const Event &After,
                    EventRef From);
  void endAllContents(const Liveness &Live, const Liveness *Sure);
  void tellEnd(unsigned B, const Event &After, EventRef From,
               const LiveWithin *Sure);
  void endBehindCursors(const Liveness &Live);
  void endBefore(EventRef At, const Contents &Held, const BitVector &Live);
  bool mayEnd(unsigned B) const;
  void addEnd(unsigned B, EventRef At, Anchor Where, StreamId Stream);

  // Next use.
  void tellNextUses();
  void tellNextUse(unsigned B, EventRef After, bool Uses);

  // Launches that run together.
  void runTogether();

  const BufferProgram &Program;
  const PlacementOptions &Options;
  FlowGraph Graph;
  PointerFlow Pointers;
  std::vector<StagingFlow> Flows;
  std::vector<bool> Elided;
  Placement Result;
};

// -- Staging ----------------------------------------------------------------

void Placer::elideStaging() {
  if (!Options.Staging)
    return;
  Flows = stagingFlows(Program, Graph);
  for (const StagingFlow &F : Flows)
    Elided[F.Staging] = true;
  for (unsigned B = 0; B < Program.Buffers.size(); ++B)
    if (buffer(B).Kind == BufferKind::Host && !Elided[B])
      reportLookedAt(B);
  // One that is not elided may rule out those it is mixed with.
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (unsigned B = 0; B < Program.Buffers.size(); ++B) {
      if (!Elided[B])
        continue;
      if (std::optional<Finding> Why =
              whyNotElided(Program, Graph, B, Elided)) {
        Elided[B] = false;
        Changed = true;
        Result.Findings.push_back(std::move(*Why));
      }
    }
  }
  erase_if(Flows, [&](const StagingFlow &F) { return !Elided[F.Staging]; });

  for (unsigned B = 0; B < Program.Buffers.size(); ++B) {
    if (!Elided[B])
      continue;
    Result.Directives.push_back({DirectiveKind::Elide, B, {}});
    reportElision(B);
    materialise(B);
  }
}

/// A buffer between files and copies may have no flow, because the host looks
/// at the bytes on the way.
void Placer::reportLookedAt(unsigned B) {
  bool Has[static_cast<size_t>(EventKind::Opaque) + 1] = {};
  const Event *Looks = nullptr;
  for (EventRef At : Program.uses(B)) {
    const Event &E = Program.event(At);
    Has[static_cast<size_t>(E.Kind)] = true;
    if (E.Kind == EventKind::HostAccess)
      Looks = &E;
  }
  auto Does = [&](EventKind Kind) { return Has[static_cast<size_t>(Kind)]; };
  if (!buffer(B).StreamedBy.empty() &&
      (Does(EventKind::CopyIn) || Does(EventKind::CopyOut))) {
    found(
        B, buffer(B).Where,
        about(B, RemarkId::NotElidedStream)
            .with("Cause", "'" + buffer(B).StreamedBy + "'")
            .with("CauseAt", describe(buffer(B).StreamedAt, buffer(B).Where)));
    return;
  }
  if (!(Does(EventKind::FileRead) && Does(EventKind::CopyIn)) &&
      !(Does(EventKind::CopyOut) && Does(EventKind::FileWrite)))
    return;
  if (std::optional<Finding> Why = whyNotElided(Program, Graph, B, Elided))
    Result.Findings.push_back(std::move(*Why));
  else if (Looks)
    found(B, buffer(B).Where,
          about(B, RemarkId::NotElidedLooked)
              .with("Cause", Looks->Name)
              .with("CauseAt", describe(Looks->Where, buffer(B).Where)));
}

void Placer::reportElision(unsigned B) {
  bool In = false, Out = false;
  for (const StagingFlow &F : Flows) {
    if (F.Staging != B)
      continue;
    bool IsIn = Program.event(F.From).Kind == EventKind::FileRead;
    bool &Done = IsIn ? In : Out;
    if (Done)
      continue;
    Done = true;
    const Event &Copy = Program.event(IsIn ? F.To : F.From);
    std::string Device = "device memory";
    for (const BufferUse &U : Copy.Uses)
      if (buffer(U.Buffer).Kind != BufferKind::Host) {
        Device = buffer(U.Buffer).Name;
        break;
      }
    Reason Why =
        about(B, IsIn ? RemarkId::StagingElidedIn : RemarkId::StagingElidedOut)
            .with("Device", Device);
    if (IsIn)
      Why = std::move(Why).with("ReadAt", at(F.From, Copy.Where));
    else
      Why = std::move(Why).with("WriteAt", at(F.To, Copy.Where));
    found(B, Copy.Where, std::move(Why));
  }
}

void Placer::materialise(unsigned B) {
  for (EventRef At : Program.uses(B)) {
    const Event &E = Program.event(At);
    if (E.Kind != EventKind::HostAccess && E.Kind != EventKind::Copy &&
        E.Kind != EventKind::Fill)
      continue;
    if (!mayBeDeferred(Program, Graph, B, At))
      continue;
    Result.Directives.push_back({DirectiveKind::Materialise, B, At});
    did(B, E.Where,
        about(B, RemarkId::StagingMaterialised).with("Cause", E.Name));
  }
}

// -- Maps -------------------------------------------------------------------

/// The last, if there are several.
std::optional<EventRef> Placer::flowSource(EventRef CopyIn) const {
  std::optional<EventRef> Source;
  for (const StagingFlow &F : Flows)
    if (F.To == CopyIn && (!Source || Graph.mayPrecede(*Source, F.From)))
      Source = F.From;
  return Source;
}

std::optional<EventRef> Placer::flowTarget(EventRef CopyOut) const {
  for (const StagingFlow &F : Flows)
    if (F.From == CopyOut)
      return F.To;
  return std::nullopt;
}

/// A copy that is no whole range, such as of rows: its other end is a buffer of
/// the device, or else in host memory.
static bool comesFromHost(const Event &Copy, unsigned B) {
  return Copy.writes(B) &&
         none_of(Copy.Uses, [](const BufferUse &Use) { return Use.Reads; });
}

static bool goesToHost(const Event &Copy, unsigned B) {
  return Copy.reads(B) &&
         none_of(Copy.Uses, [](const BufferUse &Use) { return Use.Writes; });
}

void Placer::mapBuffer(unsigned B) {
  const Buffer &Of = buffer(B);
  if (Of.Kind != BufferKind::Device || !Of.Mappable)
    return;
  if (Of.Escapes) {
    bool Kernel = Of.EscapesToKernel;
    found(B, Of.Where,
          about(B, Kernel ? RemarkId::NotMappedKernel : RemarkId::NotMapped)
              .with(Kernel ? "Kernel" : "Cause", Of.EscapesTo)
              .with("CauseAt", describe(Of.EscapesAt, Of.Where)));
    return;
  }
  std::optional<EventRef> Allocation, In, Out;
  bool Changed = false, Touched = false;
  for (EventRef At : Program.uses(B)) {
    const Event &E = Program.event(At);
    switch (E.Kind) {
    case EventKind::Allocate:
      Allocation = At;
      break;
    case EventKind::CopyIn:
    case EventKind::CopyOut:
    case EventKind::Copy: {
      const bool Comes = E.Kind == EventKind::CopyIn || comesFromHost(E, B);
      const bool Goes = E.Kind == EventKind::CopyOut || goesToHost(E, B);
      if (Comes && !In)
        In = At;
      if (Goes && !Out)
        Out = At;
      Changed |= !Comes && E.writes(B);
      Touched = true;
      break;
    }
    case EventKind::Free:
      break;
    default:
      Changed |= E.writes(B);
      Touched = true;
      break;
    }
  }
  if (!Allocation || !Touched)
    return;
  auto Position = [&](EventRef At) { return at(At, Of.Where); };
  unsigned Flags;
  std::optional<Reason> Why;
  if (In && Out && Changed) {
    Flags = D_READ | D_WRITE;
    Why = about(B, RemarkId::MappedReadWrite)
              .with("InAt", Position(*In))
              .with("OutAt", Position(*Out));
  } else if (In && !Changed) {
    Flags = D_READ;
    if (std::optional<EventRef> Read = flowSource(*In))
      Why = about(B, RemarkId::MappedReadOnly).with("ReadAt", Position(*Read));
    else
      Why = about(B, RemarkId::MappedReadOnlyCopied)
                .with("CopyAt", Position(*In));
  } else if (In) {
    Flags = D_READ | D_VOLATILE;
    Why = about(B, RemarkId::MappedPrivate).with("CopyAt", Position(*In));
  } else if (Out) {
    Flags = D_WRITE;
    if (std::optional<EventRef> Write = flowTarget(*Out))
      Why =
          about(B, RemarkId::MappedWriteOnly).with("WriteAt", Position(*Write));
    else
      Why = about(B, RemarkId::MappedWriteOnlyCopied)
                .with("CopyAt", Position(*Out));
  } else {
    Flags = D_VOLATILE;
    Why = about(B, RemarkId::MappedVolatile);
  }
  Directive Map{DirectiveKind::Map, B, *Allocation};
  Map.Flags = Flags;
  Result.Directives.push_back(Map);
  did(B, Of.Where, std::move(*Why));
}

// -- Sinks ------------------------------------------------------------------

void Placer::placeSinks() {
  Liveness Live(Program, Graph, &Pointers, Elided);
  for (unsigned Block : Graph.order())
    for (unsigned I = 0; I < Program.Blocks[Block].Events.size(); ++I)
      if (Program.Blocks[Block].Events[I].Kind == EventKind::FileWrite)
        placeSink({Block, I}, Live);
}

/// The point in front of all writers that is passed once.
std::optional<EventRef> Placer::sinkAnchor(ArrayRef<EventRef> Writers) const {
  unsigned Block = Writers[0].Block;
  for (EventRef W : Writers)
    Block = Graph.commonDominator(Block, W.Block);
  while (Graph.inCycle(Block)) {
    if (Block == 0)
      return std::nullopt;
    Block = Graph.immediateDominator(Block);
  }
  EventRef Anchor{Block,
                  static_cast<unsigned>(Program.Blocks[Block].Events.size())};
  for (EventRef W : Writers)
    if (W.Block == Block && W.Index < Anchor.Index)
      Anchor = W;
  return Anchor;
}

void Placer::placeSink(EventRef Write, const Liveness &Live) {
  const Event &W = Program.event(Write);
  const StagingFlow *Flow = nullptr;
  bool Several = false;
  for (const StagingFlow &F : Flows) {
    if (!(F.To == Write))
      continue;
    Several |= Flow != nullptr;
    Flow = &F;
  }
  if (!Flow)
    return;
  EventRef Copy = Flow->From;
  const Event &C = Program.event(Copy);
  const BufferUse *Device = nullptr;
  for (const BufferUse &U : C.Uses) {
    if (buffer(U.Buffer).Kind == BufferKind::Host)
      continue;
    Several |= Device != nullptr;
    Device = Device ? Device : &U;
  }
  if (!Device || buffer(Device->Buffer).Escapes)
    return;
  unsigned B = Device->Buffer;
  SmallVector<EventRef, 4> Writers;
  for (EventRef At : Program.uses(B)) {
    const Event &E = Program.event(At);
    bool Computes = E.Kind == EventKind::Launch || E.Kind == EventKind::Copy ||
                    E.Kind == EventKind::Fill;
    if (Computes && E.writes(B) && Graph.mayPrecede(At, Copy))
      Writers.push_back(At);
  }
  if (Writers.empty())
    return;
  const Event &FirstWriter = Program.event(Writers[0]);

  auto Missed = [&](RemarkId Id) {
    return about(B, Id)
        .with("WriteAt", at(Write, FirstWriter.Where))
        .with("Launch", FirstWriter.Name)
        .with("Staging", buffer(Flow->Staging).Name);
  };
  auto Miss = [&](Reason Why) { found(B, FirstWriter.Where, std::move(Why)); };

  const BufferUse *Staged = W.find(Flow->Staging);
  const BufferUse *Filled = C.find(Flow->Staging);
  auto MayBeOther = [](const Event &E, size_t Buffers) {
    return E.OtherMemory || E.Uses.size() > Buffers;
  };
  if (Several || MayBeOther(C, 2) || MayBeOther(W, 1) || buffer(B).Several ||
      buffer(Flow->Staging).Several)
    return Miss(Missed(RemarkId::SinkSeveral));
  if (!Staged->Must || !Filled->Must || !Device->Must || !Device->Whole ||
      W.Bytes == 0 || C.Bytes != W.Bytes || !W.Plain)
    return Miss(Missed(RemarkId::SinkPart));
  bool Changed = any_of(Program.uses(B), [&](EventRef At) {
    return Program.event(At).writes(B) && Graph.mayPrecede(Copy, At) &&
           Graph.mayPrecede(At, Write);
  });
  if (Changed || Graph.inCycle(Write.Block) || Graph.inCycle(Copy.Block) ||
      !Graph.dominates(Copy, Write))
    return Miss(Missed(RemarkId::SinkRepeated));
  std::optional<EventRef> Anchor = sinkAnchor(Writers);
  if (W.File < 0 || !Anchor)
    return;

  for (unsigned Block : Graph.order()) {
    const auto &Events = Program.Blocks[Block].Events;
    for (unsigned I = 0; I < Events.size(); ++I) {
      EventRef At{Block, I};
      const Event &E = Events[I];
      if (E.Kind == EventKind::FileOpen && E.File == W.File &&
          !Graph.dominates(At, *Anchor))
        return Miss(Missed(RemarkId::SinkOpenedLate));
      bool UsesFile =
          (E.Kind == EventKind::FileUse || E.Kind == EventKind::FileRead ||
           E.Kind == EventKind::FileWrite) &&
          (E.File == W.File || E.File < 0 ||
           (Program.Files[E.File].Escapes && Program.Files[W.File].Escapes));
      UsesFile |= E.Kind == EventKind::Opaque && Program.Files[W.File].Escapes;
      bool Between = !(At == Write) && Graph.mayPrecede(At, Write) &&
                     (At == *Anchor || Graph.mayPrecede(*Anchor, At));
      if (UsesFile && Between)
        return Miss(Missed(RemarkId::SinkFileUsed)
                        .with("CauseAt", describe(E.Where, FirstWriter.Where)));
    }
  }
  if (!alwaysReaches(Program, *Anchor, Write))
    return Miss(Missed(RemarkId::SinkConditional));
  // Once written, the file is the program's: what is in it alone may change.
  if (Live.liveWithin(Write.Block)[Write.Index + 1][B])
    return Miss(Missed(RemarkId::SinkReadAgain));
  Directive Sink{DirectiveKind::Sink, B, *Anchor};
  Sink.Write = Write;
  Result.Directives.push_back(Sink);
  did(B, FirstWriter.Where,
      about(B, RemarkId::SinkToFile)
          .with("WriteAt", at(Write, FirstWriter.Where)));
}

// -- Ends of contents -------------------------------------------------------

bool Placer::mayEnd(unsigned B) const {
  const Buffer &Of = buffer(B);
  if (Of.Several || Of.Escapes)
    return false;
  return Of.Kind != BufferKind::Host || Elided[B];
}

/// The one stream in which the buffer is used, or nothing.
std::optional<StreamId> Placer::streamOf(unsigned B) const {
  std::optional<StreamId> Stream;
  for (EventRef At : Program.uses(B)) {
    StreamId S = Program.event(At).Stream;
    if (S == Synchronous)
      continue;
    if (S == UnknownStream || (Stream && *Stream != S))
      return std::nullopt;
    Stream = S;
  }
  return Stream ? *Stream : static_cast<StreamId>(DefaultStream);
}

/// Why there is no such stream.
void Placer::tellStreams(unsigned B, const Event &Last) {
  for (EventRef At : Program.uses(B))
    if (const Event &E = Program.event(At); E.Stream == UnknownStream)
      return found(B, Last.Where,
                   about(B, RemarkId::NotDiscardedStream)
                       .with("Cause", E.Name)
                       .with("CauseAt", describe(E.Where, Last.Where)));
  found(B, Last.Where, about(B, RemarkId::NotDiscardedStreams));
}

void Placer::addEnd(unsigned B, EventRef At, Anchor Where, StreamId Stream) {
  Directive End{buffer(B).Kind == BufferKind::Host ? DirectiveKind::Forget
                                                   : DirectiveKind::Discard,
                B, At, Where};
  End.Stream = Stream;
  Result.Directives.push_back(End);
}

/// What the discard just added does, and which tests it takes.
void Placer::tellEnd(unsigned B, const Event &After, EventRef From,
                     const LiveWithin *Sure) {
  std::string Next = describeDeath(Program, Pointers, From, B, After.Where);
  Directive &D = Result.Directives.back();
  if (!Sure) {
    D.Eager = D.Kind == DirectiveKind::Discard && launchAhead(Program, From) &&
              !usedSoon(Program, Graph, From, B);
    did(B, After.Where,
        about(B, D.Eager ? RemarkId::DiscardedEagerly : RemarkId::Discarded)
            .with("After", After.Name)
            .with("Next", Next));
    return;
  }
  for (EventRef At : nextUses(Program, From, B, /*Failing=*/true).Events) {
    const BufferUse *U = Program.event(At).find(B);
    if (U->Testable && !U->Whole) {
      D.Tests.push_back(At);
    } else if ((*Sure)[At.Block][At.Index][B]) {
      // It changes a part, and a test further on would have to tell of the
      // rest: which launch that is, is not known here.
      D.Tests.clear();
      break;
    }
  }
  if (D.Tests.empty()) {
    Result.Directives.pop_back();
    return;
  }
  const Event &First = Program.event(D.Tests.front());
  D.Otherwise = about(B, RemarkId::NotDiscardedTest)
                    .with("After", After.Name)
                    .with("Kernel", First.Name)
                    .with("CauseAt", describe(First.Where, After.Where));
  did(B, After.Where,
      about(B, RemarkId::DiscardedIfOverwritten)
          .with("After", After.Name)
          .with("Next", Next));
}

/// The event is the last that needs the contents.
void Placer::endAfter(unsigned B, EventRef At, const LiveWithin *Sure) {
  const Event &E = Program.event(At);
  EventRef Next{At.Block, At.Index + 1};
  std::optional<StreamId> Stream = streamOf(B);
  if (buffer(B).Kind == BufferKind::Host) {
    if (changesAhead(Program, Next, B))
      addEnd(B, At, Anchor::After, DefaultStream);
    return;
  }
  if (!deviceWorkAhead(Program, Next))
    return;
  if (!Stream) {
    tellStreams(B, E);
    return;
  }
  // What a stream's handle is at another event is not known here.
  if (*Stream != DefaultStream && E.Stream != *Stream)
    return;
  addEnd(B, At, Anchor::After, *Stream);
  tellEnd(B, E, Next, Sure);
}

/// The contents are live at the end of a predecessor, but only for the sake of
/// another of its successors.
void Placer::endAtEntry(unsigned B, unsigned Block, const LiveWithin *Sure) {
  EventRef Entry{Block, 0};
  if (!deviceWorkAhead(Program, Entry))
    return;
  std::optional<StreamId> Stream = streamOf(B);
  if (!Stream || *Stream != DefaultStream)
    return;
  if (buffer(B).Kind == BufferKind::Host) {
    addEnd(B, Entry, Anchor::BlockEntry, *Stream);
    return;
  }
  // The last event that touched it, for the user.
  const Event *Last = nullptr;
  for (EventRef At : Program.uses(B))
    if (Graph.mayPrecede(At, Entry) &&
        Program.event(At).Kind != EventKind::Allocate)
      Last = &Program.event(At);
  if (!Last)
    return;
  addEnd(B, Entry, Anchor::BlockEntry, *Stream);
  tellEnd(B, *Last, Entry, Sure);
}

/// A loop walks through a buffer and leaves parts of it behind.
void Placer::endBehindCursors(const Liveness &Live) {
  Contents Allocated(Program, Graph);
  for (const CursorEnd &End : endsBehindCursors(Program, Graph, Live)) {
    const unsigned B = Program.Cursors[End.Cursor].Buffer;
    const Event &E = Program.event(End.At);
    // What staging buffers stand for is read when they are.
    bool IsViewed = any_of(Program.uses(B), [&](EventRef At) {
      const Event &E = Program.event(At);
      return E.Kind == EventKind::CopyOut &&
             any_of(E.Uses,
                    [&](const BufferUse &U) { return Elided[U.Buffer]; });
    });
    if (!mayEnd(B) || buffer(B).Kind == BufferKind::Host || IsViewed ||
        !Allocated.mustBeAllocated(B, {End.At.Block, End.At.Index + 1}))
      continue;
    std::optional<StreamId> Stream = streamOf(B);
    if (!Stream) {
      tellStreams(B, E);
      continue;
    }
    if (*Stream != DefaultStream && E.Stream != *Stream)
      continue;
    addEnd(B, End.At, Anchor::After, *Stream);
    Directive &D = Result.Directives.back();
    D.Cursor = static_cast<int>(End.Cursor);
    D.Tests = End.Tests;
    if (!End.Tests.empty()) {
      const Event &Reader = Program.event(End.Tests.front());
      D.Otherwise = about(B, RemarkId::NotDiscardedBehind)
                        .with("After", E.Name)
                        .with("Kernel", Reader.Name)
                        .with("CauseAt", describe(Reader.Where, E.Where));
    }
    did(B, E.Where, about(B, RemarkId::DiscardedBehind).with("After", E.Name));
  }
}

void Placer::endBefore(EventRef At, const Contents &Held,
                       const BitVector &Live) {
  const Event &E = Program.event(At);
  for (const BufferUse &U : E.Uses) {
    unsigned B = U.Buffer;
    // In front of the free of an elided staging buffer there is always one.
    if (!U.Must || !mayEnd(B) || buffer(B).Kind == BufferKind::Host)
      continue;
    // A staging buffer that stands for it is filled by the event itself.
    if (Live[B])
      continue;
    bool IsFree = E.Kind == EventKind::Free;
    bool Overwrites = U.Writes && U.Whole && !U.Reads &&
                      (E.Kind == EventKind::CopyIn ||
                       E.Kind == EventKind::Fill || E.Kind == EventKind::Copy);
    if (!IsFree && !Overwrites)
      continue;
    std::optional<StreamId> Stream = streamOf(B);
    if (!Stream || *Stream != DefaultStream || !Held.mayHold(B, At) ||
        !Held.mustBeAllocated(B, At))
      continue;
    addEnd(B, At, Anchor::Before, *Stream);
    did(B, E.Where,
        about(B, IsFree ? RemarkId::DiscardedBeforeFree
                        : RemarkId::DiscardedBeforeOverwrite));
  }
}

// -- Ends of what pointers point to -----------------------------------------

/// Whether a discard of what the name is would be right, and of use.
bool Placer::mayEndByName(NameId Name, EventRef At,
                          const Contents &Held) const {
  bool MayHold = false;
  for (unsigned B : Pointers.buffers(Name).set_bits()) {
    if (!mayEnd(B) || buffer(B).Kind == BufferKind::Host ||
        streamOf(B) != static_cast<StreamId>(DefaultStream) ||
        !Held.mustBeAllocated(B, At))
      return false;
    MayHold |= Held.mayHold(B, At);
  }
  return MayHold && deviceWorkAhead(Program, At);
}

/// Whether the buffer dies with the event as what a pointer points to, and is
/// live by no other name in front of it.
bool Placer::endsByName(unsigned B, EventRef At, const Liveness &Live,
                        const Contents &Held) const {
  const Event &E = Program.event(At);
  if (E.Pointers.empty())
    return false;
  const BitVector Names = Live.namesWithin(At.Block)[At.Index];
  const BitVector After = Live.liveWithin(At.Block)[At.Index + 1];
  const EventRef Next{At.Block, At.Index + 1};
  bool Any = false;
  for (NameId Name : Names.set_bits()) {
    if (!Pointers.buffers(Name)[B])
      continue;
    if (After[Name] ||
        none_of(E.Pointers,
                [&](const UseByPointer &U) {
                  return Program.nameOf(U.Pointer) == Name;
                }) ||
        !mayEndByName(Name, Next, Held))
      return false;
    Any = true;
  }
  return Any;
}

void Placer::addEndByName(Directive End, ArrayRef<NameId> Names,
                          const Event &After, EventRef From) {
  std::string Name;
  bool UsedSoon = false;
  SmallVector<std::string, 2> Said;
  for (NameId N : Names) {
    SmallVector<std::string, 2> Ways;
    for (unsigned B : Pointers.buffers(N).set_bits()) {
      Ways.push_back(buffer(B).Name);
      UsedSoon |= usedSoon(Program, Graph, From, B);
    }
    if (const Pointer *P = Program.pointer(N); P && !P->Name.empty())
      Ways = {P->Name};
    for (std::string &Way : Ways)
      if (!is_contained(Said, Way))
        Said.push_back(std::move(Way));
  }
  for (const std::string &One : Said)
    Name += Name.empty() ? One : "' or '" + One;
  End.Kind = DirectiveKind::Discard;
  End.Buffer =
      static_cast<unsigned>(Pointers.buffers(Names.front()).find_first());
  End.Eager = launchAhead(Program, From) && !UsedSoon;
  const bool Eager = End.Eager;
  Result.Directives.push_back(std::move(End));
  did(Result.Directives.back().Buffer, After.Where,
      Reason(Eager ? RemarkId::DiscardedEagerly : RemarkId::Discarded)
          .with("Buffer", Name)
          .with("After", After.Name)
          .with("Next",
                describeDeath(Program, Pointers, From, Names, After.Where)));
}

/// The last event that touches what dies, for the user.
const Event *Placer::lastTouch(const WayDeath &Death) const {
  const Event *Last = nullptr;
  auto Look = [&](NameId Name, EventRef Before) {
    for (unsigned Block = 0; Block < Program.Blocks.size(); ++Block)
      for (unsigned I = 0; I < Program.Blocks[Block].Events.size(); ++I) {
        const Event &E = Program.Blocks[Block].Events[I];
        if (Graph.mayPrecede({Block, I}, Before) &&
            E.Kind != EventKind::Allocate && E.Kind != EventKind::Free &&
            Pointers.mayTouch(E, Name))
          Last = &E;
      }
  };
  if (Death.Name)
    Look(*Death.Name, Death.At);
  for (const DeadOnWay &Way : Death.Ways)
    Look(Way.Name,
         Death.AtEntry
             ? EventRef{Way.From, static_cast<unsigned>(
                                      Program.Blocks[Way.From].Events.size())}
             : Death.At);
  return Last;
}

/// What cannot be said of a buffer, because it depends on the way which one it
/// is, but of what a pointer points to.
void Placer::endByName(const Liveness &Live) {
  Contents Held(Program, Graph);
  for (unsigned Block : Graph.order()) {
    if (Program.Blocks[Block].Fails)
      continue;
    const auto &Events = Program.Blocks[Block].Events;
    const std::vector<BitVector> Within = Live.liveWithin(Block);
    for (unsigned I = 0; I < Events.size(); ++I) {
      if (Events[I].Kind == EventKind::Free)
        continue;
      const BitVector &After = Within[I + 1];
      const EventRef Next{Block, I + 1};
      SmallVector<NameId, 2> Done;
      for (const UseByPointer &U : Events[I].Pointers) {
        const NameId Name = Program.nameOf(U.Pointer);
        if (is_contained(Done, Name))
          continue;
        Done.push_back(Name);
        // Else by the buffers' names.
        if (After[Name] || !mayEndByName(Name, Next, Held) ||
            none_of(Pointers.buffers(Name).set_bits(), [&](unsigned B) {
              return After[B] || endsByName(B, {Block, I}, Live, Held);
            }))
          continue;
        Directive End{DirectiveKind::Discard, 0, {Block, I}, Anchor::After};
        End.Name = Name;
        addEndByName(std::move(End), Name, Events[I], Next);
      }
    }
  }

  auto MayEnd = [&](NameId Name, EventRef At) {
    return mayEndByName(Name, At, Held);
  };
  for (WayDeath &Death : wayDeaths(Program, Graph, Pointers, Live, MayEnd)) {
    if (!deviceWorkAhead(Program, Death.At))
      continue;
    SmallVector<NameId, 2> Names;
    if (Death.Name)
      Names.push_back(*Death.Name);
    for (const DeadOnWay &Way : Death.Ways)
      Names.push_back(Way.Name);
    const Event *Last = lastTouch(Death);
    if (!Last)
      continue;
    Directive End{DirectiveKind::Discard, 0, Death.At};
    End.Where = Death.AtEntry ? Anchor::BlockEntry : Anchor::Before;
    End.Name = Death.Name;
    End.Ways = std::move(Death.Ways);
    End.Select = Death.Select;
    addEndByName(std::move(End), Names, *Last, Death.At);
  }
}

/// Sure: Live is what is live if all tests pass; nothing is done where the
/// contents are surely dead.
void Placer::endAllContents(const Liveness &Live, const Liveness *Sure) {
  Contents Allocated(Program, Graph);
  LiveWithin MayLive(Program.Blocks.size()), SureLive(Program.Blocks.size());
  for (unsigned Block : Graph.order()) {
    MayLive[Block] = Live.liveWithin(Block);
    if (Sure)
      SureLive[Block] = Sure->liveWithin(Block);
  }
  const LiveWithin *Tested = Sure ? &SureLive : nullptr;
  auto SurelyDead = [&](unsigned B, EventRef At) {
    return Sure && !SureLive[At.Block][At.Index][B];
  };
  // Staging buffers first: what they stand for is discarded after them.
  for (bool Host : {true, false}) {
    for (unsigned B = 0; B < Program.Buffers.size(); ++B) {
      if ((buffer(B).Kind == BufferKind::Host) != Host || !mayEnd(B) ||
          (Sure && Host))
        continue;
      for (unsigned Block : Graph.order()) {
        // The program is about to end.
        if (Program.Blocks[Block].Fails)
          continue;
        const std::vector<BitVector> &Within = MayLive[Block];
        bool LiveBefore = any_of(Graph.predecessors()[Block], [&](unsigned P) {
          return MayLive[P].back()[B];
        });
        if (LiveBefore && !Within[0][B] && !SurelyDead(B, {Block, 0}) &&
            Allocated.mustBeAllocated(B, {Block, 0}))
          endAtEntry(B, Block, Tested);
        const auto &Events = Program.Blocks[Block].Events;
        for (unsigned I = 0; I < Events.size(); ++I) {
          const Event &E = Events[I];
          bool Ends = (Within[I][B] || E.find(B)) && !Within[I + 1][B] &&
                      !SurelyDead(B, {Block, I + 1});
          // A host access says where host code begins to look, in front of a
          // loop or of the call's own event, not where it is done.
          if (Ends && !Sure && endsByName(B, {Block, I}, Live, Allocated))
            continue;
          if (Ends && E.Kind != EventKind::Free &&
              E.Kind != EventKind::Allocate &&
              E.Kind != EventKind::HostAccess &&
              (!Host || mayBeDeferred(Program, Graph, B, {Block, I + 1})) &&
              Allocated.mustBeAllocated(B, {Block, I + 1}))
            endAfter(B, {Block, I}, Tested);
        }
      }
    }
  }
}

void Placer::endElements() {
  for (const ElementDeath &Death : elementDeaths(Program, Graph)) {
    const unsigned B = Death.Buffer;
    const Event &E = Program.event(Death.After);
    std::optional<StreamId> Stream = streamOf(B);
    EventRef Next{Death.After.Block, Death.After.Index + 1};
    if (!Stream || (*Stream != DefaultStream && E.Stream != *Stream) ||
        !deviceWorkAhead(Program, Next))
      continue;
    addEnd(B, Death.After, Anchor::After, *Stream);
    Directive &D = Result.Directives.back();
    D.Element = Death.Element;
    D.Tests = Death.Tests;
    if (D.Tests.empty()) {
      did(B, E.Where,
          about(B, RemarkId::Discarded)
              .with("After", E.Name)
              .with("Next", "never read again"));
      continue;
    }
    const Event &Test = Program.event(D.Tests.front());
    const std::string At = describe(Test.Where, E.Where);
    D.Otherwise = about(B, RemarkId::NotDiscardedTest)
                      .with("After", E.Name)
                      .with("Kernel", Test.Name)
                      .with("CauseAt", At);
    did(B, E.Where,
        about(B, RemarkId::DiscardedIfOverwritten)
            .with("After", E.Name)
            .with("Next", "overwritten by '" + Test.Name + "' at " + At +
                              " before any read"));
  }
}

void Placer::endContents() {
  Liveness Live(Program, Graph, &Pointers, Elided);
  // What a pointer may be is taken for it: a test is of one buffer, and of all
  // that may touch it.
  Liveness Tested(Program, Graph, nullptr, Elided, /*AssumeTests=*/true);
  const size_t First = Result.Directives.size();
  endAllContents(Live, nullptr);
  endByName(Live);
  endAllContents(Tested, &Live);
  endElements();
  std::vector<Contents::End> Ends;
  for (size_t I = First; I < Result.Directives.size(); ++I) {
    const Directive &D = Result.Directives[I];
    if (!D.Tests.empty() || D.Element || D.Name || !D.Ways.empty())
      continue;
    EventRef At = D.At;
    At.Index += D.Where == Anchor::After;
    Ends.push_back({D.Buffer, At});
  }
  Contents Held(Program, Graph, Ends);
  for (unsigned Block : Graph.order())
    for (unsigned I = 0; I < Program.Blocks[Block].Events.size(); ++I)
      endBefore({Block, I}, Held, Live.liveWithin(Block)[I]);

  endBehindCursors(Live);

  // Calls without a summary keep contents alive.
  for (unsigned B = 0; B < Program.Buffers.size(); ++B)
    if (buffer(B).Escapes && buffer(B).Kind != BufferKind::Host &&
        !buffer(B).Mappable)
      found(
          B, buffer(B).Where,
          about(B, RemarkId::NotDiscarded)
              .with("Cause", buffer(B).EscapesTo)
              .with("CauseAt", describe(buffer(B).EscapesAt, buffer(B).Where)));
}

// -- Next use ---------------------------------------------------------------

/// After an event that uses the buffer, or not: then it is of interest only if
/// the next launch needs it, and the host does something else before.
void Placer::tellNextUse(unsigned B, EventRef After, bool Uses) {
  EventRef From{After.Block, After.Index + 1};
  const Event &E = Program.event(After);
  NextNeed Need = nextNeed(Program, Graph, From, B);
  if (!Need.At)
    return; // dead, if ever
  const Event &Next = Program.event(*Need.At);
  const bool Never = Need.Launches == NextNeed::NeverAgain;
  const bool Prefetch = Need.Launches == 0;
  if (Never && !launchAhead(Program, From))
    return; // nobody wants the room
  if (Uses ? Prefetch : !Prefetch || !Need.HostInBetween || !Next.reads(B))
    return;
  Directive D{DirectiveKind::NextUse, B, After, Anchor::After};
  D.Launches = Need.Launches;
  Result.Directives.push_back(D);
  Reason Why = about(B, Prefetch ? RemarkId::Prefetched
                        : Never  ? RemarkId::NotNeededOnDevice
                                 : RemarkId::NextUseKnown)
                   .with("After", E.Name)
                   .with("Next", Next.Name)
                   .with("NextAt", describe(Next.Where, E.Where));
  if (!Prefetch && !Never)
    Why = std::move(Why).with("Launches", std::to_string(Need.Launches));
  did(B, E.Where, std::move(Why));
}

void Placer::tellNextUses() {
  Contents Allocated(Program, Graph);
  for (unsigned Block : Graph.order()) {
    if (Program.Blocks[Block].Fails)
      continue;
    const auto &Events = Program.Blocks[Block].Events;
    for (unsigned I = 0; I < Events.size(); ++I) {
      const Event &E = Events[I];
      if (E.Kind != EventKind::Launch && E.Kind != EventKind::CopyIn &&
          E.Kind != EventKind::Fill)
        continue;
      for (unsigned B = 0; B < Program.Buffers.size(); ++B) {
        const BufferUse *U = E.find(B);
        if (buffer(B).Kind != BufferKind::Device || buffer(B).Several ||
            (U ? !U->Must : E.Kind != EventKind::Launch) ||
            !Allocated.mustBeAllocated(B, {Block, I + 1}))
          continue;
        tellNextUse(B, {Block, I}, U);
      }
    }
  }
}

// -- Launches that run together ---------------------------------------------

void Placer::runTogether() {
  for (const LaunchPair &Pair : launchPairs(Program, Graph)) {
    const Event &First = Program.event(Pair.First);
    const Event &Second = Program.event(Pair.Second);
    const unsigned B = Pair.Shared.front();
    std::string Names;
    for (unsigned Shared : Pair.Shared)
      Names += (Names.empty() ? "'" : ", '") + buffer(Shared).Name + "'";
    auto About = [&](RemarkId Id) {
      return Reason(Id)
          .with("Kernel", First.Name)
          .with("Next", Second.Name)
          .with("NextAt", at(Pair.Second, First.Where))
          .with("Shared", Names);
    };
    if (const std::optional<EventRef> Between = Pair.Between) {
      const Event &E = Program.event(*Between);
      found(B, First.Where,
            About(RemarkId::NotTogether)
                .with("Cause", E.Kind == EventKind::HostAccess ||
                                       E.Kind == EventKind::Pause
                                   ? E.Name
                                   : "'" + E.Name + "'")
                .with("CauseAt", at(*Between, First.Where)));
      continue;
    }
    if (First.Stream != Second.Stream || First.Stream == UnknownStream) {
      found(B, First.Where, About(RemarkId::NotTogetherStreams));
      continue;
    }
    Directive D{DirectiveKind::Follows, B, Pair.First};
    D.Next = Pair.Second;
    Result.Directives.push_back(D);
    did(B, First.Where, About(RemarkId::RunsTogether));
  }
}

} // namespace

Placement place(const BufferProgram &Program, const PlacementOptions &Options) {
  return Placer(Program, Options).run();
}

} // namespace dragon
