//===- MatrixIntrinsics.h - products of matrices by a warp ------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// llvm.nvvm.wmma.*: what a lane holds of a matrix is nobody's business but that
// of these operations, so the host has a layout of its own (CompilerABI.h). The
// registers of a fragment go through memory:
//
//   %a = call {...} @llvm.nvvm.wmma.m16n16k16.load.a.row.stride.f16(ptr, i32)
//   ->  dragon_cpu_matrix_load(context, shape, f16, ptr, stride, %fragment)
//
// mma.sync of inline PTX is not among them: its layout is documented.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CPU_MATRIXINTRINSICS_H
#define DRAGON_PASSES_CPU_MATRIXINTRINSICS_H

#include "passes/cpu/ThreadContext.h"

namespace llvm {
class CallInst;
} // namespace llvm

namespace dragon {

/// The value of a call of the intrinsic `Name`, without "llvm.nvvm.wmma.", or
/// null if there is no code for it.
llvm::Value *lowerMatrixIntrinsic(llvm::StringRef Name, llvm::CallInst &Call,
                                  ThreadContext &Thread);

} // namespace dragon

#endif // DRAGON_PASSES_CPU_MATRIXINTRINSICS_H
