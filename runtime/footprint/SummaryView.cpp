//===- SummaryView.cpp - summaries are looked at before use -----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A blob may be damaged, or made by somebody else: whatever it refers to is
// checked to be there before anything is read (SummaryView::open).
//
//===----------------------------------------------------------------------===//

#include "dragon/FootprintEval.h"

#include <cstring>

namespace dragon {

namespace {

/// The array of Count records at Offset, if it lies within the blob.
template <typename T>
bool locate(const void *Blob, uint64_t Total, uint32_t Count, uint32_t Offset,
            const T *&Array) {
  if (Offset % alignof(T) != 0 || Offset < sizeof(SummaryHeader) ||
      uint64_t(Offset) + uint64_t(Count) * sizeof(T) > Total)
    return false;
  Array = reinterpret_cast<const T *>(static_cast<const char *>(Blob) + Offset);
  return true;
}

bool fits(uint32_t First, uint32_t Count, uint32_t Size) {
  return uint64_t(First) + Count <= Size;
}

/// Whether node I is one, and refers to those before it.
bool isNode(const ExprNode *Exprs, uint32_t I) {
  const ExprNode &N = Exprs[I];
  bool Good = N.Bits >= 1 && N.Bits <= 64 && N.Op <= ExprOp::Loaded;
  switch (N.Op) {
  case ExprOp::Const:
  case ExprOp::Arg:
  case ExprOp::Unknown:
    break;
  case ExprOp::BlockDim:
  case ExprOp::GridDim:
  case ExprOp::BlockIdx:
  case ExprOp::ThreadIdx:
    Good &= N.Imm >= 0 && N.Imm <= 2;
    break;
  case ExprOp::Loop:
    Good &= N.A == NoIndex || N.A < I;
    break;
  case ExprOp::Carried:
    Good &= N.A < I && N.B < I && N.C < I && Exprs[N.A].Bits == N.Bits &&
            Exprs[N.B].Bits == N.Bits && Exprs[N.C].Bits == N.Bits &&
            Exprs[N.C].Op == ExprOp::Opaque;
    break;
  case ExprOp::Opaque:
    Good &= (N.A == NoIndex || N.A < I) && (N.B == NoIndex || N.B < I);
    break;
  case ExprOp::Loaded:
    Good &= N.A < I && Exprs[N.A].Bits == 64 &&
            (N.Bits == 8 || N.Bits == 16 || N.Bits == 32 || N.Bits == 64);
    break;
  case ExprOp::SExt:
  case ExprOp::ZExt:
    Good &= N.A < I && Exprs[N.A].Bits <= N.Bits;
    break;
  case ExprOp::Trunc:
    Good &= N.A < I && Exprs[N.A].Bits >= N.Bits;
    break;
  default:
    Good &= N.A < I && N.B < I && Exprs[N.A].Bits == N.Bits &&
            Exprs[N.B].Bits == N.Bits;
  }
  return Good;
}

} // namespace

bool SummaryView::open(const void *Blob, size_t Bytes, SummaryView &View,
                       std::string &Error) {
  auto fail = [&](const char *Why) {
    Error = std::string("kernel summary: ") + Why;
    return false;
  };
  if (!Blob || Bytes < sizeof(SummaryHeader))
    return fail("too short for its header");
  if (reinterpret_cast<uintptr_t>(Blob) % alignof(SummaryHeader) != 0)
    return fail("not aligned to 8 bytes");
  const auto *H = static_cast<const SummaryHeader *>(Blob);
  if (H->Magic != SummaryMagic)
    return fail("wrong magic number");
  if (H->Version != SummaryVersion) {
    Error = "kernel summary: version " + std::to_string(H->Version) +
            ", need " + std::to_string(SummaryVersion) +
            "; recompile with this dragon-cc";
    return false;
  }
  if (H->TotalBytes > Bytes)
    return fail("truncated");
  uint64_t Total = H->TotalBytes;
  SummaryView V;
  V.Header = H;
  if (!locate(Blob, Total, H->NumKernels, H->KernelsOffset, V.Kernels) ||
      !locate(Blob, Total, H->NumPointers, H->PointersOffset, V.Pointers) ||
      !locate(Blob, Total, H->NumAccesses, H->AccessesOffset, V.Accesses) ||
      !locate(Blob, Total, H->NumGuards, H->GuardsOffset, V.Guards) ||
      !locate(Blob, Total, H->NumExprs, H->ExprsOffset, V.Exprs) ||
      !locate(Blob, Total, H->NumArgSizes, H->ArgSizesOffset, V.ArgSizes) ||
      !locate(Blob, Total, H->StringsBytes, H->StringsOffset, V.Strings))
    return fail("an array lies outside of it");
  if (H->StringsBytes == 0 || V.Strings[0] != 0 ||
      V.Strings[H->StringsBytes - 1] != 0)
    return fail("its strings are not terminated");
  if (!V.checkReferences(Error))
    return false;
  View = V;
  return true;
}

bool SummaryView::checkReferences(std::string &Error) const {
  const SummaryHeader &H = *Header;
  auto fail = [&](const char *What, uint32_t Index) {
    Error = std::string("kernel summary: ") + What + " " +
            std::to_string(Index) + " refers to what is not there";
    return false;
  };
  for (uint32_t I = 0; I < H.NumKernels; ++I) {
    const KernelRecord &K = Kernels[I];
    if (K.Name >= H.StringsBytes || K.SliceName >= H.StringsBytes ||
        K.WhyNotSliceable >= H.StringsBytes ||
        K.CountingName >= H.StringsBytes || K.LoopName >= H.StringsBytes ||
        K.LoopBlockBytes % 16 != 0 || K.NumLoops > MaxLoops ||
        !fits(K.FirstArgSize, K.NumArgs, H.NumArgSizes) ||
        !fits(K.FirstPointer, K.NumPointers, H.NumPointers))
      return fail("kernel", I);
    for (uint32_t P = 0; P < K.NumPointers; ++P) {
      const PointerRecord &R = Pointers[K.FirstPointer + P];
      if (R.ArgIndex >= K.NumArgs ||
          uint64_t(R.ByteOffset) + 8 > ArgSizes[K.FirstArgSize + R.ArgIndex])
        return fail("pointer", K.FirstPointer + P);
    }
  }
  for (uint32_t I = 0; I < H.NumPointers; ++I)
    if (Pointers[I].Name >= H.StringsBytes ||
        Pointers[I].Mode > AccessMode::Any ||
        Pointers[I].Pattern > AccessPattern::Indirect ||
        !fits(Pointers[I].FirstAccess, Pointers[I].NumAccesses, H.NumAccesses))
      return fail("pointer", I);
  for (uint32_t I = 0; I < H.NumAccesses; ++I) {
    const AccessRecord &A = Accesses[I];
    const bool Unbounded = A.Flags & AccessUnbounded;
    const bool Nowhere = Unbounded && A.Offset == NoIndex;
    if (!fits(A.FirstGuard, A.NumGuards, H.NumGuards) ||
        A.Place > LoopPlace::Last || A.FirstLoop > A.LastLoop ||
        A.LastLoop >= MaxLoops || (!Nowhere && A.Offset >= H.NumExprs) ||
        (!Unbounded && (Exprs[A.Offset].Bits != 64 || A.Width == 0)))
      return fail("access", I);
  }
  for (uint32_t I = 0; I < H.NumGuards; ++I) {
    const GuardRecord &G = Guards[I];
    if (G.Lhs >= H.NumExprs || G.Rhs >= H.NumExprs ||
        Exprs[G.Lhs].Bits != Exprs[G.Rhs].Bits || G.Pred > GuardPred::ULE ||
        (G.Loop != NoIndex &&
         (G.Loop >= H.NumExprs || Exprs[G.Loop].Op != ExprOp::Loop)))
      return fail("guard", I);
  }
  for (uint32_t I = 0; I < H.NumExprs; ++I)
    if (!isNode(Exprs, I))
      return fail("expression", I);
  return true;
}

const KernelRecord *SummaryView::findKernel(const char *Name) const {
  for (uint32_t I = 0; Header && I < Header->NumKernels; ++I)
    if (std::strcmp(string(Kernels[I].Name), Name) == 0)
      return &Kernels[I];
  return nullptr;
}

} // namespace dragon
