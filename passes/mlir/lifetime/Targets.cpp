//===- Targets.cpp - which buffer a memref is -----------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/mlir/lifetime/Targets.h"

#include "dragon/mlir/Dragon.h"

#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include <algorithm>

using namespace mlir;

namespace dragon::ir {

Targets Targets::elsewhere() {
  Targets T;
  T.Elsewhere = true;
  T.Whole = false;
  return T;
}

Targets Targets::join(const Targets &A, const Targets &B) {
  Targets Result;
  std::set_union(A.Sites.begin(), A.Sites.end(), B.Sites.begin(), B.Sites.end(),
                 std::back_inserter(Result.Sites));
  Result.Elsewhere = A.Elsewhere || B.Elsewhere;
  Result.Whole = A.Whole && B.Whole;
  return Result;
}

void Targets::print(llvm::raw_ostream &To) const {
  To << Sites.size() << " sites" << (Elsewhere ? ", or others" : "");
}

bool isBufferSite(Operation *Op) {
  return isa<gpu::AllocOp, AllocOp, MapOp>(Op);
}

bool isWholeView(Operation *Op) {
  return isa<memref::CastOp, memref::MemorySpaceCastOp, memref::ExpandShapeOp,
             memref::CollapseShapeOp, memref::AssumeAlignmentOp,
             memref::TransposeOp>(Op);
}

/// Whether the operation makes a memref of some of the elements of its operand,
/// or of others beside them.
static bool isPartialView(Operation *Op) {
  return isa<memref::SubViewOp, memref::ReinterpretCastOp, memref::ViewOp,
             memref::ExtractStridedMetadataOp>(Op);
}

bool isFollowed(Operation *Op) {
  return isa<scf::ForOp, scf::WhileOp, scf::IfOp, scf::IndexSwitchOp,
             scf::ExecuteRegionOp, affine::AffineForOp, affine::AffineIfOp>(Op);
}

namespace {

using TargetLattice = dataflow::Lattice<Targets>;

class Analysis : public dataflow::SparseForwardDataFlowAnalysis<TargetLattice> {
public:
  using SparseForwardDataFlowAnalysis::SparseForwardDataFlowAnalysis;

  LogicalResult visitOperation(Operation *Op,
                               ArrayRef<const TargetLattice *> Operands,
                               ArrayRef<TargetLattice *> Results) override {
    for (auto [Result, Lattice] : llvm::zip(Op->getResults(), Results)) {
      if (!isa<BaseMemRefType>(Result.getType()))
        continue;
      propagateIfChanged(Lattice, Lattice->join(made(Op, Operands)));
    }
    return success();
  }

  void setToEntryState(TargetLattice *Lattice) override {
    propagateIfChanged(Lattice, Lattice->join(Targets::elsewhere()));
  }

private:
  static Targets made(Operation *Op, ArrayRef<const TargetLattice *> Operands) {
    if (isBufferSite(Op)) {
      Targets T;
      T.Sites.push_back(Op);
      return T;
    }
    if (isWholeView(Op))
      return Operands[0]->getValue();
    if (isa<arith::SelectOp>(Op))
      return Targets::join(Operands[1]->getValue(), Operands[2]->getValue());
    if (isPartialView(Op)) {
      Targets T = Operands[0]->getValue();
      T.Whole = false;
      return T;
    }
    return Targets::elsewhere();
  }
};

} // namespace

TargetAnalysis::TargetAnalysis(Operation *Module) {
  Solver.load<dataflow::DeadCodeAnalysis>();
  Solver.load<dataflow::SparseConstantPropagation>();
  Solver.load<Analysis>();
  // If the solver fails, nothing is known of any memref.
  (void)Solver.initializeAndRun(Module);
}

Targets TargetAnalysis::of(Value Memref) const {
  const auto *Lattice = Solver.lookupState<TargetLattice>(Memref);
  if (!Lattice)
    return Targets::elsewhere();
  Targets T = Lattice->getValue();
  // Code that is never reached has no targets.
  if (T.Sites.empty())
    return Targets::elsewhere();
  return T;
}

bool TargetAnalysis::handsOn(OpOperand &Memref) const {
  Operation *Op = Memref.getOwner();
  if (isWholeView(Op) || isPartialView(Op) ||
      isa<arith::SelectOp, memref::DimOp, memref::RankOp>(Op))
    return true;
  if (isFollowed(Op) || isa<BranchOpInterface>(Op) ||
      (isa<RegionBranchTerminatorOpInterface>(Op) &&
       isFollowed(Op->getParentOp())))
    return true;
  auto Call = dyn_cast<CallOpInterface>(Op);
  auto Callee =
      Call ? dyn_cast_or_null<FunctionOpInterface>(Call.resolveCallable())
           : FunctionOpInterface();
  if (!Callee || Callee.isExternal())
    return false;
  // If others may call the function, its arguments have no targets.
  OperandRange Args = Call.getArgOperands();
  const unsigned Number = Memref.getOperandNumber();
  if (Args.empty() || Number < Args.getBeginOperandIndex())
    return false;
  const Targets Given = of(Memref.get()),
                Taken = of(
                    Callee.getArgument(Number - Args.getBeginOperandIndex()));
  return std::includes(Taken.Sites.begin(), Taken.Sites.end(),
                       Given.Sites.begin(), Given.Sites.end());
}

} // namespace dragon::ir
