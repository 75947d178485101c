//===- SummaryPrinter.cpp - a kernel summary in words ---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   kernel vectorAdd
//     c (argument 2): write, streaming
//       write exact 4 bytes at 4*sext64(bid.x*bdim.x + tid.x)
//         if bid.x*bdim.x + tid.x <s arg3
//
// Names of loops are their numbers (k0, k1, ...), of what is unknown ?0, ?1.
//
//===----------------------------------------------------------------------===//

#include "passes/access/KernelAccessAnalysis.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace dragon {

namespace {

/// The name of an operation that is written as a call.
const char *functionName(ExprOp Op) {
  switch (Op) {
  case ExprOp::SDiv:
    return "sdiv";
  case ExprOp::UDiv:
    return "udiv";
  case ExprOp::SRem:
    return "srem";
  case ExprOp::URem:
    return "urem";
  case ExprOp::SMin:
    return "smin";
  case ExprOp::SMax:
    return "smax";
  case ExprOp::UMin:
    return "umin";
  case ExprOp::UMax:
    return "umax";
  case ExprOp::Shl:
    return "shl";
  case ExprOp::LShr:
    return "lshr";
  case ExprOp::AShr:
    return "ashr";
  case ExprOp::And:
    return "and";
  case ExprOp::Or:
    return "or";
  case ExprOp::Xor:
    return "xor";
  case ExprOp::SExt:
    return "sext";
  case ExprOp::ZExt:
    return "zext";
  case ExprOp::Trunc:
    return "trunc";
  default:
    return "";
  }
}

class ExprPrinter {
public:
  explicit ExprPrinter(const ExprPool &Pool) : Pool(Pool) {}

  std::string print(uint32_t Node) { return text(Node, 0); }

private:
  const ExprPool &Pool;

  /// Strength: of the operator around; sums are 1, products 2.
  std::string text(uint32_t Node, int Strength) {
    static const char *const Axes[] = {"x", "y", "z"};
    const ExprNode &N = Pool.Nodes[Node];
    auto axis = [&](const char *Name) {
      return std::string(Name) + "." + Axes[N.Imm];
    };
    auto call = [&](const std::string &Name) {
      std::string S = Name + "(" + text(N.A, 0);
      if (N.B != NoIndex)
        S += ", " + text(N.B, 0);
      return S + ")";
    };
    auto infix = [&](const char *Symbol, int Own) {
      std::string S =
          text(N.A, Own) + Symbol + text(N.B, Own + (N.Op == ExprOp::Sub));
      return Own < Strength ? "(" + S + ")" : S;
    };
    switch (N.Op) {
    case ExprOp::Const:
      return std::to_string(N.Imm);
    case ExprOp::Arg:
      return "arg" + std::to_string(N.A) +
             (N.Imm ? "+" + std::to_string(N.Imm) : "");
    case ExprOp::BlockDim:
      return axis("bdim");
    case ExprOp::GridDim:
      return axis("gdim");
    case ExprOp::BlockIdx:
      return axis("bid");
    case ExprOp::ThreadIdx:
      return axis("tid");
    case ExprOp::Loop:
      return "k" + std::to_string(N.Imm);
    case ExprOp::Opaque:
      return "any[" + (N.A == NoIndex ? "" : text(N.A, 0)) + ".." +
             (N.B == NoIndex ? "" : text(N.B, 0)) + "]";
    case ExprOp::Carried:
      return "carried(" + text(N.A, 0) + ", " + text(N.B, 0) + ")";
    case ExprOp::Loaded:
      return "mem" + std::to_string(N.Bits) + "[" + text(N.A, 0) + "]";
    case ExprOp::Add:
      return infix(" + ", 1);
    case ExprOp::Sub:
      return infix(" - ", 1);
    case ExprOp::Mul:
      return infix("*", 2);
    case ExprOp::SExt:
    case ExprOp::ZExt:
    case ExprOp::Trunc:
      return call(functionName(N.Op) + std::to_string(N.Bits));
    case ExprOp::Unknown:
      return "?" + std::to_string(N.Imm);
    default:
      return call(functionName(N.Op));
    }
  }
};

const char *name(AccessMode M) {
  switch (M) {
  case AccessMode::None:
    return "not accessed";
  case AccessMode::Read:
    return "read";
  case AccessMode::Write:
    return "write";
  case AccessMode::ReadWrite:
    return "read-write";
  case AccessMode::Any:
    break;
  }
  return "any access";
}

const char *name(AccessPattern P) {
  switch (P) {
  case AccessPattern::Streaming:
    return ", streaming";
  case AccessPattern::Reused:
    return ", reused";
  case AccessPattern::Strided:
    return ", strided";
  case AccessPattern::Indirect:
    return ", indirect";
  case AccessPattern::Unknown:
    break;
  }
  return "";
}

const char *name(GuardPred P) {
  switch (P) {
  case GuardPred::EQ:
    return " == ";
  case GuardPred::NE:
    return " != ";
  case GuardPred::SLT:
    return " <s ";
  case GuardPred::SLE:
    return " <=s ";
  case GuardPred::ULT:
    return " <u ";
  case GuardPred::ULE:
    return " <=u ";
  }
  return "";
}

} // namespace

void print(const ModuleSummary &Summary, raw_ostream &To) {
  ExprPrinter Exprs(Summary.Exprs);
  for (const KernelSummary &K : Summary.Kernels) {
    To << "kernel " << K.Name;
    if (K.Flags & KernelUnknown)
      To << ", unknown";
    if (K.Flags & KernelTouchesAnything)
      To << ", touches anything";
    if (K.Flags & KernelHasBarrier)
      To << ", barriers";
    if (K.Flags & KernelHasPrintf)
      To << ", prints";
    if (K.Flags & KernelSliceable)
      To << ", sliceable";
    if (K.Flags & KernelActsOnBuffersOnly)
      To << ", acts on buffers only";
    if (K.Flags & KernelFollowsArguments)
      To << ", follows its arguments";
    if ((K.Flags & KernelSliceable) && !(K.Flags & KernelNeverWaits))
      To << ", may wait";
    To << "\n";
    for (const PointerSummary &P : K.Pointers) {
      To << "  " << (P.Name.empty() ? "pointer" : P.Name) << " (argument "
         << P.ArgIndex;
      if (P.ByteOffset)
        To << " + " << P.ByteOffset;
      To << "): " << name(P.Mode) << name(P.Pattern);
      if (P.Flags & PointerEscapes)
        To << ", escapes";
      if (P.Flags & PointerKept)
        To << ", kept";
      if (P.Flags & PointerReadBeforeWrite)
        To << ", read first";
      To << "\n";
      for (const AccessSummary &A : P.Accesses) {
        To << "    "
           << (A.Flags & AccessAtomic ? "atomic"
               : (A.Flags & AccessRead) && (A.Flags & AccessWrite)
                   ? "read-write"
               : A.Flags & AccessRead ? "read"
                                      : "write");
        if (A.Flags & AccessExact)
          To << " exact";
        if (A.Flags & AccessConditional)
          To << (A.Flags & AccessUnsaid ? " conditional (unsaid)"
                                        : " conditional");
        if (A.Flags & AccessIndirect)
          To << " indirect";
        if (A.Place != LoopPlace::Any)
          To << (A.Place == LoopPlace::First ? " in front of the loop"
                                             : " behind the loop");
        if (K.LoopNumbers.size() > 1 && A.Place != LoopPlace::Last) {
          To << " with loop " << unsigned(A.FirstLoop);
          if (A.LastLoop != A.FirstLoop)
            To << " to " << unsigned(A.LastLoop);
        }
        if (A.Flags & AccessUnbounded)
          To << " anywhere";
        else
          To << " " << A.Width << " bytes at " << Exprs.print(A.Offset);
        To << "\n";
        for (const GuardRecord &G : A.Guards) {
          To << "      " << (G.Loop == NoIndex ? "if " : "while ")
             << Exprs.print(G.Lhs) << name(G.Pred) << Exprs.print(G.Rhs)
             << "\n";
        }
      }
    }
  }
}

void KernelAccesses::print(raw_ostream &To) const {
  dragon::print(Summary, To);
  for (const KernelNote &N : Notes) {
    To << "note: " << N.Kernel << ": "
       << (N.Pointer.empty() ? "" : "'" + N.Pointer + "': ") << N.What;
    if (N.Line)
      To << " (" << N.File << ":" << N.Line << ":" << N.Column << ")";
    To << "\n";
  }
}

} // namespace dragon
