//===- ConvertDragonToLLVM.cpp - host functions to the LLVM dialect -------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ours are the gpu and the dragon dialect; of the others the dialects
// themselves know. A `main` without a result becomes one that returns 0.
//
//===----------------------------------------------------------------------===//

#include "dragon/mlir/Passes.h"
#include "passes/mlir/lowering/Patterns.h"
#include "passes/mlir/lowering/Supported.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ComplexToLLVM/ComplexToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMInterface.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/GPUCommon/GPUCommonPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace dragon::ir {

#define GEN_PASS_DEF_CONVERTDRAGONTOLLVM
#include "dragon/mlir/DragonPasses.h.inc"

namespace {

/// The program begins there, so its type is that of C's.
LogicalResult checkMain(ModuleOp Module) {
  auto Main = Module.lookupSymbol<func::FuncOp>("main");
  if (!Main || Main.isExternal())
    return success();
  Builder Of(Module.getContext());
  const FunctionType Known = Main.getFunctionType();
  TypeRange Args = Known.getInputs(), Results = Known.getResults();
  const bool Takes =
      Args.empty() || (Args.size() == 2 && Args[0] == Of.getI32Type() &&
                       isa<LLVM::LLVMPointerType>(Args[1]));
  const bool Gives =
      Results.empty() || (Results.size() == 1 && Results[0] == Of.getI32Type());
  if (Takes && Gives)
    return success();
  return Main.emitError("function 'main' has the type ")
         << Known
         << ": a program's takes nothing, or i32 and !llvm.ptr as in C, and "
            "returns nothing or i32; give another function that name, or this "
            "one another";
}

void returnZeroFromMain(ModuleOp Module) {
  auto Main = Module.lookupSymbol<func::FuncOp>("main");
  if (!Main || Main.isExternal() || Main.getNumResults())
    return;
  OpBuilder Builder(Main);
  Type i32 = Builder.getI32Type();
  Main.setFunctionType(
      Builder.getFunctionType(Main.getFunctionType().getInputs(), i32));
  Main.walk([&](func::ReturnOp Op) {
    Builder.setInsertionPoint(Op);
    Value Zero = arith::ConstantIntOp::create(Builder, Op.getLoc(), i32, 0);
    Op.getOperandsMutable().assign(Zero);
  });
}

class ConvertDragonToLLVM
    : public impl::ConvertDragonToLLVMBase<ConvertDragonToLLVM> {
  void getDependentDialects(DialectRegistry &Registry) const override {
    Registry.insert<LLVM::LLVMDialect, arith::ArithDialect>();
    arith::registerConvertArithToLLVMInterface(Registry);
    cf::registerConvertControlFlowToLLVMInterface(Registry);
    registerConvertComplexToLLVMInterface(Registry);
    registerConvertFuncToLLVMInterface(Registry);
    index::registerConvertIndexToLLVMInterface(Registry);
    registerConvertMathToLLVMInterface(Registry);
    registerConvertMemRefToLLVMInterface(Registry);
    ub::registerConvertUBToLLVMInterface(Registry);
    vector::registerConvertVectorToLLVMInterface(Registry);
  }

  void runOnOperation() override {
    ModuleOp Module = getOperation();
    MLIRContext &Context = getContext();
    if (failed(checkMain(Module)))
      return signalPassFailure();
    returnZeroFromMain(Module);
    HostLowering Lowering(Module);

    LLVMTypeConverter Converter(&Context);
    Converter.addConversion(
        [&](gpu::AsyncTokenType) -> Type { return Lowering.Calls.PtrType; });
    // Host code has one address space.
    populateGpuMemorySpaceAttributeConversions(
        Converter, [](gpu::AddressSpace) { return 0u; });

    const UsersWords Words(&Context);
    ConversionTarget target(Context);
    RewritePatternSet Patterns(&Context);
    target.addLegalDialect<LLVM::LLVMDialect>();
    target.addLegalOp<ModuleOp, gpu::GPUModuleOp, gpu::BinaryOp>();
    target.markOpRecursivelyLegal<gpu::GPUModuleOp>();
    for (Dialect *Dialect : Context.getLoadedDialects()) {
      // What they have for device code is of no use here.
      if (isa<gpu::GPUDialect, DragonDialect>(Dialect) ||
          Dialect->getNamespace() == "nvvm")
        continue;
      if (auto *Known = dyn_cast<ConvertToLLVMPatternInterface>(Dialect))
        Known->populateConvertToLLVMConversionPatterns(target, Converter,
                                                       Patterns);
    }
    target.addIllegalDialect<gpu::GPUDialect, DragonDialect>();
    populateGpuPatterns(Converter, Patterns, Lowering);
    populateDragonPatterns(Converter, Patterns, Lowering);
    if (failed(applyPartialConversion(Module, target, std::move(Patterns)))) {
      signalPassFailure();
      return;
    }
    Lowering.Calls.hoistStack();
    registerKernels(Module, Lowering.Calls);
  }
};

} // namespace

} // namespace dragon::ir
