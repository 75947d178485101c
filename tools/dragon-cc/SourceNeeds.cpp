//===- SourceNeeds.cpp - what the text of a source asks for ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-cc/SourceNeeds.h"

#include "tools/dragon-cc/HeaderEdits.h"
#include "tools/dragon-cc/MissingTemplates.h"
#include "tools/dragon-cc/SourceWords.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace dragon::driver {

Strings SourceNeeds::includeFolders() const {
  Strings Folders;
  for (StringRef Arg : Asked.CompileArgs)
    if (Arg.consume_front("-I"))
      Folders.push_back(Arg.str());
  return Folders;
}

const Strings &SourceNeeds::arguments(const Input &One) {
  auto [Known, New] = Arguments.try_emplace(One.Path);
  Strings &Args = Known->second;
  if (!New)
    return Args;
  Strings Folders = includeFolders();
  if (mentions(One.Path, "cudaBindTexture", Folders))
    Args.push_back("-DDRAGON_TEXTURE_REFERENCES");
  json::Array Roots;
  StringMap<std::pair<std::string, std::string>> Copies;
  auto Replaced = [&] {
    return UnitNames::stem(One) + "-replaced-" + utostr(Names.files().size());
  };
  auto Replace = [&](StringRef Path, std::string Text) {
    SmallString<256> Absolute(Path);
    (void)sys::fs::make_absolute(Absolute);
    sys::path::remove_dots(Absolute, /*remove_dot_dot=*/true);
    std::string Copy = Names.written(Replaced(), ".cu", std::move(Text));
    Roots.push_back(json::Object{{"type", "file"},
                                 {"name", std::string(Absolute)},
                                 {"external-contents", Copy}});
    return Copies[Path] = {std::string(Absolute), Copy};
  };
  for (auto &[Path, Text] : withClangSpelling(One.Path, Folders))
    Replace(Path, std::move(Text));
  for (auto &[Path, Text] :
       editedHeaders(Tools.Cuda + "/include", One.Path, Folders))
    Replace(Path, std::move(Text));
  for (auto &[Path, Text] : filesWith(One.Path, Folders, mayMissTemplates)) {
    auto Copy = Copies.find(Path);
    Sources.push_back(Copy == Copies.end() ? Replace(Path, std::move(Text))
                                           : Copy->second);
  }
  if (Roots.empty())
    return Args;
  std::string Text;
  raw_string_ostream(Text) << json::Value(
      json::Object{{"version", 0},
                   {"use-external-names", false},
                   {"roots", std::move(Roots)}});
  append(Args,
         {"-ivfsoverlay", Names.written(Replaced(), ".json", std::move(Text))});
  return Args;
}

const std::string &SourceNeeds::standard(const Input &One) {
  auto [Known, New] = Standards.try_emplace(One.Path, Asked.Standard);
  std::string &Standard = Known->second;
  if (!New)
    return Standard;
  StringRef Name = Asked.Standard;
  bool Gnu = Name.consume_front("gnu");
  if (!Gnu)
    Name.consume_front("c");
  if (!is_contained({"++98", "++03", "++0x", "++11", "++1y", "++14"}, Name) ||
      !sys::fs::is_directory(Tools.Cuda + "/include/cccl"))
    return Standard;
  static constexpr StringLiteral Headers[] = {"cooperative_groups", "cub/",
                                              "cuda/", "thrust/"};
  if (!includesAny(One.Path, Headers, includeFolders()))
    return Standard;
  if (!is_contained(Asked.CompileArgs, "-w"))
    Warnings.push_back(
        "'" + One.Path +
        "' is compiled as C++17, not with -std=" + Asked.Standard +
        ": CUDA 13's Thrust, CUB, libcu++ and cooperative groups "
        "take nothing older");
  return Standard = Gnu ? "gnu++17" : "c++17";
}

} // namespace dragon::driver
