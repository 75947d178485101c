//===- BufferProgramText.cpp - buffer programs as text --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/placement/BufferProgramText.h"
#include "passes/placement/NextUse.h"
#include "passes/placement/PointerFlow.h"

#include "dragon/dragon.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace dragon {

namespace {

class Parser {
public:
  Expected<BufferProgram> parse(StringRef Text);

private:
  Error parseLine(ArrayRef<StringRef> Words, StringRef Line);
  Error parseDeclaration(ArrayRef<StringRef> Words);
  Error parseCursor(ArrayRef<StringRef> Words);
  Error parseBlock(ArrayRef<StringRef> Words);
  Error parseSuccessors(StringRef Names);
  Error parseEvent(ArrayRef<StringRef> Words);
  Error parseLaunch(ArrayRef<StringRef> Words);
  Error parsePointer(ArrayRef<StringRef> Words, StringRef Line);
  Error finishPointers();

  Error fail(const Twine &Message) const {
    return createStringError("line " + Twine(LineNumber) + ": " + Message);
  }
  SizeId sizeOf(StringRef Word) {
    return Word == "part"
               ? 0
               : Sizes.try_emplace(Word, Sizes.size() + 1).first->second;
  }
  /// Adds uses for `a|b`. Size: empty for the whole buffer.
  Error addUses(Event &E, StringRef Names, bool Reads, bool Writes,
                StringRef Size = "");
  Error setFile(Event &E, StringRef Name);
  std::optional<Bound> bound(StringRef Word);
  std::optional<ElementIndex> element(StringRef Word);
  Error parseLoop(ArrayRef<StringRef> Words);
  Block &current() { return Program.Blocks.back(); }

  BufferProgram Program;
  StringMap<unsigned> Buffers, Files, Blocks, Sizes, Streams, Cursors, Loops,
      Numbers, Pointers, Conditions;
  /// Of each pointer: line, name of the way, names.
  std::vector<std::tuple<unsigned, std::string, std::string>> Ways;
  std::vector<unsigned> WaysOf;                          ///< pointer
  std::vector<std::pair<unsigned, std::string>> Headers; ///< line, block
  std::vector<std::pair<unsigned, std::pair<unsigned, std::string>>> Jumps;
  unsigned LineNumber = 0;
  bool Ended = false; ///< the current block has its successors
};

/// `n`, `n-1`, `3`.
std::optional<Bound> Parser::bound(StringRef Word) {
  Bound Result;
  if (!Word.getAsInteger(10, Result.Plus))
    return Result;
  size_t Sign = Word.find_first_of("+-");
  StringRef Name = Word.take_front(Sign), Plus = Word.substr(Name.size());
  Plus.consume_front("+");
  if (Name.empty() || (!Plus.empty() && Plus.getAsInteger(10, Result.Plus)))
    return std::nullopt;
  Result.Base = Numbers.try_emplace(Name, Numbers.size() + 1).first->second;
  return Result;
}

std::optional<ElementIndex> Parser::element(StringRef Word) {
  StringRef Name = Word.take_front(Word.find_first_of("+-"));
  auto It = Loops.find(Name);
  if (It == Loops.end()) {
    std::optional<Bound> At = bound(Word);
    if (!At)
      return std::nullopt;
    return ElementIndex{-1, *At};
  }
  ElementIndex Result{static_cast<int>(It->second), {}};
  StringRef Plus = Word.substr(Name.size());
  Plus.consume_front("+");
  if (!Plus.empty() && Plus.getAsInteger(10, Result.At.Plus))
    return std::nullopt;
  return Result;
}

Error Parser::addUses(Event &E, StringRef Names, bool Reads, bool Writes,
                      StringRef Size) {
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
    if (!E.Bytes)
      E.Bytes = Bytes;
    E.Uses.push_back(U);
  }
  return Error::success();
}

Error Parser::setFile(Event &E, StringRef Name) {
  auto It = Files.find(Name);
  if (It == Files.end())
    return fail("unknown file '" + Name + "'");
  E.File = It->second;
  return Error::success();
}

Error Parser::parseDeclaration(ArrayRef<StringRef> Words) {
  if (Words.size() < 2)
    return fail("'" + Words[0] + "' wants a name");
  if (Words[0] == "file") {
    if (!Files.try_emplace(Words[1], Program.Files.size()).second)
      return fail("'" + Words[1] + "' is declared twice");
    FileHandle File;
    File.Name = Words[1].str();
    for (StringRef Word : Words.drop_front(2)) {
      if (Word != "escapes")
        return fail("unexpected '" + Word + "'");
      File.Escapes = true;
    }
    Program.Files.push_back(File);
    return Error::success();
  }
  if (Words.size() < 3)
    return fail("'" + Words[0] + "' wants a name and a size");
  if (!Buffers.try_emplace(Words[1], Program.Buffers.size()).second)
    return fail("'" + Words[1] + "' is declared twice");
  Buffer B;
  B.Name = Words[1].str();
  B.Kind = Words[0] == "staging" ? BufferKind::Host : BufferKind::Device;
  B.Bytes = sizeOf(Words[2]);
  B.Where.Line = LineNumber;
  B.Mappable = B.Kind == BufferKind::Device;
  for (StringRef Word : Words.drop_front(3)) {
    if (Word == "escapes") {
      B.Escapes = true;
      B.EscapesTo = "a call";
      B.EscapesAt = B.Where;
    } else if (Word == "several") {
      B.Several = true;
    } else if (Word == "array") {
      B.Several = B.Array = true;
    } else if (Word == "managed") {
      B.Kind = BufferKind::Managed;
      B.Mappable = false;
    } else {
      return fail("unexpected '" + Word + "'");
    }
  }
  Program.Buffers.push_back(std::move(B));
  return Error::success();
}

/// cursor <name> <buffer> <the loop's first block>
Error Parser::parseCursor(ArrayRef<StringRef> Words) {
  if (Words.size() != 4)
    return fail("'cursor' wants a name, a buffer and a block");
  auto It = Buffers.find(Words[2]);
  if (It == Buffers.end())
    return fail("unknown buffer '" + Words[2] + "'");
  if (!Cursors.try_emplace(Words[1], Program.Cursors.size()).second)
    return fail("'" + Words[1] + "' is declared twice");
  Program.Cursors.push_back({Words[1].str(), It->second, 0});
  Headers.emplace_back(LineNumber, Words[3].str());
  return Error::success();
}

Error Parser::parseBlock(ArrayRef<StringRef> Words) {
  if (Words.size() < 2)
    return fail("'block' wants a name");
  if (!Blocks.try_emplace(Words[1], Program.Blocks.size()).second)
    return fail("block '" + Words[1] + "' is declared twice");
  if (!Ended)
    current().Successors.push_back(Program.Blocks.size());
  Ended = false;
  Program.Blocks.emplace_back();
  current().Name = Words[1].str();
  Words = Words.drop_front(2);
  if (!Words.empty() && Words[0] == "loop") {
    if (Error Failure = parseLoop(Words))
      return Failure;
    Words = Words.drop_front(7);
  }
  for (StringRef Word : Words) {
    if (Word != "fails")
      return fail("unexpected '" + Word + "'");
    current().Fails = true;
  }
  return Error::success();
}

/// `loop l from 0 up to n`, `loop l from n-1 down to 0`.
Error Parser::parseLoop(ArrayRef<StringRef> Words) {
  if (Words.size() < 7 || Words[2] != "from" || Words[5] != "to" ||
      (Words[4] != "up" && Words[4] != "down"))
    return fail("expected loop l from a up to b, or down to b");
  CountedLoop L;
  L.Name = Words[1].str();
  L.Header = Program.Blocks.size() - 1;
  L.Step = Words[4] == "up" ? 1 : -1;
  std::optional<Bound> First = bound(Words[3]), Last = bound(Words[6]);
  if (!First || !Last)
    return fail("no bounds: '" + Words[3] + "' and '" + Words[6] + "'");
  L.First = *First;
  L.End = L.Step > 0 ? *Last : Last->plus(-1);
  if (!Loops.try_emplace(L.Name, Program.Loops.size()).second)
    return fail("loop '" + L.Name + "' is declared twice");
  Program.Loops.push_back(std::move(L));
  return Error::success();
}

Error Parser::parseSuccessors(StringRef Names) {
  SmallVector<StringRef, 2> Each;
  Names.split(Each, ',');
  for (StringRef Name : Each)
    Jumps.push_back({static_cast<unsigned>(Program.Blocks.size() - 1),
                     {LineNumber, Name.trim().str()}});
  Ended = true;
  return Error::success();
}

/// `pointer p a from x, b from y`, `pointer p a if c else b`.
Error Parser::parsePointer(ArrayRef<StringRef> Words, StringRef Line) {
  if (Words.size() < 5)
    return fail("'pointer' wants a name and ways");
  if (Buffers.count(Words[1]) ||
      !Pointers.try_emplace(Words[1], Program.Pointers.size()).second)
    return fail("'" + Words[1] + "' is declared twice");
  const unsigned Number = Program.Pointers.size();
  Pointer P;
  P.Name = Words[1].str();
  P.Block = Program.Blocks.size() - 1;
  P.Index = current().Events.size();
  auto AddWay = [&](StringRef From, StringRef Names) {
    Ways.emplace_back(LineNumber, From.str(), Names.str());
    WaysOf.push_back(Number);
  };
  if (Words[3] == "if" && Words.size() == 7 && Words[5] == "else") {
    P.Condition = static_cast<int>(
        Conditions.try_emplace(Words[4], Conditions.size()).first->second);
    AddWay("", Words[2]);
    AddWay("", Words[6]);
  } else {
    if (P.Index)
      return fail("'" + Words[1] + "' is made after an event");
    SmallVector<StringRef, 2> Each;
    Line.substr(Line.find(Words[2], Line.find(Words[1]) + Words[1].size()))
        .split(Each, ',');
    for (StringRef Way : Each) {
      auto [Names, From] = Way.trim().split(" from ");
      AddWay(From.trim(), Names.trim());
    }
  }
  Program.Pointers.push_back(std::move(P));
  return Error::success();
}

/// What the ways are, and which buffers events touch by pointers.
Error Parser::finishPointers() {
  for (size_t I = 0; I < Ways.size(); ++I) {
    const auto &[LineNumber, From, Names] = Ways[I];
    auto Unknown = [Line = LineNumber](const Twine &What) {
      return createStringError("line " + Twine(Line) + ": unknown " + What);
    };
    Pointer &P = Program.Pointers[WaysOf[I]];
    Pointer::Way W;
    W.From = P.Ways.empty() ? 1 : 0;
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
    P.Ways.push_back(std::move(W));
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

Error Parser::parseLaunch(ArrayRef<StringRef> Words) {
  Event E;
  E.Kind = EventKind::Launch;
  E.Sliceable = true;
  E.Stream = DefaultStream;
  E.Where.Line = LineNumber;
  if (Words.size() < 2)
    return fail("'launch' wants a kernel");
  E.Name = Words[1].str();
  for (size_t I = 2; I < Words.size(); ++I) {
    if (Words[I] == "stream" && I + 1 < Words.size()) {
      ++I;
      E.Stream = Words[I] == "?"
                     ? static_cast<StreamId>(UnknownStream)
                     : static_cast<StreamId>(
                           Streams.try_emplace(Words[I], Streams.size() + 1)
                               .first->second);
      continue;
    }
    if (Words[I] == "unsliceable") {
      E.Sliceable = false;
      continue;
    }
    auto [Mode, Rest] = Words[I].split('(');
    if (!Rest.consume_back(")"))
      return fail("expected mode(buffer), not '" + Words[I] + "'");
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
  current().Events.push_back(std::move(E));
  return Error::success();
}

Error Parser::parseEvent(ArrayRef<StringRef> Words) {
  StringRef Verb = Words[0];
  Event E;
  E.Name = Verb.str();
  E.Where.Line = LineNumber;
  auto Arg = [&](size_t I) {
    return I < Words.size() ? Words[I] : StringRef();
  };
  auto Needs = [&](size_t Count) -> Error {
    if (Words.size() <= Count)
      return fail("'" + Verb + "' wants " + Twine(Count) + " operands");
    return Error::success();
  };
  Error Failure = Error::success();
  auto Try = [&](Error Next) {
    Failure = Failure ? joinErrors(std::move(Failure), std::move(Next))
                      : std::move(Next);
    return !static_cast<bool>(Failure);
  };

  // Of a size that is known when the call is made.
  auto NoteSize = [&](StringRef Size) {
    for (BufferUse &U : E.Uses)
      U.Testable = Size != "part" && U.Writes && !U.Reads && U.Must &&
                   !U.Whole &&
                   Program.Buffers[U.Buffer].Kind != BufferKind::Host;
  };
  if (Verb == "alloc" || Verb == "free") {
    E.Kind = Verb == "alloc" ? EventKind::Allocate : EventKind::Free;
    if (Try(Needs(1)))
      Try(addUses(E, Arg(1), false, false));
  } else if (Verb == "copy-in" || Verb == "copy-out" || Verb == "copy") {
    E.Kind = Verb == "copy-in"    ? EventKind::CopyIn
             : Verb == "copy-out" ? EventKind::CopyOut
                                  : EventKind::Copy;
    // One end of a plain copy may be host memory that is no staging buffer.
    auto IsHost = [&](unsigned I) {
      return E.Kind == EventKind::Copy && Arg(I) == "-";
    };
    if (Try(Needs(2)) &&
        (IsHost(1) || Try(addUses(E, Arg(1), false, true, Arg(3)))) &&
        !IsHost(2))
      Try(addUses(E, Arg(2), true, false, Arg(3)));
    NoteSize(Arg(3));
  } else if (Verb == "fill") {
    E.Kind = EventKind::Fill;
    E.Stream = DefaultStream;
    if (Try(Needs(1)))
      Try(addUses(E, Arg(1), false, true, Arg(2)));
    NoteSize(Arg(2));
  } else if (Verb == "open" || Verb == "use-file") {
    E.Kind = Verb == "open" ? EventKind::FileOpen : EventKind::FileUse;
    if (Try(Needs(1)))
      Try(setFile(E, Arg(1)));
  } else if (Verb == "file-read") {
    E.Kind = EventKind::FileRead;
    if (Try(Needs(2)) && Try(addUses(E, Arg(1), false, true, Arg(3))))
      Try(setFile(E, Arg(2)));
  } else if (Verb == "file-write") {
    E.Kind = EventKind::FileWrite;
    if (Try(Needs(2)) && Try(addUses(E, Arg(2), true, false, Arg(3))))
      Try(setFile(E, Arg(1)));
  } else if (Verb == "host-access") {
    E.Kind = EventKind::HostAccess;
    E.Name = "host code";
    E.Repeated = Arg(2) == "repeated";
    E.Blind = Arg(2) == "blind";
    if (Try(Needs(1)))
      Try(addUses(E, Arg(1), true, true, "part"));
  } else if (Verb == "opaque") {
    E.Kind = EventKind::Opaque;
    E.Name = Arg(1).str();
    if (Try(Needs(1)))
      for (StringRef Name : Words.drop_front(2))
        if (!Try(addUses(E, Name, true, true, "part")))
          break;
  } else if (Verb == "pause") {
    E.Kind = EventKind::Pause;
    E.Name = "'" + Arg(1).str() + "'";
    Try(Needs(1));
  } else {
    Try(fail("unknown event '" + Verb + "'"));
  }
  if (Failure)
    return Failure;
  current().Events.push_back(std::move(E));
  return Error::success();
}

Error Parser::parseLine(ArrayRef<StringRef> Words, StringRef Line) {
  StringRef Verb = Words[0];
  if (Verb == "buffer" || Verb == "staging" || Verb == "file")
    return parseDeclaration(Words);
  if (Verb == "cursor")
    return parseCursor(Words);
  if (Verb == "block")
    return parseBlock(Words);
  if (Ended)
    return fail("'" + Verb + "' after the end of a block");
  if (Verb == "->")
    return parseSuccessors(Line.drop_front(2));
  if (Verb == "return" || Verb == "exit") {
    current().Returns = Verb == "return";
    Ended = true;
    return Error::success();
  }
  if (Verb == "launch")
    return parseLaunch(Words);
  if (Verb == "pointer")
    return parsePointer(Words, Line);
  return parseEvent(Words);
}

Expected<BufferProgram> Parser::parse(StringRef Text) {
  Program.Blocks.emplace_back();
  current().Name = "entry";
  Blocks["entry"] = 0;
  while (!Text.empty()) {
    auto [Line, Rest] = Text.split('\n');
    Text = Rest;
    ++LineNumber;
    Line = Line.split('#').first.trim();
    SmallVector<StringRef, 8> Words;
    SplitString(Line, Words);
    if (Words.empty())
      continue;
    if (Error Failure = parseLine(Words, Line))
      return std::move(Failure);
  }
  if (!Ended)
    current().Returns = true;
  for (auto &[From, Where] : Jumps) {
    auto [Name, At] = StringRef(Where.second).split(" at ");
    auto It = Blocks.find(Name);
    if (It == Blocks.end())
      return createStringError("line " + Twine(Where.first) +
                               ": unknown block '" + Where.second + "'");
    Program.Blocks[From].Successors.push_back(It->second);
    if (At.empty())
      continue;
    auto [Loop, Value] = At.split('=');
    std::optional<Bound> Counter = bound(Value);
    auto Left = Loops.find(Loop);
    if (!Counter || Left == Loops.end())
      return createStringError("line " + Twine(Where.first) +
                               ": expected the counter of a loop, not '" + At +
                               "'");
    Program.Loops[Left->second].Exits.push_back({From, It->second, *Counter});
  }
  for (size_t C = 0; C < Headers.size(); ++C) {
    auto It = Blocks.find(Headers[C].second);
    if (It == Blocks.end())
      return createStringError("line " + Twine(Headers[C].first) +
                               ": unknown block '" + Headers[C].second + "'");
    Program.Cursors[C].Header = It->second;
  }
  if (Error Failure = finishPointers())
    return std::move(Failure);
  Program.spreadFailure();
  return std::move(Program);
}

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
  for (const Pointer::Way &W : P.Ways) {
    const bool First = &W == P.Ways.begin();
    if (!First)
      Out << (P.isPhi() ? "," : " else");
    Out << ' ';
    ListSeparator Or("|");
    for (NameId Name : W.Names)
      Out << Or << nameOf(Program, Name);
    if (P.isPhi())
      Out << " from " << Program.Blocks[W.From].Name;
    else if (First)
      Out << " if c" << P.Condition;
  }
  Out << '\n';
}

/// `a from x, b from y`, `a if c1 else b`.
void printWays(const BufferProgram &Program, const Directive &D,
               raw_ostream &Out) {
  ListSeparator Comma;
  if (D.Select < 0) {
    for (const DeadOnWay &W : D.Ways)
      Out << Comma << nameOf(Program, W.Name) << " from "
          << Program.Blocks[W.From].Name;
    return;
  }
  auto If = [&](unsigned Given) -> std::string {
    for (const DeadOnWay &W : D.Ways)
      if (W.From == Given)
        return nameOf(Program, W.Name);
    return "nothing";
  };
  Out << If(1) << " if c" << Program.Pointers[D.Select].Condition << " else "
      << If(0);
}

/// An event as others refer to it: a kernel by its name.
std::string eventName(const BufferProgram &Program, EventRef At) {
  const Block &B = Program.Blocks[At.Block];
  if (At.Index >= B.Events.size())
    return "end of " + B.Name;
  const Event &E = B.Events[At.Index];
  std::string Name =
      E.Kind == EventKind::Launch ? E.Name : eventKindName(E.Kind).str();
  if (E.Where.Line)
    Name += " (line " + std::to_string(E.Where.Line) + ")";
  return Name;
}

} // namespace

Expected<BufferProgram> parseBufferProgram(StringRef Text) {
  return Parser().parse(Text);
}

void printBufferProgram(const BufferProgram &Program, raw_ostream &Out) {
  for (const Buffer &B : Program.Buffers) {
    Out << (B.Kind == BufferKind::Host ? "staging " : "buffer ") << B.Name
        << (B.Bytes ? " s" + std::to_string(B.Bytes) : " part");
    if (B.Kind == BufferKind::Managed)
      Out << " managed";
    if (B.Escapes)
      Out << " escapes # to " << B.EscapesTo;
    if (B.Several)
      Out << (B.Array ? " array" : " several");
    Out << '\n';
  }
  for (const Cursor &C : Program.Cursors)
    Out << "cursor " << C.Name << ' ' << Program.Buffers[C.Buffer].Name << ' '
        << Program.Blocks[C.Header].Name << '\n';
  for (const FileHandle &F : Program.Files)
    Out << "file " << F.Name << (F.Escapes ? " escapes" : "") << '\n';
  for (const Block &B : Program.Blocks) {
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
      if (I == B.Events.size())
        break;
      const Event &E = B.Events[I];
      Out << "  " << eventKindName(E.Kind);
      if (E.Kind == EventKind::Launch || E.Kind == EventKind::Opaque ||
          E.Kind == EventKind::Pause)
        Out << ' ' << StringRef(E.Name).trim('\'');
      if (E.File >= 0)
        Out << ' ' << Program.Files[E.File].Name;
      printUses(Program, E, Out);
      if (E.Bytes)
        Out << " s" << E.Bytes;
      if (E.OtherMemory)
        Out << " other";
      if (E.Repeated)
        Out << " repeated";
      if (E.Blind)
        Out << " blind";
      if (E.Stream != Synchronous && E.Stream != DefaultStream)
        Out << " stream " << E.Stream;
      if (E.Kind == EventKind::Launch && !E.Sliceable)
        Out << " unsliceable";
      Out << '\n';
    }
    if (B.Returns)
      Out << "  return\n";
    else if (B.Successors.empty())
      Out << "  exit\n";
    else {
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
  }
}

void printPlacement(const BufferProgram &Program, const Placement &Result,
                    raw_ostream &Out) {
  for (const Directive &D : Result.Directives) {
    if (D.Kind != DirectiveKind::Elide) {
      if (D.Where == Anchor::BlockEntry)
        Out << "at " << Program.Blocks[D.At.Block].Name << ": ";
      else
        Out << (D.Where == Anchor::After ? "after " : "before ")
            << eventName(Program, D.At) << ": ";
    }
    switch (D.Kind) {
    case DirectiveKind::Map:
      Out << "map";
      break;
    case DirectiveKind::Elide:
      Out << "elide";
      break;
    case DirectiveKind::Materialise:
      Out << "materialise";
      break;
    case DirectiveKind::Forget:
      Out << "forget";
      break;
    case DirectiveKind::Discard:
      Out << "discard";
      break;
    case DirectiveKind::Sink:
      Out << "sink";
      break;
    case DirectiveKind::NextUse:
      Out << (D.Launches ? "next-use" : "prefetch");
      break;
    case DirectiveKind::Follows:
      Out << "with " << eventName(Program, D.Next) << " by";
      break;
    }
    Out << ' ';
    if (!D.Ways.empty())
      printWays(Program, D, Out);
    else
      Out << nameOf(Program, D.Name.value_or(D.Buffer));
    if (D.Element)
      Out << elementName(Program, *D.Element);
    if (D.Kind == DirectiveKind::Map) {
      if (D.Flags & D_READ)
        Out << " D_READ";
      if (D.Flags & D_WRITE)
        Out << " D_WRITE";
      if (D.Flags & D_VOLATILE)
        Out << " D_VOLATILE";
    }
    if (D.Kind == DirectiveKind::Sink)
      Out << " by " << eventName(Program, D.Write);
    if (D.Kind == DirectiveKind::NextUse && D.Launches) {
      if (D.Launches == NextNeed::NeverAgain)
        Out << " never";
      else
        Out << " after " << D.Launches << " launches";
    }
    if (D.Kind == DirectiveKind::Discard && D.Stream != DefaultStream)
      Out << " in its stream";
    if (D.Cursor >= 0)
      Out << " below the next " << Program.Cursors[D.Cursor].Name;
    for (EventRef Test : D.Tests)
      Out << (!(Test == D.Tests.front()) ? " and "
              : D.Cursor >= 0            ? " if read upwards by "
                                         : " if overwritten by ")
          << eventName(Program, Test);
    if (D.Eager)
      Out << ", eagerly";
    Out << '\n';
  }
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
