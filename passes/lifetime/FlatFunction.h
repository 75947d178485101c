//===- FlatFunction.h - a function with what it calls --------- -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Buffers are allocated, filled, used and freed in several functions: macros
// and wrappers check results, helpers read a file into a buffer. So a function
// is analysed in a copy that contains what it calls, with variables in
// registers. If directives come out, the copy replaces the function; if not,
// the program stays as it was. Clang's own passes would have made much the same
// code from it, a little later.
//
// What cudaMalloc(&d, n) writes keeps `d` in memory. In the copy each such call
// gets a variable of its own:
//
//   store ptr %old, ptr %slot
//   %status = call i32 @cudaMalloc(ptr %slot, i64 %n)
//   %d_A = load ptr, ptr %slot        ; the buffer, or %old if the call failed
//
// and the user's variable becomes a register.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_LIFETIME_FLATFUNCTION_H
#define DRAGON_PASSES_LIFETIME_FLATFUNCTION_H

#include "passes/lifetime/BufferNames.h"
#include "passes/lifetime/RelevantFunctions.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/PassManager.h"
#include <memory>

namespace llvm {
class CallBase;
class Function;
} // namespace llvm

namespace dragon {

class FlatFunction {
public:
  /// Of the names of copies.
  static constexpr llvm::StringLiteral Suffix = ".dragon.flat";
  /// What this is the copy of, or itself.
  static const llvm::Function &originalOf(const llvm::Function &Copy);

  /// Makes the copy. Null if F cannot be copied.
  static std::unique_ptr<FlatFunction>
  create(llvm::Function &F, const RelevantFunctions &Relevant,
         llvm::FunctionAnalysisManager &Analyses, unsigned Limit);
  /// Removes the copy unless it was adopted.
  ~FlatFunction();

  llvm::Function &original() const { return Original; }
  llvm::Function &copy() const { return *Copy; }
  /// Some call that matters was left alone for lack of room.
  bool hitLimit() const { return HitLimit; }

  /// Takes in the callees of these calls. Returns whether the copy changed.
  bool inlineCalls(llvm::ArrayRef<llvm::CallBase *> Calls);

  /// The original's body becomes the copy's.
  void adopt();

private:
  FlatFunction(llvm::Function &Original, llvm::Function *Copy,
               const RelevantFunctions &Relevant,
               llvm::FunctionAnalysisManager &Analyses, unsigned Limit)
      : Original(Original), Copy(Copy), Relevant(Relevant), Analyses(Analyses),
        Limit(Limit), Names(Relevant) {}

  void inlineFrom(llvm::SmallVectorImpl<llvm::CallBase *> &Pending);
  enum class Taking { Relevant, Small };
  bool inlineCall(llvm::CallBase &Call,
                  llvm::SmallVectorImpl<llvm::CallBase *> &Pending,
                  Taking What);
  void separateOutParameters();
  void simplify();
  void bringIntoForm();

  llvm::Function &Original;
  llvm::Function *Copy;
  const RelevantFunctions &Relevant;
  llvm::FunctionAnalysisManager &Analyses;
  unsigned Limit;
  unsigned Size = 0;
  unsigned SmallSize = 0; ///< of small functions that were taken in
  bool HitLimit = false;
  /// The functions that a call was taken in through: index into History.
  llvm::DenseMap<llvm::CallBase *, int> Through;
  llvm::SmallVector<std::pair<llvm::Function *, int>, 16> History;
  BufferNames Names;
};

} // namespace dragon

#endif // DRAGON_PASSES_LIFETIME_FLATFUNCTION_H
