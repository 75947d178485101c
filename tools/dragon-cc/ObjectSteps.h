//===- ObjectSteps.h - inputs that become objects ----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function compiles one input and returns the objects that are linked for
// it. `Object` is the user's name for the object; `Whole` asks for one file of
// that name, else several temporary ones will do.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_CC_OBJECTSTEPS_H
#define DRAGON_TOOLS_DRAGON_CC_OBJECTSTEPS_H

#include "tools/dragon-cc/StepList.h"

namespace dragon::driver {

/// An input of any language.
Strings addObject(StepList &To, const Input &One, const std::string &Object,
                  bool Whole);

/// CUDA with relocatable device code (DeviceLinkSteps.cpp).
Strings addRelocatableObject(StepList &To, const Input &One,
                             const std::string &Object, bool Whole);

/// MLIR (MlirSteps.cpp).
Strings addMlirObject(StepList &To, const Input &One, const std::string &Object,
                      bool Whole);

} // namespace dragon::driver

#endif // DRAGON_TOOLS_DRAGON_CC_OBJECTSTEPS_H
