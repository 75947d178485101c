//===- StagingElision.h - staging calls in place of file calls  -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For a staging buffer that placement decided to elide, its fread, write,
// cudaMemcpy and the like become their twins of dragon/CompilerABI.h, which
// need not move the bytes through it:
//
//   fread(h, 4, n, f);                        __dragon_stage_fread(h, 4, n, f);
//   cudaMemcpy(d, h, 4 * n, ...);     ->      __dragon_stage_memcpy(d, h, ...);
//   free(h);                                  __dragon_stage_forget(h, 4 * n);
//                                             free(h);
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_REWRITE_STAGINGELISION_H
#define DRAGON_PASSES_REWRITE_STAGINGELISION_H

#include "passes/lifetime/BufferProgramBuilder.h"
#include "passes/placement/Directive.h"
#include "passes/rewrite/BufferHandles.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace dragon {

/// Replaces the calls of all buffers that Decisions elide, and the copies that
/// they defer. Instructions of Built that are replaced become invalid.
///
/// Tell is called for each transfer whose bytes may stay where they are, in
/// front of it: Call is the transfer, an event of the staging buffer.
void elideStaging(
    BuiltProgram &Built, const Placement &Decisions, BufferHandles &Handles,
    llvm::function_ref<void(unsigned Staging, const Event &, llvm::CallBase &)>
        Tell);

/// In front of the point: brings to the staging buffer what the directive's
/// event looks at, a part of it if that can be computed.
void materialise(const Directive &D, const BuiltProgram &Built,
                 BufferHandles &Handles, llvm::ScalarEvolution &Evolution,
                 llvm::Instruction &Point);

} // namespace dragon

#endif // DRAGON_PASSES_REWRITE_STAGINGELISION_H
