//===- SmallCopies.cpp - copies of small structures as vectors ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/support/SmallCopies.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace dragon {

namespace {

constexpr unsigned MostNumbers = 4;
/// Smaller ones are integers to SROA.
constexpr uint64_t LeastBytes = 9;

/// Adds the numbers that a value of the type has. False: it has others than
/// those of one type, or too many.
bool addNumbers(Type *Of, Type *&Number, unsigned &Count) {
  if (Of->isIntegerTy() || Of->isFloatingPointTy()) {
    if (Number && Number != Of)
      return false;
    Number = Of;
    return ++Count <= MostNumbers;
  }
  if (auto *Structure = dyn_cast<StructType>(Of))
    return all_of(Structure->elements(), [&](Type *Element) {
      return addNumbers(Element, Number, Count);
    });
  if (auto *Array = dyn_cast<ArrayType>(Of)) {
    if (Array->getNumElements() > MostNumbers)
      return false;
    for (uint64_t I = 0; I < Array->getNumElements(); ++I)
      if (!addNumbers(Array->getElementType(), Number, Count))
        return false;
    return true;
  }
  return false;
}

/// The vector that holds what the variable holds; null: there is none.
VectorType *vectorOf(const Value *Pointer, uint64_t Bytes,
                     const DataLayout &Layout) {
  auto *Variable = dyn_cast<AllocaInst>(Pointer->stripPointerCastsAndAliases());
  if (!Variable || Variable->isArrayAllocation() ||
      Layout.getTypeAllocSize(Variable->getAllocatedType()) != Bytes)
    return nullptr;
  Type *Number = nullptr;
  unsigned Count = 0;
  if (!addNumbers(Variable->getAllocatedType(), Number, Count) || Count < 2 ||
      Layout.getTypeStoreSize(Number) * Count != Bytes ||
      Layout.getTypeSizeInBits(Number) * Count != 8 * Bytes)
    return nullptr;
  return FixedVectorType::get(Number, Count);
}

bool isVariable(const Value *Pointer) {
  const Value *Object = getUnderlyingObject(Pointer, /*MaxLookup=*/0);
  const auto *Parameter = dyn_cast<Argument>(Object);
  return isa<AllocaInst>(Object) || (Parameter && Parameter->hasByValAttr());
}

/// Between other memory: the largest access that there is. Left alone, the back
/// end makes two of it.
VectorType *largestAccess(const MemCpyInst &Copy, uint64_t Bytes) {
  constexpr uint64_t Largest = 16;
  if (Bytes != Largest || Copy.getDestAlign().valueOrOne() < Largest ||
      Copy.getSourceAlign().valueOrOne() < Largest ||
      isVariable(Copy.getRawDest()) || isVariable(Copy.getRawSource()))
    return nullptr;
  return FixedVectorType::get(Type::getInt64Ty(Copy.getContext()), 2);
}

bool expand(MemCpyInst &Copy, const DataLayout &Layout) {
  auto *Length = dyn_cast<ConstantInt>(Copy.getLength());
  if (!Length || Copy.isVolatile() || Length->getZExtValue() < LeastBytes)
    return false;
  const uint64_t Bytes = Length->getZExtValue();
  VectorType *Vector = vectorOf(Copy.getRawDest(), Bytes, Layout);
  if (!Vector)
    Vector = vectorOf(Copy.getRawSource(), Bytes, Layout);
  if (!Vector)
    Vector = largestAccess(Copy, Bytes);
  if (!Vector)
    return false;
  IRBuilder<> B(&Copy);
  Value *Contents = B.CreateAlignedLoad(Vector, Copy.getRawSource(),
                                        Copy.getSourceAlign().valueOrOne());
  B.CreateAlignedStore(Contents, Copy.getRawDest(),
                       Copy.getDestAlign().valueOrOne());
  Copy.eraseFromParent();
  return true;
}

} // namespace

bool expandSmallCopies(Module &M) {
  bool Changed = false;
  for (Function &F : M)
    if (!F.hasOptNone())
      for (Instruction &I : make_early_inc_range(instructions(F)))
        if (auto *Copy = dyn_cast<MemCpyInst>(&I))
          Changed |= expand(*Copy, M.getDataLayout());
  return Changed;
}

} // namespace dragon
