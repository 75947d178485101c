//===- StepList.h - the steps of an invocation as they are found -------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions that add steps (ObjectSteps.h, SingleSteps.h,
// DeviceLinkSteps.h) all work on a StepList. It has what they read (what the
// user asks for, the tools, file names, parts of command lines) and takes what
// they add. A few steps that several kinds of objects need are functions of the
// list itself.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_CC_STEPLIST_H
#define DRAGON_TOOLS_DRAGON_CC_STEPLIST_H

#include "tools/dragon-cc/CompileArgs.h"
#include "tools/dragon-cc/Steps.h"

namespace dragon::driver {

/// How LLVM IR of kernels becomes device code.
struct DeviceCode {
  llvm::StringRef Suffix; ///< of the IR's files, <stem>.<arch>: .bc, .ll
  unsigned Files = 0;     ///< a set of CompileArgs::PluginFiles
  Strings Args;           ///< more arguments of clang
  bool Linked = false;    ///< nvlink adds NVIDIA's device runtime
};

class StepList {
public:
  /// `Temp` is the folder for intermediate files.
  StepList(const Invocation &Asked, const ToolPaths &Tools,
           llvm::StringRef Temp)
      : Asked(Asked), Tools(Tools), Names(this->Asked, Temp),
        Needs(this->Asked, Tools, Names),
        Parts(this->Asked, Tools, Names, Needs) {}
  StepList(const StepList &) = delete;
  StepList &operator=(const StepList &) = delete;

  Invocation Asked; ///< a device link may change the architectures
  const ToolPaths &Tools;
  UnitNames Names;
  SourceNeeds Needs;
  CompileArgs Parts;

  Step &add(Step One) {
    Result.Steps.push_back(std::move(One));
    return Result.Steps.back();
  }
  Step &clang(Strings Args) { return add({Tools.Clang, std::move(Args), {}}); }
  Step &last() { return Result.Steps.back(); }
  /// The headers of a compilation of one side, --cuda-device-only or
  /// --cuda-host-only, with these arguments, if the user wants them compiled
  /// once.
  std::optional<PrecompiledHeaders> headers(Strings Args,
                                            llvm::StringRef Side) const;

  /// Compiles the IR <stem>.<arch><suffix> for each architecture to
  /// <stem>.<arch>.cubin, or to <stem>.device.bc if no GPU code is made.
  void deviceCode(llvm::StringRef Stem, const Input &One,
                  const DeviceCode &How);
  /// Makes a fat binary of the stem's cubins and PTX.
  void fatBinary(llvm::StringRef Stem, const std::string &Output);
  /// Compiles <stem>.cpu.bc, if the user asks for code for the host processor,
  /// and returns the objects that are linked. With `Whole` they are one, of the
  /// name `Object`.
  Strings mergeCpu(llvm::StringRef Stem, const std::string &Host,
                   const std::string &Object, bool Whole);
  /// The output of a link.
  std::string linkOutput() const;

  /// Has the driver say it.
  void warn(std::string Text) { Result.Warnings.push_back(std::move(Text)); }
  /// All that has been added. The list is empty afterwards.
  Plan take();

private:
  Plan Result;
};

} // namespace dragon::driver

#endif // DRAGON_TOOLS_DRAGON_CC_STEPLIST_H
