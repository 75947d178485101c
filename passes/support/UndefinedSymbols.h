//===- UndefinedSymbols.h - device code that is elsewhere -------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Without -rdc=true the device code of a file is a program of its own: what it
// calls and does not define, nobody will. ptxas says so of mangled names, when
// the source is no longer known.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_SUPPORT_UNDEFINEDSYMBOLS_H
#define DRAGON_PASSES_SUPPORT_UNDEFINEDSYMBOLS_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Module.h"

namespace dragon {

/// What ptxas, the driver or the device runtime (libcudadevrt) define.
inline bool isProvidedToDevices(llvm::StringRef Name) {
  return llvm::is_contained({"vprintf", "malloc", "free", "__assertfail",
                             "__nvvm_reflect", "__nvvm_reflect_ocl"},
                            Name) ||
         Name.starts_with("cuda") || Name.starts_with("__cuda");
}

/// threadIdx and its kin: clang's header declares them, and without relocatable
/// device code clang defines them at the end. They hold nothing.
inline bool isBuiltinVariable(const llvm::GlobalVariable &Variable) {
  const auto *Type = llvm::dyn_cast<llvm::StructType>(Variable.getValueType());
  return Type && Type->hasName() &&
         Type->getName().starts_with("struct.__cuda_builtin_");
}

/// Errors, at the first use of each function and variable of device code that
/// M uses and nobody defines. False: there are none.
bool reportUndefinedSymbols(llvm::Module &M);

} // namespace dragon

#endif // DRAGON_PASSES_SUPPORT_UNDEFINEDSYMBOLS_H
