//===- SourceWords.cpp - words that a source has --------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-cc/SourceWords.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace dragon::driver {

namespace {

/// More than a program's own files are not read.
constexpr size_t MostFiles = 256;

/// "name" of #include "name"; empty if the line is none.
StringRef includedName(StringRef Line) {
  Line = Line.ltrim();
  if (!Line.consume_front("#"))
    return "";
  Line = Line.ltrim();
  if (!Line.consume_front("include"))
    return "";
  Line = Line.ltrim();
  if (!Line.consume_front("\""))
    return "";
  return Line.take_until([](char C) { return C == '"'; });
}

} // namespace

bool mentions(StringRef File, StringRef Word,
              const std::vector<std::string> &Folders) {
  std::vector<std::string> Waiting = {File.str()};
  StringSet<> Seen;
  while (!Waiting.empty() && Seen.size() < MostFiles) {
    std::string Path = std::move(Waiting.back());
    Waiting.pop_back();
    if (!Seen.insert(Path).second || Path == "-")
      continue;
    ErrorOr<std::unique_ptr<MemoryBuffer>> Text =
        MemoryBuffer::getFile(Path, /*IsText=*/false,
                              /*RequiresNullTerminator=*/false);
    if (!Text)
      continue;
    StringRef Rest = (*Text)->getBuffer();
    if (Rest.contains(Word))
      return true;
    while (!Rest.empty()) {
      StringRef Line;
      std::tie(Line, Rest) = Rest.split('\n');
      StringRef Name = includedName(Line);
      if (Name.empty())
        continue;
      auto Try = [&](StringRef Folder) {
        SmallString<256> Found(Folder);
        sys::path::append(Found, Name);
        if (!sys::fs::is_regular_file(Found))
          return false;
        Waiting.push_back(std::string(Found));
        return true;
      };
      if (!Try(sys::path::parent_path(Path)))
        (void)any_of(Folders, Try);
    }
  }
  return false;
}

} // namespace dragon::driver
