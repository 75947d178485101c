//===- InlinePtx.h - inline PTX becomes functions ---------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each distinct `asm` statement of the module becomes a function in IR that is
// inlined where it stood. A statement with an instruction that has no host
// equivalent is reported at the user's line.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CPU_INLINEPTX_H
#define DRAGON_PASSES_CPU_INLINEPTX_H

#include "passes/cpu/Unsupported.h"

namespace dragon {

void lowerInlinePtx(llvm::Module &M, Unsupported &Refused);

} // namespace dragon

#endif // DRAGON_PASSES_CPU_INLINEPTX_H
