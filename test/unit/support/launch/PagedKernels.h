//===- PagedKernels.h - kernels that fetch pages ----------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the compiler would make of two kernels, with its own code for pages:
//
//   lookUp  if (i < n) out[i] = data[index[i]]
//   put     if (i < n) data[index[i]] = in[i]
//
// Arguments: out or in, data, index, n; data may be accessed anywhere.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_UNIT_SUPPORT_LAUNCH_PAGEDKERNELS_H
#define DRAGON_TEST_UNIT_SUPPORT_LAUNCH_PAGEDKERNELS_H

#include "dragon/CompilerABI.h"

namespace dragon::test {

void lookUpEntry(dragon_cpu_context *ctx, void *const *args);
void putEntry(dragon_cpu_context *ctx, void *const *args);
// The same with the arguments of Paging.h behind these.
void lookUpPagedEntry(dragon_cpu_context *ctx, void *const *args);
void putPagedEntry(dragon_cpu_context *ctx, void *const *args);
// What runs behind them.
void writeBackEntry(dragon_cpu_context *ctx, void *const *args);
void recycleEntry(dragon_cpu_context *ctx, void *const *args);
void aheadEntry(dragon_cpu_context *ctx, void *const *args);

} // namespace dragon::test

#endif // DRAGON_TEST_UNIT_SUPPORT_LAUNCH_PAGEDKERNELS_H
