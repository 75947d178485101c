//===- main.cpp - a kernel's footprint for one launch ---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   dragon-footprint <summary> <kernel> <grid> <block> [box=<lo>:<hi>] <args>
//
// grid, block, lo, hi are x[,y[,z]]. Arguments in order: a number for a scalar,
// `-` for a pointer, and for a structure its fields {offset:bytes=value,...}.
// Prints one line per pointer:
//
//   a: read [0,400) write [0,400) must [0,400)
//
//===----------------------------------------------------------------------===//

#include "dragon/FootprintEval.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using namespace dragon;

static void fail(const std::string &Message) {
  std::fprintf(stderr, "error: %s\n", Message.c_str());
  std::exit(1);
}

static void parseTriple(const std::string &Text, uint32_t *Out,
                        uint32_t Default) {
  Out[0] = Out[1] = Out[2] = Default;
  const char *At = Text.c_str();
  for (int I = 0; I < 3; ++I) {
    char *End;
    Out[I] = uint32_t(std::strtoul(At, &End, 10));
    if (End == At)
      fail("expected numbers in '" + Text + "'");
    if (*End != ',')
      break;
    At = End + 1;
  }
}

static std::vector<char> parseArgument(const std::string &Text, size_t Bytes) {
  std::vector<char> Value(Bytes < 8 ? 8 : Bytes);
  auto put = [&](size_t Offset, size_t Size, int64_t Number) {
    if (Size > 8 || Offset + Size > Value.size())
      fail("field outside of its argument in '" + Text + "'");
    std::memcpy(Value.data() + Offset, &Number, Size);
  };
  if (Text == "-")
    return Value;
  if (Text[0] != '{') {
    put(0, 8, std::strtoll(Text.c_str(), nullptr, 0));
    return Value;
  }
  const char *At = Text.c_str() + 1;
  while (*At && *At != '}') {
    char *End;
    size_t Offset = std::strtoull(At, &End, 10);
    size_t Size = *End == ':' ? std::strtoull(End + 1, &End, 10) : 0;
    if (*End != '=')
      fail("expected offset:bytes=value in '" + Text + "'");
    put(Offset, Size, std::strtoll(End + 1, &End, 0));
    At = *End == ',' ? End + 1 : End;
  }
  return Value;
}

static void print(const char *Name, const ByteSet &Set) {
  if (!Set.Everything && Set.Ranges.empty())
    return;
  std::printf(" %s", Name);
  if (Set.Everything)
    std::printf(" everything");
  for (const ByteRange &R : Set.Ranges)
    std::printf(" [%lld,%lld)", (long long)R.Begin, (long long)R.End);
}

int main(int Count, char **Values) {
  std::vector<std::string> Words(Values + 1, Values + Count);
  if (Words.size() < 4)
    fail("usage: dragon-footprint <summary> <kernel> <grid> <block> "
         "[box=<lo>:<hi>] <arguments>");
  std::ifstream File(Words[0], std::ios::binary);
  std::vector<char> Blob{std::istreambuf_iterator<char>(File), {}};
  SummaryView View;
  std::string Error;
  if (!SummaryView::open(Blob.data(), Blob.size(), View, Error))
    fail("'" + Words[0] + "': " + Error);
  const KernelRecord *Kernel = View.findKernel(Words[1].c_str());
  if (!Kernel)
    fail("no kernel '" + Words[1] + "' in '" + Words[0] + "'");

  LaunchDims Launch{};
  parseTriple(Words[2], Launch.Grid, 1);
  parseTriple(Words[3], Launch.Block, 1);
  BlockBox Box{{0, 0, 0}, {Launch.Grid[0], Launch.Grid[1], Launch.Grid[2]}};
  size_t First = 4;
  if (Words.size() > First && Words[First].rfind("box=", 0) == 0) {
    std::string Text = Words[First++].substr(4);
    size_t Colon = Text.find(':');
    if (Colon == std::string::npos)
      fail("expected box=<lo>:<hi>");
    parseTriple(Text.substr(0, Colon), Box.Lo, 0);
    parseTriple(Text.substr(Colon + 1), Box.Hi, 1);
  }
  std::vector<std::vector<char>> Arguments;
  for (size_t I = First; I < Words.size(); ++I)
    if (I - First < Kernel->NumArgs)
      Arguments.push_back(
          parseArgument(Words[I], View.argSizes(*Kernel)[I - First]));
  if (Arguments.size() != Kernel->NumArgs ||
      Words.size() - First != Kernel->NumArgs)
    fail("'" + Words[1] + "' has " + std::to_string(Kernel->NumArgs) +
         " arguments");
  std::vector<const void *> Pointers;
  for (const std::vector<char> &A : Arguments)
    Pointers.push_back(A.data());
  Launch.Args = Pointers.data();

  if (Kernel->Flags & (KernelTouchesAnything | KernelUnknown))
    std::printf("touches anything\n");
  for (uint32_t I = 0; I < Kernel->NumPointers; ++I) {
    uint32_t Index = Kernel->FirstPointer + I;
    const PointerRecord &P = View.pointer(Index);
    ByteFootprint F = evaluateFootprint(View, *Kernel, Index, Launch, Box);
    if (P.Name)
      std::printf("%s:", View.string(P.Name));
    else
      std::printf("argument %u+%u:", P.ArgIndex, P.ByteOffset);
    print("read", F.MayRead);
    print("write", F.MayWrite);
    print("must", F.MustWrite);
    print("atomic", F.Atomic);
    std::printf("\n");
  }
}
