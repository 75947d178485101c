//===- StepList.h - the steps of an invocation as they are found -------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What all that adds steps works with: what is asked, the tools, the parts of
// command lines, the plan as it is so far, and the steps that several kinds of
// objects end with.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_CC_STEPLIST_H
#define DRAGON_TOOLS_DRAGON_CC_STEPLIST_H

#include "tools/dragon-cc/CompileArgs.h"
#include "tools/dragon-cc/Steps.h"

namespace dragon::driver {

/// What the plugin, and ptxas for GPUs, make of LLVM IR for each architecture.
struct DeviceCode {
  llvm::StringRef Suffix; ///< of <stem>.<arch>: .bc, .ll
  unsigned Files = 0;     ///< CompileArgs::PluginFiles
  Strings Args;           ///< of clang
  bool Linked = false;    ///< nvlink adds NVIDIA's device runtime
};

class StepList {
public:
  StepList(const Invocation &Asked, const ToolPaths &Tools,
           llvm::StringRef Temp)
      : Asked(Asked), Tools(Tools), Parts(this->Asked, Tools, Temp) {}
  StepList(const StepList &) = delete;
  StepList &operator=(const StepList &) = delete;

  Invocation Asked; ///< the link of objects takes their architectures over
  const ToolPaths &Tools;
  CompileArgs Parts;

  Step &add(Step One) {
    Result.Steps.push_back(std::move(One));
    return Result.Steps.back();
  }
  Step &clang(Strings Args) { return add({Tools.Clang, std::move(Args), {}}); }
  Step &last() { return Result.Steps.back(); }

  /// <stem>.<arch>.cubin, or <stem>.device.bc, of the IR for each architecture.
  void deviceCode(llvm::StringRef Stem, const Input &One,
                  const DeviceCode &How);
  /// One of the stem's cubins and PTX.
  void fatBinary(llvm::StringRef Stem, const std::string &Output);
  /// Compiles <stem>.cpu.bc, if there is one, and returns the objects that are
  /// linked; `Whole`: they are one, of the name `Object`.
  Strings mergeCpu(llvm::StringRef Stem, const std::string &Host,
                   const std::string &Object, bool Whole);
  /// Of a link.
  std::string linkOutput() const;

  /// All that has been added.
  Plan take();

private:
  Plan Result;
};

} // namespace dragon::driver

#endif // DRAGON_TOOLS_DRAGON_CC_STEPLIST_H
