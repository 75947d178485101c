//===- LibraryPieces.cpp - library calls in pieces ------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/rewrite/LibraryPieces.h"

#include "dragon/CompilerABI.h"
#include "passes/rewrite/EntryPoints.h"
#include "passes/rewrite/LibraryUses.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace dragon {

namespace {

/// Fields of a dragon_library_range.
enum Field : unsigned { Begin, Count, Scalar, Cut };

StructType *piecesType(LLVMContext &Context) {
  Type *I64 = Type::getInt64Ty(Context);
  Type *Pointer = PointerType::getUnqual(Context);
  auto *Range = StructType::get(Context, {I64, I64, Pointer, I64});
  return StructType::get(
      Context,
      {Pointer, I64, ArrayType::get(Range, DRAGON_LIBRARY_MOST_PIECES)});
}
static_assert(sizeof(dragon_library_range) == 32 &&
              sizeof(dragon_library_pieces) ==
                  16 + 32 * DRAGON_LIBRARY_MOST_PIECES);

/// Whether the call's arguments are of the kinds that pieces need.
bool canBeInPieces(const CallBase &Call, const LibraryFunction &Function) {
  if (Function.Pieces.empty() || !isa<CallInst>(Call) ||
      cast<CallInst>(Call).isMustTailCall() || !Call.getType()->isIntegerTy())
    return false;
  return all_of(Function.Pieces, [&](const LibraryPiece &Piece) {
    return Call.getArgOperand(Piece.Along)->getType()->isIntegerTy() &&
           (Piece.Scale < 0 ||
            Call.getArgOperand(Piece.Scale)->getType()->isPointerTy()) &&
           all_of(Piece.Moves, [&](const LibraryPiece::Move &Move) {
             return Call.getArgOperand(Move.Parameter)
                 ->getType()
                 ->isPointerTy();
           });
  });
}

} // namespace

AllocaInst *entryVariable(CallBase &Call, Type *T, const Twine &Name) {
  BasicBlock &Entry = Call.getFunction()->getEntryBlock();
  IRBuilder<> Builder(&Entry, Entry.begin());
  return Builder.CreateAlloca(T, nullptr, Name);
}

CallInPieces::CallInPieces(CallBase &Call, const LibraryFunction &Function)
    : Call(Call) {
  if (!canBeInPieces(Call, Function))
    return;
  Type = piecesType(Call.getContext());
  Memory = entryVariable(Call, Type, "dragon.pieces");
  IRBuilder<> Before(&Call);
  initialise(Function, Before);
  Again = SplitBlock(Call.getParent(), &Call);
  Again->setName("dragon.piece");
  IRBuilder<> Builder(&Call);
  substitute(Function, Builder);
}

Value *CallInPieces::memory() const { return Memory; }

Value *CallInPieces::field(unsigned Range, unsigned Which,
                           IRBuilder<> &Builder) const {
  return Builder.CreateInBoundsGEP(Type, Memory,
                                   {Builder.getInt32(0), Builder.getInt32(2),
                                    Builder.getInt32(Range),
                                    Builder.getInt32(Which)});
}

void CallInPieces::initialise(const LibraryFunction &Function,
                              IRBuilder<> &Builder) {
  Value *Null = ConstantPointerNull::get(Builder.getPtrTy());
  Builder.CreateStore(Null, Builder.CreateStructGEP(Type, Memory, 0));
  Builder.CreateStore(Builder.getInt64(Function.Pieces.size()),
                      Builder.CreateStructGEP(Type, Memory, 1));
  for (const auto &[Index, Piece] : enumerate(Function.Pieces)) {
    auto Set = [&, Range = unsigned(Index)](Field Which, Value *To) {
      Builder.CreateStore(To, field(Range, Which, Builder));
    };
    Value *All = Call.getArgOperand(Piece.Along);
    Set(Begin, Builder.getInt64(0));
    Set(Count, Builder.CreateSExtOrTrunc(All, Builder.getInt64Ty()));
    Set(Scalar, Piece.Scale < 0 ? Null : Call.getArgOperand(Piece.Scale));
    // What cannot be told is not cut.
    auto Which = [&](unsigned Value) { return Builder.getInt64(Value); };
    bool IsKnown = true;
    for (const LibraryPiece::Move &Move : Piece.Moves) {
      Value *Step = librarySize(Move.Bytes, Call, Function, Builder);
      IsKnown &= Step != nullptr;
      if (Step) // else begin is 0 always
        Steps.push_back({static_cast<unsigned>(Index), Move.Parameter, Step});
    }
    if (Piece.Scale >= 0)
      addScale(Piece, static_cast<unsigned>(Index), Function, Builder);
    Value *How = Which(DRAGON_LIBRARY_CUT_FREELY);
    auto Unless = [&](const std::optional<LibraryExpression> &Condition,
                      bool Is, unsigned Otherwise) {
      if (!Condition)
        return;
      Value *If = libraryTruth(*Condition, Call, Function, Builder);
      if (!If)
        How = Which(DRAGON_LIBRARY_CUT_NEVER);
      else if (Is)
        How = Builder.CreateSelect(If, How, Which(Otherwise));
      else
        How = Builder.CreateSelect(If, Which(Otherwise), How);
    };
    Unless(Piece.RoundsIf, false, DRAGON_LIBRARY_CUT_LAST);
    Unless(Piece.If, true, DRAGON_LIBRARY_CUT_NEVER);
    Set(Cut, IsKnown ? How : Which(DRAGON_LIBRARY_CUT_NEVER));
  }
}

void CallInPieces::addScale(const LibraryPiece &Piece, unsigned Range,
                            const LibraryFunction &Function,
                            IRBuilder<> &Builder) {
  llvm::Type *Words = ArrayType::get(Builder.getInt64Ty(), 2);
  AllocaInst *One = entryVariable(Call, Words, "dragon.one");
  Value *Low =
      Piece.One ? librarySize(*Piece.One, Call, Function, Builder) : nullptr;
  Builder.CreateStore(Low ? Low : Builder.getInt64(0), One);
  Builder.CreateStore(Builder.getInt64(0),
                      Builder.CreateConstInBoundsGEP2_32(Words, One, 0, 1));
  auto Parameter = static_cast<unsigned>(Piece.Scale);
  Scales.push_back(
      {Range, Parameter, Call.getArgOperand(Parameter), One, nullptr});
}

void CallInPieces::substitute(const LibraryFunction &Function,
                              IRBuilder<> &Builder) {
  llvm::Type *I64 = Builder.getInt64Ty();
  SmallVector<Value *, 4> Begins;
  SmallVector<std::pair<unsigned, Value *>, 4> Counts;
  for (const auto &[Index, Piece] : enumerate(Function.Pieces)) {
    const auto Range = static_cast<unsigned>(Index);
    Begins.push_back(Builder.CreateLoad(I64, field(Range, Begin, Builder)));
    Value *Number = Builder.CreateLoad(I64, field(Range, Count, Builder));
    Number = Builder.CreateSExtOrTrunc(
        Number, Call.getArgOperand(Piece.Along)->getType());
    // Of two ways along one parameter one is taken at most.
    auto *Other = Counts.begin();
    while (Other != Counts.end() && Other->first != Piece.Along)
      ++Other;
    if (Other == Counts.end())
      Counts.push_back({Piece.Along, Number});
    else
      Other->second =
          Builder.CreateBinaryIntrinsic(Intrinsic::smin, Other->second, Number);
  }
  for (const auto &[Parameter, Number] : Counts)
    Call.setArgOperand(Parameter, Number);
  for (const Move &One : Steps)
    Call.setArgOperand(
        One.Parameter,
        Builder.CreatePtrAdd(Call.getArgOperand(One.Parameter),
                             Builder.CreateMul(Begins[One.Range], One.Step)));
  for (Scale &One : Scales) {
    One.IsFirst = Builder.CreateIsNull(Begins[One.Range]);
    Call.setArgOperand(
        One.Parameter,
        Builder.CreateSelect(One.IsFirst, One.Original, One.Other));
  }
}

std::pair<Value *, Value *> CallInPieces::scaleOf(unsigned Parameter) const {
  for (const Scale &One : Scales)
    if (One.Parameter == Parameter)
      return {One.Original, One.IsFirst};
  return {nullptr, nullptr};
}

BasicBlock *CallInPieces::next(Instruction &Token) const {
  Instruction *Next = Call.getNextNode();
  IRBuilder<> Builder(Next);
  Builder.SetCurrentDebugLocation(Call.getDebugLoc());
  Value *Failed =
      Builder.CreateZExt(Builder.CreateIsNotNull(&Call), Builder.getInt32Ty());
  Value *More =
      callEntry("__dragon_library_next", {&Token, Memory, Failed}, *Next);
  BasicBlock *Made = Call.getParent();
  BasicBlock *Behind = SplitBlock(Made, Next);
  Instruction *Old = Made->getTerminator();
  Builder.SetInsertPoint(Old);
  Builder.CreateCondBr(Builder.CreateIsNotNull(More), Again, Behind);
  Old->eraseFromParent();
  return Behind;
}

void CallInPieces::branch(Instruction &Token, BasicBlock &Made,
                          BasicBlock &Skipped, IRBuilder<> &Builder) const {
  Value *Number = Builder.CreatePtrToInt(&Token, Builder.getInt64Ty());
  SwitchInst *Switch = Builder.CreateSwitch(Number, &Made, 2);
  Switch->addCase(Builder.getInt64(0), &Skipped);
  Switch->addCase(Builder.getInt64(DRAGON_LIBRARY_AGAIN_NUMBER), Again);
}

} // namespace dragon
