//===- KernelAccess.cpp - the accesses of a gpu.func ----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/mlir/access/KernelAccess.h"

#include "passes/access/AccessPattern.h"
#include "passes/access/PointerAccesses.h"
#include "passes/mlir/access/Conditions.h"
#include "passes/mlir/access/Polyhedra.h"
#include "passes/mlir/access/Views.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace dragon::ir {

namespace {

struct FoundAccess {
  AccessSummary Summary;
  Operation *At;
};

/// Node is what is returned plus Constant, which is 0 if there is none to see.
uint32_t withoutConstant(const ExprPool &Pool, uint32_t Node,
                         int64_t &Constant) {
  const ExprNode &N = Pool.Nodes[Node];
  Constant = 0;
  if (N.Op == ExprOp::Add)
    for (auto [Number, Rest] : {std::pair(N.A, N.B), std::pair(N.B, N.A)})
      if (Pool.Nodes[Number].Op == ExprOp::Const) {
        Constant = Pool.Nodes[Number].Imm;
        return Rest;
      }
  return Node;
}

/// A node less another one, if that is a constant. Modulo 2^64, as nodes are.
std::optional<int64_t> distanceOf(const ExprPool &Pool, uint32_t A,
                                  uint32_t B) {
  int64_t PlusA, PlusB, Result;
  A = withoutConstant(Pool, A, PlusA);
  B = withoutConstant(Pool, B, PlusB);
  const ExprNode &X = Pool.Nodes[A], &Y = Pool.Nodes[B];
  if (A == B) {
    Result = 0;
  } else if (X.Op == ExprOp::Const && Y.Op == ExprOp::Const) {
    if (llvm::SubOverflow(X.Imm, Y.Imm, Result))
      return std::nullopt;
  } else if (X.Op == ExprOp::Mul && Y.Op == ExprOp::Mul && X.B == Y.B &&
             Pool.Nodes[X.B].Op == ExprOp::Const) {
    const std::optional<int64_t> D = distanceOf(Pool, X.A, Y.A);
    if (!D || llvm::MulOverflow(*D, Pool.Nodes[X.B].Imm, Result))
      return std::nullopt;
  } else {
    return std::nullopt;
  }
  if (llvm::AddOverflow(Result, PlusA, Result) ||
      llvm::SubOverflow(Result, PlusB, Result))
    return std::nullopt;
  return Result;
}

/// The adapter of PointerAccesses.h for operations.
class OperationAccesses {
public:
  OperationAccesses(const ExprPool &Pool, DominanceInfo &Dominators)
      : Pool(Pool), Dominators(Dominators) {}

  std::optional<int64_t> distance(const FoundAccess &A,
                                  const FoundAccess &B) const {
    if ((A.Summary.Flags | B.Summary.Flags) & AccessUnbounded)
      return std::nullopt;
    return distanceOf(Pool, A.Summary.Offset, B.Summary.Offset);
  }
  /// Nodes with the same variables are the same in the same iterations of all
  /// loops that they speak of: a write that dominates the read is in no other
  /// loops than the read is.
  bool comesFirst(const FoundAccess &Write, const FoundAccess &Read) const {
    return (Write.Summary.Flags & AccessExact) &&
           Dominators.properlyDominates(Write.At, Read.At);
  }
  bool alike(const FoundAccess &A, const FoundAccess &B) const {
    return A.At->getParentOfType<LoopLikeOpInterface>() ==
           B.At->getParentOfType<LoopLikeOpInterface>();
  }

private:
  const ExprPool &Pool;
  DominanceInfo &Dominators;
};

class Analysis {
public:
  Analysis(gpu::GPUFuncOp Kernel, ExprPool &Pool, const ArgumentLayout &Layout)
      : Kernel(Kernel), Pool(Pool), Layout(Layout), Exprs(Pool, Layout, Kernel),
        Memory(Exprs), Times(Exprs), Dominators(Kernel) {}

  KernelAccesses run();

private:
  WalkResult visit(Operation *Op);
  void visitEffects(Operation *Op);
  /// One value of type T at the indices of a memref.
  void element(Operation *Op, Value Memref, ArrayRef<Index> Indices, Type T,
               uint8_t Kinds);
  void element(Operation *Op, Value Memref, ValueRange Indices, Type T,
               uint8_t Kinds);
  template <typename TransferOp> void transfer(TransferOp Op, uint8_t Kinds);
  SmallVector<Index> mapped(AffineMap Map, ValueRange Operands);
  /// Unknown bytes of what the memref points into.
  void anywhere(Operation *Op, Value Memref, uint8_t Kinds, const char *Why);
  void touchesAnything(Operation *Op, const Twine &Why);
  void notSliceable(const Twine &Why);
  void add(Operation *Op, const View &V, std::optional<Index> Element,
           uint32_t Width, uint32_t ElementBytes, uint8_t Kinds);
  void note(Operation *Op, const Twine &What);
  PointerSummary summarize(unsigned Argument);
  std::string nameOf(unsigned Argument);

  gpu::GPUFuncOp Kernel;
  ExprPool &Pool;
  const ArgumentLayout &Layout;
  IndexExprs Exprs;
  Views Memory;
  Conditions Times;
  DominanceInfo Dominators;
  KernelAccesses Result;
  uint32_t Flags = 0;
  bool BuffersOnly = true;
  std::string WhyNotSliceable;
  llvm::DenseMap<unsigned, std::vector<FoundAccess>> Found; ///< by argument
};

void Analysis::note(Operation *Op, const Twine &What) {
  Result.Notes.push_back({Op, What.str()});
}

void Analysis::touchesAnything(Operation *Op, const Twine &Why) {
  if (!(Flags & KernelTouchesAnything))
    note(Op, Why);
  Flags |= KernelTouchesAnything;
}

void Analysis::notSliceable(const Twine &Why) {
  if (WhyNotSliceable.empty())
    WhyNotSliceable = Why.str();
}

std::string Analysis::nameOf(unsigned Argument) {
  if (auto Name = dyn_cast<NameLoc>(Kernel.getArgument(Argument).getLoc()))
    return Name.getName().str();
  return "arg" + std::to_string(Argument);
}

void Analysis::add(Operation *Op, const View &V, std::optional<Index> Element,
                   uint32_t Width, uint32_t ElementBytes, uint8_t Kinds) {
  switch (V.Kind) {
  case View::Base::Local:
  case View::Base::Constant:
    return;
  case View::Base::Global:
    BuffersOnly = false;
    return;
  case View::Base::Unknown:
    return touchesAnything(Op, "it is not known which memory it accesses");
  case View::Base::Argument:
    break;
  }
  FoundAccess A;
  A.At = Op;
  A.Summary.Flags = Kinds;
  A.Summary.Width = Width;
  When Runs = Times.of(Op);
  A.Summary.Guards = Runs.Guards;
  if (neverHappens(Pool, A.Summary))
    return;
  if (Runs.Loaded)
    A.Summary.Flags |= AccessConditional;
  if (!Element || Element->Unknown) {
    A.Summary.Flags |= AccessUnbounded;
    if (Element && Element->Loaded)
      A.Summary.Flags |= AccessIndirect;
    note(Op, Element && Element->Loaded ? "the index is loaded from memory"
                                        : "the index is not known");
  } else {
    // Below the memref's end nothing wraps.
    A.Summary.Offset = Exprs
                           .combine(ExprOp::Mul, *Element,
                                    Exprs.number(ElementBytes), NoSignedWrap)
                           .Node;
    if (Element->Loaded)
      A.Summary.Flags |= AccessIndirect;
    if (Runs.Exact && Element->Exact && !(Kinds & AccessAtomic))
      A.Summary.Flags |= AccessExact;
    dropImpliedGuards(Pool, A.Summary);
  }
  Found[V.Argument].push_back(std::move(A));
}

void Analysis::element(Operation *Op, Value Memref, ArrayRef<Index> Indices,
                       Type T, uint8_t Kinds) {
  const View V = Memory.of(Memref);
  auto MemrefT = dyn_cast<MemRefType>(Memref.getType());
  std::optional<uint32_t> Bytes =
      MemrefT ? elementBytes(MemrefT.getElementType()) : std::nullopt;
  std::optional<uint32_t> Width = accessBytes(T);
  if (!Bytes || !Width)
    return add(Op, V, std::nullopt, 1, 1, Kinds);
  add(Op, V, Memory.element(V, Indices), *Width, *Bytes, Kinds);
}

void Analysis::element(Operation *Op, Value Memref, ValueRange Indices, Type T,
                       uint8_t Kinds) {
  SmallVector<Index> At;
  for (Value I : Indices)
    At.push_back(Exprs.of(I));
  element(Op, Memref, At, T, Kinds);
}

SmallVector<Index> Analysis::mapped(AffineMap Map, ValueRange Operands) {
  SmallVector<Index> Result;
  for (AffineExpr E : Map.getResults())
    Result.push_back(Exprs.of(E, Operands.take_front(Map.getNumDims()),
                              Operands.drop_front(Map.getNumDims())));
  return Result;
}

void Analysis::anywhere(Operation *Op, Value Memref, uint8_t Kinds,
                        const char *Why) {
  const View V = Memory.of(Memref);
  if (V.Kind == View::Base::Argument)
    note(Op, Why);
  if (V.Kind != View::Base::Argument)
    return add(Op, V, std::nullopt, 1, 1, Kinds);
  FoundAccess A;
  A.At = Op;
  A.Summary.Flags = Kinds | AccessUnbounded;
  A.Summary.Width = 1;
  Found[V.Argument].push_back(std::move(A));
}

/// A vector of a memref's elements, dimension by dimension.
template <typename TransferOp>
void Analysis::transfer(TransferOp Op, uint8_t Kinds) {
  Value Memref = Op.getBase();
  VectorType T = Op.getVectorType();
  AffineMap Map = Op.getPermutationMap();
  if (!isa<MemRefType>(Memref.getType()) || T.isScalable())
    return anywhere(Op, Memref, Kinds, "which elements is not known");
  SmallVector<Index> At;
  for (Value I : Op.getIndices())
    At.push_back(Exprs.of(I));
  // Elements outside of the memref are left out, masked ones as well.
  bool Exact = !Op.getMask();
  for (unsigned D = 0; D < Map.getNumResults(); ++D) {
    Exact &= Op.isDimInBounds(D);
    auto Dim = dyn_cast<AffineDimExpr>(Map.getResult(D));
    if (!Dim) // the same element again
      continue;
    if (T.getDimSize(D) > 1) {
      Index Step = Exprs.freshCounter(Pool.constant(T.getDimSize(D) - 1));
      At[Dim.getPosition()] = Exprs.add(At[Dim.getPosition()], Step);
    }
  }
  if (!Exact)
    for (Index &I : At)
      I.Exact = false;
  element(Op, Memref, At, T.getElementType(), Kinds);
}

void Analysis::visitEffects(Operation *Op) {
  auto Interface = dyn_cast<MemoryEffectOpInterface>(Op);
  const bool TouchesMemory = llvm::any_of(Op->getOperandTypes(), [](Type T) {
    return isa<BaseMemRefType>(T) ||
           !(T.isIntOrIndexOrFloat() || isa<VectorType, ComplexType>(T));
  });
  if (!Interface) {
    if (Op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
        (Op->hasTrait<OpTrait::IsTerminator>() && !TouchesMemory))
      return;
    touchesAnything(Op, "nothing is known of '" + Op->getName().getStringRef() +
                            "'");
    notSliceable("it uses '" + Op->getName().getStringRef() +
                 "', of which nothing is known");
    return;
  }
  SmallVector<MemoryEffects::EffectInstance> Effects;
  Interface.getEffects(Effects);
  for (const MemoryEffects::EffectInstance &E : Effects) {
    const bool Reads = isa<MemoryEffects::Read>(E.getEffect());
    const bool Writes = isa<MemoryEffects::Write>(E.getEffect());
    if (!Reads && !Writes)
      continue;
    Value On = E.getValue();
    if (On && isa<MemRefType>(On.getType())) {
      anywhere(Op, On, Reads ? AccessRead : AccessWrite,
               "it is not known which elements");
    } else {
      touchesAnything(Op, "what '" + Op->getName().getStringRef() +
                              "' touches is not known");
      notSliceable("it uses '" + Op->getName().getStringRef() +
                   "', of which not all is known");
    }
  }
  // An address that becomes a number.
  if (Effects.empty() && TouchesMemory && Op->getNumResults())
    touchesAnything(Op, "the address goes where it is not followed");
}

WalkResult Analysis::visit(Operation *Op) {
  llvm::TypeSwitch<Operation *>(Op)
      .Case([&](memref::LoadOp Load) {
        element(Op, Load.getMemref(), Load.getIndices(), Load.getType(),
                AccessRead);
      })
      .Case([&](memref::StoreOp Store) {
        element(Op, Store.getMemref(), Store.getIndices(),
                Store.getValue().getType(), AccessWrite);
      })
      .Case([&](memref::AtomicRMWOp Atomic) {
        element(Op, Atomic.getMemref(), Atomic.getIndices(), Atomic.getType(),
                AccessRead | AccessWrite | AccessAtomic);
      })
      .Case([&](memref::GenericAtomicRMWOp Atomic) {
        element(Op, Atomic.getMemref(), Atomic.getIndices(),
                Atomic.getResult().getType(),
                AccessRead | AccessWrite | AccessAtomic);
      })
      .Case([&](affine::AffineLoadOp Load) {
        element(Op, Load.getMemRef(),
                mapped(Load.getAffineMap(), Load.getMapOperands()),
                Load.getType(), AccessRead);
      })
      .Case([&](affine::AffineStoreOp Store) {
        element(Op, Store.getMemRef(),
                mapped(Store.getAffineMap(), Store.getMapOperands()),
                Store.getValue().getType(), AccessWrite);
      })
      .Case([&](affine::AffineVectorLoadOp Load) {
        element(Op, Load.getMemRef(),
                mapped(Load.getAffineMap(), Load.getMapOperands()),
                Load.getType(), AccessRead);
      })
      .Case([&](affine::AffineVectorStoreOp Store) {
        element(Op, Store.getMemRef(),
                mapped(Store.getAffineMap(), Store.getMapOperands()),
                Store.getValue().getType(), AccessWrite);
      })
      .Case([&](vector::LoadOp Load) {
        element(Op, Load.getBase(), Load.getIndices(), Load.getType(),
                AccessRead);
      })
      .Case([&](vector::StoreOp Store) {
        element(Op, Store.getBase(), Store.getIndices(),
                Store.getValueToStore().getType(), AccessWrite);
      })
      .Case([&](vector::TransferReadOp Read) { transfer(Read, AccessRead); })
      .Case(
          [&](vector::TransferWriteOp Write) { transfer(Write, AccessWrite); })
      // They see to a block alone.
      .Case<gpu::BarrierOp, gpu::ShuffleOp, gpu::SubgroupReduceOp,
            gpu::AllReduceOp>([&](Operation *) { Flags |= KernelHasBarrier; })
      .Case<gpu::PrintfOp, cf::AssertOp>([&](Operation *) {
        Flags |= KernelHasPrintf;
        BuffersOnly = false;
      })
      .Case<gpu::ClusterIdOp, gpu::ClusterDimOp, gpu::ClusterBlockIdOp,
            gpu::ClusterDimBlocksOp>([&](Operation *) {
        notSliceable("it asks for its position in a cluster");
      })
      .Case([&](CallOpInterface) {
        touchesAnything(Op, "it calls a function");
        notSliceable("it calls a function that is not inlined");
        BuffersOnly = false;
      })
      // The end of a region.
      .Case<memref::AtomicYieldOp, gpu::ReturnOp, gpu::TerminatorOp>(
          [](Operation *) {})
      // Memory that is followed, or not touched.
      .Case<memref::CastOp, memref::MemorySpaceCastOp, memref::SubViewOp,
            memref::ReinterpretCastOp, memref::ExpandShapeOp,
            memref::CollapseShapeOp, memref::TransposeOp,
            memref::ExtractStridedMetadataOp, memref::ViewOp, memref::AllocaOp,
            memref::DimOp, memref::RankOp, memref::AssumeAlignmentOp,
            memref::PrefetchOp, affine::AffinePrefetchOp, memref::GetGlobalOp,
            gpu::DynamicSharedMemoryOp>([](Operation *) {})
      .Case<memref::AllocOp, memref::DeallocOp>(
          [&](Operation *) { BuffersOnly = false; })
      .Default([&](Operation *) { visitEffects(Op); });
  return WalkResult::advance();
}

PointerSummary Analysis::summarize(unsigned Argument) {
  PointerSummary P;
  P.ArgIndex = Layout.alignedPointer(Argument);
  P.Name = nameOf(Argument);
  P.Flags = 0;
  summarizeAccesses(Found[Argument], OperationAccesses(Pool, Dominators), P);
  return P;
}

KernelAccesses Analysis::run() {
  // Regions of loops, conditions and so on are walked as well.
  for (Operation &Op : Kernel.getBody().front())
    Op.walk<WalkOrder::PreOrder>(
        [&](Operation *Inner) { return visit(Inner); });
  for (Block &B : llvm::drop_begin(Kernel.getBody()))
    for (Operation &Op : B)
      Op.walk<WalkOrder::PreOrder>(
          [&](Operation *Inner) { return visit(Inner); });

  KernelSummary &K = Result.Summary;
  K.Name = Kernel.getName().str();
  K.ArgSizes = Layout.sizes();
  K.Flags = Flags;
  if (WhyNotSliceable.empty()) {
    K.Flags |= KernelSliceable;
    if (BuffersOnly && !(Flags & KernelTouchesAnything))
      K.Flags |= KernelActsOnBuffersOnly;
  } else {
    K.WhyNotSliceable = WhyNotSliceable;
  }
  for (unsigned I = 0; I < Kernel.getFunctionType().getNumInputs(); ++I)
    if (isa<MemRefType>(Kernel.getFunctionType().getInput(I)))
      K.Pointers.push_back(summarize(I));
  classifyPointers(Pool, K);
  return std::move(Result);
}

} // namespace

KernelAccesses analyzeKernel(gpu::GPUFuncOp Kernel, ExprPool &Pool) {
  std::optional<ArgumentLayout> Layout = ArgumentLayout::of(Kernel);
  if (!Layout) {
    KernelAccesses Unknown;
    Unknown.Summary.Name = Kernel.getName().str();
    Unknown.Notes.push_back(
        {Kernel, "an argument has a type that is not followed"});
    return Unknown;
  }
  return Analysis(Kernel, Pool, *Layout).run();
}

} // namespace dragon::ir
