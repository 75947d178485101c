//===- Ops.cpp - what operations of the dragon dialect must be ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dragon/mlir/Dragon.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dragon/mlir/DragonOps.cpp.inc"

namespace dragon::ir {

static LogicalResult verifyBuffer(Operation *Op, MemRefType Type,
                                  size_t DynamicSizes) {
  if (int64_t(DynamicSizes) != int64_t(Type.getNumDynamicDims()))
    return Op->emitOpError("has ")
           << DynamicSizes << " sizes for the " << Type.getNumDynamicDims()
           << " unknown dimensions of " << Type;
  if (!Type.getLayout().isIdentity())
    return Op->emitOpError("makes buffers without a layout, not ") << Type;
  if (!Type.getElementType().isIntOrIndexOrFloat() &&
      !isa<VectorType, ComplexType>(Type.getElementType()))
    return Op->emitOpError("makes buffers of numbers, not ") << Type;
  return success();
}

LogicalResult MapOp::verify() {
  auto Type = dyn_cast<MemRefType>(getMemref().getType());
  if (!Type)
    return emitOpError("makes ranked memrefs");
  if (failed(verifyBuffer(*this, Type, getDynamicSizes().size())))
    return failure();
  const MapFlags Flags = getFlags();
  const bool Reads = bitEnumContainsAll(Flags, MapFlags::read);
  const bool Writes = bitEnumContainsAll(Flags, MapFlags::write);
  if (!Reads && !Writes)
    return emitOpError("of a file is for 'read', 'write' or both");
  if (bitEnumContainsAll(Flags, MapFlags::create) && !Writes)
    return emitOpError("with 'create' is for 'write' as well");
  return success();
}

LogicalResult AllocOp::verify() {
  auto Type = dyn_cast<MemRefType>(getMemref().getType());
  if (!Type)
    return emitOpError("makes ranked memrefs");
  if (getFlags() && bitEnumContainsAny(*getFlags(), MapFlags::create))
    return emitOpError("has no file to create");
  return verifyBuffer(*this, Type, getDynamicSizes().size());
}

LogicalResult OverwrittenOp::verify() {
  const int64_t Operand = getOperand();
  if (Operand < 0 || Operand >= int64_t(getKernelOperands().size()))
    return emitOpError("asks for operand ")
           << Operand << " of " << getKernelOperands().size();
  if (!isa<BaseMemRefType>(getKernelOperands()[Operand].getType()))
    return emitOpError("asks for operand ")
           << Operand << ", which is no memref";
  return success();
}

LogicalResult OverwrittenOp::verifySymbolUses(SymbolTableCollection &Symbols) {
  auto Kernel =
      Symbols.lookupNearestSymbolFrom<gpu::GPUFuncOp>(*this, getKernelAttr());
  // A binary has no functions to look up.
  if (!Kernel)
    return success();
  if (Kernel.getNumArguments() < getKernelOperands().size())
    return emitOpError("has ")
           << getKernelOperands().size() << " operands for a kernel with "
           << Kernel.getFunctionType().getNumInputs();
  return success();
}

} // namespace dragon::ir
