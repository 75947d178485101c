//===- ThreadContext.h - the running thread, in IR -------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The values that stand for the running thread in one lowered function: the
// dragon_cpu_context and the thread's index, which are its last four
// parameters, and the fields of the context, each loaded once at the function's
// begin. The index is a parameter and not a field, so that a loop over threads
// can be vectorised: a store of the kernel might change a field as far as the
// compiler can see.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CPU_THREADCONTEXT_H
#define DRAGON_PASSES_CPU_THREADCONTEXT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/IRBuilder.h"

namespace dragon {

class ThreadContext {
public:
  static constexpr unsigned NumParameters = 4;
  static llvm::SmallVector<llvm::Type *, NumParameters>
  parameterTypes(llvm::LLVMContext &C);
  static llvm::ArrayRef<llvm::StringRef> parameterNames();
  /// Sets what is known of the hidden parameters of F.
  static void addParameterAttributes(llvm::Function &F);

  /// F ends in the hidden parameters.
  explicit ThreadContext(llvm::Function &F) : F(F) {}

  llvm::Value *context() const { return parameter(0); }
  llvm::Value *threadIdx(unsigned Dim) const { return parameter(1 + Dim); }
  llvm::SmallVector<llvm::Value *, NumParameters> parameters() const;

  llvm::Value *blockIdx(unsigned Dim);
  llvm::Value *blockDim(unsigned Dim);
  llvm::Value *gridDim(unsigned Dim);
  llvm::Value *shared();
  llvm::Value *staticBytes();
  llvm::Value *dynamicBytes();
  llvm::Value *grid();
  /// The thread's number in its block, x fastest.
  llvm::Value *linearThread();
  llvm::Value *laneId();

  /// Where values that the whole function may use are computed: at its begin,
  /// after those computed before.
  llvm::IRBuilder<> entryBuilder() const;
  /// To be called with what was built there last.
  llvm::Value *endOfEntry(llvm::Value *V);

private:
  llvm::Value *parameter(unsigned I) const;
  llvm::Value *field(unsigned Offset, llvm::Type *Type, uint64_t Low = 0,
                     uint64_t High = 0);

  llvm::Function &F;
  llvm::DenseMap<unsigned, llvm::Value *> Fields;
  llvm::Value *Linear = nullptr;
  llvm::Value *Lane = nullptr;
  llvm::Instruction *Last = nullptr;
};

/// Loads thread index `Dim` out of a context in memory.
llvm::Value *loadThreadIdx(llvm::IRBuilder<> &B, llvm::Value *Context,
                           unsigned Dim);
/// Stores it there.
void storeThreadIdx(llvm::IRBuilder<> &B, llvm::Value *Context, unsigned Dim,
                    llvm::Value *Index);

} // namespace dragon

#endif // DRAGON_PASSES_CPU_THREADCONTEXT_H
