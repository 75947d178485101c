//===- PtxThreads.cpp - inline PTX: threads -------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/PtxEmitter.h"

#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace dragon {

/// bar.{sync,arrive,red}, barrier[.cta].{sync,arrive,red}[.aligned]
bool PtxEmitter::blockBarrier(const PtxInstruction &In) {
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
bool PtxEmitter::shuffle(const PtxInstruction &In) {
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
bool PtxEmitter::vote(const PtxInstruction &In) {
  const auto &Ops = In.Operands;
  if (!In.has("sync") || Ops.size() != 3)
    return false;
  auto ID = In.has("all")   ? Intrinsic::nvvm_vote_all_sync
            : In.has("any") ? Intrinsic::nvvm_vote_any_sync
            : In.has("uni") ? Intrinsic::nvvm_vote_uni_sync
                            : Intrinsic::nvvm_vote_ballot_sync;
  return write(Ops[0], call(ID, {readBits(Ops[2], 32), readPredicate(Ops[1])}));
}

bool PtxEmitter::warpOperation(const PtxInstruction &In) {
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

bool PtxEmitter::synchronisation(const PtxInstruction &In) {
  StringRef Op = In.opcode();
  if (Op == "membar" || Op == "fence") {
    B.CreateFence(AtomicOrdering::SequentiallyConsistent);
    return true;
  }
  if (warpOperation(In))
    return true;
  return (Op == "bar" || Op == "barrier") && blockBarrier(In);
}

} // namespace dragon
