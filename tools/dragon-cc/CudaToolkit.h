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
// pip unpacks into the folder nvidia/cu13 of its site-packages.
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

/// CUDA_VERSION of include/cuda.h: 13000. 0 if it cannot be read.
unsigned cudaVersion(llvm::StringRef Toolkit);

/// Whether it has the version that is needed and what clang asks of it; with
/// `Gpu` also what makes code for GPUs.
llvm::Error checkToolkit(llvm::StringRef Path, bool Gpu);

} // namespace dragon::driver

#endif // DRAGON_TOOLS_DRAGON_CC_CUDATOOLKIT_H
