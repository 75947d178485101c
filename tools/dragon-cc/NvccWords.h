//===- NvccWords.h - what build systems read in nvcc's output ---*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A build system that is told of a compiler for CUDA asks which one it is
// (--version) and, of nvcc, where its toolkit is and how it links (-v, with a
// program or with a file that there is not). CMake drives nvcc by nvcc's own
// options, which dragon-cc has, and has relocatable device code linked by
// -dlink. Taken for clang it would link that itself, with NVIDIA's tools, which
// cannot read what dragon-cc's objects have, and of which CUDA 13 has renamed
// options. So dragon-cc answers in nvcc's words:
//
//   #$ TOP=/usr/local/cuda
//   #$ NVVMIR_LIBRARY_DIR=/usr/local/cuda/nvvm/libdevice
//   #$ ARCHITECTURES=-arch compute_75
//   #$ INCLUDES="-I/usr/local/cuda/include"
//   #$ LIBRARIES="-L<prefix>/lib" "-L/usr/local/cuda/lib64"
//   #$ "<prefix>/bin/dragon-cc" "a.o" "-L..." "-L..." "-ldragonrt" -o "a.out"
//
// The last line is a link that gives the same program: in CMake's rules its
// first word becomes the linker of programs with CUDA, its libraries those that
// the linker of another language is given.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_CC_NVCCWORDS_H
#define DRAGON_TOOLS_DRAGON_CC_NVCCWORDS_H

#include "tools/dragon-cc/ToolPaths.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace dragon::driver {

/// The lines of --version; nothing without a toolkit.
void printNvccVersion(llvm::raw_ostream &OS, const ToolPaths &Tools);

/// The lines of -v; nothing without a toolkit. `Self` is the running program.
void printNvccFolders(llvm::raw_ostream &OS, const ToolPaths &Tools,
                      const Invocation &Asked, llvm::StringRef Self);

} // namespace dragon::driver

#endif // DRAGON_TOOLS_DRAGON_CC_NVCCWORDS_H
