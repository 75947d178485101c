//===- PtxMemory.cpp - inline PTX: memory ---------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/PtxMemory.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Support/NVPTXAddrSpace.h"

using namespace llvm;

namespace dragon {

/// The order of a load or store; NotAtomic for plain ones.
static AtomicOrdering orderOf(const PtxInstruction &In) {
  if (In.has("relaxed") || In.has("mmio"))
    return AtomicOrdering::Monotonic;
  if (In.has("acquire"))
    return AtomicOrdering::Acquire;
  if (In.has("release"))
    return AtomicOrdering::Release;
  return AtomicOrdering::NotAtomic;
}

/// The destination of a load or source of a store: one operand per element.
static ArrayRef<PtxOperand> elements(const PtxOperand &Op) {
  return Op.Kind == PtxOperand::Vector ? ArrayRef<PtxOperand>(Op.Parts)
                                       : ArrayRef<PtxOperand>(Op);
}

bool PtxMemory::load(const PtxInstruction &In) {
  auto Types = In.types();
  if (Types.size() != 1 || In.Operands.size() < 2)
    return false;
  PtxType T = Types[0];
  Value *Pointer = address(In.Operands[1], In);
  unsigned N = 0;
  for (const PtxOperand &To : elements(In.Operands[0])) {
    Value *At = B.CreateConstGEP1_32(intOf(T), Pointer, N++);
    LoadInst *Load = B.CreateAlignedLoad(
        intOf(T), At, Align(T.totalWidth() / 8), In.has("volatile"));
    if (AtomicOrdering Order = orderOf(In);
        Order != AtomicOrdering::NotAtomic && T.totalWidth() <= 64)
      Load->setAtomic(Order);
    write(To, Load, T.isSigned());
  }
  return true;
}

bool PtxMemory::store(const PtxInstruction &In) {
  auto Types = In.types();
  if (Types.size() != 1 || In.Operands.size() < 2)
    return false;
  PtxType T = Types[0];
  Value *Pointer = address(In.Operands[0], In);
  unsigned N = 0;
  for (const PtxOperand &From : elements(In.Operands[1])) {
    Value *V = T.isFloat() && T.Lanes == 1
                   ? B.CreateBitCast(read(From, T), intOf(T))
                   : readBits(From, T.totalWidth());
    Value *At = B.CreateConstGEP1_32(intOf(T), Pointer, N++);
    StoreInst *Store = B.CreateAlignedStore(V, At, Align(T.totalWidth() / 8),
                                            In.has("volatile"));
    if (AtomicOrdering Order = orderOf(In);
        Order != AtomicOrdering::NotAtomic && T.totalWidth() <= 64)
      Store->setAtomic(Order);
  }
  return true;
}

/// The old value, as bits; null if the operation is not known.
Value *PtxMemory::readModifyWrite(StringRef Operation, const PtxType &T,
                                  Value *Pointer, const PtxInstruction &In,
                                  unsigned Operand) {
  constexpr AtomicOrdering Order = AtomicOrdering::SequentiallyConsistent;
  IntegerType *Int = intOf(T);
  Align Alignment(T.totalWidth() / 8);
  if (Operation == "cas") {
    if (In.Operands.size() <= Operand + 1 || T.totalWidth() > 64)
      return nullptr;
    Value *Pair = B.CreateAtomicCmpXchg(
        Pointer, readBits(In.Operands[Operand], T.totalWidth()),
        readBits(In.Operands[Operand + 1], T.totalWidth()), Alignment, Order,
        Order);
    return B.CreateExtractValue(Pair, 0);
  }
  if (In.Operands.size() <= Operand || T.totalWidth() > 64)
    return nullptr;
  Value *V = read(In.Operands[Operand], T);
  if (!T.isFloat() || Operation == "exch") {
    auto Which = StringSwitch<AtomicRMWInst::BinOp>(Operation)
                     .Case("add", AtomicRMWInst::Add)
                     .Case("exch", AtomicRMWInst::Xchg)
                     .Case("and", AtomicRMWInst::And)
                     .Case("or", AtomicRMWInst::Or)
                     .Case("xor", AtomicRMWInst::Xor)
                     .Case("inc", AtomicRMWInst::UIncWrap)
                     .Case("dec", AtomicRMWInst::UDecWrap)
                     .Case("min", T.isSigned() ? AtomicRMWInst::Min
                                               : AtomicRMWInst::UMin)
                     .Case("max", T.isSigned() ? AtomicRMWInst::Max
                                               : AtomicRMWInst::UMax)
                     .Default(AtomicRMWInst::BAD_BINOP);
    if (Which == AtomicRMWInst::BAD_BINOP)
      return nullptr;
    return B.CreateAtomicRMW(Which, Pointer, B.CreateBitCast(V, Int), Alignment,
                             Order);
  }
  if (Operation != "add" && Operation != "min" && Operation != "max")
    return nullptr;
  // Floating point: a loop around compare-and-swap.
  BasicBlock *Before = B.GetInsertBlock();
  BasicBlock *Retry = BasicBlock::Create(F.getContext(), "retry", &F);
  BasicBlock *Done = BasicBlock::Create(F.getContext(), "done", &F);
  LoadInst *First = B.CreateAlignedLoad(Int, Pointer, Alignment);
  First->setAtomic(AtomicOrdering::Monotonic);
  B.CreateBr(Retry);
  B.SetInsertPoint(Retry);
  PHINode *Old = B.CreatePHI(Int, 2);
  Old->addIncoming(First, Before);
  Value *Current = B.CreateBitCast(Old, typeOf(T));
  Value *New = Operation == "add" ? A.add(Current, V)
                                  : A.minOrMax(Operation == "max", Current, V);
  Value *Pair = B.CreateAtomicCmpXchg(Pointer, Old, B.CreateBitCast(New, Int),
                                      Alignment, Order, Order);
  Old->addIncoming(B.CreateExtractValue(Pair, 0), B.GetInsertBlock());
  B.CreateCondBr(B.CreateExtractValue(Pair, 1), Done, Retry);
  B.SetInsertPoint(Done);
  return Old;
}

/// atom[.sem][.scope][.space].op[.noftz].type d, [a], b[, c]; red: without d.
bool PtxMemory::atomic(const PtxInstruction &In) {
  auto Types = In.types();
  bool IsRed = In.opcode() == "red";
  unsigned At = IsRed ? 0 : 1;
  if (Types.size() != 1 || In.Operands.size() < At + 2 ||
      In.Operands[At + 1].Kind == PtxOperand::Vector)
    return false;
  for (StringRef Operation :
       {"cas", "exch", "and", "or", "xor", "add", "inc", "dec", "min", "max"}) {
    if (!In.has(Operation))
      continue;
    Value *Old = readModifyWrite(Operation, Types[0],
                                 address(In.Operands[At], In), In, At + 1);
    if (Old && !IsRed)
      write(In.Operands[0], Old, Types[0].isSigned());
    return Old != nullptr;
  }
  return false;
}

/// cp.async.c[ag].shared.global[.hints] [dst], [src], bytes[, given]: done at
/// once.
bool PtxMemory::copyAsync(const PtxInstruction &In) {
  if (In.has("commit_group") || In.has("wait_group") || In.has("wait_all"))
    return !In.has("bulk");
  if ((!In.has("ca") && !In.has("cg")) || In.Operands.size() < 3 ||
      !isShared(In) || In.has("bulk"))
    return false;
  auto *Bytes = dyn_cast<ConstantInt>(readBits(In.Operands[2], 64));
  if (!Bytes)
    return false;
  Value *To = address(In.Operands[0], In);
  Value *From =
      B.CreateIntToPtr(B.CreateAdd(readBits(In.Operands[1].Parts[0], 64),
                                   B.getInt64(In.Operands[1].Bits)),
                       B.getPtrTy());
  uint64_t Count = Bytes->getZExtValue();
  bool HasGiven =
      In.Operands.size() > 3 && !(In.has("L2") || In.has("cache_hint"));
  if (!HasGiven) {
    B.CreateMemCpy(To, Align(1), From, Align(1), Count);
    return true;
  }
  // What is beyond the given size is filled with zeros.
  B.CreateMemSet(To, B.getInt8(0), Count, Align(1));
  B.CreateMemCpy(To, Align(1), From, Align(1), readBits(In.Operands[3], 64));
  return true;
}

/// cvta[.to].space.size d, a   and   isspacep.space p, a
bool PtxMemory::addressConversion(const PtxInstruction &In) {
  if (In.Operands.size() != 2)
    return false;
  Value *V = readBits(In.Operands[1], 64);
  Type *SharedPtr = B.getPtrTy(NVPTXAS::ADDRESS_SPACE_SHARED);
  if (In.opcode() == "cvta") {
    if (isShared(In)) {
      if (In.has("to"))
        V = B.CreatePtrToInt(
            B.CreateAddrSpaceCast(B.CreateIntToPtr(V, B.getPtrTy()), SharedPtr),
            B.getInt64Ty());
      else
        V = B.CreatePtrToInt(
            B.CreateAddrSpaceCast(B.CreateIntToPtr(V, SharedPtr), B.getPtrTy()),
            B.getInt64Ty());
    }
    return write(In.Operands[0], V);
  }
  auto ID = In.has("global")  ? Intrinsic::nvvm_isspacep_global
            : In.has("const") ? Intrinsic::nvvm_isspacep_const
            : In.has("local") ? Intrinsic::nvvm_isspacep_local
                              : Intrinsic::nvvm_isspacep_shared;
  return write(In.Operands[0], call(ID, {B.CreateIntToPtr(V, B.getPtrTy())}));
}

bool PtxMemory::emit(const PtxInstruction &In) {
  StringRef Op = In.opcode();
  if (Op == "ld" || Op == "ldu")
    return load(In);
  if (Op == "st")
    return store(In);
  if (Op == "atom" || Op == "red")
    return !In.has("async") && atomic(In);
  if (Op == "cp" && In.has("async"))
    return copyAsync(In);
  if (Op == "cvta" || Op == "isspacep")
    return addressConversion(In);
  if (Op == "tex" || Op == "tld4")
    return Textures.texture(In);
  if (Op == "suld" || Op == "sust")
    return Textures.surface(In);
  if (Op == "createpolicy")
    return write(In.Operands[0], B.getInt64(0));
  // Hints.
  return Op == "prefetch" || Op == "prefetchu" || Op == "applypriority" ||
         Op == "discard";
}

} // namespace dragon
