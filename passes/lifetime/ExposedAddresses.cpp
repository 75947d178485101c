//===- ExposedAddresses.cpp - addresses that become other data ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Aliases follows pointers, and 64-bit integers and memory that hold them. An
// address may leave this world: as text (printf), in a file or pipe, as bytes,
// halves or digits, as a floating-point number. From then on any number may be
// that address, so it escapes ("is exposed", as in the provenance model of C,
// PNVI-ae). On the way back, a pointer that no followed store accounts for may
// be any that has escaped:
//
//   snprintf(text, n, "%p", d)     d escapes
//   uint32_t low = uintptr_t(d)    d escapes
//   fwrite(&d, sizeof d, 1, f)     what is stored in d, as a variable, escapes
//   sscanf(text, "%p", &e)         e -> Unknown
//   (int *)strtoull(text, ...)     e -> Unknown
//
// Comparing addresses, aligning them and taking the difference of two that are
// in one object tell nobody where the object is.
//
//===----------------------------------------------------------------------===//

#include "passes/lifetime/Aliases.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"
#include <numeric>

using namespace llvm;
using namespace llvm::PatternMatch;

namespace dragon {

namespace {

constexpr int64_t PointerBytes = 8;
/// Buffers begin on pages: fewer bits of an address tell nothing.
constexpr uint64_t LowBits = 4095;

std::string toANumber() { return "a number made of its address"; }

bool isAlignment(const Value *V) {
  const APInt *Mask;
  return match(V, m_And(m_PtrToInt(m_Value()), m_APInt(Mask))) &&
         Mask->ule(LowBits);
}

/// Takes part of an integer's bits, or moves them: what is compared then is no
/// address any more.
bool takesApart(const Value *V) {
  auto *Operation = dyn_cast<BinaryOperator>(V);
  return Operation && Operation->getOpcode() != Instruction::Add &&
         Operation->getOpcode() != Instruction::Sub && !isAlignment(V);
}

/// Whether bytes [At, At + Bytes) may have some of a pointer at `Where`.
bool overlaps(const Place &Where, const Place &At, uint64_t Bytes) {
  if (Where.anywhere() || At.anywhere())
    return true;
  const int64_t Length = int64_t(std::min<uint64_t>(Bytes, INT64_MAX / 4));
  int64_t Distance = Where.Offset - At.Offset;
  const int64_t Common = std::gcd(Where.Stride, At.Stride);
  if (!Common)
    return Distance < Length && -Distance < PointerBytes;
  Distance = (Distance % Common + Common) % Common;
  return Distance < Length || Common - Distance < PointerBytes;
}

} // namespace

bool Aliases::isDifference(const Instruction &I) const {
  if (I.getOpcode() != Instruction::Sub)
    return false;
  auto ObjectsOf = [&](const Value *V) {
    SmallVector<unsigned, 4> Result;
    for (const Target &T : pointsTo(V))
      if (!is_contained(Result, T.Object))
        Result.push_back(T.Object);
    return Result;
  };
  const auto From = ObjectsOf(I.getOperand(0)), To = ObjectsOf(I.getOperand(1));
  if (From.empty() || From != To)
    return false;
  return all_of(From, [&](unsigned Object) {
    const MemoryObject &O = Objects[Object];
    return O.Kind != ObjectKind::Unknown &&
           (From.size() == 1 || O.Kind != ObjectKind::Buffer ||
            O.Buffer == BufferKind::Host);
  });
}

void Aliases::expose(const Value *V, const Instruction &At) {
  escape(targetsOf(V), At, toANumber);
}

void Aliases::exposeContents(const Value *Address, uint64_t Bytes,
                             const Instruction &At) {
  for (const Target &T : targetsOf(Address)) {
    TargetSet Exposed;
    for (const auto &[Where, Targets] : Contents[T.Object])
      if (overlaps(Where, T.At, Bytes))
        Exposed.insert(Targets);
    escape(Exposed, At, toANumber);
  }
}

/// Of instructions whose result can hold no pointer, and of arithmetic.
void Aliases::exposeOperands(const Instruction &I) {
  if (auto *Compare = dyn_cast<ICmpInst>(&I)) {
    for (const Value *Operand : Compare->operands())
      if (Operand->getType()->isIntOrIntVectorTy() && takesApart(Operand))
        expose(Operand, I);
    return;
  }
  if (isa<ExtractValueInst>(I) || I.isTerminator())
    return;
  for (const Value *Operand : I.operands())
    if (mayHoldPointer(Operand->getType()) && !isAlignment(Operand))
      expose(Operand, I);
}

/// A pointer read from memory that holds one only in part, or not as such.
void Aliases::exposeByLoad(const LoadInst &Load) {
  const uint64_t Bytes =
      Layout.getTypeStoreSize(Load.getType()).getKnownMinValue();
  const Value *Address = Load.getPointerOperand();
  if (!mayHoldPointer(Load.getType()))
    return exposeContents(Address, Bytes, Load);
  if (Bytes != PointerBytes)
    return; // all of it is followed
  for (const Target &T : targetsOf(Address))
    for (const auto &[Where, Targets] : Contents[T.Object])
      if (!Where.mayBe(T.At) && overlaps(Where, T.At, Bytes)) {
        const TargetSet Parts = Targets;
        escape(Parts, Load, toANumber);
        add(&Load, {{Unknown, Target::AnyOffset}});
      }
}

/// What a call puts into text, files and the like.
void Aliases::exposeByCall(const CallBase &Call, const CallEffect &Effect) {
  const Function &Callee = *Call.getCalledFunction();
  const unsigned Fixed = Callee.getFunctionType()->getNumParams();
  const bool Scans = Callee.getName().contains("scanf");
  if (Effect.Kind == CallKind::FileWrite ||
      Effect.Kind == CallKind::StreamTransfer)
    return exposeContents(Call.getArgOperand(Effect.Pointer), UINT64_MAX, Call);
  const bool Writes = Effect.Kind == CallKind::FileUse || Callee.isVarArg() ||
                      Callee.getName() == "puts";
  if (!Writes || Scans)
    return;
  for (const Use &Operand : Call.args()) {
    if (!mayHoldPointer(Operand->getType()))
      continue;
    if (Call.getArgOperandNo(&Operand) >= Fixed)
      expose(Operand, Call);
    exposeContents(Operand, UINT64_MAX, Call);
  }
}

/// Where pointers are known to be stored, others may be now.
bool Aliases::overwriteUnknown(const Value *To, uint64_t Bytes) {
  bool Grew = false;
  for (const Target &T : targetsOf(To)) {
    SmallVector<Place, 4> Places;
    for (const auto &[Where, Targets] : Contents[T.Object])
      if (overlaps(Where, T.At, Bytes) &&
          !Targets.count({Unknown, Target::AnyOffset}))
        Places.push_back(Where);
    for (const Place &Where : Places)
      addContents(T.Object, Where, {{Unknown, Target::AnyOffset}});
    Grew |= !Places.empty();
  }
  return Grew;
}

bool Aliases::becomesUnknown(const Value *V) {
  if (targetsOf(V).count({Unknown, Target::AnyOffset}))
    return false;
  add(V, {{Unknown, Target::AnyOffset}});
  return true;
}

/// An integer that nothing is known of, and so perhaps an address.
bool Aliases::isAnyNumber(const Value *V) {
  return !isa<Constant>(V) &&
         (!mayHoldPointer(V->getType()) || targetsOf(V).empty());
}

/// Pointers that came in by ways which are not followed. Only when all that is
/// followed is known: a set that is empty now may not be so later.
bool Aliases::addFromOutside() {
  ++Now;
  bool Grew = false;
  for (Instruction &I : instructions(F)) {
    if (auto *Load = dyn_cast<LoadInst>(&I)) {
      if (I.getType()->isPointerTy() && targetsOf(&I).empty() &&
          !targetsOf(Load->getPointerOperand()).empty())
        Grew |= becomesUnknown(&I);
    } else if (auto *Store = dyn_cast<StoreInst>(&I)) {
      const Value *Stored = Store->getValueOperand();
      if (isAnyNumber(Stored))
        Grew |= overwriteUnknown(
            Store->getPointerOperand(),
            Layout.getTypeStoreSize(Stored->getType()).getKnownMinValue());
    } else if (auto *Address = dyn_cast<GetElementPtrInst>(&I)) {
      if (isa<ConstantPointerNull>(Address->getPointerOperand()) &&
          targetsOf(&I).empty())
        Grew |= becomesUnknown(&I);
    } else if (isa<BinaryOperator>(I) && mayHoldPointer(I.getType())) {
      if (!targetsOf(&I).empty() && any_of(I.operands(), [&](const Use &U) {
            auto *Number = dyn_cast<Instruction>(U);
            return isAnyNumber(U) && !(Number && isDifference(*Number));
          }))
        Grew |= becomesUnknown(&I);
    } else if (auto *Call = dyn_cast<CallBase>(&I)) {
      if (isExtraction(*Call))
        Grew |= overwriteUnknown(Call->getArgOperand(Call->arg_size() > 1),
                                 UINT64_MAX);
      const CallEffect *Effect = callEffect(*Call);
      if (!Effect)
        continue;
      const Function &Callee = *Call->getCalledFunction();
      if (Effect->Kind == CallKind::FileRead ||
          Effect->Kind == CallKind::StreamTransfer)
        Grew |=
            overwriteUnknown(Call->getArgOperand(Effect->Pointer), UINT64_MAX);
      else if (Callee.isVarArg() || Effect->Kind == CallKind::FileUse)
        for (const Use &Operand : Call->args())
          if (Operand->getType()->isPointerTy())
            Grew |= overwriteUnknown(Operand, UINT64_MAX);
    }
  }
  return Grew;
}

} // namespace dragon
