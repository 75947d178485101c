//===- MatrixIntrinsics.cpp - products of matrices by a warp --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/MatrixIntrinsics.h"

#include "dragon/CompilerABI.h"
#include "passes/cpu/RuntimeFunctions.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

#include <optional>

using namespace llvm;

namespace dragon {

namespace {

struct ElementType {
  uint32_t Code;
  unsigned Bytes;
};

std::optional<ElementType> elementType(StringRef Name) {
  struct Known {
    StringRef Name;
    ElementType Is;
  };
  static const Known All[] = {
      {"f16", {DRAGON_MATRIX_F16, 2}},   {"f32", {DRAGON_MATRIX_F32, 4}},
      {"tf32", {DRAGON_MATRIX_F32, 4}},  {"f64", {DRAGON_MATRIX_F64, 8}},
      {"bf16", {DRAGON_MATRIX_BF16, 2}}, {"s8", {DRAGON_MATRIX_S8, 1}},
      {"u8", {DRAGON_MATRIX_U8, 1}},     {"s32", {DRAGON_MATRIX_S32, 4}}};
  for (const Known &Entry : All)
    if (Entry.Name == Name)
      return Entry.Is;
  return std::nullopt;
}

/// m16n8k8
struct Geometry {
  unsigned M = 0, N = 0, K = 0;

  static std::optional<Geometry> parse(StringRef Text) {
    Geometry G;
    if (!Text.consume_front("m") || Text.consumeInteger(10, G.M) ||
        !Text.consume_front("n") || Text.consumeInteger(10, G.N) ||
        !Text.consume_front("k") || Text.consumeInteger(10, G.K) ||
        !Text.empty())
      return std::nullopt;
    return G;
  }
};

class MatrixLowering {
public:
  MatrixLowering(CallInst &Call, ThreadContext &Thread)
      : Call(Call), Thread(Thread), B(&Call), DL(Call.getDataLayout()) {}

  Value *access(const Geometry &G, ArrayRef<StringRef> Parts);
  Value *multiply(const Geometry &G, ArrayRef<StringRef> Parts);

private:
  AllocaInst *room(uint64_t Bytes) {
    BasicBlock &Entry = Call.getFunction()->getEntryBlock();
    IRBuilder<> AtEntry(&Entry, Entry.begin());
    AllocaInst *Room =
        AtEntry.CreateAlloca(ArrayType::get(AtEntry.getInt8Ty(), Bytes));
    Room->setAlignment(Align(16));
    return Room;
  }
  uint64_t bytesOf(Type *T) { return DL.getTypeStoreSize(T); }
  /// Stores the arguments [From, From + ...) until `Bytes` are filled; gives
  /// the number of the next one, or 0 if they do not fit.
  unsigned storeArguments(unsigned From, uint64_t Bytes, Value *To);
  Value *loadResult(Value *From);
  CallInst *call(RuntimeFunction Which, ArrayRef<Value *> Args) {
    return B.CreateCall(runtimeFunction(*Call.getModule(), Which), Args);
  }

  CallInst &Call;
  ThreadContext &Thread;
  IRBuilder<> B;
  const DataLayout &DL;
};

unsigned MatrixLowering::storeArguments(unsigned From, uint64_t Bytes,
                                        Value *To) {
  uint64_t At = 0;
  unsigned I = From;
  while (At < Bytes && I < Call.arg_size()) {
    Value *Register = Call.getArgOperand(I++);
    B.CreateAlignedStore(Register, B.CreateConstGEP1_64(B.getInt8Ty(), To, At),
                         Align(1));
    At += bytesOf(Register->getType());
  }
  return At == Bytes ? I : 0;
}

Value *MatrixLowering::loadResult(Value *From) {
  auto *Struct = dyn_cast<StructType>(Call.getType());
  if (!Struct)
    return B.CreateAlignedLoad(Call.getType(), From, Align(1));
  Value *All = PoisonValue::get(Struct);
  uint64_t At = 0;
  for (unsigned I = 0; I < Struct->getNumElements(); ++I) {
    Type *Register = Struct->getElementType(I);
    All = B.CreateInsertValue(
        All,
        B.CreateAlignedLoad(
            Register, B.CreateConstGEP1_64(B.getInt8Ty(), From, At), Align(1)),
        I);
    At += bytesOf(Register);
  }
  return All;
}

/// load.{a,b,c}.{row,col}[.stride].type.pN and store.d.{row,col}[.stride]...
Value *MatrixLowering::access(const Geometry &G, ArrayRef<StringRef> Parts) {
  bool IsStore = Parts[0] == "store";
  if (Parts.size() < 4)
    return nullptr;
  bool HasStride = Parts[3] == "stride";
  if (Parts.size() != (HasStride ? 6u : 5u))
    return nullptr;
  auto Element = elementType(Parts[HasStride ? 4 : 3]);
  if (!Element)
    return nullptr;
  unsigned Rows = Parts[1] == "b" ? G.K : G.M;
  unsigned Columns = Parts[1] == "a" ? G.K : G.N;
  bool ByColumn = Parts[2] == "col";

  uint64_t Bytes = 0;
  if (IsStore) {
    for (unsigned I = 1; I < Call.arg_size() - HasStride; ++I)
      Bytes += bytesOf(Call.getArgOperand(I)->getType());
  } else if (auto *Struct = dyn_cast<StructType>(Call.getType())) {
    for (Type *Register : Struct->elements())
      Bytes += bytesOf(Register);
  } else {
    Bytes = bytesOf(Call.getType());
  }
  uint64_t Slots = Bytes / Element->Bytes;
  if (Rows * Columns % 32 || Slots * 32 < Rows * Columns || Slots > 255)
    return nullptr;
  Value *Fragment = room(Bytes);
  if (IsStore && !storeArguments(1, Bytes, Fragment))
    return nullptr;
  Value *Stride = HasStride ? Call.getArgOperand(Call.arg_size() - 1)
                            : B.getInt32(ByColumn ? Rows : Columns);
  uint32_t Shape = Rows | Columns << 8 | static_cast<uint32_t>(Slots) << 16 |
                   static_cast<uint32_t>(ByColumn) << 24;
  CallInst *Done =
      call(IsStore ? RuntimeFunction::dragon_cpu_matrix_store
                   : RuntimeFunction::dragon_cpu_matrix_load,
           {Thread.context(), B.getInt32(Shape), B.getInt32(Element->Code),
            B.CreateAddrSpaceCast(Call.getArgOperand(0), B.getPtrTy()), Stride,
            Fragment});
  return IsStore ? static_cast<Value *>(Done) : loadResult(Fragment);
}

/// mma.{row,col}.{row,col}[.rnd].types[.satfinite]
Value *MatrixLowering::multiply(const Geometry &G, ArrayRef<StringRef> Parts) {
  SmallVector<ElementType, 2> Types;
  bool Saturates = false;
  for (StringRef Part : Parts.drop_front(3)) {
    if (auto Type = elementType(Part))
      Types.push_back(*Type);
    else if (Part == "satfinite")
      Saturates = true;
    else if (Part != "rn")
      return nullptr;
  }
  // Of f16 the types of d and c are named, of others that of a and b.
  ElementType A, C, D;
  if (Types.size() == 2) {
    A = {DRAGON_MATRIX_F16, 2}, D = Types[0], C = Types[1];
  } else if (Types.size() == 1) {
    A = Types[0];
    bool Whole = A.Code == DRAGON_MATRIX_S8 || A.Code == DRAGON_MATRIX_U8;
    C = A.Code == DRAGON_MATRIX_F64
            ? ElementType{DRAGON_MATRIX_F64, 8}
            : ElementType{Whole ? DRAGON_MATRIX_S32 : DRAGON_MATRIX_F32, 4};
    D = C;
  } else {
    return nullptr;
  }
  // A fragment of f16 has 16 elements, whatever the geometry.
  auto Bytes = [&](unsigned Rows, unsigned Columns, const ElementType &Of,
                   bool IsFactor) -> uint64_t {
    return IsFactor && Of.Code == DRAGON_MATRIX_F16
               ? 32
               : uint64_t(Rows) * Columns / 32 * Of.Bytes;
  };
  uint64_t BytesA = Bytes(G.M, G.K, A, true), BytesB = Bytes(G.K, G.N, A, true);
  uint64_t BytesC = Bytes(G.M, G.N, C, false);
  Value *FragmentA = room(BytesA), *FragmentB = room(BytesB);
  Value *FragmentC = room(BytesC);
  Value *FragmentD = room(Bytes(G.M, G.N, D, false));
  unsigned Next = storeArguments(0, BytesA, FragmentA);
  Next = Next ? storeArguments(Next, BytesB, FragmentB) : 0;
  Next = Next ? storeArguments(Next, BytesC, FragmentC) : 0;
  if (Next != Call.arg_size())
    return nullptr;
  call(RuntimeFunction::dragon_cpu_matrix_multiply,
       {Thread.context(), B.getInt32(G.M | G.N << 8 | G.K << 16),
        B.getInt32(A.Code | C.Code << 4 | D.Code << 8 |
                   static_cast<uint32_t>(Saturates) << 12),
        FragmentA, FragmentB, FragmentC, FragmentD});
  return loadResult(FragmentD);
}

} // namespace

Value *lowerMatrixIntrinsic(StringRef Name, CallInst &Call,
                            ThreadContext &Thread) {
  SmallVector<StringRef, 8> Parts;
  Name.split(Parts, '.');
  auto Shape = Geometry::parse(Parts[0]);
  if (!Shape || Parts.size() < 2)
    return nullptr;
  MatrixLowering Lowering(Call, Thread);
  ArrayRef<StringRef> Rest = ArrayRef(Parts).drop_front();
  if (Rest[0] == "mma")
    return Lowering.multiply(*Shape, Rest);
  return Rest[0] == "load" || Rest[0] == "store" ? Lowering.access(*Shape, Rest)
                                                 : nullptr;
}

} // namespace dragon
