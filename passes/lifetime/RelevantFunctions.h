//===- RelevantFunctions.h - functions that use buffers ---------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of a module that, with their callees, use the calls of
// CallEffects.def or launch kernels, and so are to be analysed. The same walk
// over the module learns the names of the fields of structures.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_LIFETIME_RELEVANTFUNCTIONS_H
#define DRAGON_PASSES_LIFETIME_RELEVANTFUNCTIONS_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <string>

namespace llvm {
class Function;
class GEPOperator;
class GetElementPtrInst;
class Module;
class StructType;
class Type;
} // namespace llvm

namespace dragon {

class RelevantFunctions {
public:
  explicit RelevantFunctions(llvm::Module &M);
  bool contains(const llvm::Function *F) const { return Functions.count(F); }
  /// The function, or one that it calls, launches kernels or allocates, copies
  /// or frees device memory.
  bool usesDevice(const llvm::Function *F) const { return Device.count(F); }

  /// The user's name for the field at the address; "" if that is not known.
  std::string fieldName(const llvm::GEPOperator &Address) const;
  std::string fieldName(const llvm::StructType &Struct, unsigned Number) const;
  /// The name of the innermost field that a structure begins with, if it is a
  /// pointer.
  std::string firstFieldName(const llvm::Type *T) const;

private:
  void noteField(const llvm::GetElementPtrInst &Address);

  llvm::SmallPtrSet<const llvm::Function *, 16> Functions, Device;
  llvm::DenseMap<std::pair<const llvm::Type *, uint64_t>, std::string> Fields;
};

} // namespace dragon

#endif // DRAGON_PASSES_LIFETIME_RELEVANTFUNCTIONS_H
