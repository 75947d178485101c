//===- BufferProgramParser.cpp - text -> buffer program -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/placement/BufferProgramParser.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace dragon {

/// `n`, `n-1`, `3`.
std::optional<Bound> BufferProgramParser::bound(StringRef Word) {
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

std::optional<ElementIndex> BufferProgramParser::element(StringRef Word) {
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

Error BufferProgramParser::parseDeclaration(ArrayRef<StringRef> Words) {
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
    } else if (Word == "summary") {
      B.IsSummary = true;
    } else if (Word == "array") {
      B.IsSummary = B.IsArray = true;
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
Error BufferProgramParser::parseCursor(ArrayRef<StringRef> Words) {
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

Error BufferProgramParser::parseBlock(ArrayRef<StringRef> Words) {
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
Error BufferProgramParser::parseLoop(ArrayRef<StringRef> Words) {
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

Error BufferProgramParser::parseSuccessors(StringRef Names) {
  SmallVector<StringRef, 2> Each;
  Names.split(Each, ',');
  for (StringRef Name : Each)
    Jumps.push_back({static_cast<unsigned>(Program.Blocks.size() - 1),
                     {LineNumber, Name.trim().str()}});
  Ended = true;
  return Error::success();
}

Error BufferProgramParser::parseLine(ArrayRef<StringRef> Words,
                                     StringRef Line) {
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
  if (Verb == "pointer")
    return parsePointer(Words, Line);
  return parseEvent(Words);
}

Error BufferProgramParser::finishSuccessors() {
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
  return Error::success();
}

Error BufferProgramParser::finishCursors() {
  for (size_t C = 0; C < Headers.size(); ++C) {
    auto It = Blocks.find(Headers[C].second);
    if (It == Blocks.end())
      return createStringError("line " + Twine(Headers[C].first) +
                               ": unknown block '" + Headers[C].second + "'");
    Program.Cursors[C].Header = It->second;
  }
  return Error::success();
}

Expected<BufferProgram> BufferProgramParser::parse(StringRef Text) {
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
  if (Error Failure = finishSuccessors())
    return std::move(Failure);
  if (Error Failure = finishCursors())
    return std::move(Failure);
  if (Error Failure = finishPointers())
    return std::move(Failure);
  Program.spreadFailure();
  return std::move(Program);
}

Expected<BufferProgram> parseBufferProgram(StringRef Text) {
  return BufferProgramParser().parse(Text);
}

} // namespace dragon
