//===- PlainMemory.h - memory that stays NVIDIA's ---------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory that other processes or devices hold by handle may not move. An
// executable that refers to cudaIpcGetMemHandle therefore gets all its device
// memory from NVIDIA's cudaMalloc; such memory is not managed and cannot exceed
// the device's. One line says so.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_MEMORY_PLAINMEMORY_H
#define DRAGON_RUNTIME_CUDART_MEMORY_PLAINMEMORY_H

#include "runtime/cudart/front/Front.h"

namespace dragon {

/// True if the program exports device memory; always false on the cpu device.
bool plainMemoryOnly(Front &front);
cudaError_t allocatePlain(void **pointer, size_t bytes);
cudaError_t freePlain(void *pointer);

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_MEMORY_PLAINMEMORY_H
