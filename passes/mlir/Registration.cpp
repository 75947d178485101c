//===- Registration.cpp - the passes by name ------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dragon/mlir/Passes.h"

namespace generated {
// What it calls.
using namespace dragon::ir;
#define GEN_PASS_REGISTRATION
#include "dragon/mlir/DragonPasses.h.inc"
} // namespace generated

namespace dragon::ir {

void registerDragonPasses() { generated::registerDragonPasses(); }

} // namespace dragon::ir
