//===- Dialect.cpp - the dragon dialect -----------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dragon/mlir/Dragon.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "dragon/mlir/DragonDialect.cpp.inc"
#include "dragon/mlir/DragonEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dragon/mlir/DragonAttributes.cpp.inc"

namespace dragon::ir {

void DragonDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dragon/mlir/DragonAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dragon/mlir/DragonOps.cpp.inc"
      >();
}

LogicalResult DragonDialect::verifyOperationAttribute(Operation *Op,
                                                      NamedAttribute Attr) {
  if (Attr.getName() == InsertedAttrName) {
    if (!isa_and_nonnull<DragonDialect>(Op->getDialect()))
      return Op->emitError("'") << InsertedAttrName
                                << "' belongs to operations of the dragon "
                                   "dialect";
    return success();
  }
  if (Attr.getName() != SummaryAttrName)
    return Op->emitError("unknown attribute '")
           << Attr.getName() << "': of the dragon dialect there are only '"
           << SummaryAttrName << "' and '" << InsertedAttrName << "'";
  auto Summary = dyn_cast<SummaryAttr>(Attr.getValue());
  if (!Summary)
    return Op->emitError("'") << SummaryAttrName << "' is no #dragon.summary";
  // As gpu.func, or lowered.
  if (!gpu::GPUDialect::isKernel(Op) && !Op->hasAttr("nvvm.kernel"))
    return Op->emitError("'") << SummaryAttrName << "' belongs to kernels";
  for (PointerAttr Pointer : Summary.getPointers())
    if (Pointer.getArgument() >= Summary.getArgSizes().size())
      return Op->emitError("the summary has a pointer in argument ")
             << Pointer.getArgument() << " of " << Summary.getArgSizes().size();
  return success();
}

SummaryAttr summaryOf(gpu::GPUFuncOp Kernel) {
  return Kernel->getAttrOfType<SummaryAttr>(SummaryAttrName);
}

SummaryAttr withSlice(SummaryAttr Summary, llvm::StringRef Slice) {
  MLIRContext *Context = Summary.getContext();
  return SummaryAttr::get(Context, Summary.getKind() | KernelKind::sliceClone,
                          Summary.getArgSizes(), Summary.getPointers(),
                          StringAttr::get(Context, Slice),
                          Summary.getWhyNotSliceable());
}

void registerDragonDialect(DialectRegistry &Registry) {
  Registry.insert<DragonDialect>();
}

} // namespace dragon::ir
