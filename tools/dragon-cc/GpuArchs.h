//===- GpuArchs.h - -arch, -code and -gencode -------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// nvcc's way to name GPUs, in terms of clang's: each compute_X becomes a
// compilation for sm_X, and PTX is included where code=compute_X asks for it.
// -arch=sm_X is short for code for sm_X with PTX.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_CC_GPUARCHS_H
#define DRAGON_TOOLS_DRAGON_CC_GPUARCHS_H

#include "tools/dragon-cc/NvccOptions.h"

namespace dragon::driver {

/// Collects the architecture options in any order.
class GpuArchs {
public:
  llvm::Error arch(llvm::StringRef Value);    ///< -arch=
  llvm::Error code(llvm::StringRef Value);    ///< -code=
  llvm::Error gencode(llvm::StringRef Value); ///< -gencode
  llvm::Error offload(llvm::StringRef Value); ///< --cuda-gpu-arch=
  llvm::Error includePtx(llvm::StringRef Value, bool Include);

  /// Whether there were any.
  bool given() const { return !Archs.empty() || !Arch.empty() || IsNative; }
  /// The list, lowest first; `native` if the machine is to be asked.
  llvm::Expected<std::vector<GpuArch>> finish(bool &Native);

private:
  void add(llvm::StringRef Name, bool Ptx);
  llvm::Error addCodes(llvm::StringRef List, llvm::StringRef Option);

  std::vector<GpuArch> Archs;
  std::string Arch, Codes;
  bool IsNative = false;
  std::vector<std::pair<std::string, bool>> PtxChoices;
};

/// Lowest first.
void sortArchs(std::vector<GpuArch> &Archs);

/// "90" of sm_90 or compute_90, checked; an error names `Option`.
llvm::Expected<std::string> archNumber(llvm::StringRef Name,
                                       llvm::StringRef Option);

} // namespace dragon::driver

#endif // DRAGON_TOOLS_DRAGON_CC_GPUARCHS_H
