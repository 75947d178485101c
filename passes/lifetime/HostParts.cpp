//===- HostParts.cpp - which bytes of a buffer the host looks at ----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lifetime/HostParts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;

namespace dragon {

/// How often the loop goes on before its last iteration that comes to the
/// access, or more; null if that is not known.
static const SCEV *lastIteration(const Instruction &Access, const Loop &L,
                                 ScalarEvolution &Evolution) {
  Type *I64 = Type::getInt64Ty(Access.getContext());
  BasicBlock *Header = L.getHeader();
  if (Access.getParent() != Header && L.isLoopExiting(Header)) {
    const SCEV *Exit =
        Evolution.getExitCount(&L, Header, ScalarEvolution::SymbolicMaximum);
    // In the iteration in which the header leaves nothing comes behind it.
    if (!isa<SCEVCouldNotCompute>(Exit))
      return Evolution.getMinusSCEV(
          Evolution.getTruncateOrZeroExtend(Exit, I64), Evolution.getOne(I64));
  }
  const SCEV *Most = Evolution.getSymbolicMaxBackedgeTakenCount(&L);
  return isa<SCEVCouldNotCompute>(Most)
             ? nullptr
             : Evolution.getTruncateOrZeroExtend(Most, I64);
}

std::optional<HostPart> hostPart(const Instruction &Access,
                                 const Value &Pointer,
                                 ArrayRef<const Loop *> Loops,
                                 ScalarEvolution &Evolution) {
  const TypeSize Size =
      Access.getDataLayout().getTypeStoreSize(getLoadStoreType(&Access));
  if (Size.isScalable())
    return std::nullopt;
  HostPart Part{Evolution.getSCEV(const_cast<Value *>(&Pointer)),
                {},
                Size.getFixedValue()};
  auto IsFixed = [&](const SCEV *S) {
    return Loops.empty() || Evolution.isLoopInvariant(S, Loops.back());
  };
  for (const Loop *L : Loops) {
    auto *Walk = dyn_cast<SCEVAddRecExpr>(Part.Start);
    if (!Walk || Walk->getLoop() != L)
      continue;
    const SCEV *Step = Walk->getStepRecurrence(Evolution);
    const SCEV *Last = lastIteration(Access, *L, Evolution);
    if (!Walk->isAffine() || !Step->getType()->isIntegerTy(64) || !Last ||
        !IsFixed(Step) || !IsFixed(Last))
      return std::nullopt;
    Part.Walks.push_back({Step, Last});
    Part.Start = Walk->getStart();
  }
  if (!IsFixed(Part.Start))
    return std::nullopt;
  return Part;
}

bool canCompute(const HostPart &Part, const Instruction &Point,
                ScalarEvolution &Evolution) {
  SCEVExpander Expander(Evolution, "dragon");
  auto CanBe = [&](const SCEV *S) {
    return Expander.isSafeToExpandAt(S, &Point);
  };
  return CanBe(Part.Start) && all_of(Part.Walks, [&](const auto &Walk) {
           return CanBe(Walk.Step) && CanBe(Walk.Last);
         });
}

bool hasBytes(const HostPart &Part, const SCEV &Bytes,
              ScalarEvolution &Evolution) {
  const SCEV *Length = Evolution.getConstant(
      Type::getInt64Ty(Evolution.getContext()), Part.Bytes);
  for (const HostPart::Walk &Walk : Part.Walks)
    Length = Evolution.getAddExpr(Length,
                                  Evolution.getMulExpr(Walk.Step, Walk.Last));
  return Bytes.getType() == Length->getType() &&
         Evolution.getMinusSCEV(Length, &Bytes)->isZero();
}

namespace {

/// Signed 64-bit arithmetic that knows when it went wrong.
class Checked {
public:
  explicit Checked(IRBuilder<> &Builder)
      : Builder(Builder), Wrong(Builder.getFalse()) {}

  Value *operator()(Intrinsic::ID What, Value *A, Value *B) {
    Value *Both = Builder.CreateBinaryIntrinsic(What, A, B);
    isWrongIf(Builder.CreateExtractValue(Both, 1));
    return Builder.CreateExtractValue(Both, 0);
  }
  void isWrongIf(Value *Condition) {
    Wrong = Builder.CreateOr(Wrong, Condition);
  }
  Value *isWrong() const { return Wrong; }

private:
  IRBuilder<> &Builder;
  Value *Wrong;
};

} // namespace

HostRange emitHostPart(const HostPart &Part, const HostRange &Buffer,
                       Instruction &Point, ScalarEvolution &Evolution) {
  IRBuilder<> Builder(&Point);
  SCEVExpander Expander(Evolution, "dragon");
  Type *I64 = Builder.getInt64Ty();
  auto Expand = [&](const SCEV *S) {
    return Expander.expandCodeFor(S, S->getType(), &Point);
  };
  Checked Compute(Builder);
  Value *Zero = Builder.getInt64(0);
  Value *First = Builder.CreatePtrToInt(Expand(Part.Start), I64);
  Value *End = Compute(Intrinsic::sadd_with_overflow, First,
                       Builder.getInt64(Part.Bytes));
  for (const HostPart::Walk &Walk : Part.Walks) {
    Value *Last = Expand(Walk.Last);
    // -1: the access is in no iteration.
    Compute.isWrongIf(Builder.CreateICmpSLT(Last, Builder.getInt64(-1ull)));
    Value *Way =
        Compute(Intrinsic::smul_with_overflow, Expand(Walk.Step), Last);
    First = Compute(Intrinsic::sadd_with_overflow, First,
                    Builder.CreateBinaryIntrinsic(Intrinsic::smin, Way, Zero));
    End = Compute(Intrinsic::sadd_with_overflow, End,
                  Builder.CreateBinaryIntrinsic(Intrinsic::smax, Way, Zero));
  }
  Value *Base = Builder.CreatePtrToInt(Buffer.Address, I64);
  Value *From = Builder.CreateBinaryIntrinsic(Intrinsic::smax, First, Base);
  Value *To = Builder.CreateBinaryIntrinsic(
      Intrinsic::smin, End, Builder.CreateAdd(Base, Buffer.Bytes));
  Value *Bytes = Builder.CreateBinaryIntrinsic(
      Intrinsic::smax, Builder.CreateSub(To, From), Zero);
  return {
      Builder.CreateSelect(
          Compute.isWrong(), Buffer.Address,
          Builder.CreatePtrAdd(Buffer.Address, Builder.CreateSub(From, Base))),
      Builder.CreateSelect(Compute.isWrong(), Buffer.Bytes, Bytes)};
}

} // namespace dragon
