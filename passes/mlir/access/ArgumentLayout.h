//===- ArgumentLayout.h - arguments of a lowered kernel ---------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// convert-gpu-to-nvvm takes a ranked memref apart: two pointers, an offset, the
// sizes, the strides, all of 8 bytes. A kernel summary speaks of the arguments
// that come out of that, and the runtime sees no others.
//
//   gpu.func @k(%a: memref<?x4xf32>, %n: i32)
//     0 allocated  1 aligned  2 offset  3, 4 sizes  5, 6 strides   7 n
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_MLIR_ACCESS_ARGUMENTLAYOUT_H
#define DRAGON_PASSES_MLIR_ACCESS_ARGUMENTLAYOUT_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinTypes.h"

#include <optional>
#include <vector>

namespace dragon::ir {

/// From one element of this type in memory to the next; nothing if that is not
/// known.
std::optional<uint32_t> elementBytes(mlir::Type Element);
/// That a load or store of a value of this type touches.
std::optional<uint32_t> accessBytes(mlir::Type Value);

class ArgumentLayout {
public:
  /// Nothing if an argument has a type that this does not know.
  static std::optional<ArgumentLayout> of(mlir::gpu::GPUFuncOp Kernel);

  const std::vector<uint32_t> &sizes() const { return Sizes; }
  /// Of the kernel's argument; of memrefs the first of several.
  uint32_t index(unsigned Argument) const { return First[Argument]; }
  uint32_t alignedPointer(unsigned Argument) const {
    return First[Argument] + 1;
  }
  uint32_t offset(unsigned Argument) const { return First[Argument] + 2; }
  uint32_t size(unsigned Argument, unsigned Dimension) const {
    return First[Argument] + 3 + Dimension;
  }
  uint32_t stride(unsigned Argument, unsigned Dimension, unsigned Rank) const {
    return First[Argument] + 3 + Rank + Dimension;
  }

private:
  std::vector<uint32_t> Sizes; ///< bytes of each lowered argument
  std::vector<uint32_t> First; ///< by argument
};

} // namespace dragon::ir

#endif // DRAGON_PASSES_MLIR_ACCESS_ARGUMENTLAYOUT_H
