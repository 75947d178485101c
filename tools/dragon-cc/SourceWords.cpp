//===- SourceWords.cpp - what a program's own files say -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-cc/SourceWords.h"

#include "tools/dragon-cc/InlineAssembly.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace dragon::driver {

namespace {

/// More than a program's own files are not read.
constexpr size_t MostFiles = 256;

/// "name" of #include "name" and of #include <name>, with the first delimiter;
/// empty if the line is none.
StringRef included(StringRef Line) {
  Line = Line.ltrim();
  if (!Line.consume_front("#"))
    return "";
  Line = Line.ltrim();
  if (!Line.consume_front("include"))
    return "";
  Line = Line.ltrim();
  if (Line.empty() || (Line[0] != '"' && Line[0] != '<'))
    return "";
  return Line.take_front(Line.find(Line[0] == '<' ? '>' : '"', 1));
}

/// Gives each of the program's own files to `See` until that returns true.
bool visit(StringRef File, const std::vector<std::string> &Folders,
           function_ref<bool(StringRef Path, StringRef Text)> See) {
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
    if (See(Path, Rest))
      return true;
    while (!Rest.empty()) {
      StringRef Line;
      std::tie(Line, Rest) = Rest.split('\n');
      StringRef Name = included(Line);
      if (!Name.consume_front("\"") || Name.empty())
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

/// The length of "<< <" with the blanks it has; 0 if it is none.
size_t spaced(StringRef Text, StringRef Two) {
  if (!Text.starts_with(Two))
    return 0;
  size_t Next = Text.find_first_not_of(" \t", 2);
  return Next != StringRef::npos && Next > 2 && Text[Next] == Two[0] ? Next + 1
                                                                     : 0;
}

} // namespace

size_t afterText(StringRef Text, size_t At) {
  StringRef Rest = Text.drop_front(At);
  auto EndOf = [&](StringRef Mark, size_t From) {
    size_t Found = Rest.find(Mark, From);
    return At + (Found == StringRef::npos ? Rest.size() : Found + Mark.size());
  };
  if (Rest.starts_with("//"))
    return EndOf("\n", 2);
  if (Rest.starts_with("/*"))
    return EndOf("*/", 2);
  if (Rest.starts_with("R\"")) {
    size_t Open = Rest.find('(');
    if (Open == StringRef::npos || Open > 2 + 16)
      return At;
    return EndOf((")" + Rest.slice(2, Open) + "\"").str(), Open);
  }
  if (Rest[0] != '"' && Rest[0] != '\'')
    return At;
  // 1'000 is a number.
  if (Rest[0] == '\'' && At && isAlnum(Text[At - 1]))
    return At;
  for (size_t I = 1; I < Rest.size() && Rest[I] != '\n'; ++I) {
    if (Rest[I] == '\\')
      ++I;
    else if (Rest[I] == Rest[0])
      return At + I + 1;
  }
  return At;
}

bool mentions(StringRef File, StringRef Word,
              const std::vector<std::string> &Folders) {
  return visit(File, Folders, [Word](StringRef, StringRef Text) {
    return Text.contains(Word);
  });
}

bool includesAny(StringRef File, ArrayRef<StringLiteral> Beginnings,
                 const std::vector<std::string> &Folders) {
  return visit(File, Folders, [Beginnings](StringRef, StringRef Text) {
    while (!Text.empty()) {
      StringRef Line;
      std::tie(Line, Text) = Text.split('\n');
      StringRef Name = included(Line);
      if (!Name.empty() && any_of(Beginnings, [&](StringRef Beginning) {
            return Name.drop_front().starts_with(Beginning);
          }))
        return true;
    }
    return false;
  });
}

std::string joinLaunches(StringRef Text) {
  std::string Result = Text.str();
  bool Open = false; // between << < and >> >
  for (size_t At = 0; At < Text.size();) {
    if (size_t After = afterText(Text, At); After != At) {
      At = After;
      continue;
    }
    StringRef Rest = Text.drop_front(At);
    if (Rest.starts_with("<<<") || Rest.starts_with(">>>")) {
      Open = Rest[0] == '<';
      At += 3;
      continue;
    }
    size_t Length = Open ? spaced(Rest, ">>") : spaced(Rest, "<<");
    if (!Length) {
      ++At;
      continue;
    }
    std::string Joined(Length - 3, ' ');
    Result.replace(At, Length, Joined + std::string(3, Rest[0]));
    Open = Rest[0] == '<';
    At += Length;
  }
  return Result;
}

std::vector<std::pair<std::string, std::string>>
filesWith(StringRef File, const std::vector<std::string> &Folders,
          function_ref<bool(StringRef Text)> Wanted) {
  std::vector<std::pair<std::string, std::string>> Files;
  visit(File, Folders, [&](StringRef Path, StringRef Text) {
    if (Wanted(Text))
      Files.push_back({Path.str(), Text.str()});
    return false;
  });
  return Files;
}

std::vector<std::pair<std::string, std::string>>
withClangSpelling(StringRef File, const std::vector<std::string> &Folders) {
  std::vector<std::pair<std::string, std::string>> Files;
  visit(File, Folders, [&Files](StringRef Path, StringRef Text) {
    std::string Spelled = Text.str();
    if (any_of(ArrayRef<StringRef>{"<< <", "<<\t<", ">> >"},
               [Text](StringRef Launch) { return Text.contains(Launch); }))
      Spelled = joinLaunches(Spelled);
    if (Text.contains("asm"))
      Spelled = spellAssembly(Spelled);
    if (Spelled != Text)
      Files.push_back({Path.str(), std::move(Spelled)});
    return false;
  });
  return Files;
}

} // namespace dragon::driver
