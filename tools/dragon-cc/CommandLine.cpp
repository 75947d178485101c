//===- CommandLine.cpp - arguments, by our table and by clang's -----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-cc/CommandLine.h"

#include "clang/Options/Options.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/StringSaver.h"
#include "llvm/Support/VirtualFileSystem.h"

using namespace llvm;
using namespace llvm::opt;

namespace dragon::driver {

namespace {

#define OPTTABLE_STR_TABLE_CODE
#include "Options.inc"
#undef OPTTABLE_STR_TABLE_CODE

#define OPTTABLE_PREFIXES_TABLE_CODE
#include "Options.inc"
#undef OPTTABLE_PREFIXES_TABLE_CODE

constexpr OptTable::Info InfoTable[] = {
#define OPTION(...) LLVM_CONSTRUCT_OPT_INFO(__VA_ARGS__),
#include "Options.inc"
#undef OPTION
};

class Table : public GenericOptTable {
public:
  Table() : GenericOptTable(OptionStrTable, OptionPrefixesTable, InfoTable) {}
};

Visibility clangVisibility() { return Visibility(clang::options::ClangOption); }

/// "did you mean": the nearest spelling that either table has.
std::string nearest(StringRef Text) {
  std::string Own, Clangs;
  unsigned OwnDistance = optionTable().findNearest(Text, Own);
  unsigned ClangDistance =
      clang::getDriverOptTable().findNearest(Text, Clangs, clangVisibility());
  if (std::min(OwnDistance, ClangDistance) > 2)
    return "";
  return OwnDistance <= ClangDistance ? Own : Clangs;
}

/// nvcc takes `-Werror kind` beside clang's -Werror, and `-O 3`.
bool takesNext(StringRef Text, StringRef Next) {
  if (Text == "-O")
    return Next.size() == 1 && isDigit(Next[0]);
  if (Text != "-Werror" && Text != "--Werror")
    return false;
  static constexpr StringLiteral Kinds[] = {"all-warnings",
                                            "cross-execution-space-call",
                                            "reorder",
                                            "default-stream-launch",
                                            "missing-launch-bounds",
                                            "ext-lambda-captures-this",
                                            "deprecated-declarations"};
  return is_contained(Kinds, Next.split(',').first);
}

void addFlags(const char *Variable, StringSaver &Saver,
              SmallVectorImpl<const char *> &Words) {
  if (const char *Flags = getenv(Variable))
    cl::TokenizeGNUCommandLine(Flags, Saver, Words);
}

/// Replaces `-optf a,b` by `@a @b`.
void optionFiles(SmallVectorImpl<const char *> &Words, StringSaver &Saver) {
  SmallVector<const char *, 64> Result;
  for (size_t I = 0; I < Words.size(); ++I) {
    StringRef Word = Words[I], Files;
    StringRef Bare = Word.ltrim('-');
    if (Word.starts_with("-") &&
        (Bare.consume_front("optf=") || Bare.consume_front("options-file="))) {
      Files = Bare;
    } else if (Word.starts_with("-") &&
               (Bare == "optf" || Bare == "options-file") &&
               I + 1 < Words.size()) {
      Files = Words[++I];
    } else {
      Result.push_back(Words[I]);
      continue;
    }
    for (StringRef File : split(Files, ','))
      Result.push_back(Saver.save(("@" + File).str()).begin());
  }
  Words.swap(Result);
}

} // namespace

const OptTable &optionTable() {
  static const Table Instance;
  return Instance;
}

Error error(const Twine &Message) {
  return createStringError(inconvertibleErrorCode(), Message);
}

bool Argument::isInput() const {
  return Arg->getOption().getKind() == Option::InputClass;
}

unsigned Argument::id() const {
  return Clang || isInput() ? unsigned(OPT_INVALID) : Arg->getOption().getID();
}

Expected<std::unique_ptr<CommandLine>>
CommandLine::parse(ArrayRef<const char *> Argv) {
  auto Result = std::make_unique<CommandLine>();
  StringSaver Saver(Result->Memory);

  SmallVector<const char *, 64> Words;
  addFlags("NVCC_PREPEND_FLAGS", Saver, Words);
  Words.append(Argv.begin(), Argv.end());
  addFlags("NVCC_APPEND_FLAGS", Saver, Words);

  optionFiles(Words, Saver);
  for (const char *Word : Words)
    if (Word[0] == '@' && !sys::fs::exists(Word + 1))
      return error("cannot read response file '" + Twine(Word + 1) +
                   "': no such file");
  cl::ExpansionContext Expansion(Result->Memory, cl::TokenizeGNUCommandLine);
  if (Error Failed = Expansion.expandResponseFiles(Words))
    return Failed;

  Result->List = std::make_unique<InputArgList>(Words.begin(), Words.end());
  const InputArgList &List = *Result->List;
  for (unsigned Index = 0, End = Words.size(); Index < End;) {
    StringRef Text = Words[Index];
    if (Text.empty()) {
      ++Index;
      continue;
    }
    if (Index + 1 < End && takesNext(Text, Words[Index + 1])) {
      // Joined by hand: -Werror kind -> -Werror=kind, -O 3 -> -O3.
      std::string Joined =
          (Text + (Text == "-O" ? "" : "=") + Words[Index + 1]).str();
      unsigned Made = List.MakeIndex(Joined);
      Result->Owned.push_back(optionTable().ParseOneArg(List, Made));
      Result->Arguments.push_back({Result->Owned.back().get(), false});
      Index += 2;
      continue;
    }

    unsigned Start = Index;
    bool Clang = false;
    std::unique_ptr<Arg> Parsed = optionTable().ParseOneArg(List, Index);
    if (Parsed && Parsed->getOption().getKind() == Option::UnknownClass) {
      Clang = true;
      Index = Start;
      Parsed = clang::getDriverOptTable().ParseOneArg(List, Index,
                                                      clangVisibility());
    }
    if (!Parsed || Index > End)
      return error("argument to '" + Text + "' is missing");
    if (Parsed->getOption().getKind() == Option::UnknownClass) {
      std::string Near = nearest(Text);
      return error("unknown option '" + Text + "'" +
                   (Near.empty() ? "" : "; did you mean '" + Near + "'?"));
    }
    if (!Clang && Parsed->getOption().hasFlag(Unsupported))
      return error("option '" + Text + "' is not supported");
    Result->Owned.push_back(std::move(Parsed));
    Result->Arguments.push_back({Result->Owned.back().get(), Clang});
  }
  return std::move(Result);
}

} // namespace dragon::driver
