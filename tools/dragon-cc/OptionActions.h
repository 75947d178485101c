//===- OptionActions.h - what an option can do to an invocation -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The entries of the table in OwnOptions.cpp: set a field, add words to a list,
// tell the plugin, or call a function.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_CC_OPTIONACTIONS_H
#define DRAGON_TOOLS_DRAGON_CC_OPTIONACTIONS_H

#include "tools/dragon-cc/OptionReader.h"
#include "tools/dragon-cc/Strings.h"

#include <variant>

namespace dragon::driver {

struct Nothing {};
struct SetGoal {
  Goal What;
};
struct SetSide {
  Side To;
};
struct Set {
  bool Invocation::*Field;
  bool To = true;
};
/// Its value says true or false.
struct SetAsTold {
  bool Invocation::*Field;
};
/// To its value.
struct SetText {
  std::string Invocation::*Field;
};
/// Words, with blanks in between.
struct Add {
  Strings Invocation::*List;
  llvm::StringLiteral Words;
};
/// Words that depend on its value: true or false.
struct AddAsTold {
  Strings Invocation::*List;
  llvm::StringLiteral IfTrue, IfFalse;
};
/// -D<value>
struct AddValue {
  Strings Invocation::*List;
  llvm::StringLiteral Prefix;
};
/// -isystem <value>
struct AddPair {
  Strings Invocation::*List;
  llvm::StringLiteral Name;
};
/// What its value lists, each with `Name` in front.
struct AddList {
  Strings Invocation::*List;
  llvm::StringLiteral Name = "";
};
/// The option itself, as the user wrote it.
struct AddAsWritten {
  Strings Invocation::*List;
};
struct TellPlugin {
  llvm::StringLiteral Name;
  bool On;
};
struct Do {
  llvm::Error (*Function)(OptionReader &Reader, const Argument &One);
};
using Action = std::variant<Nothing, SetGoal, SetSide, Set, SetAsTold, SetText,
                            Add, AddAsTold, AddValue, AddPair, AddList,
                            AddAsWritten, TellPlugin, Do>;

/// Does to the reader's invocation what the entry says, with the option as it
/// was given.
llvm::Error perform(const Action &Entry, OptionReader &Reader,
                    const Argument &One);

} // namespace dragon::driver

#endif // DRAGON_TOOLS_DRAGON_CC_OPTIONACTIONS_H
