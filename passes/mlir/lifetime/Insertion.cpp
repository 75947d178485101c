//===- Insertion.cpp - directives -> operations of the dialect ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/mlir/lifetime/Insertion.h"

#include "dragon/mlir/Passes.h"
#include "passes/placement/DirectiveInserter.h"
#include "passes/placement/NextUse.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace dragon::ir {

namespace {

void mark(Operation *Made) {
  Made->setAttr(InsertedAttrName, UnitAttr::get(Made->getContext()));
}

/// A value is computed anew only if that takes no longer chain of operations.
constexpr unsigned MaxDepth = 16;

class Insertion final : public DirectiveInserter {
public:
  Insertion(FunctionOpInterface F, HostProgram &Read)
      : Read(Read), Dominators(F), Builder(F.getContext()) {}

private:
  bool insert(const Directive &D) override;
  /// Nothing is elided: no operation that is followed reads or writes files.
  void elide(const Placement &) override {}
  void map(const Directive &D, const MapDirective &Map) override;

  Operation *operation(EventRef At) const {
    return At.Index < Read.Operations[At.Block].size()
               ? Read.Operations[At.Block][At.Index]
               : nullptr;
  }
  bool setPoint(const Directive &D);
  bool insertDiscard(const Directive &D, const DiscardDirective &Discard);
  bool insertNextUse(const Directive &D, const NextUseDirective &Next);
  Value named(NameId Name) const {
    return Name < Read.Buffers.size()
               ? Read.Buffers[Name]
               : Read.Pointers[Name - Read.Buffers.size()];
  }
  /// Whether the value is available at the point of insertion.
  bool available(Value V) const;
  /// The value at the point of insertion, computed anew if it must be; null if
  /// that cannot be done.
  Value at(Value V, IRMapping &Made, unsigned Depth = 0);
  /// The buffer's memref at the point of insertion, or a value that is the
  /// same; null if neither is available.
  Value memrefAt(NameId Name) const;
  Value test(unsigned Buffer, llvm::ArrayRef<EventRef> Launches, Value Memref);
  Value tokenAt(const Directive &D) const;
  /// Whether the directive is a discard that the launch in front of it can make
  /// piece by piece.
  bool withLaunch(const Directive &D) const {
    return D.is<DiscardDirective>() && D.Where == Anchor::After &&
           isa<gpu::LaunchFuncOp>(operation(D.At));
  }

  HostProgram &Read;
  DominanceInfo Dominators;
  OpBuilder Builder;
  /// The last directive behind each operation: the next one goes behind that,
  /// so that directives keep their order.
  llvm::DenseMap<Operation *, Operation *> Behind;
};

bool Insertion::setPoint(const Directive &D) {
  const HostProgram::Extent &Block = Read.Extents[D.At.Block];
  if (D.Where == Anchor::BlockEntry) {
    if (Block.After)
      Builder.setInsertionPointAfter(Block.After);
    else
      Builder.setInsertionPointToStart(Block.In);
    return true;
  }
  Operation *At = operation(D.At);
  if (!At) {
    if (!Block.End)
      return false;
    Builder.setInsertionPoint(Block.End);
    return true;
  }
  if (D.Where == Anchor::Before || withLaunch(D)) {
    Builder.setInsertionPoint(At);
    return true;
  }
  auto [It, New] = Behind.try_emplace(At, At);
  Builder.setInsertionPointAfter(It->second);
  return true;
}

bool Insertion::available(Value V) const {
  mlir::Block *In = Builder.getInsertionBlock();
  auto Point = Builder.getInsertionPoint();
  if (auto Argument = dyn_cast<BlockArgument>(V))
    return Argument.getOwner()->getParent()->isAncestor(In->getParent()) &&
           Dominators.dominates(
               Argument.getOwner(),
               Argument.getOwner()->getParent()->findAncestorBlockInRegion(
                   *In));
  if (Point == In->end())
    return Dominators.dominates(V.getDefiningOp(), &In->back());
  return Dominators.properlyDominates(V.getDefiningOp(), &*Point);
}

Value Insertion::at(Value V, IRMapping &Made, unsigned Depth) {
  if (Value Known = Made.lookupOrNull(V))
    return Known;
  if (available(V))
    return V;
  Operation *Op = V.getDefiningOp();
  // An operation without effects gives the same result wherever its operands
  // are the same.
  if (!Op || Depth > MaxDepth || Op->getNumRegions() || !isPure(Op))
    return {};
  for (Value Operand : Op->getOperands()) {
    Value There = at(Operand, Made, Depth + 1);
    if (!There)
      return {};
    Made.map(Operand, There);
  }
  Operation *Copy = Builder.clone(*Op, Made);
  return Copy->getResult(cast<OpResult>(V).getResultNumber());
}

/// The number of bytes that the launches surely overwrite, or null if that
/// cannot be asked here.
Value Insertion::test(unsigned Buffer, ArrayRef<EventRef> Launches,
                      Value Memref) {
  Value Least;
  for (EventRef At : Launches) {
    auto Launch = dyn_cast_or_null<gpu::LaunchFuncOp>(operation(At));
    const BufferUse *U = Read.Program.event(At).find(Buffer);
    if (!Launch || !U || U->Operand < 0)
      return {};
    IRMapping Made;
    SmallVector<Value> Dims, Operands;
    gpu::KernelDim3 Grid = Launch.getGridSizeOperandValues();
    gpu::KernelDim3 Block = Launch.getBlockSizeOperandValues();
    for (Value V : {Grid.x, Grid.y, Grid.z, Block.x, Block.y, Block.z}) {
      Value There = at(V, Made);
      if (!There)
        return {};
      if (!There.getType().isIndex())
        There = arith::IndexCastOp::create(Builder, Launch.getLoc(),
                                           Builder.getIndexType(), There);
      Dims.push_back(There);
    }
    for (auto [I, V] : llvm::enumerate(Launch.getKernelOperands())) {
      Value There = int(I) == U->Operand && V.getType() == Memref.getType()
                        ? Memref
                        : at(V, Made);
      if (!There)
        return {};
      Operands.push_back(There);
    }
    Value Bytes = OverwrittenOp::create(
        Builder, Launch.getLoc(), Builder.getI64Type(), Launch.getKernel(),
        Dims[0], Dims[1], Dims[2], Dims[3], Dims[4], Dims[5], Operands,
        Builder.getI32IntegerAttr(U->Operand));
    mark(Bytes.getDefiningOp());
    Least = Least
                ? arith::MinUIOp::create(Builder, Launch.getLoc(), Least, Bytes)
                      .getResult()
                : Bytes;
  }
  return Least;
}

/// The token of the event at D.At.
Value Insertion::tokenAt(const Directive &D) const {
  auto Async = dyn_cast_or_null<gpu::AsyncOpInterface>(operation(D.At));
  if (!Async)
    return {};
  if (D.Where != Anchor::Before && Async.getAsyncToken())
    return Async.getAsyncToken();
  return Async.getAsyncDependencies().empty()
             ? Value()
             : Async.getAsyncDependencies().front();
}

Value Insertion::memrefAt(NameId Name) const {
  Value Memref = named(Name);
  if (available(Memref))
    return Memref;
  Memref = Read.Leaves.lookup(Memref);
  return Memref && available(Memref) ? Memref : Value();
}

bool Insertion::insertDiscard(const Directive &D,
                              const DiscardDirective &Discard) {
  // Discards of parts, of arrays and on edges are not implemented for MLIR.
  if (!Discard.of<WholeBuffer>() && !Discard.of<PointedTo>())
    return false;
  const auto *By = Discard.of<PointedTo>();
  Value Memref = memrefAt(By ? By->Name : D.Buffer);
  if (!Memref)
    return false;
  const bool ByLaunch = withLaunch(D);
  Value After;
  if (!ByLaunch && Discard.Stream != DefaultStream) {
    After = tokenAt(D);
    if (!After || !available(After))
      return false;
  }
  Value Bytes;
  if (!Discard.Tests.empty() &&
      !(Bytes = test(D.Buffer, Discard.Tests, Memref)))
    return false;
  const Location Loc = Memref.getLoc();
  Operation *Made =
      ByLaunch
          ? LastUseOp::create(Builder, Loc, Memref, Bytes, Discard.Eager)
                .getOperation()
          : DiscardOp::create(Builder, Loc, Memref, Bytes, After, Discard.Eager)
                .getOperation();
  mark(Made);
  if (D.Where == Anchor::After && !ByLaunch)
    Behind[operation(D.At)] = Made;
  return true;
}

bool Insertion::insertNextUse(const Directive &D,
                              const NextUseDirective &Next) {
  Value Memref = memrefAt(D.Buffer);
  if (!Memref)
    return false;
  IntegerAttr Launches;
  if (Next.Launches != NextNeed::NeverAgain)
    Launches = Builder.getIntegerAttr(
        Builder.getIntegerType(32, /*isSigned=*/false), Next.Launches);
  Operation *Made =
      NextUseOp::create(Builder, Memref.getLoc(), Memref, Launches);
  mark(Made);
  if (D.Where == Anchor::After)
    Behind[operation(D.At)] = Made;
  return true;
}

bool Insertion::insert(const Directive &D) {
  if (!setPoint(D))
    return false;
  if (const auto *Discard = D.as<DiscardDirective>())
    return insertDiscard(D, *Discard);
  if (const auto *Next = D.as<NextUseDirective>())
    return insertNextUse(D, *Next);
  if (D.is<FollowsDirective>()) {
    mark(LaunchFollowsOp::create(Builder, operation(D.At)->getLoc()));
    return true;
  }
  // Directives for staging buffers are left out.
  return false;
}

/// Turns gpu.alloc into dragon.alloc, which says what the program does with it.
void Insertion::map(const Directive &D, const MapDirective &Map) {
  Value &Buffer = Read.Buffers[D.Buffer];
  Operation *Site = Buffer.getDefiningOp();
  auto Alloc = dyn_cast<gpu::AllocOp>(Site);
  Builder.setInsertionPoint(Site);
  auto New = AllocOp::create(
      Builder, Site->getLoc(), Buffer.getType(),
      Alloc ? Alloc.getDynamicSizes() : cast<AllocOp>(Site).getDynamicSizes(),
      MapFlagsAttr::get(Builder.getContext(), MapFlags(Map.Flags)),
      /*device=*/true);
  mark(New);
  Buffer.replaceAllUsesWith(New.getMemref());
  Buffer = New.getMemref();
  if (!Alloc) {
    Site->erase();
    return;
  }
  if (Value Token = Alloc.getAsyncToken())
    Token.replaceAllUsesWith(gpu::WaitOp::create(Builder, Alloc.getLoc(),
                                                 Token.getType(),
                                                 Alloc.getAsyncDependencies())
                                 .getAsyncToken());
  Alloc.erase();
}

} // namespace

void removeDirectives(FunctionOpInterface F) {
  SmallVector<Operation *> Inserted;
  SmallVector<AllocOp> Allocations;
  llvm::SmallSetVector<Operation *, 8> Computed;
  F->walk([&](Operation *Op) {
    if (!Op->hasAttr(InsertedAttrName))
      return;
    if (auto Alloc = dyn_cast<AllocOp>(Op))
      Allocations.push_back(Alloc);
    else if (isa<OverwrittenOp>(Op))
      Computed.insert(Op);
    else
      Inserted.push_back(Op);
  });
  auto erase = [&](Operation *Op) {
    for (Value V : Op->getOperands())
      if (Operation *Of = V.getDefiningOp())
        Computed.insert(Of);
    Op->erase();
  };
  for (Operation *Op : Inserted)
    erase(Op);
  // Operations that computed operands of directives alone are dead now.
  while (!Computed.empty())
    if (Operation *Op = Computed.pop_back_val();
        !isBufferSite(Op) && isOpTriviallyDead(Op))
      erase(Op);
  for (AllocOp Alloc : Allocations) {
    OpBuilder Builder(Alloc);
    auto Old = gpu::AllocOp::create(
        Builder, Alloc.getLoc(), Alloc.getMemref().getType(), Type(),
        ValueRange(), Alloc.getDynamicSizes(), ValueRange());
    Alloc.getMemref().replaceAllUsesWith(Old.getMemref());
    Alloc.erase();
  }
}

void insertDirectives(FunctionOpInterface F, HostProgram &Read,
                      Placement &Decisions) {
  Insertion(F, Read).run(Decisions);
}

} // namespace dragon::ir
