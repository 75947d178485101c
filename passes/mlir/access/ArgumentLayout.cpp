//===- ArgumentLayout.cpp - arguments of a lowered kernel -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/mlir/access/ArgumentLayout.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace dragon::ir {

std::optional<uint32_t> accessBytes(Type Value) {
  if (Value.isIndex())
    return 8;
  if (Value.isIntOrFloat())
    return (Value.getIntOrFloatBitWidth() + 7) / 8;
  if (auto Vector = dyn_cast<VectorType>(Value)) {
    Type Element = Vector.getElementType();
    if (Vector.isScalable() || (!Element.isIndex() && !Element.isIntOrFloat()))
      return std::nullopt;
    const uint64_t Bits =
        Element.isIndex() ? 64 : Element.getIntOrFloatBitWidth();
    // Vectors of several dimensions are arrays of vectors, which may be padded.
    if (Vector.getRank() > 1 &&
        !llvm::isPowerOf2_64(Bits * uint64_t(Vector.getShape().back())))
      return std::nullopt;
    const uint64_t Bytes = (Bits * uint64_t(Vector.getNumElements()) + 7) / 8;
    if (Bytes > UINT32_MAX)
      return std::nullopt;
    return uint32_t(Bytes);
  }
  if (auto Complex = dyn_cast<ComplexType>(Value)) {
    if (std::optional<uint32_t> Part = elementBytes(Complex.getElementType()))
      return 2 * *Part;
  }
  return std::nullopt;
}

std::optional<uint32_t> elementBytes(Type Element) {
  std::optional<uint32_t> Bytes = accessBytes(Element);
  if (!Bytes || isa<ComplexType>(Element))
    return Bytes;
  return uint32_t(llvm::PowerOf2Ceil(*Bytes));
}

std::optional<ArgumentLayout> ArgumentLayout::of(gpu::GPUFuncOp Kernel) {
  ArgumentLayout Result;
  for (Type T : Kernel.getFunctionType().getInputs()) {
    Result.First.push_back(uint32_t(Result.Sizes.size()));
    if (auto Memref = dyn_cast<MemRefType>(T)) {
      Result.Sizes.insert(Result.Sizes.end(), 3 + 2 * Memref.getRank(), 8);
      continue;
    }
    std::optional<uint32_t> Bytes = elementBytes(T);
    if (!Bytes)
      return std::nullopt;
    Result.Sizes.push_back(*Bytes);
  }
  return Result;
}

} // namespace dragon::ir
