//===- Processor.cpp - what code this machine runs ------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lowered kernels are compiled for a level of the architecture (x86-64-v3 by
// default: AVX2, fused multiply-add). Whether the machine has it is asked once,
// before the first kernel, so that the answer is an error and not a signal.
//
//===----------------------------------------------------------------------===//

#include "dragon/CompilerABI.h"

#include <cstring>

extern "C" __attribute__((visibility("default"))) int
dragon_cpu_runs_on(const char *processor) {
  if (!processor || !*processor)
    return 1;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (strcmp(processor, "x86-64") == 0)
    return 1;
  if (strcmp(processor, "x86-64-v2") == 0)
    return __builtin_cpu_supports("x86-64-v2") != 0;
  if (strcmp(processor, "x86-64-v3") == 0)
    return __builtin_cpu_supports("x86-64-v3") != 0;
  if (strcmp(processor, "x86-64-v4") == 0)
    return __builtin_cpu_supports("x86-64-v4") != 0;
#endif
  // "native" and names of single processors: who asks for them knows.
  return 1;
}
