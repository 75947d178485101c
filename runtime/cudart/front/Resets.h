//===- Resets.h - how often the program has reset the device ----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cudaDeviceReset frees all that was made through CUDA's calls. Who has made
// streams or pinned memory by them, and keeps them, asks whether they still
// are.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_FRONT_RESETS_H
#define DRAGON_RUNTIME_CUDART_FRONT_RESETS_H

#include <atomic>

namespace dragon {

inline std::atomic<unsigned> deviceResets{0};

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_FRONT_RESETS_H
