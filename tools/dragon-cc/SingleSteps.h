//===- SingleSteps.h - goals that take no link -------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Some goals need no link: assembly, PTX, the object of one side, what -E and
// -M print, and -fatbin. Most of them take one run of clang for each input.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_CC_SINGLESTEPS_H
#define DRAGON_TOOLS_DRAGON_CC_SINGLESTEPS_H

#include "tools/dragon-cc/StepList.h"

namespace dragon::driver {

/// Fails if the goal does not fit the input.
llvm::Error addSingle(StepList &To, const Input &One);

/// Whether -E prints more of the input than one run of clang does
/// (PreprocessSteps.cpp).
bool printsAllSides(const Invocation &Asked, const Input &One);
/// Adds the steps of such an -E.
void addPreprocessing(StepList &To, const Input &One);

} // namespace dragon::driver

#endif // DRAGON_TOOLS_DRAGON_CC_SINGLESTEPS_H
