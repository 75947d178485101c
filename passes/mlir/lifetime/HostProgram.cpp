//===- HostProgram.cpp - buffer programs of host functions ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/mlir/lifetime/HostProgram.h"

#include "passes/mlir/lifetime/HostEvents.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;

namespace dragon::ir {

namespace {

/// Walks the function and adds the blocks of the program, and the edges between
/// them: the blocks of the function, and those of operations with regions that
/// are followed. It gives each operation to HostEvents, in the order of the
/// walk, and the values of each edge to HostPointers.
class HostBlocks {
public:
  HostBlocks(FunctionOpInterface F, HostBuffers &Buffers,
             HostPointers &Pointers, HostEvents &Events, HostProgram &Result)
      : F(F), Buffers(Buffers), Pointers(Pointers), Events(Events),
        Result(Result) {}

  void addRegion(Region &R);

private:
  unsigned newBlock(mlir::Block *In, Operation *After);
  unsigned addOperations(mlir::Block &B);
  unsigned addRegionOp(RegionBranchOpInterface Op, unsigned Now);
  void addEdge(unsigned From, unsigned To, ValueRange Given, ValueRange Taken);

  FunctionOpInterface F;
  HostBuffers &Buffers;
  HostPointers &Pointers;
  HostEvents &Events;
  HostProgram &Result;
  /// For each block of the function: the program's block that begins with it,
  /// and the one that ends with it.
  DenseMap<mlir::Block *, unsigned> EntryOf, EndOf;
};

} // namespace

unsigned HostBlocks::newBlock(mlir::Block *In, Operation *After) {
  dragon::Block B;
  B.Name = ("b" + Twine(Result.Program.Blocks.size())).str();
  Result.Program.Blocks.push_back(std::move(B));
  Result.Operations.emplace_back();
  Result.Extents.push_back({In, After, nullptr});
  return unsigned(Result.Program.Blocks.size()) - 1;
}

void HostBlocks::addEdge(unsigned From, unsigned To, ValueRange Values,
                         ValueRange Taken) {
  SmallVector<unsigned, 2> &Successors = Result.Program.Blocks[From].Successors;
  if (!llvm::is_contained(Successors, To))
    Successors.push_back(To);
  for (auto [V, Argument] : llvm::zip(Values, Taken))
    if (isa<BaseMemRefType>(V.getType()))
      Pointers.give(Argument, To, From, V);
}

void HostBlocks::addRegion(Region &R) {
  for (mlir::Block &B : R)
    if (!EntryOf.count(&B))
      EntryOf[&B] = newBlock(&B, nullptr);
  for (mlir::Block &B : R) {
    const unsigned End = EndOf[&B] = addOperations(B);
    Operation *Last = B.mightHaveTerminator() ? B.getTerminator() : nullptr;
    Result.Extents[End].End = Last;
    if (!Last)
      continue;
    if (auto Branch = dyn_cast<BranchOpInterface>(Last)) {
      for (unsigned I = 0; I < Last->getNumSuccessors(); ++I) {
        mlir::Block *To = Last->getSuccessor(I);
        // The first arguments are those that the operation itself produces.
        SuccessorOperands Operands = Branch.getSuccessorOperands(I);
        addEdge(
            End, EntryOf[To], Operands.getForwardedOperands(),
            To->getArguments().drop_front(Operands.getProducedOperandCount()));
      }
    } else if (R.getParentOp() == F) {
      Result.Program.Blocks[End].Returns =
          Last->hasTrait<OpTrait::ReturnLike>();
    }
  }
}

/// Adds an operation whose regions are blocks of the program. Returns the block
/// that comes after it.
unsigned HostBlocks::addRegionOp(RegionBranchOpInterface Op, unsigned Now) {
  Result.Extents[Now].End = Op;
  mlir::Block *In = Op->getBlock();
  for (Region &R : Op->getRegions())
    if (!R.empty())
      EntryOf[&R.front()] = newBlock(&R.front(), nullptr);
  const unsigned After = newBlock(In, Op);
  // A loop that surely runs has no edge around its body.
  bool SurelyRuns = false;
  if (auto Loop = dyn_cast<LoopLikeOpInterface>(Op.getOperation()))
    if (std::optional<APInt> Trips = Loop.getStaticTripCount())
      SurelyRuns = !Trips->isZero();
  auto lead = [&](unsigned From, ArrayRef<RegionSuccessor> Successors,
                  llvm::function_ref<OperandRange(RegionSuccessor)> Operands,
                  bool AtEntry) {
    for (const RegionSuccessor &S : Successors) {
      if (S.isParent() && AtEntry && SurelyRuns)
        continue;
      const unsigned To =
          S.isParent() ? After : EntryOf[&S.getSuccessor()->front()];
      addEdge(From, To, Operands(S), S.getSuccessorInputs());
    }
  };
  SmallVector<RegionSuccessor> Successors;
  Op.getSuccessorRegions(RegionBranchPoint::parent(), Successors);
  lead(
      Now, Successors,
      [&](RegionSuccessor S) { return Op.getEntrySuccessorOperands(S); }, true);
  for (Region &R : Op->getRegions()) {
    if (R.empty())
      continue;
    addRegion(R);
    for (mlir::Block &B : R) {
      auto Last =
          dyn_cast<RegionBranchTerminatorOpInterface>(B.getTerminator());
      if (!Last)
        continue;
      Successors.clear();
      Last.getSuccessorRegions(
          SmallVector<Attribute>(Last->getNumOperands(), nullptr), Successors);
      lead(
          EndOf[&B], Successors,
          [&](RegionSuccessor S) { return Last.getSuccessorOperands(S); },
          false);
    }
  }
  return After;
}

unsigned HostBlocks::addOperations(mlir::Block &B) {
  unsigned Now = EntryOf[&B];
  for (Operation &Op : B) {
    auto Regions = dyn_cast<RegionBranchOpInterface>(Op);
    if (Regions && isFollowed(&Op) && Buffers.areUsedInside(&Op))
      Now = addRegionOp(Regions, Now);
    else if (Op.getNumRegions())
      Events.addWhole(&Op, Now);
    else
      Events.add(&Op, Now);
  }
  return Now;
}

HostProgram readHostProgram(FunctionOpInterface F,
                            const TargetAnalysis &Memrefs) {
  HostProgram Result;
  HostBuffers Buffers(F, Memrefs, Result);
  Buffers.addAll();
  Buffers.findEscapes();
  HostPointers Pointers(F, Memrefs, Buffers, Result);
  HostEvents Events(Memrefs, Buffers, Pointers, Result);
  HostBlocks(F, Buffers, Pointers, Events, Result)
      .addRegion(F.getFunctionBody());
  Pointers.addAll();
  return Result;
}

} // namespace dragon::ir
