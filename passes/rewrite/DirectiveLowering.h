//===- DirectiveLowering.h - directives -> calls of the runtime  -*- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Inserts into a flattened function the calls of dragon/CompilerABI.h for the
// directives that placement decided on. It decides nothing; a directive whose
// operands are not available where it belongs is left out, with its remark.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_REWRITE_DIRECTIVELOWERING_H
#define DRAGON_PASSES_REWRITE_DIRECTIVELOWERING_H

#include "passes/lifetime/BufferProgramBuilder.h"
#include "passes/placement/Directive.h"

namespace dragon {

/// Returns whether anything was inserted. Findings of directives that were left
/// out are removed from Decisions, or replaced by what is to be told then.
bool lowerDirectives(llvm::Function &F, BuiltProgram &Built,
                     Placement &Decisions, const KernelSummaries &Kernels,
                     llvm::FunctionAnalysisManager &Analyses, bool Reasons);

} // namespace dragon

#endif // DRAGON_PASSES_REWRITE_DIRECTIVELOWERING_H
