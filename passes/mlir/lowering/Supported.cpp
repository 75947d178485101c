//===- Supported.cpp - what is lowered, and what is not -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/mlir/lowering/Supported.h"

#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace dragon::ir {

namespace {

/// Threads that shuffle among each other, on all GPUs that there are.
constexpr unsigned SubgroupSize = 32;

class SimplifyVectors
    : public PassWrapper<SimplifyVectors, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SimplifyVectors)
  void getDependentDialects(DialectRegistry &Registry) const override {
    Registry.insert<gpu::GPUDialect, vector::VectorDialect>();
  }

  void runOnOperation() override {
    RewritePatternSet Patterns(&getContext());
    vector::populateVectorTransferLoweringPatterns(Patterns,
                                                   /*maxTransferRank=*/1);
    vector::populateVectorMaskMaterializationPatterns(
        Patterns, /*force32BitVectorIndices=*/false);
    vector::populateVectorBroadcastLoweringPatterns(Patterns);
    populateGpuBreakDownSubgroupReducePatterns(Patterns);
    populateGpuLowerSubgroupReduceToShufflePatterns(Patterns, SubgroupSize);
    populateGpuLowerClusteredSubgroupReduceToShufflePatterns(Patterns,
                                                             SubgroupSize);
    // What it does not change, others may.
    (void)applyPatternsGreedily(getOperation(), std::move(Patterns));
  }
};

//===----------------------------------------------------------------------===//
// The user's words.
//===----------------------------------------------------------------------===//

/// What to do before, by the operation's dialect; "" if nothing is known.
StringRef cureFor(StringRef Dialect) {
  return llvm::StringSwitch<StringRef>(Dialect)
      .Case("linalg", "make loops or launches of it, as "
                      "--convert-linalg-to-parallel-loops does")
      .Cases({"tensor", "bufferization"},
             "make memrefs of its tensors, as --one-shot-bufferize does")
      .Case("vector", "make simpler operations of it, as "
                      "--lower-vector-multi-reduction, --convert-vector-to-scf "
                      "and --convert-vector-to-llvm do")
      .Case("async", "leave out --async-parallel-for and --gpu-async-region; "
                     "device work is asynchronous by tokens of gpu's own "
                     "operations")
      .Case("scf", "make loops of it, as --scf-forall-to-parallel does")
      .Case("nvgpu", "lower it, as --convert-nvgpu-to-nvvm does")
      .Case("sparse_tensor", "lower it, as --sparsifier does")
      .Case("tosa", "lower it, as --tosa-to-linalg and --tosa-to-arith do")
      .Case("shape", "lower it, as --convert-shape-to-std does")
      .Case("complex", "lower it, as --convert-complex-to-standard does")
      .Case("math", "lower it, as --math-expand-ops or --math-uplift-to-fma do")
      .Default("");
}

bool isTensor(Type T) { return isa<TensorType>(T); }

bool worksOnTensors(Operation *Op) {
  if (auto Function = dyn_cast<FunctionOpInterface>(Op))
    return llvm::any_of(Function.getArgumentTypes(), isTensor) ||
           llvm::any_of(Function.getResultTypes(), isTensor);
  return llvm::any_of(Op->getOperandTypes(), isTensor) ||
         llvm::any_of(Op->getResultTypes(), isTensor);
}

void tellNotSupported(Location Where, StringRef Name, StringRef Cure) {
  InFlightDiagnostic Error = emitError(Where)
                             << "'" << Name << "' is not supported";
  if (!Cure.empty())
    Error << ": before dragon-cc, " << Cure;
}

/// "failed to legalize operation 'gpu.x' that was explicitly marked illegal".
LogicalResult reword(Diagnostic &Message) {
  const std::string Said = Message.str();
  StringRef Rest = Said;
  if (!Rest.consume_front("failed to legalize operation '"))
    return failure();
  const StringRef Name = Rest.split('\'').first;
  tellNotSupported(Message.getLocation(), Name, cureFor(Name.split('.').first));
  return success();
}

//===----------------------------------------------------------------------===//
// Lowering of kernels.
//===----------------------------------------------------------------------===//

class LowerKernels : public PassWrapper<LowerKernels, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerKernels)
  void getDependentDialects(DialectRegistry &Registry) const override {
    pipeline().getDependentDialects(Registry);
  }

  void runOnOperation() override {
    const UsersWords Words(&getContext());
    OpPassManager Manager = pipeline();
    if (failed(runPipeline(Manager, getOperation())))
      signalPassFailure();
  }

private:
  static OpPassManager pipeline() {
    OpPassManager Manager(ModuleOp::getOperationName());
    OpPassManager &Kernels = Manager.nest<gpu::GPUModuleOp>();
    ConvertGpuOpsToNVVMOpsOptions Device;
    Device.indexBitwidth = 64;
    Kernels.addPass(createConvertGpuOpsToNVVMOps(Device));
    Kernels.addPass(createReconcileUnrealizedCastsPass());
    Kernels.addPass(createCanonicalizerPass());
    Kernels.addPass(createCSEPass());
    return Manager;
  }
};

//===----------------------------------------------------------------------===//
// What is left.
//===----------------------------------------------------------------------===//

class CheckLowered : public PassWrapper<CheckLowered, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CheckLowered)

  void runOnOperation() override {
    bool Failed = false;
    Operation *Cast = nullptr;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *Op) {
      if (isa<ModuleOp, gpu::GPUModuleOp, gpu::BinaryOp>(Op) ||
          isa_and_nonnull<LLVM::LLVMDialect, NVVM::NVVMDialect>(
              Op->getDialect()))
        return WalkResult::advance();
      // They come from what is left elsewhere.
      if (isa<UnrealizedConversionCastOp>(Op)) {
        Cast = Op;
        return WalkResult::advance();
      }
      const StringRef Name = Op->getName().getStringRef();
      Failed = true;
      tellNotSupported(Op->getLoc(), Name,
                       worksOnTensors(Op) ? cureFor("tensor")
                                          : cureFor(Name.split('.').first));
      // What is in it is left for the same reason.
      return WalkResult::skip();
    });
    if (Cast && !Failed) {
      Failed = true;
      Cast->emitError("values of the types ")
          << Cast->getOperandTypes() << " and " << Cast->getResultTypes()
          << " are not supported together";
    }
    if (Failed)
      signalPassFailure();
  }
};

} // namespace

UsersWords::UsersWords(MLIRContext *Context)
    : ScopedDiagnosticHandler(Context, reword) {}

std::unique_ptr<Pass> createSimplifyVectors() {
  return std::make_unique<SimplifyVectors>();
}

std::unique_ptr<Pass> createLowerKernels() {
  return std::make_unique<LowerKernels>();
}

std::unique_ptr<Pass> createCheckLowered() {
  return std::make_unique<CheckLowered>();
}

} // namespace dragon::ir
