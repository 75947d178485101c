//===- InlineAssembly.h - asm as nvcc reads it ------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// nvcc reads two things in inline assembly that clang does not:
//
// * Names with one percent sign: `asm("mov.u64 %0, %globaltimer;" : "=l"(t))`.
//   For clang it is `%%globaltimer`. Without operands it is `%` to both.
//
// * Operands without the comma between them: `: "r"(value) "l"(address)`.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_CC_INLINEASSEMBLY_H
#define DRAGON_TOOLS_DRAGON_CC_INLINEASSEMBLY_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace dragon::driver {

/// `Text` with its inline assembly in clang's spelling.
std::string spellAssembly(llvm::StringRef Text);

} // namespace dragon::driver

#endif // DRAGON_TOOLS_DRAGON_CC_INLINEASSEMBLY_H
