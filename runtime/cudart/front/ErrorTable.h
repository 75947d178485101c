//===- ErrorTable.h - names and texts of CUDA's errors ----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_FRONT_ERRORTABLE_H
#define DRAGON_RUNTIME_CUDART_FRONT_ERRORTABLE_H

namespace dragon {

struct ErrorEntry {
  int code;
  const char *name;
  const char *text;
};

/// Null for numbers that are no cudaError_t.
const ErrorEntry *findError(int code);

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_FRONT_ERRORTABLE_H
