//===- IndexExprs.cpp - integers of a kernel as expressions ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/mlir/access/IndexExprs.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace dragon::ir {

namespace {

/// CUDA's limits: a grid has less than 2^31 blocks in a dimension, a block
/// at most 1024 threads.
constexpr unsigned GridBits = 31;
constexpr unsigned BlockBits = 11;

} // namespace

Index IndexExprs::of(Value V) {
  auto It = Known.find(V);
  if (It != Known.end())
    return It->second;
  Index I = compute(V);
  Known[V] = I;
  return I;
}

Index IndexExprs::of(OpFoldResult V) {
  if (auto Attr = dyn_cast<Attribute>(V))
    return number(llvm::cast<IntegerAttr>(Attr).getInt());
  return of(llvm::cast<Value>(V));
}

/// How many bits a value of the node surely needs if it is not negative; 64: it
/// may be negative, or need them all.
unsigned IndexExprs::bits(uint32_t Node) {
  auto It = Magnitudes.find(Node);
  if (It != Magnitudes.end())
    return It->second;
  const ExprNode N = Pool.Nodes[Node];
  auto of = [&](uint32_t Operand) {
    return Operand == NoIndex ? 64u : bits(Operand);
  };
  unsigned Result = 64;
  switch (N.Op) {
  case ExprOp::Const:
    if (N.Imm >= 0)
      Result = unsigned(64 - llvm::countl_zero(uint64_t(N.Imm)));
    break;
  case ExprOp::BlockIdx:
  case ExprOp::GridDim:
    Result = GridBits;
    break;
  case ExprOp::ThreadIdx:
  case ExprOp::BlockDim:
    Result = BlockBits;
    break;
  case ExprOp::ZExt:
  case ExprOp::SExt:
    Result = of(N.A) < Pool.Nodes[N.A].Bits ? of(N.A) : 64;
    if (N.Op == ExprOp::ZExt && Result == 64)
      Result = Pool.Nodes[N.A].Bits;
    break;
  case ExprOp::Loop:
    Result = of(N.A);
    break;
  case ExprOp::Add:
    Result = std::max(of(N.A), of(N.B)) + 1;
    break;
  case ExprOp::Mul:
    Result = of(N.A) + of(N.B);
    break;
  case ExprOp::UDiv:
  case ExprOp::SDiv:
    Result = of(N.A) < 64 && of(N.B) < 64 ? of(N.A) : 64;
    break;
  case ExprOp::URem:
  case ExprOp::SRem:
    Result = of(N.A) < 64 && of(N.B) < 64 ? std::min(of(N.A), of(N.B)) : 64;
    break;
  case ExprOp::SMin:
  case ExprOp::UMin:
    Result = of(N.A) < 64 && of(N.B) < 64 ? std::min(of(N.A), of(N.B)) : 64;
    break;
  case ExprOp::SMax:
  case ExprOp::UMax:
    Result = std::max(of(N.A), of(N.B));
    break;
  default:
    break;
  }
  Result = std::min(Result, 64u);
  // What needs as many bits as the node has may be negative.
  if (Result >= N.Bits)
    Result = 64;
  return Magnitudes[Node] = Result;
}

bool IndexExprs::notNegative(uint32_t Node) {
  if (bits(Node) < 64)
    return true;
  const ExprNode &N = Pool.Nodes[Node];
  switch (N.Op) {
  case ExprOp::Loop:
    return true;
  case ExprOp::Add:
  case ExprOp::Mul:
    return (N.Flags & NoSignedWrap) && notNegative(N.A) && notNegative(N.B);
  case ExprOp::SMax:
    return notNegative(N.A) || notNegative(N.B);
  case ExprOp::SMin:
    return notNegative(N.A) && notNegative(N.B);
  default:
    return false;
  }
}

Index IndexExprs::combine(ExprOp Op, Index A, Index B, uint8_t Flags) {
  // What fits its width does not wrap.
  if (Op == ExprOp::Add || Op == ExprOp::Mul) {
    const unsigned BitsA = bits(A.Node), BitsB = bits(B.Node);
    const unsigned Needed =
        Op == ExprOp::Add ? std::max(BitsA, BitsB) + 1 : BitsA + BitsB;
    if (BitsA < 64 && BitsB < 64 && Needed < Pool.Nodes[A.Node].Bits)
      Flags |= NoSignedWrap | NoUnsignedWrap;
  }
  return {Pool.binary(Op, A.Node, B.Node, Flags), A.Exact && B.Exact,
          A.Loaded || B.Loaded, A.Unknown || B.Unknown};
}

Index IndexExprs::cast(ExprOp Op, Index A, unsigned Bits) {
  A.Node = Pool.cast(Op, A.Node, Bits);
  return A;
}

Index IndexExprs::unknown(unsigned Bits, bool Loaded) {
  return {Pool.unknown(Bits), false, Loaded, true};
}

/// One of the two: any number between them.
Index IndexExprs::between(Index A, Index B) {
  if (A.Node == B.Node)
    return A;
  Index Low = combine(ExprOp::SMin, A, B), High = combine(ExprOp::SMax, A, B);
  Low.Node = Pool.opaque(Pool.Nodes[A.Node].Bits, Low.Node, High.Node);
  Low.Exact = false;
  return Low;
}

/// Rounds down; B is positive.
Index IndexExprs::floorDivide(Index A, Index B) {
  if (notNegative(A.Node))
    return combine(ExprOp::SDiv, A, B);
  return combine(ExprOp::SDiv, combine(ExprOp::Sub, A, modulo(A, B)), B);
}

/// Of 0 to B - 1; B is positive.
Index IndexExprs::modulo(Index A, Index B) {
  Index Rest = combine(ExprOp::SRem, A, B);
  if (notNegative(A.Node))
    return Rest;
  return combine(ExprOp::SRem, add(Rest, B), B);
}

Index IndexExprs::of(AffineExpr E, ValueRange Dims, ValueRange Symbols) {
  if (auto Constant = dyn_cast<AffineConstantExpr>(E))
    return number(Constant.getValue());
  if (auto Dim = dyn_cast<AffineDimExpr>(E))
    return of(Dims[Dim.getPosition()]);
  if (auto Symbol = dyn_cast<AffineSymbolExpr>(E))
    return of(Symbols[Symbol.getPosition()]);
  auto Binary = llvm::cast<AffineBinaryOpExpr>(E);
  Index A = of(Binary.getLHS(), Dims, Symbols);
  Index B = of(Binary.getRHS(), Dims, Symbols);
  // They do not wrap; -lower-affine relies on it as well.
  switch (E.getKind()) {
  case AffineExprKind::Add:
    return combine(ExprOp::Add, A, B, NoSignedWrap);
  case AffineExprKind::Mul:
    return combine(ExprOp::Mul, A, B, NoSignedWrap);
  case AffineExprKind::FloorDiv:
    return floorDivide(A, B);
  case AffineExprKind::CeilDiv:
    return floorDivide(add(A, combine(ExprOp::Sub, B, number(1))), B);
  case AffineExprKind::Mod:
    return modulo(A, B);
  default:
    return unknown(IndexBits, false);
  }
}

Index IndexExprs::extreme(ExprOp Op, AffineMap Map, ValueRange Operands) {
  ValueRange Dims = Operands.take_front(Map.getNumDims());
  ValueRange Symbols = Operands.drop_front(Map.getNumDims());
  Index Result = of(Map.getResult(0), Dims, Symbols);
  for (unsigned I = 1; I < Map.getNumResults(); ++I)
    Result = combine(Op, Result, of(Map.getResult(I), Dims, Symbols));
  return Result;
}

Index IndexExprs::least(AffineMap Map, ValueRange Operands) {
  return extreme(ExprOp::SMin, Map, Operands);
}

Index IndexExprs::greatest(AffineMap Map, ValueRange Operands) {
  return extreme(ExprOp::SMax, Map, Operands);
}

//===----------------------------------------------------------------------===//
// Loops.
//===----------------------------------------------------------------------===//

void IndexExprs::addCounter(SmallVectorImpl<LoopCounter> &To, Index Lower,
                            Index Upper, Index Step) {
  LoopCounter C;
  C.Lower = Lower;
  C.Upper = Upper;
  C.Step = Step;
  C.Counter.Exact = Lower.Exact && Upper.Exact && Step.Exact;
  C.Counter.Loaded = Lower.Loaded || Upper.Loaded || Step.Loaded;
  uint32_t Count = NoIndex;
  if (!Lower.Unknown && !Upper.Unknown && !Step.Unknown) {
    // (max(upper, lower + 1) - 1 - lower) / step. That it runs at all is a
    // guard, and where that holds nothing wraps.
    Index Once = number(1);
    Index Last =
        combine(ExprOp::Sub,
                combine(ExprOp::SMax, Upper,
                        combine(ExprOp::Add, Lower, Once, NoSignedWrap)),
                Once, NoSignedWrap);
    Index Distance = Pool.isConstant(Lower.Node, 0)
                         ? Last
                         : combine(ExprOp::Sub, Last, Lower, NoSignedWrap);
    Count = Pool.isConstant(Step.Node, 1)
                ? Distance.Node
                : combine(ExprOp::UDiv, Distance, Step).Node;
    // Both known: a number.
    const ExprNode &Low = Pool.Nodes[Lower.Node],
                   &High = Pool.Nodes[Upper.Node], &By = Pool.Nodes[Step.Node];
    if (Low.Op == ExprOp::Const && High.Op == ExprOp::Const &&
        By.Op == ExprOp::Const && By.Imm > 0 && Low.Imm < High.Imm)
      Count = Pool.constant((High.Imm - 1 - Low.Imm) / By.Imm);
  }
  C.Counter.Node = Pool.loop(NextLoop++, Count);
  To.push_back(C);
}

ArrayRef<LoopCounter> IndexExprs::counters(Operation *Loop) {
  auto It = Loops.find(Loop);
  if (It != Loops.end())
    return It->second;
  SmallVector<LoopCounter, 1> Found;
  llvm::TypeSwitch<Operation *>(Loop)
      .Case([&](scf::ForOp For) {
        addCounter(Found, of(For.getLowerBound()), of(For.getUpperBound()),
                   of(For.getStep()));
      })
      .Case([&](scf::ParallelOp Parallel) {
        for (auto [Low, High, Step] :
             llvm::zip(Parallel.getLowerBound(), Parallel.getUpperBound(),
                       Parallel.getStep()))
          addCounter(Found, of(Low), of(High), of(Step));
      })
      .Case([&](scf::ForallOp Forall) {
        for (auto [Low, High, Step] :
             llvm::zip(Forall.getMixedLowerBound(), Forall.getMixedUpperBound(),
                       Forall.getMixedStep()))
          addCounter(Found, of(Low), of(High), of(Step));
      })
      .Case([&](affine::AffineForOp For) {
        addCounter(
            Found,
            greatest(For.getLowerBoundMap(), For.getLowerBoundOperands()),
            least(For.getUpperBoundMap(), For.getUpperBoundOperands()),
            number(For.getStepAsInt()));
      })
      .Case([&](affine::AffineParallelOp Parallel) {
        for (unsigned I = 0; I < Parallel.getNumDims(); ++I)
          addCounter(Found,
                     greatest(Parallel.getLowerBoundMap(I),
                              Parallel.getLowerBoundsOperands()),
                     least(Parallel.getUpperBoundMap(I),
                           Parallel.getUpperBoundsOperands()),
                     number(Parallel.getSteps()[I]));
      });
  return Loops[Loop] = std::move(Found);
}

} // namespace dragon::ir
