//===- Buffers.h - memrefs as buffers of the runtime ------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The members of HostPattern, for the files with patterns.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_MLIR_LOWERING_BUFFERS_H
#define DRAGON_PASSES_MLIR_LOWERING_BUFFERS_H

#include "passes/mlir/lowering/Patterns.h"

namespace dragon::ir {

template <typename SourceOp>
mlir::Value
HostPattern<SourceOp>::bufferOf(mlir::ConversionPatternRewriter &Rewriter,
                                mlir::Location Loc, mlir::Type Ty,
                                mlir::Value Lowered) const {
  using namespace mlir;
  const LLVMTypeConverter &Converter = *this->getTypeConverter();
  Value Pointer;
  if (auto Ranked = dyn_cast<MemRefType>(Ty)) {
    Pointer =
        MemRefDescriptor(Lowered).bufferPtr(Rewriter, Loc, Converter, Ranked);
  } else {
    auto Unranked = cast<UnrankedMemRefType>(Ty);
    const unsigned Space =
        Converter.getMemRefAddressSpace(Unranked).value_or(0);
    auto Element = LLVM::LLVMPointerType::get(Rewriter.getContext(), Space);
    Value Inner =
        UnrankedMemRefDescriptor(Lowered).memRefDescPtr(Rewriter, Loc);
    Pointer = UnrankedMemRefDescriptor::alignedPtr(Rewriter, Loc, Converter,
                                                   Inner, Element);
    Value Offset = UnrankedMemRefDescriptor::offset(Rewriter, Loc, Converter,
                                                    Inner, Element);
    Pointer = LLVM::GEPOp::create(
        Rewriter, Loc, Element,
        Converter.convertType(Unranked.getElementType()), Pointer, Offset);
  }
  if (Pointer.getType() != Calls.PtrType)
    Pointer =
        LLVM::AddrSpaceCastOp::create(Rewriter, Loc, Calls.PtrType, Pointer);
  return Pointer;
}

template <typename SourceOp>
mlir::Value
HostPattern<SourceOp>::elementsOf(mlir::ConversionPatternRewriter &Rewriter,
                                  mlir::Location Loc, mlir::Type Ty,
                                  mlir::Value Lowered) const {
  using namespace mlir;
  auto Ranked = dyn_cast<MemRefType>(Ty);
  if (!Ranked || !(Ranked.getLayout().isIdentity() ||
                   Ranked.areTrailingDimsContiguous(Ranked.getRank())))
    return {};
  if (Ranked.hasStaticShape())
    return Calls.i64(Rewriter, Loc, Ranked.getNumElements());
  Value Count;
  for (int64_t i = 0; i < Ranked.getRank(); ++i) {
    Value Size = MemRefDescriptor(Lowered).size(Rewriter, Loc, unsigned(i));
    Count = Count ? LLVM::MulOp::create(Rewriter, Loc, Count, Size).getResult()
                  : Size;
  }
  return Count;
}

template <typename SourceOp>
mlir::Value
HostPattern<SourceOp>::bytesOf(mlir::ConversionPatternRewriter &Rewriter,
                               mlir::Location Loc, mlir::Type Ty,
                               mlir::Value Lowered) const {
  using namespace mlir;
  Value Count = elementsOf(Rewriter, Loc, Ty, Lowered);
  if (!Count)
    return {};
  Value Each = this->getSizeInBytes(Loc, cast<MemRefType>(Ty).getElementType(),
                                    Rewriter);
  return LLVM::MulOp::create(Rewriter, Loc, Count, Each);
}

template <typename SourceOp>
mlir::Value HostPattern<SourceOp>::describe(
    mlir::ConversionPatternRewriter &Rewriter, mlir::Location Loc,
    mlir::MemRefType Ty, mlir::ValueRange Sizes, mlir::ValueRange Strides,
    mlir::Value Place) const {
  using namespace mlir;
  Value Address = LLVM::LoadOp::create(Rewriter, Loc, Calls.PtrType, Place);
  auto Wanted = cast<LLVM::LLVMPointerType>(this->getElementPtrType(Ty));
  if (Wanted != Calls.PtrType)
    Address = LLVM::AddrSpaceCastOp::create(Rewriter, Loc, Wanted, Address);
  return this->createMemRefDescriptor(Loc, Ty, Address, Address,
                                      llvm::to_vector(Sizes),
                                      llvm::to_vector(Strides), Rewriter);
}

template <typename SourceOp>
mlir::Value HostPattern<SourceOp>::allocate(
    mlir::ConversionPatternRewriter &Rewriter, mlir::Location Loc,
    mlir::MemRefType Ty, mlir::ValueRange DynamicSizes, uint32_t Flags) const {
  using namespace mlir;
  SmallVector<Value> Sizes, Strides;
  Value Bytes;
  this->getMemRefDescriptorSizes(Loc, Ty, DynamicSizes, Rewriter, Sizes,
                                 Strides, Bytes);
  Value Place = Calls.stack(Rewriter, Loc, Calls.PtrType);
  Calls.cuda(Rewriter, Loc, "__dragon_malloc",
             {Place, Bytes, Calls.i32(Rewriter, Loc, Flags),
              Calls.source(Rewriter, Loc)});
  return describe(Rewriter, Loc, Ty, Sizes, Strides, Place);
}

} // namespace dragon::ir

#endif // DRAGON_PASSES_MLIR_LOWERING_BUFFERS_H
