//===- PtxThreads.cpp - inline PTX: threads -------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/PtxThreads.h"
#include "passes/cpu/DeviceIntrinsics.h"

#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace dragon {

/// bar.{sync,arrive,red}, barrier[.cta].{sync,arrive,red}[.aligned]
bool PtxThreads::blockBarrier(const PtxInstruction &In) {
  const auto &Ops = In.Operands;
  if (In.has("cluster")) {
    if (In.has("wait"))
      call(Intrinsic::nvvm_barrier_cluster_wait, {});
    return In.has("wait") || In.has("arrive");
  }
  auto Word = [&](unsigned N) { return readBits(Ops[N], 32); };
  if (In.has("sync") && Ops.size() == 1) {
    call(Intrinsic::nvvm_barrier_cta_sync_all, {Word(0)});
    return true;
  }
  if (In.has("sync") && Ops.size() == 2) {
    call(Intrinsic::nvvm_barrier_cta_sync_count, {Word(0), Word(1)});
    return true;
  }
  if (In.has("arrive") && Ops.size() == 2) {
    call(Intrinsic::nvvm_barrier_cta_arrive_count, {Word(0), Word(1)});
    return true;
  }
  if (In.has("red") && Ops.size() == 3) {
    auto ID = In.has("popc")  ? Intrinsic::nvvm_barrier_cta_red_popc_all
              : In.has("and") ? Intrinsic::nvvm_barrier_cta_red_and_all
                              : Intrinsic::nvvm_barrier_cta_red_or_all;
    return write(Ops[0], call(ID, {Word(1), readPredicate(Ops[2])}));
  }
  return false;
}

/// shfl.sync.mode.b32 d[|p], a, b, c, mask
bool PtxThreads::shuffle(const PtxInstruction &In) {
  const auto &Ops = In.Operands;
  if (!In.has("sync") || Ops.size() != 5)
    return false;
  auto ID = In.has("up")     ? Intrinsic::nvvm_shfl_sync_up_i32p
            : In.has("down") ? Intrinsic::nvvm_shfl_sync_down_i32p
            : In.has("bfly") ? Intrinsic::nvvm_shfl_sync_bfly_i32p
                             : Intrinsic::nvvm_shfl_sync_idx_i32p;
  Value *Both = call(ID, {readBits(Ops[4], 32), readBits(Ops[1], 32),
                          readBits(Ops[2], 32), readBits(Ops[3], 32)});
  bool Pair = Ops[0].Kind == PtxOperand::Vector;
  if (Pair)
    write(Ops[0].Parts[1], B.CreateExtractValue(Both, 1));
  return write(Pair ? Ops[0].Parts[0] : Ops[0], B.CreateExtractValue(Both, 0));
}

/// vote.sync.{all,any,uni}.pred p, q, mask   vote.sync.ballot.b32 d, q, mask
bool PtxThreads::vote(const PtxInstruction &In) {
  const auto &Ops = In.Operands;
  if (!In.has("sync") || Ops.size() != 3)
    return false;
  auto ID = In.has("all")   ? Intrinsic::nvvm_vote_all_sync
            : In.has("any") ? Intrinsic::nvvm_vote_any_sync
            : In.has("uni") ? Intrinsic::nvvm_vote_uni_sync
                            : Intrinsic::nvvm_vote_ballot_sync;
  return write(Ops[0], call(ID, {readBits(Ops[2], 32), readPredicate(Ops[1])}));
}

bool PtxThreads::warpOperation(const PtxInstruction &In) {
  StringRef Op = In.opcode();
  const auto &Ops = In.Operands;
  if (Op == "bar" && In.has("warp") && Ops.size() == 1) {
    call(Intrinsic::nvvm_bar_warp_sync, {readBits(Ops[0], 32)});
    return true;
  }
  if (Op == "shfl")
    return shuffle(In);
  if (Op == "vote")
    return vote(In);
  if (Op == "activemask" && Ops.size() == 1)
    return write(Ops[0], call(Intrinsic::nvvm_activemask, {}));
  if (Op == "match" && Ops.size() == 3) {
    auto Types = In.types();
    unsigned Bits = Types.empty() ? 32 : Types.back().Width;
    Value *V = readBits(Ops[1], Bits), *Mask = readBits(Ops[2], 32);
    if (In.has("any"))
      return write(Ops[0], call(Bits == 64 ? Intrinsic::nvvm_match_any_sync_i64
                                           : Intrinsic::nvvm_match_any_sync_i32,
                                {Mask, V}));
    Value *Both = call(Bits == 64 ? Intrinsic::nvvm_match_all_sync_i64p
                                  : Intrinsic::nvvm_match_all_sync_i32p,
                       {Mask, V});
    bool Pair = Ops[0].Kind == PtxOperand::Vector;
    if (Pair)
      write(Ops[0].Parts[1], B.CreateExtractValue(Both, 1));
    return write(Pair ? Ops[0].Parts[0] : Ops[0],
                 B.CreateExtractValue(Both, 0));
  }
  if (Op == "redux" && Ops.size() == 3) {
    auto Types = In.types();
    if (Types.empty() || Types.back().isFloat())
      return false;
    bool Signed = Types.back().isSigned();
    auto ID = In.has("add")   ? Intrinsic::nvvm_redux_sync_add
              : In.has("and") ? Intrinsic::nvvm_redux_sync_and
              : In.has("or")  ? Intrinsic::nvvm_redux_sync_or
              : In.has("xor") ? Intrinsic::nvvm_redux_sync_xor
              : In.has("min") ? (Signed ? Intrinsic::nvvm_redux_sync_min
                                        : Intrinsic::nvvm_redux_sync_umin)
                              : (Signed ? Intrinsic::nvvm_redux_sync_max
                                        : Intrinsic::nvvm_redux_sync_umax);
    return write(Ops[0],
                 call(ID, {readBits(Ops[1], 32), readBits(Ops[2], 32)}));
  }
  if (Op == "elect" && Ops.size() == 2 && Ops[0].Kind == PtxOperand::Vector) {
    Value *Both = call(Intrinsic::nvvm_elect_sync, {readBits(Ops[1], 32)});
    write(Ops[0].Parts[0], B.CreateExtractValue(Both, 0));
    return write(Ops[0].Parts[1], B.CreateExtractValue(Both, 1));
  }
  return false;
}

namespace {

/// What is in the 8 bytes of a barrier object. How they are laid out is not
/// said anywhere: programs only pass them on.
namespace BarrierObject {
constexpr uint64_t CountBits = 20; ///< as many as PTX allows
constexpr uint64_t CountMask = (1u << CountBits) - 1;
constexpr uint64_t Pending = 0;          ///< arrivals until the phase ends
constexpr uint64_t Expected = CountBits; ///< arrivals in each phase
constexpr uint64_t Phase = 63;           ///< which phase, modulo 2
} // namespace BarrierObject

} // namespace

/// mbarrier.{init,inval,arrive,arrive_drop,test_wait,try_wait,pending_count},
/// cp.async.mbarrier.arrive. Threads of a block run one at a time, so that
/// plain accesses do; those of test_wait and try_wait let the others run. Bytes
/// that are under way (expect_tx) are not counted.
bool PtxThreads::barrierObject(const PtxInstruction &In) {
  using namespace BarrierObject;
  const auto &Ops = In.Operands;
  bool Copies = In.opcode() == "cp"; // which have been made by now
  if (In.has("expect_tx") || In.has("complete_tx") ||
      In.has("shared::cluster") || Ops.empty())
    return false;
  auto Count = [&](const PtxOperand &Op) {
    return B.CreateAnd(readBits(Op, 64), B.getInt64(CountMask));
  };
  auto Field = [&](Value *V, uint64_t At) {
    return B.CreateAnd(B.CreateLShr(V, At), B.getInt64(CountMask));
  };
  auto PhaseOf = [&](Value *V) {
    return B.CreateTrunc(B.CreateLShr(V, Phase), B.getInt1Ty());
  };
  if (In.has("pending_count") && Ops.size() == 2)
    return write(Ops[0], B.CreateTrunc(Field(readBits(Ops[1], 64), Pending),
                                       B.getInt32Ty()));
  unsigned At = Ops[0].Kind == PtxOperand::Address ? 0 : 1;
  if (At >= Ops.size())
    return false;
  Value *Word = address(Ops[At], In);
  auto Store = [&](Value *V) { B.CreateStore(V, Word)->setVolatile(true); };
  if (In.has("init") && Ops.size() == 2) {
    Value *N = Count(Ops[1]);
    Store(B.CreateOr(B.CreateShl(N, Expected), N));
    return true;
  }
  if (In.has("inval"))
    return true;
  if (In.has("test_wait") || In.has("try_wait")) {
    if (!At || Ops.size() < 3)
      return false;
    FunctionCallee Yield = F.getParent()->getOrInsertFunction(
        YieldPlaceholder, B.getVoidTy(), B.getInt32Ty());
    B.CreateCall(Yield, {B.getInt32(1)});
    Value *Now = B.CreateLoad(B.getInt64Ty(), Word, /*isVolatile=*/true);
    Value *Asked = In.has("parity")
                       ? B.CreateTrunc(readBits(Ops[2], 32), B.getInt1Ty())
                       : PhaseOf(readBits(Ops[2], 64));
    return write(Ops[0], B.CreateXor(PhaseOf(Now), Asked));
  }
  if (!In.has("arrive") && !In.has("arrive_drop"))
    return false;
  if (Copies && !In.has("noinc"))
    return true; // one more to arrive, which has
  Value *State = B.CreateLoad(B.getInt64Ty(), Word, /*isVolatile=*/true);
  Value *N = Ops.size() > At + 1 ? Count(Ops[At + 1]) : B.getInt64(1);
  Value *Expects = Field(State, Expected);
  if (In.has("arrive_drop"))
    Expects = B.CreateSub(Expects, N);
  Value *Left = B.CreateSub(Field(State, Pending), N);
  Value *Ended = B.CreateIsNull(Left);
  Value *Next = B.CreateAnd(State, B.getInt64(uint64_t(1) << Phase));
  Next = B.CreateXor(Next,
                     B.CreateShl(B.CreateZExt(Ended, B.getInt64Ty()), Phase));
  Next = B.CreateOr(Next, B.CreateShl(Expects, Expected));
  Store(B.CreateOr(Next, B.CreateSelect(Ended, Expects, Left)));
  return !At || Ops[0].Kind == PtxOperand::Sink || write(Ops[0], State);
}

bool PtxThreads::emit(const PtxInstruction &In) {
  StringRef Op = In.opcode();
  if (Op == "membar" || Op == "fence") {
    B.CreateFence(AtomicOrdering::SequentiallyConsistent);
    return true;
  }
  if (warpOperation(In))
    return true;
  if (Op == "mbarrier" || (Op == "cp" && In.has("mbarrier")))
    return barrierObject(In);
  return (Op == "bar" || Op == "barrier") && blockBarrier(In);
}

} // namespace dragon
