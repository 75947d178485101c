//===- ExtraParameters.h - functions with hidden parameters -----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Device code reads its position in the grid from special registers anywhere in
// the call tree. Slicing and the lowering to the host both replace such reads
// by parameters, which must then be handed down through every call:
//
//   f(a)      { return ctaid.x + g(a); }      f'(a, off) { return ctaid.x + off
//   g(a)      { return h(ctaid.x); }    ->                        + g'(a, off);
//   }
//
// Here is what both need: which functions (transitively) contain something that
// needs the parameters, and a copy of a function with parameters appended.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_SUPPORT_EXTRAPARAMETERS_H
#define DRAGON_PASSES_SUPPORT_EXTRAPARAMETERS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Transforms/Utils/ValueMapper.h"
#include <cstdint>

namespace llvm {
class CallBase;
class Function;
class FunctionType;
class Instruction;
class Module;
class Type;
class Value;
} // namespace llvm

namespace dragon {

/// What CUDA allows for the parameters of a kernel.
constexpr uint64_t MaxParameterBytes = 32764;

/// The kernel's parameters, and `Bytes` of others, are not more than that.
bool hasRoomFor(const llvm::Function &Kernel, uint64_t Bytes);

/// The functions of M with a body that contain an instruction for which
/// `Needs` holds, or that call such a function directly.
llvm::SmallPtrSet<llvm::Function *, 16>
functionsThatNeed(llvm::Module &M,
                  llvm::function_ref<bool(llvm::Instruction &)> Needs);

/// F and the functions with a body that it reaches through direct calls.
/// `MakesIndirectCalls`, if not null, says whether any of them calls through a
/// pointer.
llvm::SetVector<llvm::Function *>
reachableFunctions(llvm::Function &F, bool *MakesIndirectCalls = nullptr);

/// True if F is used in another way than as the callee of a call (entries of
/// llvm.used and llvm.compiler.used do not count).
bool addressIsTaken(const llvm::Function &F);

/// A copy of F in its module, named `Name`, with parameters of types `Extra`
/// after those of F. Keeps the calling convention, attributes, metadata; the
/// debug information gets a subprogram of its own. `Map`, if not null, receives
/// what became of each value.
llvm::Function *
cloneWithExtraParameters(llvm::Function &F, llvm::ArrayRef<llvm::Type *> Extra,
                         llvm::ArrayRef<llvm::StringRef> Names,
                         const llvm::Twine &Name,
                         llvm::ValueToValueMapTy *Map = nullptr);

/// Moves F's body into a new function of `Type`, whose first parameters are
/// F's, with F's name, linkage, attributes and debug information. Its returns
/// are still F's, for the caller to replace; F is left without a body.
llvm::Function *moveBody(llvm::Function &F, llvm::FunctionType *Type);

/// The number of instructions of the kernel and of the functions that it calls.
unsigned instructionsOf(llvm::Function &Kernel);

/// What keeps the kernel in its module, and marks it as one, does so for its
/// copy.
void keepCopyOfKernel(llvm::Function &Kernel, llvm::Function &Copy);

/// Replaces the call by one to `Callee` with `Extra` arguments after its own.
/// The old call is erased; its attributes, metadata and uses go to the new one.
llvm::CallBase *appendArguments(llvm::CallBase &Call, llvm::Function *Callee,
                                llvm::ArrayRef<llvm::Value *> Extra);

} // namespace dragon

#endif // DRAGON_PASSES_SUPPORT_EXTRAPARAMETERS_H
