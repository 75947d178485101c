//===- HostAccessTracing.h - host code tells what it touches ----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A staging buffer that was elided is not filled: nobody may look at it. For
// DRAGON_CHECK, which holds host code against that, each load and store of a
// unit with elided buffers is told to the runtime (__dragon_host_access), but
// for those of local variables and constants. Calls into libraries are not
// seen.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_REWRITE_HOSTACCESSTRACING_H
#define DRAGON_PASSES_REWRITE_HOSTACCESSTRACING_H

namespace llvm {
class Module;
} // namespace llvm

namespace dragon {

/// After directives have been inserted. Returns whether the module changed.
bool traceHostAccesses(llvm::Module &M);

} // namespace dragon

#endif // DRAGON_PASSES_REWRITE_HOSTACCESSTRACING_H
