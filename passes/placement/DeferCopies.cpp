//===- DeferCopies.cpp - copies to the device that may come later ---------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A copy to the device need not be made when it is called, if what it copies
// stays where it is until the device has it: the runtime then fetches the bytes
// from the program's memory when a kernel needs them. In front of all that may
// change or free that memory, what is still needed of it is copied (settled).
// So it must be known who can reach the memory, as for staging buffers that are
// elided; but who only reads it does no harm.
//
// Where that would be in front of the next launch on every path, the copy is
// made as the program says.
//
//===----------------------------------------------------------------------===//

#include "passes/placement/Decisions.h"
#include "passes/placement/ForwardWalk.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

using namespace llvm;

namespace dragon {

namespace {

/// Which copies of which host buffers.
class Deferral {
public:
  explicit Deferral(const ProgramFacts &Facts)
      : Facts(Facts), RuledOut(Facts.Program.Buffers.size()) {}

  void decide(PlacementBuilder &Result);

private:
  bool isHost(unsigned B) const {
    return Facts.buffer(B).Kind == BufferKind::Host;
  }
  std::optional<Reason> whyNot(unsigned B) const;
  Reason because(unsigned B, RemarkId Id, StringRef Cause,
                 const Position &At) const;
  std::optional<EventRef> changedBeforeLaunch(EventRef Copy, unsigned B) const;
  std::optional<Reason> whyNot(EventRef Copy) const;

  const ProgramFacts &Facts;
  std::vector<std::optional<Reason>> RuledOut; ///< by buffer
};

/// Its contents may be others then, or none.
bool mayChange(const Event &E, unsigned B) {
  if (!E.find(B))
    return false;
  if (const auto *Access = E.as<HostAccessEvent>())
    return !Access->OnlyReads;
  return E.is<FreeEvent>() || E.writes(B);
}

Reason Deferral::because(unsigned B, RemarkId Id, StringRef Cause,
                         const Position &At) const {
  return Facts.about(B, Id)
      .with("Cause", Cause.str())
      .with("CauseAt", describe(At, Facts.buffer(B).Where));
}

/// Why it is not known who changes the buffer.
std::optional<Reason> Deferral::whyNot(unsigned B) const {
  const Buffer &Of = Facts.buffer(B);
  if (Of.Escapes)
    return because(B, RemarkId::NotDeferredEscapes, whoKeeps(Of), Of.EscapesAt);
  for (EventRef At : Facts.Program.uses(B)) {
    const Event &E = Facts.event(At);
    if (E.is<OpaqueEvent, LaunchEvent>())
      return because(B, RemarkId::NotDeferredEscapes, "'" + E.Name + "'",
                     E.Where);
    if (Of.IsSummary || E.Unresolved)
      return because(B, RemarkId::NotDeferredSeveral, nameOf(E), E.Where);
  }
  return std::nullopt;
}

/// What changes the buffer on the way from the copy to the next launch, if
/// something does so on every way.
std::optional<EventRef> Deferral::changedBeforeLaunch(EventRef Copy,
                                                      unsigned B) const {
  std::optional<EventRef> Changes;
  const bool NoLaunch = walkForward(Facts.Program, {Copy.Block, Copy.Index + 1},
                                    [&](EventRef At) {
                                      if (Facts.event(At).is<LaunchEvent>())
                                        return Walk::End;
                                      if (!mayChange(Facts.event(At), B))
                                        return Walk::On;
                                      Changes = At;
                                      return Walk::Leave;
                                    });
  return NoLaunch ? Changes : std::nullopt;
}

/// Nothing: it is. A reason without a name: and there is no need to tell.
std::optional<Reason> Deferral::whyNot(EventRef Copy) const {
  const Event &E = Facts.event(Copy);
  for (const BufferUse &U : E.Uses)
    if (isHost(U.Buffer) && RuledOut[U.Buffer])
      return RuledOut[U.Buffer];
  for (const BufferUse &U : E.Uses) {
    if (!isHost(U.Buffer))
      continue;
    if (E.OtherMemory)
      return because(U.Buffer, RemarkId::NotDeferredOther, nameOf(E), E.Where);
    if (const auto At = changedBeforeLaunch(Copy, U.Buffer))
      return because(U.Buffer, RemarkId::NotDeferredChanged,
                     nameOf(Facts.event(*At)), Facts.event(*At).Where);
  }
  return std::nullopt;
}

void Deferral::decide(PlacementBuilder &Result) {
  for (unsigned B = 0; B < RuledOut.size(); ++B)
    if (isHost(B))
      RuledOut[B] = whyNot(B);
  for (unsigned Block : Facts.Graph.order())
    for (unsigned I = 0; I < Facts.Program.Blocks[Block].Events.size(); ++I) {
      const EventRef At{Block, I};
      const Event &E = Facts.event(At);
      if (!E.is<CopyInEvent>())
        continue;
      const auto *From =
          find_if(E.Uses, [&](const BufferUse &U) { return isHost(U.Buffer); });
      const auto *To = find_if(
          E.Uses, [&](const BufferUse &U) { return !isHost(U.Buffer); });
      if (From == E.Uses.end()) {
        if (To != E.Uses.end() && E.OtherMemory && !E.as<CopyInEvent>()->Few)
          Result.tell({To->Buffer, E.Where,
                       Facts.about(To->Buffer, RemarkId::NotDeferredOutside)});
        continue;
      }
      // What is elided is deferred in its own way.
      if (any_of(E.Uses, [&](const BufferUse &U) {
            return Facts.Staging.Elided[U.Buffer];
          }))
        continue;
      if (std::optional<Reason> Why = whyNot(At)) {
        Result.tell({From->Buffer, E.Where, std::move(*Why)});
        continue;
      }
      Result.add({From->Buffer, At, DeferDirective{}}, E.Where,
                 Facts.about(From->Buffer, RemarkId::CopyDeferred)
                     .with("Device", To == E.Uses.end()
                                         ? std::string("device memory")
                                         : Facts.buffer(To->Buffer).Name));
    }
}

} // namespace

void deferCopies(const ProgramFacts &Facts, PlacementBuilder &Result) {
  Deferral(Facts).decide(Result);
}

/// By host buffer: from where on its memory may stand for a device buffer's.
static std::vector<SmallVector<EventRef, 2>>
sources(const ProgramFacts &Facts, ArrayRef<Directive> Directives) {
  std::vector<SmallVector<EventRef, 2>> From(Facts.Program.Buffers.size());
  for (const Directive &D : Directives) {
    if (const auto *Placed = D.as<ResultDirective>())
      From[Placed->Host].push_back(D.At);
    if (D.is<DeferDirective>())
      for (const BufferUse &U : Facts.event(D.At).Uses)
        if (Facts.buffer(U.Buffer).Kind == BufferKind::Host)
          From[U.Buffer].push_back(D.At);
  }
  return From;
}

/// Results come to the place that has been kept for them, and the memory stands
/// for no other buffer's contents.
static bool isOwnPlace(const ProgramFacts &Facts,
                       ArrayRef<Directive> Directives, unsigned Host,
                       EventRef Copy) {
  std::optional<unsigned> Own;
  for (const Directive &D : Directives)
    if (const auto *Placed = D.as<ResultDirective>();
        Placed && Placed->Copy == Copy)
      Own = D.Buffer;
  return Own && none_of(Directives, [&](const Directive &D) {
           if (const auto *Placed = D.as<ResultDirective>())
             return Placed->Host == Host && D.Buffer != *Own;
           const Event *From =
               D.is<DeferDirective>() ? &Facts.event(D.At) : nullptr;
           return From && From->find(Host) &&
                  any_of(From->Uses, [&](const BufferUse &U) {
                    return U.Buffer != Host && U.Buffer != *Own;
                  });
         });
}

void settleSources(const ProgramFacts &Facts, PlacementBuilder &Result) {
  const auto From = sources(Facts, Result.directives());
  for (unsigned B = 0; B < From.size(); ++B)
    for (EventRef At : Facts.Program.uses(B)) {
      const Event &E = Facts.event(At);
      if (!mayChange(E, B) || none_of(From[B], [&](EventRef Since) {
            return Facts.Graph.mayPrecede(Since, At);
          }))
        continue;
      if (isOwnPlace(Facts, Result.directives(), B, At))
        continue;
      // At its end there is nothing to copy, as a rule.
      if (E.is<FreeEvent>())
        Result.add({B, At, SettleDirective{}});
      else
        Result.add(
            {B, At, SettleDirective{}}, E.Where,
            Facts.about(B, RemarkId::CopySettled).with("Cause", nameOf(E)));
    }
}

} // namespace dragon
