//===- FieldVariables.cpp - a variable for each field ---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lifetime/FieldVariables.h"

#include "passes/lifetime/CallEffects.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include <map>
#include <optional>
#include <vector>

using namespace llvm;

namespace dragon {

namespace {

// More fields than that are no structure of buffers.
constexpr size_t MaxFields = 256;

/// The path to a field: the numbers of the structures' fields. Array indices
/// are not part of it.
using FieldPath = SmallVector<unsigned, 4>;

struct Field {
  Type *Scalar;
  SmallVector<uint64_t, 2> Sizes; ///< of the arrays on the path, outer first
  uint64_t Offset;                ///< of the first
  std::string Name;
  AllocaInst *Variable = nullptr;
};

/// A pointer into the structure: the path so far.
struct Cursor {
  FieldPath Path;
  SmallVector<Value *, 2> Indices;
  Type *At;
  /// The last step went into an array.
  bool InArray = false;
};

class Separation {
public:
  Separation(AllocaInst &Whole, FieldNames Name)
      : Whole(Whole), Layout(Whole.getDataLayout()), Name(Name) {}

  bool run() {
    std::string Given = Whole.getName().str();
    if (!collect(*Whole.getAllocatedType(), {}, {}, 0, Given) ||
        !visit(Whole, {{}, {}, Whole.getAllocatedType()}) || !Indexed)
      return false;
    rewrite();
    return true;
  }

private:
  bool collect(Type &T, FieldPath Path, SmallVector<uint64_t, 2> Sizes,
               uint64_t Offset, const std::string &Called);
  bool visit(Value &Pointer, const Cursor &From);
  std::optional<Cursor> step(const GetElementPtrInst &Address, Cursor From);
  bool access(Instruction &I, unsigned Operand, Type *T, Cursor At);
  void rewrite();
  void describe();

  AllocaInst &Whole;
  const DataLayout &Layout;
  FieldNames Name;
  std::map<FieldPath, Field> Fields;
  struct Access {
    Instruction *At;
    unsigned Operand; ///< the pointer
    Cursor To;
  };
  std::vector<Access> Accesses;
  std::vector<MemSetInst *> Fills;
  std::vector<Instruction *> Dead; ///< users after what they use
  bool Indexed = false;
};

bool Separation::collect(Type &T, FieldPath Path,
                         SmallVector<uint64_t, 2> Sizes, uint64_t Offset,
                         const std::string &Called) {
  if (auto *Array = dyn_cast<ArrayType>(&T)) {
    Sizes.push_back(Array->getNumElements());
    return collect(*Array->getElementType(), Path, Sizes, Offset, Called);
  }
  if (auto *Struct = dyn_cast<StructType>(&T)) {
    const StructLayout *Places = Layout.getStructLayout(Struct);
    for (unsigned I = 0; I < Struct->getNumElements(); ++I) {
      FieldPath Inner = Path;
      Inner.push_back(I);
      std::string Given = Name(*Struct, I);
      if (!collect(*Struct->getElementType(I), Inner, Sizes,
                   Offset + Places->getElementOffset(I).getFixedValue(),
                   Given.empty() ? Called : Given))
        return false;
    }
    return true;
  }
  if (!T.isSingleValueType() || T.isVectorTy() || Fields.size() == MaxFields)
    return false;
  Fields[Path] = {&T, Sizes, Offset, Called};
  return true;
}

std::optional<Cursor> Separation::step(const GetElementPtrInst &Address,
                                       Cursor From) {
  // The address of a structure is that of its first field.
  Type *Source = Address.getSourceElementType();
  while (From.At != Source) {
    if (auto *Struct = dyn_cast<StructType>(From.At);
        Struct && Struct->getNumElements()) {
      From.Path.push_back(0);
      From.At = Struct->getElementType(0);
      From.InArray = false;
    } else if (auto *Array = dyn_cast<ArrayType>(From.At)) {
      From.Indices.push_back(
          ConstantInt::get(Type::getInt64Ty(Address.getContext()), 0));
      From.At = Array->getElementType();
      From.InArray = true;
    } else {
      return std::nullopt;
    }
  }
  auto Index = Address.idx_begin();
  if (auto *First = dyn_cast<ConstantInt>(Index->get());
      !First || !First->isZero()) {
    // From one element of an array to another.
    auto *Last =
        From.InArray ? dyn_cast<ConstantInt>(From.Indices.back()) : nullptr;
    if (!Last || !Last->isZero())
      return std::nullopt;
    From.Indices.back() = Index->get();
    Indexed |= !isa<ConstantInt>(Index->get());
  }
  for (++Index; Index != Address.idx_end(); ++Index) {
    if (auto *Struct = dyn_cast<StructType>(From.At)) {
      auto Number = cast<ConstantInt>(Index->get())->getZExtValue();
      From.Path.push_back(static_cast<unsigned>(Number));
      From.At = Struct->getElementType(static_cast<unsigned>(Number));
      From.InArray = false;
    } else if (auto *Array = dyn_cast<ArrayType>(From.At)) {
      From.Indices.push_back(Index->get());
      From.At = Array->getElementType();
      From.InArray = true;
      auto *Known = dyn_cast<ConstantInt>(Index->get());
      if (Known && Known->getValue().uge(Array->getNumElements()))
        return std::nullopt;
      Indexed |= !Known;
    } else {
      return std::nullopt;
    }
  }
  return From;
}

/// A load or store of a T.
bool Separation::access(Instruction &I, unsigned Operand, Type *T, Cursor At) {
  while (!At.At->isSingleValueType()) {
    if (auto *Struct = dyn_cast<StructType>(At.At);
        Struct && Struct->getNumElements()) {
      At.Path.push_back(0);
      At.At = Struct->getElementType(0);
    } else if (auto *Array = dyn_cast<ArrayType>(At.At)) {
      At.Indices.push_back(
          ConstantInt::get(Type::getInt64Ty(I.getContext()), 0));
      At.At = Array->getElementType();
    } else {
      return false;
    }
  }
  if (At.At != T)
    return false;
  Accesses.push_back({&I, Operand, std::move(At)});
  return true;
}

bool Separation::visit(Value &Pointer, const Cursor &From) {
  for (Use &U : Pointer.uses()) {
    auto *I = cast<Instruction>(U.getUser());
    if (auto *Address = dyn_cast<GetElementPtrInst>(I)) {
      std::optional<Cursor> To;
      if (U.getOperandNo() == 0 && Address->getType()->isPointerTy())
        To = step(*Address, From);
      if (!To || !visit(*Address, *To))
        return false;
      Dead.push_back(Address);
    } else if (auto *Load = dyn_cast<LoadInst>(I)) {
      if (!Load->isSimple() ||
          !access(*Load, U.getOperandNo(), Load->getType(), From))
        return false;
    } else if (auto *Store = dyn_cast<StoreInst>(I)) {
      if (!Store->isSimple() ||
          U.getOperandNo() != StoreInst::getPointerOperandIndex() ||
          !access(*Store, U.getOperandNo(), Store->getValueOperand()->getType(),
                  From))
        return false;
    } else if (auto *Call = dyn_cast<CallBase>(I);
               Call && outParameter(*Call) >= 0 && Call->isArgOperand(&U) &&
               Call->getArgOperandNo(&U) == unsigned(outParameter(*Call))) {
      if (!access(*Call, U.getOperandNo(),
                  PointerType::getUnqual(Call->getContext()), From))
        return false;
    } else if (auto *Fill = dyn_cast<MemSetInst>(I)) {
      auto *Bytes = dyn_cast<ConstantInt>(Fill->getLength());
      if (Fill->isVolatile() || !Bytes || !From.Path.empty() ||
          !From.Indices.empty() ||
          Bytes->getZExtValue() !=
              Layout.getTypeAllocSize(Whole.getAllocatedType()))
        return false;
      Fills.push_back(Fill);
    } else if (I->isLifetimeStartOrEnd()) {
      Dead.push_back(I);
    } else {
      return false;
    }
  }
  return true;
}

/// What is no array keeps its place in the user's variable.
void Separation::describe() {
  for (DbgVariableRecord *Record : findDVRDeclares(&Whole)) {
    for (auto &[Path, F] : Fields) {
      if (!F.Sizes.empty())
        continue;
      std::optional<DIExpression *> Part =
          DIExpression::createFragmentExpression(
              Record->getExpression(), static_cast<unsigned>(F.Offset * 8),
              static_cast<unsigned>(
                  Layout.getTypeSizeInBits(F.Scalar).getFixedValue()));
      if (!Part)
        continue;
      DbgVariableRecord *New = Record->clone();
      New->setExpression(*Part);
      New->replaceVariableLocationOp(0u, F.Variable);
      New->insertBefore(Record);
    }
    Record->eraseFromParent();
  }
}

void Separation::rewrite() {
  IRBuilder<> Entry(&Whole);
  for (auto &[Path, F] : Fields) {
    Type *T = F.Scalar;
    for (uint64_t Size : reverse(F.Sizes))
      T = ArrayType::get(T, Size);
    F.Variable = Entry.CreateAlloca(T, nullptr, F.Name + ".field");
  }
  for (Access &A : Accesses) {
    Field &F = Fields.at(A.To.Path);
    Value *Address = F.Variable;
    IRBuilder<> Builder(A.At);
    if (!A.To.Indices.empty()) {
      SmallVector<Value *, 3> Indices{Builder.getInt64(0)};
      Indices.append(A.To.Indices.begin(), A.To.Indices.end());
      Address = Builder.CreateInBoundsGEP(F.Variable->getAllocatedType(),
                                          Address, Indices);
    }
    A.At->setOperand(A.Operand, Address);
    Align Known = Layout.getABITypeAlign(F.Scalar);
    if (auto *Load = dyn_cast<LoadInst>(A.At))
      Load->setAlignment(std::min(Load->getAlign(), Known));
    else if (auto *Store = dyn_cast<StoreInst>(A.At))
      Store->setAlignment(std::min(Store->getAlign(), Known));
  }
  for (MemSetInst *Fill : Fills) {
    IRBuilder<> Builder(Fill);
    for (auto &[Path, F] : Fields)
      Builder.CreateMemSet(
          F.Variable, Fill->getValue(),
          Layout.getTypeAllocSize(F.Variable->getAllocatedType()),
          F.Variable->getAlign());
    Fill->eraseFromParent();
  }
  describe();
  for (Instruction *I : Dead)
    I->eraseFromParent();
  Whole.eraseFromParent();
}

bool holdsPointer(const Type *T) {
  if (const auto *Array = dyn_cast<ArrayType>(T))
    return holdsPointer(Array->getElementType());
  if (const auto *Struct = dyn_cast<StructType>(T))
    return any_of(Struct->elements(), holdsPointer);
  return T->isPointerTy();
}

} // namespace

bool separateFields(Function &F, FieldNames Name) {
  SmallVector<AllocaInst *, 16> Locals;
  for (Instruction &I : F.getEntryBlock())
    if (auto *Local = dyn_cast<AllocaInst>(&I))
      Locals.push_back(Local);
  bool Changed = false;
  for (AllocaInst *Local : Locals) {
    if (!Local->isStaticAlloca() || Local->isArrayAllocation() ||
        Local->isUsedWithInAlloca() || Local->isSwiftError() ||
        !isa<StructType, ArrayType>(Local->getAllocatedType()) ||
        !holdsPointer(Local->getAllocatedType()))
      continue;
    Type *T = Local->getAllocatedType();
    while (auto *Array = dyn_cast<ArrayType>(T))
      T = Array->getElementType();
    if (T->isStructTy())
      Changed |= Separation(*Local, Name).run();
  }
  return Changed;
}

} // namespace dragon
