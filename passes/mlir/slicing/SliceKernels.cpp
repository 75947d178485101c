//===- SliceKernels.cpp - sub-grid clones of gpu.func kernels -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What passes/slicing/GridSlicing.h does to LLVM IR, for the gpu dialect: the
// clone's block_id is its own plus an offset, its grid_dim is given.
//
//===----------------------------------------------------------------------===//

#include "dragon/mlir/Passes.h"

#include "passes/mlir/access/Calls.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace dragon::ir {

#define GEN_PASS_DEF_DRAGONSLICEKERNELS
#include "dragon/mlir/DragonPasses.h.inc"

namespace {

constexpr llvm::StringLiteral Prefix = "__dragon_slice_";
constexpr unsigned NumPositions = 6;

/// Whether the kernel asks where in the grid it is. Of functions that it still
/// calls nothing is known: the summary does not let these be sliced.
bool asksForPosition(gpu::GPUFuncOp Kernel) {
  return Kernel
      .walk([](Operation *Op) {
        return isa<gpu::BlockIdOp, gpu::GridDimOp, gpu::GlobalIdOp>(Op)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Offset.x, .y, .z, grid.x, .y, .z behind the arguments of the clone.
void addPositions(gpu::GPUFuncOp Clone) {
  const unsigned First = Clone.getFunctionType().getNumInputs();
  Type I32 = IntegerType::get(Clone.getContext(), 32);
  for (unsigned I = 0; I < NumPositions; ++I)
    (void)Clone.insertArgument(First + I, I32, {}, Clone.getLoc());
  auto position = [&](OpBuilder &Builder, Location Loc, unsigned I) -> Value {
    return arith::IndexCastUIOp::create(Builder, Loc, Builder.getIndexType(),
                                        Clone.getArgument(First + I));
  };
  SmallVector<Operation *> Asking;
  Clone.walk([&](Operation *Op) {
    if (isa<gpu::BlockIdOp, gpu::GridDimOp, gpu::GlobalIdOp>(Op))
      Asking.push_back(Op);
  });
  for (Operation *Op : Asking) {
    OpBuilder Builder(Op);
    Builder.setInsertionPointAfter(Op);
    const Location Loc = Op->getLoc();
    if (auto Grid = dyn_cast<gpu::GridDimOp>(Op)) {
      Grid.replaceAllUsesWith(
          position(Builder, Loc, 3 + unsigned(Grid.getDimension())));
      Grid.erase();
      continue;
    }
    const bool Global = isa<gpu::GlobalIdOp>(Op);
    const gpu::Dimension D = Global ? cast<gpu::GlobalIdOp>(Op).getDimension()
                                    : cast<gpu::BlockIdOp>(Op).getDimension();
    Value Offset = position(Builder, Loc, unsigned(D));
    if (Global)
      Offset = arith::MulIOp::create(Builder, Loc, Offset,
                                     gpu::BlockDimOp::create(Builder, Loc, D));
    auto Sum = arith::AddIOp::create(Builder, Loc, Op->getResult(0), Offset);
    // The bound that it was given holds of the sum, not of the part.
    Op->removeAttr("upper_bound");
    Op->getResult(0).replaceAllUsesExcept(Sum, Sum);
  }
}

class SliceKernels : public impl::DragonSliceKernelsBase<SliceKernels> {
  void runOnOperation() override {
    getOperation().walk([](gpu::GPUModuleOp Module) {
      SymbolTable Symbols(Module);
      SmallVector<gpu::GPUFuncOp> Kernels(Module.getOps<gpu::GPUFuncOp>());
      for (gpu::GPUFuncOp Kernel : Kernels)
        addClone(Kernel, Symbols);
    });
  }

  static void addClone(gpu::GPUFuncOp Kernel, SymbolTable &Symbols) {
    SummaryAttr Summary = summaryOf(Kernel);
    if (!Summary || Summary.getSliceName() ||
        !bitEnumContainsAll(Summary.getKind(), KernelKind::sliceable))
      return;
    std::string Name = (Prefix + Kernel.getName()).str();
    if (Symbols.lookup(Name))
      return;
    gpu::GPUFuncOp Clone = Kernel.clone();
    Clone.setName(Name);
    Clone->removeAttr(SummaryAttrName);
    Clone.removeKnownGridSizeAttr();
    Symbols.insert(Clone, std::next(Kernel->getIterator()));
    takeInCalls(Clone);
    if (!asksForPosition(Clone)) {
      Symbols.erase(Clone);
      return;
    }
    addPositions(Clone);
    Kernel->setAttr(SummaryAttrName, withSlice(Summary, Name));
  }
};

} // namespace

} // namespace dragon::ir
