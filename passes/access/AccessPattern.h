//===- AccessPattern.h - how a pointer's accesses are laid out --*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Classifies the accesses through a pointer for the choice of placement. The
// distance between what neighbouring threads touch is the derivative of the
// offset by threadIdx.x; where it is the width of the access, threads stream:
//
//   a[i]             distance 4, each byte once               streaming
//   a[row * n + k]   distance 0: threads share                reused
//   a[row * n + tx]  the same for all blockIdx.x, if others
//                    depend on it                             reused
//   a[3 * i]         distance 12 for 4 bytes                  strided
//   a[index[i]]                                               indirect
//
// A hint: nothing that must be right depends on it.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_ACCESS_ACCESSPATTERN_H
#define DRAGON_PASSES_ACCESS_ACCESSPATTERN_H

#include "dragon/SummaryBuilder.h"

namespace dragon {

/// Sets Pattern in all of the kernel's pointers.
void classifyPointers(const ExprPool &Pool, KernelSummary &Kernel);

} // namespace dragon

#endif // DRAGON_PASSES_ACCESS_ACCESSPATTERN_H
