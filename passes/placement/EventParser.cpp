//===- EventParser.cpp - text -> events and pointers ----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/placement/BufferProgramParser.h"
#include "passes/placement/PointerFlow.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dragon {

Error BufferProgramParser::addUses(Event &E, StringRef Names, bool Reads,
                                   bool Writes, StringRef Size) {
  SmallVector<StringRef, 2> Each;
  Names.split(Each, '|');
  for (StringRef Word : Each) {
    auto [Whole, CursorName] = Word.split('@');
    auto [Name, Index] = Whole.split('[');
    if (auto Of = Pointers.find(Name); Of != Pointers.end()) {
      // Which buffers it may be is known at the end.
      E.Pointers.push_back({Of->second, Reads, Writes, Size.empty()});
      continue;
    }
    auto It = Buffers.find(Name);
    if (It == Buffers.end())
      return fail("unknown buffer '" + Name + "'");
    BufferUse U;
    if (!CursorName.empty()) {
      auto Cursor = Cursors.find(CursorName);
      if (Cursor == Cursors.end() ||
          Program.Cursors[Cursor->second].Buffer != It->second)
        return fail("'" + Name + "' has no cursor '" + CursorName + "'");
      U.Cursor = static_cast<int>(Cursor->second);
    }
    U.Buffer = It->second;
    U.Reads = Reads;
    U.Writes = Writes;
    if (Index.consume_back("]")) {
      U.Element = element(Index);
      if (!U.Element)
        return fail("no index: '" + Index + "'");
      U.MustElement = Each.size() == 1;
    }
    U.Must = Each.size() == 1 && !U.Element;
    SizeId Of = Program.Buffers[U.Buffer].Bytes;
    SizeId Bytes = Size.empty() ? Of : sizeOf(Size);
    U.Whole = U.Must && Bytes == Of && Of != 0;
    if (SizedAction *Sized = E.sized(); Sized && !Sized->Bytes)
      Sized->Bytes = Bytes;
    E.Uses.push_back(U);
  }
  return Error::success();
}

Error BufferProgramParser::setFile(Event &E, StringRef Name) {
  auto It = Files.find(Name);
  if (It == Files.end())
    return fail("unknown file '" + Name + "'");
  E.onFile()->File = static_cast<int>(It->second);
  return Error::success();
}

/// Of what is of a size that is known when the call is made.
void BufferProgramParser::noteSize(Event &E, StringRef Size) const {
  for (BufferUse &U : E.Uses)
    U.Testable = Size != "part" && U.Writes && !U.Reads && U.Must && !U.Whole &&
                 Program.Buffers[U.Buffer].Kind != BufferKind::Host;
}

static StringRef operand(ArrayRef<StringRef> Operands, size_t I) {
  return I < Operands.size() ? Operands[I] : StringRef();
}

Error BufferProgramParser::parseAllocation(Event &E,
                                           ArrayRef<StringRef> Operands) {
  return addUses(E, Operands[0], false, false);
}

/// To, from, size.
Error BufferProgramParser::parseCopy(Event &E, ArrayRef<StringRef> Operands) {
  const StringRef Size = operand(Operands, 2);
  // One end of a plain copy may be host memory that is no staging buffer.
  auto IsHost = [&](unsigned I) {
    return E.is<CopyEvent>() && Operands[I] == "-";
  };
  if (!IsHost(0))
    if (Error Failure = addUses(E, Operands[0], false, true, Size))
      return Failure;
  if (!IsHost(1))
    if (Error Failure = addUses(E, Operands[1], true, false, Size))
      return Failure;
  noteSize(E, Size);
  return Error::success();
}

Error BufferProgramParser::parseFill(Event &E, ArrayRef<StringRef> Operands) {
  E.Stream = DefaultStream;
  if (Error Failure =
          addUses(E, Operands[0], false, true, operand(Operands, 1)))
    return Failure;
  noteSize(E, operand(Operands, 1));
  return Error::success();
}

Error BufferProgramParser::parseFileEvent(Event &E,
                                          ArrayRef<StringRef> Operands) {
  if (auto *Open = E.as<FileOpenEvent>())
    Open->IsNew = operand(Operands, 1) == "new";
  return setFile(E, Operands[0]);
}

/// To, from, size: one of both is a file.
Error BufferProgramParser::parseTransfer(Event &E,
                                         ArrayRef<StringRef> Operands) {
  const bool Reads = E.is<FileReadEvent>();
  if (Error Failure = addUses(E, Operands[Reads ? 0 : 1], !Reads, Reads,
                              operand(Operands, 2)))
    return Failure;
  return setFile(E, Operands[Reads ? 1 : 0]);
}

Error BufferProgramParser::parseHostAccess(Event &E,
                                           ArrayRef<StringRef> Operands) {
  E.Name = "host code";
  auto Says = [&](StringRef Word) {
    return is_contained(Operands.drop_front(), Word);
  };
  auto &Access = *E.as<HostAccessEvent>();
  Access.Repeated = Says("repeated");
  Access.OnlyReads = Says("reads");
  Access.InLoop = Says("in-loop");
  Access.Part = Says("part") ? 0 : -1;
  E.Unresolved = Says("unresolved");
  return addUses(E, Operands[0], true, true, "part");
}

Error BufferProgramParser::parseOpaque(Event &E, ArrayRef<StringRef> Operands) {
  E.Name = Operands[0].str();
  for (StringRef Name : Operands.drop_front())
    if (Error Failure = addUses(E, Name, true, true, "part"))
      return Failure;
  return Error::success();
}

Error BufferProgramParser::parseBarrier(Event &E,
                                        ArrayRef<StringRef> Operands) {
  E.Name = "'" + Operands[0].str() + "'";
  return Error::success();
}

Error BufferProgramParser::parseLaunch(Event &E, ArrayRef<StringRef> Operands) {
  LaunchEvent &Launch = *E.as<LaunchEvent>();
  Launch.Sliceable = true;
  E.Stream = DefaultStream;
  E.Name = Operands[0].str();
  Operands = Operands.drop_front();
  while (!Operands.empty()) {
    const StringRef Word = Operands.consume_front();
    if (Word == "stream" && !Operands.empty()) {
      const StringRef Name = Operands.consume_front();
      E.Stream = Name == "?" ? static_cast<StreamId>(UnknownStream)
                             : static_cast<StreamId>(
                                   Streams.try_emplace(Name, Streams.size() + 1)
                                       .first->second);
      continue;
    }
    if (Word == "unsliceable") {
      Launch.Sliceable = false;
      continue;
    }
    auto [Mode, Rest] = Word.split('(');
    if (!Rest.consume_back(")"))
      return fail("expected mode(buffer), not '" + Word + "'");
    bool Must = Mode == "must-write", Tested = Mode == "tested-write";
    bool Writes = Must || Tested || Mode == "write" || Mode == "read-write";
    bool Reads = Mode == "read" || Mode == "read-write";
    if (!Reads && !Writes)
      return fail("unknown mode '" + Mode + "'");
    size_t First = E.Uses.size();
    if (Error Failure = addUses(E, Rest, Reads, Writes, Must ? "" : "part"))
      return Failure;
    for (BufferUse &U : drop_begin(E.Uses, First))
      U.Testable = Tested && (U.Must || U.MustElement);
  }
  return Error::success();
}

Error BufferProgramParser::parseEvent(ArrayRef<StringRef> Words) {
  using P = BufferProgramParser;
  struct Syntax {
    EventAction What;
    size_t Operands; ///< at least
    Error (P::*Rest)(Event &, ArrayRef<StringRef>);
  };
  static const Syntax All[] = {
      {AllocateEvent{}, 1, &P::parseAllocation},
      {FreeEvent{}, 1, &P::parseAllocation},
      {CopyInEvent{}, 2, &P::parseCopy},
      {CopyOutEvent{}, 2, &P::parseCopy},
      {CopyEvent{}, 2, &P::parseCopy},
      {FillEvent{}, 1, &P::parseFill},
      {FileOpenEvent{}, 1, &P::parseFileEvent},
      {FileUseEvent{}, 1, &P::parseFileEvent},
      {FileReadEvent{}, 2, &P::parseTransfer},
      {FileWriteEvent{}, 2, &P::parseTransfer},
      {LaunchEvent{}, 1, &P::parseLaunch},
      {HostAccessEvent{}, 1, &P::parseHostAccess},
      {OpaqueEvent{}, 1, &P::parseOpaque},
      {BarrierEvent{}, 1, &P::parseBarrier},
  };
  const StringRef Verb = Words[0];
  const auto *Of =
      find_if(All, [&](const Syntax &S) { return verbOf(S.What) == Verb; });
  if (Of == std::end(All))
    return fail("unknown event '" + Verb + "'");
  const ArrayRef<StringRef> Operands = Words.drop_front();
  if (Operands.size() < Of->Operands)
    return fail("'" + Verb + "' wants " + Twine(Of->Operands) + " operands");
  Event E;
  E.What = Of->What;
  E.Name = Verb.str();
  E.Where.Line = LineNumber;
  if (Error Failure = (this->*Of->Rest)(E, Operands))
    return Failure;
  current().Events.push_back(std::move(E));
  return Error::success();
}

/// `pointer p a from x, b from y`, `pointer p a if c else b`.
Error BufferProgramParser::parsePointer(ArrayRef<StringRef> Words,
                                        StringRef Line) {
  if (Words.size() < 5)
    return fail("'pointer' wants a name and what it may be");
  if (Buffers.count(Words[1]) ||
      !Pointers.try_emplace(Words[1], Program.Pointers.size()).second)
    return fail("'" + Words[1] + "' is declared twice");
  const unsigned Number = Program.Pointers.size();
  Pointer P;
  P.Name = Words[1].str();
  P.Block = Program.Blocks.size() - 1;
  P.Index = current().Events.size();
  auto Add = [&](StringRef From, StringRef Names) {
    Incomings.emplace_back(LineNumber, From.str(), Names.str());
    IncomingOf.push_back(Number);
  };
  if (Words[3] == "if" && Words.size() == 7 && Words[5] == "else") {
    P.Condition = static_cast<int>(
        Conditions.try_emplace(Words[4], Conditions.size()).first->second);
    Add("", Words[2]);
    Add("", Words[6]);
  } else {
    if (P.Index)
      return fail("'" + Words[1] + "' is made after an event");
    SmallVector<StringRef, 2> Each;
    Line.substr(Line.find(Words[2], Line.find(Words[1]) + Words[1].size()))
        .split(Each, ',');
    for (StringRef Incoming : Each) {
      auto [Names, From] = Incoming.trim().split(" from ");
      Add(From.trim(), Names.trim());
    }
  }
  Program.Pointers.push_back(std::move(P));
  return Error::success();
}

/// What pointers may be, and which buffers events touch by them.
Error BufferProgramParser::finishPointers() {
  for (size_t I = 0; I < Incomings.size(); ++I) {
    const auto &[LineNumber, From, Names] = Incomings[I];
    auto Unknown = [Line = LineNumber](const Twine &What) {
      return createStringError("line " + Twine(Line) + ": unknown " + What);
    };
    Pointer &P = Program.Pointers[IncomingOf[I]];
    Pointer::Incoming W;
    W.From = P.Incomings.empty() ? 1 : 0;
    if (P.isPhi()) {
      auto Block = Blocks.find(From);
      if (Block == Blocks.end())
        return Unknown("block '" + From + "'");
      W.From = Block->second;
    }
    SmallVector<StringRef, 2> Each;
    StringRef(Names).split(Each, '|');
    for (StringRef Name : Each) {
      if (auto Of = Pointers.find(Name); Of != Pointers.end())
        W.Names.push_back(Program.nameOf(Of->second));
      else if (auto It = Buffers.find(Name); It != Buffers.end())
        W.Names.push_back(It->second);
      else
        return Unknown("buffer '" + Name + "'");
    }
    P.Incomings.push_back(std::move(W));
  }
  FlowGraph Graph(Program);
  PointerFlow Flow(Program, Graph);
  for (Block &B : Program.Blocks)
    for (Event &E : B.Events)
      for (const UseByPointer &By : E.Pointers)
        for (unsigned Of :
             Flow.buffers(Program.nameOf(By.Pointer)).set_bits()) {
          BufferUse U;
          U.Buffer = Of;
          U.Reads = By.Reads;
          U.Writes = By.Writes;
          U.ByPointer = true;
          auto *Known = find_if(
              E.Uses, [&](const BufferUse &Use) { return Use.Buffer == Of; });
          if (Known == E.Uses.end()) {
            E.Uses.push_back(U);
            continue;
          }
          Known->Reads |= U.Reads;
          Known->Writes |= U.Writes;
          Known->Must = Known->Whole = Known->Testable = false;
        }
  return Error::success();
}

} // namespace dragon
