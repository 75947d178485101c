//===- ThreadContext.cpp - the running thread, in IR ----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/ThreadContext.h"

#include "dragon/CompilerABI.h"

#include "llvm/IR/MDBuilder.h"

using namespace llvm;

namespace dragon {

/// Limits of every CUDA device.
static constexpr unsigned MaxThreads[3] = {1024, 1024, 64};

SmallVector<Type *, ThreadContext::NumParameters>
ThreadContext::parameterTypes(LLVMContext &C) {
  Type *I32 = Type::getInt32Ty(C);
  return {PointerType::get(C, 0), I32, I32, I32};
}

ArrayRef<StringRef> ThreadContext::parameterNames() {
  static constexpr StringRef Names[NumParameters] = {
      "dragon.context", "dragon.tid.x", "dragon.tid.y", "dragon.tid.z"};
  return Names;
}

void ThreadContext::addParameterAttributes(Function &F) {
  LLVMContext &C = F.getContext();
  unsigned First = F.arg_size() - NumParameters;
  F.addParamAttr(First, Attribute::NoUndef);
  F.addParamAttr(First, Attribute::NonNull);
  F.addParamAttr(First, Attribute::getWithAlignment(C, Align(8)));
  F.addParamAttr(First, Attribute::getWithDereferenceableBytes(
                            C, sizeof(dragon_cpu_context)));
  for (unsigned Dim = 0; Dim < 3; ++Dim) {
    F.addParamAttr(First + 1 + Dim, Attribute::NoUndef);
    F.addParamAttr(First + 1 + Dim,
                   Attribute::get(C, Attribute::Range,
                                  ConstantRange(APInt(32, 0),
                                                APInt(32, MaxThreads[Dim]))));
  }
}

Value *ThreadContext::parameter(unsigned I) const {
  return F.getArg(F.arg_size() - NumParameters + I);
}

SmallVector<Value *, ThreadContext::NumParameters>
ThreadContext::parameters() const {
  return {parameter(0), parameter(1), parameter(2), parameter(3)};
}

IRBuilder<> ThreadContext::entryBuilder() const {
  BasicBlock &Block = F.getEntryBlock();
  return IRBuilder<>(&Block, Last ? std::next(Last->getIterator())
                                  : Block.getFirstInsertionPt());
}

Value *ThreadContext::endOfEntry(Value *V) {
  if (auto *I = dyn_cast<Instruction>(V))
    Last = I;
  return V;
}

Value *ThreadContext::field(unsigned Offset, Type *Type, uint64_t Low,
                            uint64_t High) {
  Value *&Known = Fields[Offset];
  if (Known)
    return Known;
  IRBuilder<> B = entryBuilder();
  LLVMContext &C = F.getContext();
  Value *Address =
      B.CreateConstInBoundsGEP1_32(B.getInt8Ty(), context(), Offset);
  LoadInst *Load =
      B.CreateAlignedLoad(Type, Address, Align(Type->isPointerTy() ? 8 : 4));
  // The context does not change while the kernel runs, but for the index.
  Load->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(C, {}));
  Load->setMetadata(LLVMContext::MD_noundef, MDNode::get(C, {}));
  if (High)
    Load->setMetadata(
        LLVMContext::MD_range,
        MDBuilder(C).createRange(APInt(32, Low), APInt(32, High)));
  return Known = endOfEntry(Load);
}

Value *ThreadContext::blockIdx(unsigned Dim) {
  return field(offsetof(dragon_cpu_context, ctaid) + 4 * Dim,
               Type::getInt32Ty(F.getContext()), 0, Dim ? 65535 : 0x7fffffff);
}

Value *ThreadContext::blockDim(unsigned Dim) {
  return field(offsetof(dragon_cpu_context, ntid) + 4 * Dim,
               Type::getInt32Ty(F.getContext()), 1, MaxThreads[Dim] + 1);
}

Value *ThreadContext::gridDim(unsigned Dim) {
  return field(offsetof(dragon_cpu_context, nctaid) + 4 * Dim,
               Type::getInt32Ty(F.getContext()), 1, Dim ? 65536 : 0x80000000u);
}

Value *ThreadContext::shared() {
  bool New = !Fields.contains(offsetof(dragon_cpu_context, shared));
  Value *Pointer = field(offsetof(dragon_cpu_context, shared),
                         PointerType::get(F.getContext(), 0));
  if (New) {
    LLVMContext &C = F.getContext();
    auto *Load = cast<LoadInst>(Pointer);
    Load->setMetadata(
        LLVMContext::MD_align,
        MDNode::get(C, {MDBuilder(C).createConstant(
                           ConstantInt::get(Type::getInt64Ty(C), 128))}));
  }
  return Pointer;
}

Value *ThreadContext::staticBytes() {
  return field(offsetof(dragon_cpu_context, static_bytes),
               Type::getInt32Ty(F.getContext()));
}

Value *ThreadContext::dynamicBytes() {
  return field(offsetof(dragon_cpu_context, dynamic_bytes),
               Type::getInt32Ty(F.getContext()));
}

Value *ThreadContext::grid() {
  return field(offsetof(dragon_cpu_context, grid),
               PointerType::get(F.getContext(), 0));
}

Value *ThreadContext::linearThread() {
  if (Linear)
    return Linear;
  Value *Width = blockDim(0), *Height = blockDim(1);
  IRBuilder<> B = entryBuilder();
  Value *Row = B.CreateAdd(B.CreateMul(threadIdx(2), Height, "", true, true),
                           threadIdx(1), "", true, true);
  return Linear =
             endOfEntry(B.CreateAdd(B.CreateMul(Row, Width, "", true, true),
                                    threadIdx(0), "", true, true));
}

Value *ThreadContext::laneId() {
  if (Lane)
    return Lane;
  Value *Number = linearThread();
  IRBuilder<> B = entryBuilder();
  return Lane = endOfEntry(B.CreateAnd(Number, 31));
}

Value *loadThreadIdx(IRBuilder<> &B, Value *Context, unsigned Dim) {
  Value *Address = B.CreateConstInBoundsGEP1_32(
      B.getInt8Ty(), Context, offsetof(dragon_cpu_context, tid) + 4 * Dim);
  return B.CreateAlignedLoad(B.getInt32Ty(), Address, Align(4));
}

void storeThreadIdx(IRBuilder<> &B, Value *Context, unsigned Dim,
                    Value *Index) {
  Value *Address = B.CreateConstInBoundsGEP1_32(
      B.getInt8Ty(), Context, offsetof(dragon_cpu_context, tid) + 4 * Dim);
  B.CreateAlignedStore(Index, Address, Align(4));
}

} // namespace dragon
