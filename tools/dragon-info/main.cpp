//===- main.cpp - dragon-info, what machines offer and programs do --------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/Bytes.h"
#include "tools/dragon-info/Machine.h"
#include "tools/dragon-info/Program.h"
#include "tools/dragon-info/Programs.h"

#include <cstdio>
#include <optional>
#include <string_view>

using namespace dragon;

static const char Help[] =
    "usage: dragon-info [options]\n"
    "       dragon-info [--json] PROGRAM\n"
    "Says what this machine offers to programs built by dragon-cc, and which "
    "back end they take and why.\nDRAGON_ variables have the meaning that they "
    "have to programs.\nOf a program (an executable, library or object) "
    "it says what its kernels do to\nbuffers, and how they can run beyond "
    "device memory.\n\n"
    "  --programs    which programs share a device, and who has how much of "
    "it\n"
    "  --watch       the same each second, until interrupted\n"
    "  --json        as JSON, with rates in bytes a second\n"
    "  --no-rates    measures nothing\n"
    "  --rates SIZE  what rates are measured with, such as 64M (default: "
    "256M)\n"
    "  --help        this text\n";

static int tellOf(const std::string &Path, bool Json) {
  auto Found = info::findProgram(Path);
  if (!Found.ok()) {
    fmt::print(stderr, "dragon-info: error: {}\n",
               Found.takeStatus().message());
    return 1;
  }
  fmt::print("{}",
             Json ? info::formatJson(*Found) : info::formatText(Path, *Found));
  return Found->Kernels.empty() ? 1 : 0;
}

int main(int Count, char **Words) {
  bool Json = false;
  std::optional<info::ProgramsShown> Programs;
  std::string Program;
  uint64_t Bytes = uint64_t(256) << 20;
  for (int I = 1; I < Count; ++I) {
    const std::string_view Word = Words[I];
    if (Word == "--json") {
      Json = true;
    } else if (Word == "--programs") {
      Programs = info::ProgramsShown::Once;
    } else if (Word == "--watch") {
      Programs = info::ProgramsShown::EachSecond;
    } else if (Word == "--no-rates") {
      Bytes = 0;
    } else if (Word == "--rates" && I + 1 < Count) {
      const auto Size = parseBytes(Words[++I]);
      if (!Size || *Size < (1 << 20) || *Size > (uint64_t(16) << 30)) {
        fmt::print(stderr,
                   "dragon-info: error: --rates {}: expected a size between 1M "
                   "and 16G\n",
                   Words[I]);
        return 1;
      }
      Bytes = *Size >> 20 << 20;
    } else if (Word == "--help") {
      fmt::print("{}", Help);
      return 0;
    } else if (!Word.starts_with('-') && Program.empty()) {
      Program = Word;
    } else {
      fmt::print(stderr, "dragon-info: error: unknown option '{}'\n{}", Word,
                 Help);
      return 1;
    }
  }
  if (!Program.empty())
    return tellOf(Program, Json);
  auto Read = Settings::fromEnvironment();
  if (!Read.ok()) {
    fmt::print(stderr, "dragon-info: error: {}\n", Read.takeStatus().message());
    return 1;
  }
  for (const std::string &Line : unknownVariables())
    fmt::print(stderr, "dragon-info: warning: {}\n", Line);
  Settings &Set = *Read;
  if (Programs)
    return info::showPrograms(Set.shareDir, *Programs, Json);
  Set.quiet = true; // what it would say stands below
  info::Machine All{info::findDriver(),
                    info::findHost(),
                    info::chooseBackEnd(Set),
                    {},
                    {},
                    {},
                    {}};
  if (Device *Taken = All.Choice.Taken.get()) {
    if (auto Memory = Taken->memory(); Memory.ok())
      All.DeviceRoom = *Memory;
    if (Bytes)
      All.Link = info::measureLink(*Taken, Bytes);
    else
      All.Link.WhyNot = "--no-rates";
    All.Peers = info::findPeers(*Taken, Bytes);
  } else {
    All.Link.WhyNot = "there is no device";
  }
  for (const std::string &Path : Set.swapDirs)
    All.Disks.push_back(info::findDisk(Path, Set, Bytes));
  const std::string Text = Json ? info::formatJson(All) : info::formatText(All);
  std::fwrite(Text.data(), 1, Text.size(), stdout);
  return All.Choice.Taken ? 0 : 1;
}
