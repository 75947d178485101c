//===- GpuArchs.h - -arch, -code and -gencode -------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// nvcc's way to name GPUs, in terms of clang's: each compute_X becomes a
// compilation for sm_X, and PTX is included where code=compute_X asks for it.
// -arch=sm_X is short for code for sm_X with PTX. Makefiles name GPUs that
// today's toolkit no longer knows; they get the oldest that it does, with PTX.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_CC_GPUARCHS_H
#define DRAGON_TOOLS_DRAGON_CC_GPUARCHS_H

#include "tools/dragon-cc/NvccOptions.h"

#include <set>

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
  /// What there is to say of them; empty if nothing.
  std::string warning() const;

private:
  /// "90" of sm_90 or compute_90, checked; an error names `Option`.
  llvm::Expected<std::string> number(llvm::StringRef Name,
                                     llvm::StringRef Option);
  void add(llvm::StringRef Name, bool Ptx);
  llvm::Error addCodes(llvm::StringRef List, llvm::StringRef Option);

  std::vector<GpuArch> Archs;
  std::string Arch, Codes;
  bool IsNative = false;
  std::set<std::string> Older; ///< asked for, but not known to the toolkit
  std::vector<std::pair<std::string, bool>> PtxChoices;
};

/// Lowest first.
void sortArchs(std::vector<GpuArch> &Archs);

} // namespace dragon::driver

#endif // DRAGON_TOOLS_DRAGON_CC_GPUARCHS_H
