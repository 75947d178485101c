//===- LinkDiagnostics.h - remarks of code without sources ------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is compiled at a link has lost its sources, but not their lines. lld
// prints remarks to the standard output, without the word, and clang puts it in
// front of the file. Here they look like those of compilations:
//
//   a.cu:12:3: remark: 'x' discarded after 'k' [-Rpass=dragon]
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_REWRITE_LINKDIAGNOSTICS_H
#define DRAGON_PASSES_REWRITE_LINKDIAGNOSTICS_H

namespace llvm {
class LLVMContext;
} // namespace llvm

namespace dragon {

/// From now on, to the standard error. Does nothing in programs whose own
/// handler is no more than a function, as opt's is.
void printLinkRemarks(llvm::LLVMContext &Context);

} // namespace dragon

#endif // DRAGON_PASSES_REWRITE_LINKDIAGNOSTICS_H
