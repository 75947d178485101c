//===- Planner.h - the commands of an invocation, step by step --*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What plan() works with: Steps.cpp has the steps of compilations and links,
// DeviceLinkSteps.cpp those for relocatable device code, PreprocessSteps.cpp
// those of -E.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_CC_PLANNER_H
#define DRAGON_TOOLS_DRAGON_CC_PLANNER_H

#include "tools/dragon-cc/CompileArgs.h"
#include "tools/dragon-cc/RelocatableInputs.h"
#include "tools/dragon-cc/Steps.h"

namespace dragon::driver {

class Planner {
public:
  Planner(const Invocation &Asked, const ToolPaths &Tools, llvm::StringRef Temp)
      : Asked(Asked), Tools(Tools), Parts(this->Asked, Tools, Temp) {}
  llvm::Expected<Plan> run();

private:
  // Steps. Those that make objects return their names.
  Strings object(const Input &One, const std::string &Object, bool Whole);
  Strings cudaObject(const Input &One, const std::string &Object, bool Whole);
  Strings relocatableObject(const Input &One, const std::string &Object,
                            bool Whole);
  Strings mlirObject(const Input &One, const std::string &Object, bool Whole);
  std::string loweredMlir(const Input &One, llvm::StringRef Stem);
  llvm::Error single(const Input &One);
  /// Whether the goal can be reached with one run of clang.
  llvm::Error checkSingle(const Input &One, bool DeviceOnly) const;
  /// What a run of clang for one side takes besides to make code.
  Strings codeOfSide(const Input &One, llvm::StringRef Stem, bool HostOnly);
  /// Adds what the goal takes, and returns the name of the output.
  std::string goalArguments(const Input &One, bool DeviceOnly, Strings &Args);
  /// -E of what is compiled for both sides, and of what the plugin changes.
  bool printsAllSides(const Input &One) const;
  void preprocess(const Input &One);
  /// Text that is another one if the driver's parts are.
  std::string identity(const Input &One) const;
  void summaryOnly(const Input &One, llvm::StringRef Stem);
  void link(const std::vector<Strings> &Objects, const Strings &DeviceCode);
  void archive(const std::vector<Strings> &Objects);

  /// Whether there is device code to link, and which.
  llvm::Expected<bool> needsDeviceLink();
  Strings deviceLink(const std::vector<Strings> &Objects);
  /// What the plugin, and ptxas for GPUs, make of LLVM IR for each
  /// architecture.
  struct DeviceCode {
    llvm::StringRef Suffix; ///< of <stem>.<arch>: .bc, .ll
    unsigned Files = 0;     ///< CompileArgs::PluginFiles
    Strings Args;           ///< of clang
    bool Linked = false;    ///< nvlink adds NVIDIA's device runtime
  };
  void deviceCode(llvm::StringRef Stem, const Input &One,
                  const DeviceCode &How);
  void fatBinary(llvm::StringRef Stem, const std::string &Output);
  /// -fatbin
  llvm::Error fatBinary(const Input &One);
  /// `Output`, or with Whole the object that it is to be.
  Strings mergeCpu(llvm::StringRef Stem, const std::string &Host,
                   const std::string &Object, bool Whole);
  std::string linkOutput() const;

  Step &clang(Strings Args) {
    Result.Steps.push_back({Tools.Clang, std::move(Args), {}});
    return Result.Steps.back();
  }

  Invocation Asked;
  const ToolPaths &Tools;
  CompileArgs Parts;
  RelocatableInputs Relocatable;
  Plan Result;
};

} // namespace dragon::driver

#endif // DRAGON_TOOLS_DRAGON_CC_PLANNER_H
