//===- BufferNames.h - the user's names for buffers -------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Remarks speak of a buffer by the name of the variable that its allocation was
// stored to. In a function with its callees inlined that is the variable of the
// outermost caller:
//
//   float *make(int n) { float *p = malloc(n); return p; }
//   h_A = make(n);                                // "h_A"
//
// Names are collected while calls are inlined, before variables become
// registers, and are put on the allocating calls in the end.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_LIFETIME_BUFFERNAMES_H
#define DRAGON_PASSES_LIFETIME_BUFFERNAMES_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/ValueHandle.h"
#include <string>

namespace llvm {
class AllocaInst;
class CallBase;
class Function;
class Value;
} // namespace llvm

namespace dragon {

class RelevantFunctions;

class BufferNames {
public:
  explicit BufferNames(const RelevantFunctions &Relevant)
      : Relevant(Relevant) {}

  /// `h_A = (float *)malloc(n)`, `std::vector<float> h_A(n)`: notes the
  /// variable that the result is stored to. Outer calls are noted first.
  void note(llvm::CallBase &Call);
  void noteAll(llvm::Function &F);
  /// The call's result goes to the variable. False if it has no name.
  bool add(llvm::CallBase &Call, llvm::Value &Variable);
  /// Puts the names on the calls.
  void apply();

private:
  using NameList =
      llvm::SmallVector<std::pair<llvm::WeakTrackingVH, std::string>, 8>;

  const RelevantFunctions &Relevant;
  NameList Names;
  NameList RoughNames; ///< of the array that it is an element of
};

/// The user's name for the result of a call in a flattened function; "buffer"
/// if there are no names.
std::string bufferName(const llvm::CallBase &Call);

/// "d_A" for `%d_A.i12` or `%d_A.addr`.
llvm::StringRef userName(llvm::StringRef ValueName);

/// Marks a variable that only holds what a call returns through a pointer.
void markOutSlot(llvm::AllocaInst &Slot);
bool isOutSlot(const llvm::Value *V);

/// Removes the names and marks from a function.
void removeBufferNames(llvm::Function &F);

} // namespace dragon

#endif // DRAGON_PASSES_LIFETIME_BUFFERNAMES_H
