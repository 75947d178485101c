//===- CudaToolkit.h - which CUDA toolkit to compile with -------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A toolkit that the user names (--cuda-path, CUDA_PATH, CUDA_HOME) is taken or
// is an error. Else the first complete one is taken of those that may be there:
// the one of the configuration, NVIDIA's packages, and NVIDIA's wheels, which
// pip unpacks into the folder nvidia/cu13 of its site-packages; last a
// distribution's (Debian's nvidia-cuda-toolkit), whose parts lie among others
// in /usr. That one is named by /usr or by /usr/lib/cuda, the folder that
// distributions make for clang.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_CC_CUDATOOLKIT_H
#define DRAGON_TOOLS_DRAGON_CC_CUDATOOLKIT_H

#include "tools/dragon-cc/NvccOptions.h"

#include <string>

namespace dragon::driver {

/// The folder of the toolkit; `Prefix` is the one that dragon-cc is installed
/// in. What is found may lack something, see checkToolkit.
llvm::Expected<std::string> findToolkit(llvm::StringRef Prefix,
                                        const Invocation &Asked);

/// Where clang finds it: --cuda-path=.
std::string clangPath(llvm::StringRef Toolkit);

/// libdevice.10.bc, which may be missing.
std::string libdevice(llvm::StringRef Toolkit);

/// Its libraries; empty if there are none.
std::string libraryFolder(llvm::StringRef Toolkit);

/// CUDA_VERSION of include/cuda.h: 13000. 0 if it cannot be read.
unsigned cudaVersion(llvm::StringRef Toolkit);

/// Whether it has the version that is needed and what clang asks of it; with
/// `Gpu` also what makes code for GPUs.
llvm::Error checkToolkit(llvm::StringRef Path, bool Gpu);

} // namespace dragon::driver

#endif // DRAGON_TOOLS_DRAGON_CC_CUDATOOLKIT_H
