//===- BufferProgramPrinter.cpp - buffer programs and directives as text --===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/placement/BufferProgramText.h"
#include "passes/placement/NextUse.h"

#include "dragon/dragon.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace dragon {

namespace {

std::string boundName(const Bound &B) {
  if (!B.Base)
    return std::to_string(B.Plus);
  return "n" + std::to_string(B.Base) + (B.Plus > 0 ? "+" : "") +
         (B.Plus ? std::to_string(B.Plus) : "");
}

std::string elementName(const BufferProgram &Program, const ElementIndex &E) {
  if (E.Loop < 0)
    return "[" + boundName(E.At) + "]";
  return "[" + Program.Loops[static_cast<size_t>(E.Loop)].Name +
         (E.At.Plus > 0 ? "+" : "") +
         (E.At.Plus ? std::to_string(E.At.Plus) : "") + "]";
}

std::string nameOf(const BufferProgram &Program, NameId Name) {
  const Pointer *P = Program.pointer(Name);
  if (!P)
    return Program.Buffers[Name].Name;
  return P->Name.empty() ? "p" + std::to_string(Name - Program.Buffers.size())
                         : P->Name;
}

void printUses(const BufferProgram &Program, const Event &E, raw_ostream &Out) {
  for (const BufferUse &U : E.Uses) {
    const char *Mode = U.Reads    ? (U.Writes ? "read-write" : "read")
                       : U.Writes ? (U.Whole      ? "must-write"
                                     : U.Testable ? "tested-write"
                                                  : "write")
                                  : "";
    Out << ' ' << Mode << '(' << Program.Buffers[U.Buffer].Name
        << (U.Element ? elementName(Program, *U.Element) : "");
    if (U.Cursor >= 0)
      Out << '@' << Program.Cursors[U.Cursor].Name;
    Out << ')';
    if (!U.Must && !U.MustElement)
      Out << '?';
    else if (U.Whole && U.Reads)
      Out << '*';
  }
  for (const UseByPointer &U : E.Pointers)
    Out << (&U == E.Pointers.begin() ? " by " : " ")
        << (U.Reads    ? U.Writes ? "read-write(" : "read("
            : U.Writes ? U.Whole ? "must-write(" : "write("
                       : "(")
        << nameOf(Program, Program.nameOf(U.Pointer)) << ')';
}

/// `pointer p a if c1 else b`.
void printPointer(const BufferProgram &Program, const Pointer &P,
                  raw_ostream &Out) {
  Out << "  pointer "
      << nameOf(Program, Program.nameOf(&P - Program.Pointers.data()));
  for (const Pointer::Incoming &In : P.Incomings) {
    const bool First = &In == P.Incomings.begin();
    if (!First)
      Out << (P.isPhi() ? "," : " else");
    Out << ' ';
    ListSeparator Or("|");
    for (NameId Name : In.Names)
      Out << Or << nameOf(Program, Name);
    if (P.isPhi())
      Out << " from " << Program.Blocks[In.From].Name;
    else if (First)
      Out << " if c" << P.Condition;
  }
  Out << '\n';
}

/// `a from x, b from y`, `a if c1 else b`.
void printEdges(const BufferProgram &Program, const DeadOnEdges &Dead,
                raw_ostream &Out) {
  ListSeparator Comma;
  if (Dead.Select < 0) {
    for (const DeadOnEdge &Edge : Dead.Edges)
      Out << Comma << nameOf(Program, Edge.Name) << " from "
          << Program.Blocks[Edge.From].Name;
    return;
  }
  auto If = [&](unsigned Given) -> std::string {
    for (const DeadOnEdge &Edge : Dead.Edges)
      if (Edge.From == Given)
        return nameOf(Program, Edge.Name);
    return "nothing";
  };
  Out << If(1) << " if c" << Program.Pointers[Dead.Select].Condition << " else "
      << If(0);
}

/// An event as others refer to it: a kernel by its name.
std::string eventName(const BufferProgram &Program, EventRef At) {
  const Block &B = Program.Blocks[At.Block];
  if (At.Index >= B.Events.size())
    return "end of " + B.Name;
  const Event &E = B.Events[At.Index];
  std::string Name = E.is<LaunchEvent>() ? E.Name : verbOf(E.What).str();
  if (E.Where.Line)
    Name += " (line " + std::to_string(E.Where.Line) + ")";
  return Name;
}

void printBuffer(const Buffer &B, raw_ostream &Out) {
  Out << (B.Kind == BufferKind::Host ? "staging " : "buffer ") << B.Name
      << (B.Bytes ? " s" + std::to_string(B.Bytes) : " part");
  if (B.Kind == BufferKind::Managed)
    Out << " managed";
  if (B.Escapes)
    Out << " escapes # to " << B.EscapesTo;
  if (B.IsSummary)
    Out << (B.IsArray ? " array" : " summary");
  Out << '\n';
}

void printEvent(const BufferProgram &Program, const Event &E,
                raw_ostream &Out) {
  Out << "  " << verbOf(E.What);
  if (E.is<LaunchEvent, OpaqueEvent, BarrierEvent>())
    Out << ' ' << StringRef(E.Name).trim('\'');
  if (const FileAction *On = E.onFile(); On && On->File >= 0)
    Out << ' ' << Program.Files[On->File].Name;
  if (const auto *Open = E.as<FileOpenEvent>(); Open && Open->IsNew)
    Out << " new";
  printUses(Program, E, Out);
  if (const SizedAction *Sized = E.sized(); Sized && Sized->Bytes)
    Out << " s" << Sized->Bytes;
  if (E.OtherMemory)
    Out << " other";
  if (const auto *Access = E.as<HostAccessEvent>(); Access) {
    if (Access->Repeated)
      Out << " repeated";
    if (Access->OnlyReads)
      Out << " reads";
    if (Access->InLoop)
      Out << " in-loop";
    if (Access->Part >= 0)
      Out << " part";
  }
  if (E.Unresolved)
    Out << " unresolved";
  if (E.Stream != Synchronous && E.Stream != DefaultStream)
    Out << " stream " << E.Stream;
  if (const auto *Launch = E.as<LaunchEvent>(); Launch && !Launch->Sliceable)
    Out << " unsliceable";
  Out << '\n';
}

/// `-> name, name`, `return`, `exit`.
void printEnd(const BufferProgram &Program, const Block &B, raw_ostream &Out) {
  if (B.Successors.empty() || B.Returns) {
    Out << (B.Returns ? "  return\n" : "  exit\n");
    return;
  }
  Out << "  ->";
  ListSeparator Comma(",");
  for (unsigned S : B.Successors) {
    Out << Comma << ' ' << Program.Blocks[S].Name;
    for (const CountedLoop &L : Program.Loops)
      for (const CountedLoop::Exit &X : L.Exits)
        if (&Program.Blocks[X.From] == &B && X.To == S)
          Out << " at " << L.Name << '=' << boundName(X.At);
  }
  Out << '\n';
}

void printBlock(const BufferProgram &Program, const Block &B,
                raw_ostream &Out) {
  Out << "block " << B.Name;
  for (const CountedLoop &L : Program.Loops)
    if (&Program.Blocks[L.Header] == &B)
      Out << " loop " << L.Name << " from " << boundName(L.First)
          << (L.Step > 0 ? " up to " : " down to ")
          << boundName(L.Step > 0 ? L.End : L.End.plus(1));
  Out << (B.Fails ? " fails" : "") << '\n';
  for (unsigned I = 0; I <= B.Events.size(); ++I) {
    for (const Pointer &P : Program.Pointers)
      if (&Program.Blocks[P.Block] == &B && P.Index == I)
        printPointer(Program, P, Out);
    if (I < B.Events.size())
      printEvent(Program, B.Events[I], Out);
  }
  printEnd(Program, B, Out);
}

} // namespace

void printBufferProgram(const BufferProgram &Program, raw_ostream &Out) {
  for (const Buffer &B : Program.Buffers)
    printBuffer(B, Out);
  for (const Cursor &C : Program.Cursors)
    Out << "cursor " << C.Name << ' ' << Program.Buffers[C.Buffer].Name << ' '
        << Program.Blocks[C.Header].Name << '\n';
  for (const FileHandle &F : Program.Files)
    Out << "file " << F.Name << (F.Escapes ? " escapes" : "") << '\n';
  for (const Block &B : Program.Blocks)
    printBlock(Program, B, Out);
}

namespace {

void printDiscard(const BufferProgram &Program, const Directive &D,
                  const DiscardDirective &Discard, raw_ostream &Out) {
  const std::string Buffer = nameOf(Program, D.Buffer);
  const auto *Behind = Discard.of<BelowCursor>();
  Out << "discard ";
  std::visit(
      makeVisitor(
          [&](const WholeBuffer &) { Out << Buffer; },
          [&](const BelowCursor &) { Out << Buffer; },
          [&](const ElementIndex &Of) {
            Out << Buffer << elementName(Program, Of);
          },
          [&](const PointedTo &By) { Out << nameOf(Program, By.Name); },
          [&](const DeadOnEdges &Dead) { printEdges(Program, Dead, Out); }),
      Discard.Of);
  if (Discard.Stream != DefaultStream)
    Out << " in its stream";
  if (Behind)
    Out << " below the next " << Program.Cursors[Behind->Cursor].Name;
  for (EventRef Test : Discard.Tests)
    Out << (!(Test == Discard.Tests.front()) ? " and "
            : Behind                         ? " if read upwards by "
                                             : " if overwritten by ")
        << eventName(Program, Test);
  if (Discard.Eager)
    Out << ", eagerly";
}

void printNextUse(StringRef Buffer, const NextUseDirective &Next,
                  raw_ostream &Out) {
  Out << (Next.Launches ? "next-use " : "prefetch ") << Buffer;
  if (Next.Launches == NextNeed::NeverAgain)
    Out << " never";
  else if (Next.Launches)
    Out << " after " << Next.Launches << " launches";
}

void printDirective(const BufferProgram &Program, const Directive &D,
                    raw_ostream &Out) {
  const std::string Buffer = nameOf(Program, D.Buffer);
  if (D.Where == Anchor::BlockEntry)
    Out << "at " << Program.Blocks[D.At.Block].Name << ": ";
  else if (!D.is<ElideDirective>())
    Out << (D.Where == Anchor::After ? "after " : "before ")
        << eventName(Program, D.At) << ": ";
  std::visit(makeVisitor(
                 [&](const MapDirective &Map) {
                   Out << "map " << Buffer
                       << (Map.Flags & D_READ ? " D_READ" : "")
                       << (Map.Flags & D_WRITE ? " D_WRITE" : "")
                       << (Map.Flags & D_VOLATILE ? " D_VOLATILE" : "");
                 },
                 [&](const ElideDirective &) { Out << "elide " << Buffer; },
                 [&](const MaterialiseDirective &) {
                   Out << "materialise " << Buffer;
                 },
                 [&](const ZeroDirective &) { Out << "zero " << Buffer; },
                 [&](const DeferDirective &) { Out << "defer " << Buffer; },
                 [&](const SettleDirective &) { Out << "settle " << Buffer; },
                 [&](const ForgetDirective &) { Out << "forget " << Buffer; },
                 [&](const DiscardDirective &Discard) {
                   printDiscard(Program, D, Discard, Out);
                 },
                 [&](const ResultDirective &Placed) {
                   Out << "place " << Buffer << " in "
                       << Program.Buffers[Placed.Host].Name;
                 },
                 [&](const SinkDirective &Sink) {
                   Out << "sink " << Buffer << " by "
                       << eventName(Program, Sink.Write);
                   if (Sink.Open)
                     Out << " after " << eventName(Program, *Sink.Open);
                 },
                 [&](const SinkEndsDirective &Ends) {
                   Out << "end sink " << Buffer << (Ends.Dead ? " dead" : "");
                 },
                 [&](const NextUseDirective &Next) {
                   printNextUse(Buffer, Next, Out);
                 },
                 [&](const FollowsDirective &Follows) {
                   Out << "with " << eventName(Program, Follows.Next) << " by "
                       << Buffer;
                 }),
             D.What);
  Out << '\n';
}

} // namespace

void printPlacement(const BufferProgram &Program, const Placement &Result,
                    raw_ostream &Out) {
  for (const Directive &D : Result.Directives)
    printDirective(Program, D, Out);
  for (const Finding &F : Result.Findings) {
    const char *Kind = remarkKind(F.Why.Id) == RemarkKind::Passed ? "passed"
                       : remarkKind(F.Why.Id) == RemarkKind::Missed
                           ? "missed"
                           : "analysis";
    Out << "line " << F.Where.Line << ": " << Kind << ": " << remarkText(F.Why)
        << '\n';
  }
}

} // namespace dragon
