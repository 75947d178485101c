//===- WarpIntrinsics.cpp - operations of a warp on the host --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/WarpIntrinsics.h"

#include "dragon/CompilerABI.h"

#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace dragon {

/// shfl.sync.{idx,up,down,bfly}.{i32,f32}[p]
Value *WarpIntrinsics::shuffle(StringRef Name, bool Sync) {
  auto [ModeName, TypeName] = Name.split('.');
  uint32_t Mode = StringSwitch<uint32_t>(ModeName)
                      .Case("idx", DRAGON_SHFL_IDX)
                      .Case("up", DRAGON_SHFL_UP)
                      .Case("down", DRAGON_SHFL_DOWN)
                      .Case("bfly", DRAGON_SHFL_BFLY)
                      .Default(~0u);
  if (Mode == ~0u)
    return nullptr;
  bool WithPredicate = TypeName.ends_with("p");
  Type *I32 = B->getInt32Ty();
  Value *InRange =
      WithPredicate ? temporary() : ConstantPointerNull::get(B->getPtrTy());
  unsigned First = Sync ? 1 : 0;
  Value *Result =
      call(RuntimeFunction::dragon_cpu_shuffle,
           {Thread->context(), B->getInt32(Mode), Sync ? arg(0) : activeLanes(),
            B->CreateBitCast(arg(First), I32), arg(First + 1), arg(First + 2),
            InRange});
  if (!WithPredicate)
    return fromI32(Result, Call->getType());
  auto *Pair = cast<StructType>(Call->getType());
  Value *Both = B->CreateInsertValue(
      PoisonValue::get(Pair), fromI32(Result, Pair->getElementType(0)), 0);
  return B->CreateInsertValue(
      Both, B->CreateIsNotNull(B->CreateLoad(I32, InRange)), 1);
}

/// match.{any,all}.sync.{i32,i64}[p]
Value *WarpIntrinsics::match(StringRef Name) {
  bool All = Name.starts_with("all");
  Value *Matched = All ? temporary() : ConstantPointerNull::get(B->getPtrTy());
  Value *Lanes =
      call(RuntimeFunction::dragon_cpu_match,
           {Thread->context(), arg(0), B->CreateZExt(arg(1), B->getInt64Ty()),
            B->getInt32(All), Matched});
  if (!All)
    return Lanes;
  Value *Both =
      B->CreateInsertValue(PoisonValue::get(Call->getType()), Lanes, 0);
  Value *Flag = B->CreateIsNotNull(B->CreateLoad(B->getInt32Ty(), Matched));
  return B->CreateInsertValue(Both, Flag, 1);
}

Value *WarpIntrinsics::redux(StringRef Name) {
  uint32_t Operation = StringSwitch<uint32_t>(Name)
                           .Case("add", DRAGON_REDUX_ADD)
                           .Case("min", DRAGON_REDUX_MIN)
                           .Case("max", DRAGON_REDUX_MAX)
                           .Case("umin", DRAGON_REDUX_UMIN)
                           .Case("umax", DRAGON_REDUX_UMAX)
                           .Case("and", DRAGON_REDUX_AND)
                           .Case("or", DRAGON_REDUX_OR)
                           .Case("xor", DRAGON_REDUX_XOR)
                           .Default(~0u);
  if (Operation == ~0u)
    return nullptr;
  return call(RuntimeFunction::dragon_cpu_redux,
              {Thread->context(), B->getInt32(Operation), arg(1), arg(0)});
}

Value *WarpIntrinsics::warpOperation(StringRef Name) {
  if (Name == "bar.warp.sync")
    return call(RuntimeFunction::dragon_cpu_warp_sync,
                {Thread->context(), arg(0)});
  if (Name == "activemask")
    return call(RuntimeFunction::dragon_cpu_activemask, {Thread->context()});
  if (Name.consume_front("shfl.sync."))
    return shuffle(Name, true);
  if (Name.consume_front("shfl."))
    return shuffle(Name, false);
  if (Name.consume_front("match."))
    return match(Name);
  if (Name.consume_front("redux.sync."))
    return redux(Name);
  if (Name.consume_front("vote.")) {
    bool Sync = Name.consume_back(".sync");
    uint32_t Mode = StringSwitch<uint32_t>(Name)
                        .Case("all", DRAGON_VOTE_ALL)
                        .Case("any", DRAGON_VOTE_ANY)
                        .Case("uni", DRAGON_VOTE_UNI)
                        .Case("ballot", DRAGON_VOTE_BALLOT)
                        .Default(~0u);
    if (Mode == ~0u)
      return nullptr;
    Value *Result = call(RuntimeFunction::dragon_cpu_vote,
                         {Thread->context(), B->getInt32(Mode),
                          Sync ? arg(0) : activeLanes(),
                          B->CreateZExt(arg(Sync), B->getInt32Ty())});
    return fromI32(Result, Call->getType());
  }
  if (Name == "elect.sync") {
    call(RuntimeFunction::dragon_cpu_warp_sync, {Thread->context(), arg(0)});
    Value *Leader = B->CreateIntrinsic(Intrinsic::cttz, {B->getInt32Ty()},
                                       {arg(0), B->getFalse()});
    Value *Both =
        B->CreateInsertValue(PoisonValue::get(Call->getType()), Leader, 0);
    return B->CreateInsertValue(Both, B->CreateICmpEQ(Leader, Thread->laneId()),
                                1);
  }
  return nullptr;
}

/// atomic.<operation>.gen.{i,f}.{cta,sys}
} // namespace dragon
