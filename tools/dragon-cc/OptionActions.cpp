//===- OptionActions.cpp - what an option can do to an invocation ---------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-cc/OptionActions.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace dragon::driver {

namespace {

Expected<bool> boolean(OptionReader &Reader, const Argument &One) {
  if (One.value() == "true" || One.value() == "false")
    return One.value() == "true";
  return error("bad value in '" + Reader.text(One) +
               "': expected true or false");
}

/// Does what an entry of the table says of the option.
class Performer {
public:
  Performer(OptionReader &Reader, const Argument &One)
      : Reader(Reader), One(One) {}

  Error operator()(Nothing) { return Error::success(); }
  Error operator()(const SetGoal &Entry) {
    return Reader.goal(Entry.What, Reader.text(One));
  }
  Error operator()(const SetSide &Entry) {
    Reader.Result.Sides = Entry.To;
    return Error::success();
  }
  Error operator()(const Set &Entry) {
    Reader.Result.*Entry.Field = Entry.To;
    return Error::success();
  }
  Error operator()(const SetAsTold &Entry) {
    Expected<bool> Told = boolean(Reader, One);
    if (!Told)
      return Told.takeError();
    Reader.Result.*Entry.Field = *Told;
    return Error::success();
  }
  Error operator()(const SetText &Entry) {
    Reader.Result.*Entry.Field = One.value();
    return Error::success();
  }
  Error operator()(const Add &Entry) {
    for (StringRef Word : split(Entry.Words, ' '))
      add(Entry.List, Word);
    return Error::success();
  }
  Error operator()(const AddAsTold &Entry) {
    Expected<bool> Told = boolean(Reader, One);
    if (!Told)
      return Told.takeError();
    return (*this)(Add{Entry.List, *Told ? Entry.IfTrue : Entry.IfFalse});
  }
  Error operator()(const AddValue &Entry) {
    add(Entry.List, Entry.Prefix + One.value());
    return Error::success();
  }
  Error operator()(const AddPair &Entry) {
    add(Entry.List, Entry.Name);
    add(Entry.List, One.value());
    return Error::success();
  }
  Error operator()(const AddList &Entry) {
    for (const std::string &Word : splitList(One.value())) {
      if (!Entry.Name.empty())
        add(Entry.List, Entry.Name);
      add(Entry.List, Word);
    }
    return Error::success();
  }
  Error operator()(const AddAsWritten &Entry) {
    add(Entry.List, Reader.text(One));
    return Error::success();
  }
  Error operator()(const TellPlugin &Entry) {
    add(&Invocation::PluginArgs,
        "-dragon-" + Entry.Name + (Entry.On ? "=1" : "=0"));
    return Error::success();
  }
  Error operator()(const Do &Entry) { return Entry.Function(Reader, One); }

private:
  void add(Strings Invocation::*List, const Twine &Word) {
    (Reader.Result.*List).push_back(Word.str());
  }

  OptionReader &Reader;
  const Argument &One;
};

} // namespace

Error perform(const Action &Entry, OptionReader &Reader, const Argument &One) {
  return std::visit(Performer(Reader, One), Entry);
}

} // namespace dragon::driver
