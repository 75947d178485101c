//===- SliceWorth.cpp - do slices of a kernel need less than all ----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/slicing/SliceWorth.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dragon {

SliceWorth::SliceWorth(const ExprPool &Exprs) : OfBlock(Exprs.Nodes.size()) {
  // Operands precede their users.
  for (size_t I = 0; I < Exprs.Nodes.size(); ++I) {
    const ExprNode &Node = Exprs.Nodes[I];
    OfBlock[I] =
        Node.Op == ExprOp::BlockIdx || (ExprPool::hasOperands(Node.Op) &&
                                        (ofBlock(Node.A) || ofBlock(Node.B)));
  }
}

std::string SliceWorth::whyNot(const KernelSummary &Kernel) const {
  if (Kernel.touchesAnything() ||
      any_of(Kernel.Pointers, [](const PointerSummary &Pointer) {
        return Pointer.Flags & PointerEscapes;
      }))
    return "each of its blocks may access any buffer";
  for (const PointerSummary &Pointer : Kernel.Pointers)
    for (const AccessSummary &Access : Pointer.Accesses)
      if ((!(Access.Flags & AccessUnbounded) && ofBlock(Access.Offset)) ||
          any_of(Access.Guards, [&](const GuardRecord &Guard) {
            return ofBlock(Guard.Lhs) || ofBlock(Guard.Rhs);
          }))
        return "";
  return "what it accesses does not depend on the block, as far as is known";
}

} // namespace dragon
