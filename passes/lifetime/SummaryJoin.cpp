//===- SummaryJoin.cpp - one summary for several architectures ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lifetime/SummaryJoin.h"

#include "passes/Options.h"
#include "passes/access/SummaryCopy.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cstring>
#include <memory>

using namespace llvm;

namespace dragon {

namespace {

/// Compares one kernel in two blobs. Expressions are numbered differently in
/// each, so they are compared as trees; pairs found equal are remembered.
class KernelComparison {
public:
  KernelComparison(const SummaryView &A, const SummaryView &B) : A(A), B(B) {}

  bool equal(const KernelRecord &X, const KernelRecord &Y) {
    if (X.Flags != Y.Flags || X.NumArgs != Y.NumArgs ||
        X.NumPointers != Y.NumPointers ||
        !sameString(X.SliceName, Y.SliceName) ||
        !sameString(X.CountingName, Y.CountingName))
      return false;
    for (uint32_t I = 0; I < X.NumArgs; ++I)
      if (A.argSizes(X)[I] != B.argSizes(Y)[I])
        return false;
    for (uint32_t I = 0; I < X.NumPointers; ++I)
      if (!equal(A.pointer(X.FirstPointer + I), B.pointer(Y.FirstPointer + I)))
        return false;
    return true;
  }

private:
  bool sameString(uint32_t X, uint32_t Y) {
    return std::strcmp(A.string(X), B.string(Y)) == 0;
  }

  bool equal(const PointerRecord &X, const PointerRecord &Y) {
    if (X.ArgIndex != Y.ArgIndex || X.ByteOffset != Y.ByteOffset ||
        X.NumAccesses != Y.NumAccesses || X.Mode != Y.Mode ||
        X.Pattern != Y.Pattern || X.Flags != Y.Flags)
      return false;
    for (uint32_t I = 0; I < X.NumAccesses; ++I)
      if (!equal(A.access(X.FirstAccess + I), B.access(Y.FirstAccess + I)))
        return false;
    return true;
  }

  bool equal(const AccessRecord &X, const AccessRecord &Y) {
    if (X.Width != Y.Width || X.NumGuards != Y.NumGuards ||
        X.Flags != Y.Flags || X.Place != Y.Place ||
        X.FirstLoop != Y.FirstLoop || X.LastLoop != Y.LastLoop ||
        !equalExpr(X.Offset, Y.Offset))
      return false;
    for (uint32_t I = 0; I < X.NumGuards; ++I) {
      const GuardRecord &G = A.guard(X.FirstGuard + I);
      const GuardRecord &H = B.guard(Y.FirstGuard + I);
      if (G.Pred != H.Pred || !equalExpr(G.Lhs, H.Lhs) ||
          !equalExpr(G.Rhs, H.Rhs) || !equalExpr(G.Loop, H.Loop))
        return false;
    }
    return true;
  }

  bool equalExpr(uint32_t X, uint32_t Y) {
    if (X == NoIndex || Y == NoIndex)
      return X == Y;
    if (Equal.contains({X, Y}))
      return true;
    const ExprNode &M = A.expr(X);
    const ExprNode &N = B.expr(Y);
    if (M.Op != N.Op || M.Bits != N.Bits || M.Flags != N.Flags ||
        M.Imm != N.Imm)
      return false;
    if (M.Op == ExprOp::Arg) {
      if (M.A != N.A)
        return false;
    } else {
      unsigned Operands = numOperands(M.Op);
      if ((Operands > 0 && !equalExpr(M.A, N.A)) ||
          (Operands > 1 && !equalExpr(M.B, N.B)) ||
          (M.Op == ExprOp::Carried && !equalExpr(M.C, N.C)))
        return false;
    }
    Equal.insert({X, Y});
    return true;
  }

  static unsigned numOperands(ExprOp Op) {
    switch (Op) {
    case ExprOp::Const:
    case ExprOp::Arg:
    case ExprOp::BlockDim:
    case ExprOp::GridDim:
    case ExprOp::BlockIdx:
    case ExprOp::ThreadIdx:
    case ExprOp::Unknown:
      return 0;
    case ExprOp::Loop:
    case ExprOp::SExt:
    case ExprOp::ZExt:
    case ExprOp::Trunc:
    case ExprOp::Loaded:
      return 1;
    default:
      return 2;
    }
  }

  const SummaryView &A;
  const SummaryView &B;
  DenseSet<std::pair<uint32_t, uint32_t>> Equal;
};

} // namespace

bool sameKernel(const SummaryView &A, const KernelRecord &X,
                const SummaryView &B, const KernelRecord &Y) {
  return KernelComparison(A, B).equal(X, Y);
}

Expected<std::string> joinSummaries(ArrayRef<StringRef> Blobs) {
  if (Blobs.empty())
    return std::string();
  SmallVector<std::unique_ptr<SummaryCopy>, 4> Copies;
  SmallVector<SummaryView, 4> Views;
  for (StringRef Blob : Blobs) {
    Expected<std::unique_ptr<SummaryCopy>> Copy = SummaryCopy::open(Blob);
    if (!Copy)
      return createStringError("malformed kernel summary: " +
                               toString(Copy.takeError()));
    Views.push_back((*Copy)->view());
    Copies.push_back(std::move(*Copy));
  }
  // Differs from the first blob in flags alone.
  std::string Result = Blobs[0].str();
  for (uint32_t K = 0; K < Views[0].numKernels(); ++K) {
    const KernelRecord &Kernel = Views[0].kernel(K);
    bool Agree = true;
    for (size_t I = 1; I < Views.size() && Agree; ++I) {
      const KernelRecord *Other =
          Views[I].findKernel(Views[0].string(Kernel.Name));
      Agree = Other && sameKernel(Views[0], Kernel, Views[I], *Other);
    }
    if (Agree)
      continue;
    uint32_t Flags = KernelUnknown | KernelTouchesAnything;
    size_t Offset = Copies[0]->header().KernelsOffset +
                    K * sizeof(KernelRecord) + offsetof(KernelRecord, Flags);
    std::memcpy(Result.data() + Offset, &Flags, sizeof(Flags));
  }
  return Result;
}

Expected<std::string> readSummaries(StringRef File,
                                    ArrayRef<std::string> Archs) {
  SmallVector<std::unique_ptr<MemoryBuffer>, 4> Buffers;
  SmallVector<StringRef, 4> Blobs;
  for (const std::string &Arch : Archs) {
    std::string Path = (File + "." + Arch).str();
    auto Buffer = MemoryBuffer::getFile(Path, /*IsText=*/false,
                                        /*RequiresNullTerminator=*/false);
    if (!Buffer)
      return createStringError("cannot read kernel summary '" + Path +
                               "': " + Buffer.getError().message());
    Blobs.push_back((*Buffer)->getBuffer());
    Buffers.push_back(std::move(*Buffer));
  }
  return joinSummaries(Blobs);
}

std::string givenSummaries(Module &M) {
  if (options::summaryFile().empty())
    return "";
  Expected<std::string> Joined =
      readSummaries(options::summaryFile(), options::summaryArchs());
  if (Joined)
    return std::move(*Joined);
  M.getContext().emitError(toString(Joined.takeError()));
  return "";
}

} // namespace dragon
