//===- MissingTemplates.cpp - `T::f<4>(x)` without `template` -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-cc/MissingTemplates.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <set>

using namespace llvm;

namespace dragon::driver {

bool mayMissTemplates(StringRef Text) {
  if (!Text.contains("template"))
    return false;
  Regex Call("([A-Za-z_0-9]+|[]>)])(::|\\.|->)[A-Za-z_][A-Za-z_0-9]*"
             "<[^<>;=&|(){}]*>[ \t]*\\(");
  SmallVector<StringRef, 4> Parts;
  while (Call.match(Text, &Parts)) {
    if (!is_contained({"std", "thrust", "cub", "cuda", "cooperative_groups",
                       "cg", "nvcuda", "wmma", "ptx", "cute", "cutlass"},
                      Parts[1]))
      return true;
    Text = Text.drop_front(static_cast<size_t>(Parts[1].end() - Text.begin()));
  }
  return false;
}

namespace {

std::string absolute(StringRef Path) {
  SmallString<256> Result(Path);
  (void)sys::fs::make_absolute(Result);
  sys::path::remove_dots(Result, /*remove_dot_dot=*/true);
  return std::string(Result);
}

/// The place in the line where `template` belongs; npos if it is not clear.
/// Clang shows f of `t.f<4>`, but T of `T::f<4>`.
size_t placeOf(StringRef Line, size_t Column) {
  if (Column == 0 || Column > Line.size())
    return StringRef::npos;
  StringRef Before = Line.take_front(Column - 1).rtrim();
  Regex Member("^(([A-Za-z_0-9]+(<[^<>]*>)?(::|\\.|->))*)[A-Za-z_][A-Za-z_0-9]*"
               "[ \t]*<");
  SmallVector<StringRef, 5> Parts;
  if (!Member.match(Line.drop_front(Column - 1), &Parts))
    return StringRef::npos;
  if (Parts[1].empty() && !Before.ends_with(".") && !Before.ends_with("->") &&
      !Before.ends_with("::"))
    return StringRef::npos;
  return Column - 1 + Parts[1].size();
}

} // namespace

bool insertTemplates(StringRef Messages,
                     ArrayRef<std::pair<std::string, std::string>> Copies) {
  /// By copy, the offsets where it is missing.
  std::map<std::string, std::set<size_t>> Places;
  // What follows a first error of an expression is worded as the last two.
  Regex Missing("^(.+):([0-9]+):([0-9]+): error: (missing 'template' keyword "
                "prior to dependent template name|reference to non-static "
                "member function must be called|reference to overloaded "
                "function could not be resolved)");
  for (StringRef Message : split(Messages, '\n')) {
    SmallVector<StringRef, 8> Parts;
    size_t LineNumber, Column;
    if (!Missing.match(Message, &Parts) ||
        Parts[2].getAsInteger(10, LineNumber) ||
        Parts[3].getAsInteger(10, Column))
      continue;
    std::string Path = absolute(Parts[1]);
    const auto *Copy =
        find_if(Copies, [&](const auto &One) { return One.first == Path; });
    if (Copy == Copies.end())
      continue;
    auto Text = MemoryBuffer::getFile(Copy->second);
    if (!Text)
      continue;
    SmallVector<StringRef, 0> Lines;
    (*Text)->getBuffer().split(Lines, '\n');
    if (LineNumber == 0 || LineNumber > Lines.size())
      continue;
    StringRef Line = Lines[LineNumber - 1];
    if (size_t At = placeOf(Line, Column); At != StringRef::npos)
      Places[Copy->second].insert(
          static_cast<size_t>(Line.data() - (*Text)->getBufferStart()) + At);
  }
  bool Inserted = false;
  for (const auto &[Copy, Offsets] : Places) {
    auto Text = MemoryBuffer::getFile(Copy);
    if (!Text)
      continue;
    std::string New = (*Text)->getBuffer().str();
    for (size_t At : reverse(Offsets))
      New.insert(At, "template ");
    std::error_code Failed;
    raw_fd_ostream(Copy, Failed) << New;
    Inserted |= !Failed;
  }
  return Inserted;
}

} // namespace dragon::driver
