//===- Divisions.h - what a division of a GPU is ----------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Divisions have no instruction: the assembler makes a sequence of some dozen,
// with a call for rare operands.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CODEGEN_DIVISIONS_H
#define DRAGON_PASSES_CODEGEN_DIVISIONS_H

namespace llvm {
class Instruction;
} // namespace llvm

namespace dragon {

/// A division or a remainder: None for other instructions; Short if it is a few
/// instructions, by a constant or approximate; else Long.
enum class Division { None, Short, Long };

/// `ApproximateFloats`: quotients of floats are approximate (-use_fast_math).
Division divisionOf(const llvm::Instruction &I, bool ApproximateFloats);

} // namespace dragon

#endif // DRAGON_PASSES_CODEGEN_DIVISIONS_H
