//===- Divisions.h - divisions that no host traps ---------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A GPU divides integers by 0 and goes on with some number, which programs do
// not use. So it does with the least number divided by -1. The host's processor
// stops the process.
//
// Source: PTX ISA, div: "Division by zero yields an unspecified,
// machine-specific value."
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CPU_DIVISIONS_H
#define DRAGON_PASSES_CPU_DIVISIONS_H

namespace llvm {
class Module;
} // namespace llvm

namespace dragon {

/// Divisions and remainders of integers whose divisor may be 0, or may be -1
/// and overflow, divide by 1 there.
void protectDivisions(llvm::Module &M);

} // namespace dragon

#endif // DRAGON_PASSES_CPU_DIVISIONS_H
