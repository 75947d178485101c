//===- SingleSteps.h - goals that take no link -------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What one run of clang for each input makes, and -fatbin: assembly, PTX, one
// side's object, what -E and -M print.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_CC_SINGLESTEPS_H
#define DRAGON_TOOLS_DRAGON_CC_SINGLESTEPS_H

#include "tools/dragon-cc/StepList.h"

namespace dragon::driver {

/// An error: the goal is none for that input.
llvm::Error addSingle(StepList &To, const Input &One);

/// -E of what is compiled for both sides, and of what the plugin changes
/// (PreprocessSteps.cpp).
bool printsAllSides(const Invocation &Asked, const Input &One);
void addPreprocessing(StepList &To, const Input &One);

} // namespace dragon::driver

#endif // DRAGON_TOOLS_DRAGON_CC_SINGLESTEPS_H
