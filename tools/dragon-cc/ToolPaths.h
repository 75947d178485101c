//===- ToolPaths.h - where the parts and the tools are ----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// dragon-cc finds its own parts from where it is itself (bin/../lib), so a
// prefix can be moved; the build tree has the same shape. Clang and ld come
// from where LLVM was at build time, else from PATH. The CUDA toolkit is the
// first of: --cuda-path, CUDA_PATH, CUDA_HOME, the one it was configured with,
// /usr/local/cuda, <prefix>/cuda.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_CC_TOOLPATHS_H
#define DRAGON_TOOLS_DRAGON_CC_TOOLPATHS_H

#include "tools/dragon-cc/NvccOptions.h"

#include <string>
#include <vector>

namespace dragon::driver {

struct ToolPaths {
  std::string Clang;
  std::string Linker;       ///< for `ld -r`
  std::string Lld;          ///< LLVM's own, of this version; empty if not found
  std::string LibDir;       ///< libDragonPasses.so, libdragonrt.so
  std::string IncludeDir;   ///< dragon/dragon.h
  std::string OverlayDir;   ///< headers in front of the toolkit's
  std::string RemarkPages;  ///< what explains remarks; may be missing
  std::string Cuda;         ///< the toolkit; empty where none is needed
  std::string NoCuda;       ///< why there is none, where one may be needed
  std::string CudaForClang; ///< where clang finds it
  std::string Libdevice;    ///< of the toolkit; may be missing
  unsigned CudaVersion = 0; ///< 13000; 0 if it is not known
  std::string CudaLibDir;   ///< empty if there is none
  /// What comes with dragon-cc of share/dragon/summaries, by name.
  std::vector<std::string> Summaries;

  std::string DeviceLink; ///< dragon-device-link
  std::string MlirOpt, MlirTranslate;

  std::string cudaTool(llvm::StringRef Name) const {
    return (Cuda + "/bin/" + Name).str();
  }
  /// What clang is told of the toolkit: where a distribution's has its headers
  /// are no programs.
  std::vector<std::string> cudaForClang() const {
    std::vector<std::string> Args = {"--cuda-path=" + CudaForClang,
                                     "-Wno-unknown-cuda-version"};
    if (CudaForClang != Cuda)
      Args.push_back("-B" + Cuda + "/bin");
    return Args;
  }
  std::string plugin() const { return LibDir + "/libDragonPasses.so"; }
  std::string runtime() const { return LibDir + "/libdragonrt.so"; }
  /// What objects have of the runtime until they are linked.
  std::string standIns() const { return LibDir + "/dragon/stand-ins.s"; }
  /// The empty fat binary that a program without GPU code registers.
  std::string noGpuCode() const {
    return LibDir + "/dragon/no-gpu-code.fatbin";
  }
};

/// `self` is the path of the running program. What `invocation` does not need
/// may be missing.
llvm::Expected<ToolPaths> findTools(llvm::StringRef Self,
                                    const Invocation &Invocation);

/// What a device link needs of the toolkit.
llvm::Error checkDeviceLink(const ToolPaths &Tools, bool Gpu);

/// The name of the GPU in this machine for -arch=native: "sm_90"; an error if
/// there is none.
llvm::Expected<std::string> nativeArch(const ToolPaths &Tools);

} // namespace dragon::driver

#endif // DRAGON_TOOLS_DRAGON_CC_TOOLPATHS_H
