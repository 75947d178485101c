//===- ReturnCodes.h - where main is sure to return an error ----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   std::string path = argv[1];
//   if (!good)
//     return 1;
//   work();
//   return 0;
//
// becomes a phi of 1 and 0 in front of the string's destructor, and its value
// is returned some blocks later. An edge that gives such a phi a number fails
// if main returns other numbers than 0 on all ways from there. On a way, phis
// have the numbers that its edges give, and comparisons of them with constants
// and switches go where these lead.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_LIFETIME_RETURNCODES_H
#define DRAGON_PASSES_LIFETIME_RETURNCODES_H

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"

#include <vector>

namespace dragon {

class ReturnCodes {
public:
  /// Of a function that returns an integer.
  explicit ReturnCodes(llvm::Function &F);

  /// The program ends here with success: `exit(0)`.
  static bool exitsWell(const llvm::BasicBlock &B);
  /// The block returns a number that is not 0.
  static bool failsIn(const llvm::BasicBlock &B);
  /// Where the block may go on to, with a number that is sure to be returned,
  /// or to lead to one, that is not 0.
  llvm::SmallVector<llvm::BasicBlock *, 2> failingEdges(llvm::BasicBlock &B);

private:
  /// The number of each phi on one way, null: not known.
  using Numbers = std::vector<llvm::ConstantInt *>;

  llvm::ConstantInt *numberOf(llvm::Value *V, const Numbers &Known) const;
  Numbers along(const llvm::BasicBlock &From, const llvm::BasicBlock &To,
                const Numbers &Known) const;
  llvm::BasicBlock *onlyExit(const llvm::BasicBlock &B,
                             const Numbers &Known) const;
  bool fails(llvm::BasicBlock &From, llvm::BasicBlock &To);

  /// Those that are returned, or decide where a block goes on, and those that
  /// lead to them.
  llvm::MapVector<llvm::PHINode *, unsigned> Phis;
  /// How many blocks are looked at, all edges together; then none fails.
  unsigned StatesLeft = 1 << 16;
};

} // namespace dragon

#endif // DRAGON_PASSES_LIFETIME_RETURNCODES_H
