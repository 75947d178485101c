//===- DirectCalls.h - calls name the functions that they call --*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The analyses follow calls to functions of this module. Two kinds of calls do
// not look like such calls, and are made to: those of an alias (clang makes a
// constructor of whole objects an alias of that of bases), and those from C
// without a prototype, which clang makes through a variadic type.
//
// Source: C99 6.5.2.2p6 (a call without a prototype is defined if arguments and
// parameters agree after the default promotions).
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_REWRITE_DIRECTCALLS_H
#define DRAGON_PASSES_REWRITE_DIRECTCALLS_H

namespace llvm {
class Module;
} // namespace llvm

namespace dragon {

/// Calls whose arguments do not agree with the function's parameters stay as
/// they are: what they do is undefined. True if a call was changed.
bool makeCallsDirect(llvm::Module &M);

} // namespace dragon

#endif // DRAGON_PASSES_REWRITE_DIRECTCALLS_H
