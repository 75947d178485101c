//===- OptionReader.h - from arguments to an invocation ---------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What reads the command line, argument by argument, and what it remembers in
// between. The options of our own table and those of clang's have a file each.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_CC_OPTIONREADER_H
#define DRAGON_TOOLS_DRAGON_CC_OPTIONREADER_H

#include "tools/dragon-cc/GpuArchs.h"
#include "tools/dragon-cc/NvccOptions.h"

#include <optional>

namespace dragon::driver {

struct OptionReader {
  explicit OptionReader(const CommandLine &Line) : Line(Line) {}
  llvm::Expected<Invocation> run();

  llvm::Error read(const Argument &One);
  /// An option of our table (OwnOptions.cpp).
  llvm::Error readOwn(const Argument &One);
  /// An option of clang's table: to compilations, to the link, or both
  /// (ClangOptions.cpp).
  llvm::Error readClang(const llvm::opt::Arg &One,
                        const llvm::opt::ArgList &List, bool HostOnly);
  /// -Xcompiler: a list of such.
  llvm::Error xcompiler(llvm::StringRef Value, llvm::StringRef Option);
  /// clang is asked for something, and nothing is compiled.
  static bool isQuestion(llvm::StringRef Option);

  llvm::Error input(llvm::StringRef Path);
  llvm::Error language(llvm::StringRef Value);
  llvm::Error goal(Goal What, llvm::StringRef Option);
  /// Whether all of it makes sense together.
  llvm::Error check();
  /// As the user wrote it.
  std::string text(const Argument &One) const { return One.text(Line.list()); }
  void addLink(const llvm::Twine &Text) {
    Result.Link.push_back({-1, Text.str()});
  }

  const CommandLine &Line;
  Invocation Result;
  GpuArchs Archs;
  bool WarnOfOldGpus = true;
  std::string GoalOption;
  bool KeepBesideOutput = false; ///< -save-temps=obj
  std::optional<Language> Forced;
};

/// Commas and blanks separate; quotes and backslashes keep them. A list that
/// starts with -Wl, -Wa or -Wp is one option, as users mean it.
std::vector<std::string> splitList(llvm::StringRef List);

/// -lcudart and its kin, whose place libdragonrt takes.
bool isCudaRuntime(llvm::StringRef Library);

} // namespace dragon::driver

#endif // DRAGON_TOOLS_DRAGON_CC_OPTIONREADER_H
