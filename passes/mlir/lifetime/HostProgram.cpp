//===- HostProgram.cpp - buffer programs of host functions ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/mlir/lifetime/HostReader.h"

#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;

namespace dragon::ir {

Position positionOf(Location Where) {
  Position Result;
  if (auto File = Where->findInstanceOf<FileLineColLoc>()) {
    Result.File = File.getFilename().str();
    Result.Line = File.getLine();
    Result.Column = File.getColumn();
  }
  return Result;
}

Value withoutCasts(Value V) {
  for (;;) {
    Operation *Op = V.getDefiningOp();
    if (!Op || !isWholeView(Op))
      return V;
    V = Op->getOperand(0);
  }
}

bool touchesAnything(SummaryAttr Summary) {
  return !Summary ||
         bitEnumContainsAll(Summary.getKind(), KernelKind::touchesAnything) ||
         bitEnumContainsAll(Summary.getKind(), KernelKind::unknown);
}

unsigned HostReader::newBlock(mlir::Block *In, Operation *After,
                              const Twine &Name) {
  dragon::Block B;
  B.Name = Name.str();
  Result.Program.Blocks.push_back(std::move(B));
  Result.Operations.emplace_back();
  Result.Extents.push_back({In, After, nullptr});
  return unsigned(Result.Program.Blocks.size()) - 1;
}

/// Whether what happens to buffers in its regions must be looked at piece by
/// piece.
bool HostReader::isRelevant(Operation *Op) {
  auto It = Relevant.find(Op);
  if (It != Relevant.end())
    return It->second;
  bool Found = false;
  for (Region &R : Op->getRegions())
    R.walk([&](Operation *Inner) {
      Found |=
          isa_and_nonnull<gpu::GPUDialect, DragonDialect>(Inner->getDialect());
      for (Value V : Inner->getResults())
        Found |=
            isa<BaseMemRefType>(V.getType()) && !Memrefs.of(V).Sites.empty();
    });
  return Relevant[Op] = Found;
}

void HostReader::addEdge(unsigned From, unsigned To, ValueRange Values,
                         ValueRange Taken) {
  SmallVector<unsigned, 2> &Successors = Result.Program.Blocks[From].Successors;
  if (!llvm::is_contained(Successors, To))
    Successors.push_back(To);
  for (auto [V, Argument] : llvm::zip(Values, Taken))
    if (isa<BaseMemRefType>(V.getType()))
      Given[Argument].push_back({To, From, V});
}

void HostReader::addRegion(Region &R) {
  for (mlir::Block &B : R)
    if (!EntryOf.count(&B))
      EntryOf[&B] =
          newBlock(&B, nullptr, "b" + Twine(Result.Program.Blocks.size()));
  for (mlir::Block &B : R) {
    const unsigned End = EndOf[&B] = addOperations(B);
    Operation *Last = B.mightHaveTerminator() ? B.getTerminator() : nullptr;
    Result.Extents[End].End = Last;
    if (!Last)
      continue;
    if (auto Branch = dyn_cast<BranchOpInterface>(Last)) {
      for (unsigned I = 0; I < Last->getNumSuccessors(); ++I) {
        mlir::Block *To = Last->getSuccessor(I);
        // Operands that the operation makes itself stand in front.
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

/// An operation whose regions are blocks of the program. Returns the block that
/// comes after it.
unsigned HostReader::addRegionOp(RegionBranchOpInterface Op, unsigned Now) {
  Result.Extents[Now].End = Op;
  mlir::Block *In = Op->getBlock();
  for (Region &R : Op->getRegions())
    if (!R.empty())
      EntryOf[&R.front()] = newBlock(&R.front(), nullptr,
                                     "b" + Twine(Result.Program.Blocks.size()));
  const unsigned After =
      newBlock(In, Op, "b" + Twine(Result.Program.Blocks.size()));
  // A loop that surely runs is not left before its body.
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

unsigned HostReader::addOperations(mlir::Block &B) {
  unsigned Now = EntryOf[&B];
  for (Operation &Op : B) {
    auto Regions = dyn_cast<RegionBranchOpInterface>(Op);
    if (Regions && isFollowed(&Op) && isRelevant(&Op))
      Now = addRegionOp(Regions, Now);
    else if (Op.getNumRegions())
      visitOther(&Op, Now);
    else
      visit(&Op, Now);
  }
  return Now;
}

HostProgram HostReader::run() {
  addBuffers();
  findEscapes();
  addRegion(F.getFunctionBody());
  addPointers();
  for (const auto &[To, Incomings] : Given)
    if (isa<OpResult>(To) &&
        llvm::all_of(Incomings, [&Incomings = Incomings](const Incoming &In) {
          return In.V == Incomings.front().V;
        }))
      Result.Leaves[Incomings.front().V] = To;
  return std::move(Result);
}

HostProgram readHostProgram(FunctionOpInterface F,
                            const TargetAnalysis &Memrefs) {
  return HostReader(F, Memrefs).run();
}

} // namespace dragon::ir
