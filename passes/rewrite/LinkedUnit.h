//===- LinkedUnit.h - units with relocatable device code --------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With -rdc=true clang makes a constructor that calls
// __cudaRegisterLinkedBinary_<name>, which the device link defines. The name
// stems from that of the source file, of which a program may have two in
// different folders: it becomes the unit's id. And clang names the unit's own
// fat binary, which is of no use here, for linkers other than ours.
//
// A kernel that a constructor of one unit launches may be another's, whose
// constructors come later: those that register run before all others.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_REWRITE_LINKEDUNIT_H
#define DRAGON_PASSES_REWRITE_LINKEDUNIT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace llvm {
class Module;
} // namespace llvm

namespace dragon {

void nameLinkedUnit(llvm::Module &M, llvm::StringRef ModuleId);

/// Defines @dragon.fat_binary, which the device link's own module refers to. By
/// value: its bitcode may be compiled when the file is gone.
llvm::Error embedFatBinary(llvm::Module &M, llvm::StringRef Path);

} // namespace dragon

#endif // DRAGON_PASSES_REWRITE_LINKEDUNIT_H
