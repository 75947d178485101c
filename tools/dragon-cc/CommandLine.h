//===- CommandLine.h - arguments, by our table and by clang's ---*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The command line as a sequence of arguments, each an option of Options.td, an
// option of clang's own driver table, or an input. Options.td is asked first,
// so nvcc's meaning wins where the two differ (-G, -t, -arch). What neither
// knows is an error with the nearest spelling of both.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_CC_COMMANDLINE_H
#define DRAGON_TOOLS_DRAGON_CC_COMMANDLINE_H

#include "llvm/Option/Arg.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <vector>

namespace dragon::driver {

enum OptionId : unsigned {
  OPT_INVALID = 0,
#define OPTION(...) LLVM_MAKE_OPT_ID(__VA_ARGS__),
#include "Options.inc"
#undef OPTION
};

/// What becomes of an option: one of these for each in Options.td.
enum OptionFlag : unsigned {
  Ours = 1 << 4,
  Translated = 1 << 5,
  Forwarded = 1 << 6,
  NoEffect = 1 << 7,
  Unsupported = 1 << 8,
};

const llvm::opt::OptTable &optionTable();

struct Argument {
  const llvm::opt::Arg *Arg;
  bool Clang; ///< an option of clang's table

  bool isInput() const;
  /// The id in our table; OPT_INVALID for options of clang and inputs.
  unsigned id() const;
  llvm::StringRef value() const { return Arg->getValue(); }
  /// As the user wrote it: `-arch=sm_90`.
  std::string text(const llvm::opt::ArgList &List) const {
    return Arg->getAsString(List);
  }
};

/// Owns the strings that the arguments refer to.
class CommandLine {
public:
  /// Response files (@file, -optf) are read and NVCC_PREPEND_FLAGS and
  /// NVCC_APPEND_FLAGS are added. `Argv` without the program's name.
  static llvm::Expected<std::unique_ptr<CommandLine>>
  parse(llvm::ArrayRef<const char *> Argv);

  llvm::ArrayRef<Argument> arguments() const { return Arguments; }
  const llvm::opt::ArgList &list() const { return *List; }

private:
  llvm::BumpPtrAllocator Memory;
  std::unique_ptr<llvm::opt::InputArgList> List;
  std::vector<std::unique_ptr<llvm::opt::Arg>> Owned;
  std::vector<Argument> Arguments;
};

/// An error in one line, for the user.
llvm::Error error(const llvm::Twine &Message);

} // namespace dragon::driver

#endif // DRAGON_TOOLS_DRAGON_CC_COMMANDLINE_H
