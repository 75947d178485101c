//===- Steps.h - the commands of an invocation, as data ---------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan says which programs run with which arguments. `-###` and `-v` print
// the steps, the tests read them, and Execute runs them. Nothing is started
// here.
//
// One CUDA source for both targets takes
//   1. clang++ once, with the plugin in each device compilation and in the host
//      compilation: host.o, the kernel summaries, and the kernels lowered to
//      the host processor as bitcode;
//   2. clang++ for that bitcode: cpu.o;
//   3. `ld -r` to make them one object, unless they are linked at once.
// With --dragon-targets=cpu no GPU code is made: a device compilation to
// bitcode runs for the plugin's sake alone, and the host compilation embeds an
// empty fat binary, for clang to write the code that registers kernels.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_CC_STEPS_H
#define DRAGON_TOOLS_DRAGON_CC_STEPS_H

#include "tools/dragon-cc/ToolPaths.h"

#include <optional>

namespace dragon::driver {

/// The headers in front of a source, which may be compiled once
/// (Precompiled.h).
struct PrecompiledHeaders {
  std::string Folder;
  std::vector<std::string> Args; ///< of a compilation of these alone
};

struct Step {
  std::string Program;
  std::vector<std::string> Args;    ///< without the program
  std::vector<std::string> Outputs; ///< the user's; removed if the step fails
  std::string Stdout =
      {}; ///< file that its standard output goes to; empty: ours
  std::optional<PrecompiledHeaders> Precompiled = std::nullopt;
};

struct Plan {
  /// The files that the driver writes for the steps: path and text.
  std::vector<std::pair<std::string, std::string>> Files;
  /// Sources and their copies. The driver completes the copies where clang asks
  /// for it (MissingTemplates.h).
  std::vector<std::pair<std::string, std::string>> Sources;
  std::vector<Step> Steps;
  std::vector<std::string> Warnings;
  /// Where the remarks go as SARIF when all steps are done: a file, - for the
  /// standard output; empty: nowhere.
  std::string Sarif;
  std::string RemarkPages; ///< the folder of the pages that explain remarks
};

/// The steps of the invocation. `Temp` is the folder for intermediate files.
llvm::Expected<Plan> plan(const Invocation &Asked, const ToolPaths &Tools,
                          llvm::StringRef Temp);

/// Prints one line, quoted like clang's.
void print(llvm::raw_ostream &OS, const Step &One);

} // namespace dragon::driver

#endif // DRAGON_TOOLS_DRAGON_CC_STEPS_H
