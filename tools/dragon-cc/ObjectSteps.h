//===- ObjectSteps.h - inputs that become objects ----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function adds the steps that compile one input, and returns the objects
// that a link takes for it. `Object` is the name that the user gives the
// object. `Whole` asks for one file of that name; without it the objects may be
// several temporary files.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_CC_OBJECTSTEPS_H
#define DRAGON_TOOLS_DRAGON_CC_OBJECTSTEPS_H

#include "tools/dragon-cc/StepList.h"

namespace dragon::driver {

/// Takes an input of any language.
Strings addObject(StepList &To, const Input &One, const std::string &Object,
                  bool Whole);

/// Takes CUDA with relocatable device code (DeviceLinkSteps.cpp).
Strings addRelocatableObject(StepList &To, const Input &One,
                             const std::string &Object, bool Whole);

/// Takes MLIR (MlirSteps.cpp).
Strings addMlirObject(StepList &To, const Input &One, const std::string &Object,
                      bool Whole);

} // namespace dragon::driver

#endif // DRAGON_TOOLS_DRAGON_CC_OBJECTSTEPS_H
