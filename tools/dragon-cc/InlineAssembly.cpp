//===- InlineAssembly.cpp - asm as nvcc reads it --------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-cc/InlineAssembly.h"

#include "tools/dragon-cc/SourceWords.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace dragon::driver {

namespace {

bool isWordPart(char C) { return isAlnum(C) || C == '_'; }

/// After blanks, line ends, also those of macros, and comments.
size_t afterBlanks(StringRef Text, size_t At) {
  while (At < Text.size()) {
    if (isSpace(Text[At]) || Text[At] == '\\')
      ++At;
    else if (Text[At] == '/' && afterText(Text, At) != At)
      At = afterText(Text, At);
    else
      break;
  }
  return At;
}

/// Takes one of the words at `At` if it is there.
bool takeWord(StringRef Text, size_t &At, ArrayRef<StringRef> Words) {
  if (At && isWordPart(Text[At - 1]))
    return false;
  for (StringRef Word : Words) {
    size_t End = At + Word.size();
    if (Text.drop_front(At).starts_with(Word) &&
        (End == Text.size() || !isWordPart(Text[End]))) {
      At = End;
      return true;
    }
  }
  return false;
}

/// Where a percent sign is missing in the literal [Begin, End).
void findNames(StringRef Text, size_t Begin, size_t End,
               SmallVectorImpl<size_t> &Places) {
  for (size_t At = Begin; At + 1 < End; ++At) {
    if (Text[At] != '%')
      continue;
    char First = Text[At + 1], Second = At + 2 < End ? Text[At + 2] : 0;
    // %0 and %[name] are operands, with a letter in front in another form.
    if ((isAlpha(First) || First == '_') && !isDigit(Second) && Second != '[')
      Places.push_back(At);
    ++At; // %%
  }
}

struct Places {
  SmallVector<size_t, 4> Names, Commas;
};

/// What is missing in the statement whose parenthesis is at `Open`; after it.
/// 0 if it does not end.
size_t readStatement(StringRef Text, size_t Open, Places &Missing) {
  SmallVector<size_t, 4> Names;
  bool Operands = false;
  unsigned Depth = 1;
  for (size_t At = Open + 1; At < Text.size();) {
    if (size_t After = afterText(Text, At); After != At) {
      if (!Operands && Text[At] != '/')
        findNames(Text, At, After, Names);
      At = After;
      continue;
    }
    char C = Text[At++];
    if (C == '(') {
      ++Depth;
    } else if (C == ')' && --Depth == 0) {
      if (Operands)
        append_range(Missing.Names, Names);
      return At;
    } else if (C == ')' && Depth == 1 && Operands) {
      size_t Next = afterBlanks(Text, At);
      if (Next < Text.size() && (Text[Next] == '"' || Text[Next] == '['))
        Missing.Commas.push_back(At);
    } else if (C == ':' && Depth == 1) {
      Operands = true;
    }
  }
  return 0;
}

} // namespace

std::string spellAssembly(StringRef Text) {
  Places Missing;
  for (size_t At = 0; At < Text.size();) {
    if (size_t After = afterText(Text, At); After != At) {
      At = After;
      continue;
    }
    if (!takeWord(Text, At, {"asm", "__asm__", "__asm"})) {
      ++At;
      continue;
    }
    size_t Open = afterBlanks(Text, At);
    while (takeWord(Text, Open, {"volatile", "__volatile__", "__volatile"}))
      Open = afterBlanks(Text, Open);
    Places Here;
    if (Open < Text.size() && Text[Open] == '(')
      if (size_t After = readStatement(Text, Open, Here)) {
        append_range(Missing.Names, Here.Names);
        append_range(Missing.Commas, Here.Commas);
        At = After;
      }
  }
  std::string Result = Text.str();
  // From the end, so that places stay true. A comma takes a blank's column.
  SmallVector<std::pair<size_t, char>, 8> Edits;
  for (size_t Place : Missing.Names)
    Edits.push_back({Place, '%'});
  for (size_t Place : Missing.Commas)
    Edits.push_back({Place, ','});
  sort(Edits);
  for (auto [Place, Char] : reverse(Edits))
    if (Char == ',' && Result[Place] == ' ')
      Result[Place] = ',';
    else
      Result.insert(Place, 1, Char);
  return Result;
}

} // namespace dragon::driver
