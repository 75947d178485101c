//===- StandIns.h - objects that any linker may link ------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An object calls the runtime, which a linker other than dragon-cc does not
// know. It gets stand-ins for all of the runtime's functions, as assembler text
// that the runtime's build has made (runtime/cudart/StandIns.s.in).
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_REWRITE_STANDINS_H
#define DRAGON_PASSES_REWRITE_STANDINS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace llvm {
class Module;
} // namespace llvm

namespace dragon {

/// Appends the text of `File` to M if M has calls of the runtime. `Library` is
/// where the runtime is.
llvm::Error addStandIns(llvm::Module &M, llvm::StringRef File,
                        llvm::StringRef Library);

} // namespace dragon

#endif // DRAGON_PASSES_REWRITE_STANDINS_H
