//===- SmallCopies.h - copies of small structures as vectors ----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// clang copies structures by memcpy. One of 16 bytes is no integer that device
// code has, so a variable that is only copied,
//
//   float4 t = *a; *a = *b; *b = t;
//
// stays in local memory: SROA finds no type for its value. As nvcc does, such
// copies become a load and a store of a vector of the structure's numbers, if
// one side is a local variable of up to four equal numbers and nothing else.
// Copies of 16 aligned bytes between other memory become one access each.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_SUPPORT_SMALLCOPIES_H
#define DRAGON_PASSES_SUPPORT_SMALLCOPIES_H

namespace llvm {
class Module;
} // namespace llvm

namespace dragon {

/// Returns true if M changed.
bool expandSmallCopies(llvm::Module &M);

} // namespace dragon

#endif // DRAGON_PASSES_SUPPORT_SMALLCOPIES_H
