//===- Precompiled.h - CUDA's headers, compiled once ------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Clang includes CUDA's headers in front of each .cu file, and with them much
// of the C++ library: one and a half seconds for each side, in which a small
// file is nothing. With --dragon-precompiled=<dir> they are compiled once for
// all files that are compiled with the same options. What is in a file of the
// folder, its name says: a hash of the options, of the compiler and of the
// headers that are ours.
//
// Source: clang's manual, "Precompiled Headers".
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_CC_PRECOMPILED_H
#define DRAGON_TOOLS_DRAGON_CC_PRECOMPILED_H

#include "tools/dragon-cc/Steps.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace dragon::driver {

/// The step with the arguments that use the headers, which are compiled first
/// if they are not there. Runs says whether a step succeeded. A header that
/// cannot be compiled is no error: what is wrong with it, the step says itself.
/// Several processes may do it at a time.
Step withPrecompiled(Step One, llvm::function_ref<bool(const Step &)> Runs);

} // namespace dragon::driver

#endif // DRAGON_TOOLS_DRAGON_CC_PRECOMPILED_H
