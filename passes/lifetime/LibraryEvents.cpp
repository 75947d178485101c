//===- LibraryEvents.cpp - calls of library functions ---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A call that a library summary describes is an event like a launch: each
// pointer is used as the summary says, and a buffer ends where it is
// overwritten as a whole. Whether it is, is a question of two sizes being the
// same number:
//
//   cudaMalloc(&C, m * n * sizeof(float));        // 4 * m * n
//   cublasSgemm(..., m, n, k, ..., C, m);         // 4 * (m * (n - 1) + m)
//
// Both are written as SCEVs over 64 bits, which brings them to one form. The
// products of ints above may not overflow, so each factor is widened by itself.
//
// The stream is that of the handle (HandleUses.h).
//
//===----------------------------------------------------------------------===//

#include "passes/lifetime/LibraryEvents.h"

#include "passes/libraries/GivenLibraries.h"
#include "passes/lifetime/HandleUses.h"
#include "passes/lifetime/HostValues.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"

using namespace llvm;

namespace dragon {

// -- Sizes ------------------------------------------------------------------

namespace {

/// The arithmetic of LibraryExpression over SCEVs. CouldNotCompute and an empty
/// truth stand for "not known".
class SymbolicSizes {
public:
  using Number = const SCEV *;
  using Truth = std::optional<bool>;
  using Op = LibraryExpression::Op;

  SymbolicSizes(BuilderFacts &Facts, SymbolicValues &Values,
                const CallBase &Call, const LibraryFunction &Function)
      : Facts(Facts), Values(Values), Evolution(Facts.Evolution), Call(Call),
        Function(Function) {}

  Number constant(int64_t Value) {
    return Evolution.getConstant(Type::getInt64Ty(Call.getContext()),
                                 static_cast<uint64_t>(Value), true);
  }
  Number parameter(unsigned Index) {
    const Value *V = Call.getArgOperand(Index);
    if (V->getType()->isIntegerTy())
      return V->getType()->getIntegerBitWidth() <= 64
                 ? Values.wideNumber(V)
                 : Evolution.getCouldNotCompute();
    if (isa<ConstantPointerNull>(V))
      return constant(0);
    // Of a pointer, only whether it is null can be asked.
    TargetSet Targets = Facts.Pointers.pointsTo(V);
    bool Something = !Targets.empty() && all_of(Targets, [&](const Target &T) {
      return Facts.Pointers.objects()[T.Object].Kind == ObjectKind::Buffer;
    });
    return Something ? constant(1) : Evolution.getCouldNotCompute();
  }
  Number matrixBytes(unsigned) { return Evolution.getCouldNotCompute(); }
  Number number(Op Kind, Number A, Number B) {
    if (isa<SCEVCouldNotCompute>(A) || isa<SCEVCouldNotCompute>(B))
      return Evolution.getCouldNotCompute();
    switch (Kind) {
    case Op::Add:
      return Evolution.getAddExpr(A, B);
    case Op::Subtract:
      return Evolution.getMinusSCEV(A, B);
    case Op::Multiply:
      return Evolution.getMulExpr(A, B);
    case Op::Maximum:
      return Evolution.getSMaxExpr(A, B);
    case Op::Minimum:
      return Evolution.getSMinExpr(A, B);
    case Op::Divide: {
      auto *Dividend = dyn_cast<SCEVConstant>(A);
      auto *Divisor = dyn_cast<SCEVConstant>(B);
      if (Dividend && Divisor && !Divisor->isZero())
        return Evolution.getConstant(
            Dividend->getAPInt().sdiv(Divisor->getAPInt()));
      return Divisor && Divisor->isOne() ? A : Evolution.getCouldNotCompute();
    }
    default:
      return Evolution.getCouldNotCompute();
    }
  }
  Number select(Truth If, Number Then, Number Else) {
    if (If)
      return *If ? Then : Else;
    return Then == Else ? Then : Evolution.getCouldNotCompute();
  }
  Truth compare(Op Kind, Number A, Number B) {
    if (isa<SCEVCouldNotCompute>(A) || isa<SCEVCouldNotCompute>(B))
      return std::nullopt;
    CmpInst::Predicate Predicate = Kind == Op::Equal      ? CmpInst::ICMP_EQ
                                   : Kind == Op::NotEqual ? CmpInst::ICMP_NE
                                   : Kind == Op::Less     ? CmpInst::ICMP_SLT
                                                          : CmpInst::ICMP_SLE;
    return Evolution.evaluatePredicate(Predicate, A, B);
  }
  Truth logic(Op Kind, Truth A, Truth B) {
    bool Deciding = Kind == Op::Or;
    if ((A && *A == Deciding) || (B && *B == Deciding))
      return Deciding;
    return A && B ? Truth(!Deciding) : std::nullopt;
  }
  Truth negation(Truth A) { return A ? Truth(!*A) : std::nullopt; }
  Truth hostIsZero(unsigned Index) {
    const LibraryHostUse *Host = Function.hostUse(Index);
    if (!Host || !Host->Bytes)
      return std::nullopt;
    auto *Bytes = dyn_cast<SCEVConstant>(Host->Bytes->number(*this));
    if (!Bytes || Bytes->getAPInt().ugt(64) || Bytes->isZero())
      return std::nullopt;
    return hostIsZeroAt(Call.getArgOperand(Index),
                        Bytes->getAPInt().getZExtValue(), Call)
               ? Truth(true)
               : std::nullopt;
  }

private:
  BuilderFacts &Facts;
  SymbolicValues &Values;
  ScalarEvolution &Evolution;
  const CallBase &Call;
  const LibraryFunction &Function;
};

} // namespace

// -- Streams ----------------------------------------------------------------

/// Nothing: not known.
std::optional<StreamId> LibraryEvents::handleStream(CallBase &Call,
                                                    const Value *Handle) {
  HandleUses OfHandle(Facts.F, Facts.Pointers);
  if (!OfHandle.find(Handle) || !OfHandle.isCreated())
    return std::nullopt;
  CallBase *Setter = OfHandle.setter();
  if (!Setter)
    return DefaultStream;
  if (!Facts.Dominators.dominates(Setter, &Call))
    return std::nullopt;
  Value *Stream = Setter->getArgOperand(libraryFunction(*Setter)->SetsStreamTo);
  Facts.Result.LibraryStreams[&Call] = Stream;
  return Values.streamOf(Stream);
}

StreamId LibraryEvents::libraryStream(CallBase &Call,
                                      const LibraryFunction &Function) {
  if (Function.InDefaultStream)
    return DefaultStream;
  if (Function.Stream >= 0) {
    Value *Stream = Call.getArgOperand(Function.Stream);
    Facts.Result.LibraryStreams[&Call] = Stream;
    return Values.streamOf(Stream);
  }
  if (Function.StreamOf < 0)
    return UnknownStream;
  return handleStream(Call, Call.getArgOperand(Function.StreamOf))
      .value_or(static_cast<StreamId>(UnknownStream));
}

// -- Calls ------------------------------------------------------------------

void LibraryEvents::visit(CallBase &Call, const LibraryFunction &Function) {
  SymbolicSizes With(Facts, Values, Call, Function);
  Event E = Writer.event(LaunchEvent{}, Call);
  E.Name = Function.shownName();
  for (const llvm::Use &Operand : Call.args()) {
    if (!Operand->getType()->isPointerTy())
      continue;
    unsigned Parameter = Call.getArgOperandNo(&Operand);
    const LibraryUse *Known = Function.use(Parameter);
    if (!Known) {
      Accesses.noteArgument(Call, Operand);
      const LibraryHostUse *Host = Function.hostUse(Parameter);
      // A scalar may be in device memory, as the library's pointer mode says.
      // What nothing is said of may be anything, if it is a buffer.
      if (!Function.Neutral)
        Uses.addUses(E, Operand, Host ? Side::Device : Side::Any, true,
                     !Host || Host->Writes, nullptr);
      continue;
    }
    std::optional<bool> Used = true;
    if (Known->If)
      Used = Known->If->truth(With);
    if (Used == false)
      continue;
    LibraryMode Mode = Known->Mode;
    if (Known->OverwriteIf && Known->OverwriteIf->truth(With) == true)
      Mode = LibraryMode::Overwrite;
    bool Overwrites = Mode == LibraryMode::Overwrite;
    bool Reads = !Overwrites && Mode != LibraryMode::Write;
    bool Writes = Mode != LibraryMode::Read;
    Uses.addUses(E, Operand, Side::Any, Reads, Writes,
                 Overwrites && Used == true && Known->Bytes
                     ? Known->Bytes->number(With)
                     : nullptr);
  }
  if (E.Uses.empty())
    return Writer.pushBarrier(Call);
  E.Stream = libraryStream(Call, Function);
  Writer.push(std::move(E), Call);
}

} // namespace dragon
