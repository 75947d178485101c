//===- FatBinary.h - the GPU code that a program carries --------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fat binary is a header of 16 bytes or more (magic, version, header size,
// payload size), then entries that begin with kind and version (16 bits each),
// header size (32), payload size (64), and hold the architecture in 32 bits at
// offset 28. NVIDIA's libraries read the code; here only the architectures are
// of interest. Sizes in a file may be damaged: nothing beyond the bytes that
// are there is read.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_MODULES_FATBINARY_H
#define DRAGON_RUNTIME_CUDART_MODULES_FATBINARY_H

#include <cstddef>

namespace dragon {

/// The newest architecture among the entries, as 90; 0 if there is none, or
/// this is no fat binary.
unsigned newestArchitecture(const void *binary, size_t bytes);

/// The newest architecture in the fat binary that a compiler's wrapper points
/// to.
unsigned newestArchitectureOf(const void *wrapper);

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_MODULES_FATBINARY_H
