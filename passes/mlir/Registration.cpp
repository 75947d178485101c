//===- Registration.cpp - the passes by name ------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dragon/mlir/Passes.h"

#include "mlir/Pass/PassRegistry.h"

namespace generated {
// What it calls.
using namespace dragon::ir;
#define GEN_PASS_REGISTRATION
#include "dragon/mlir/DragonPasses.h.inc"
} // namespace generated

namespace dragon::ir {

void registerDragonPasses() {
  generated::registerDragonPasses();
  mlir::PassPipelineRegistration<DragonPipelineOptions>(
      "dragon-pipeline",
      "programs in the gpu dialect for buffers larger than device memory",
      buildDragonPipeline);
}

} // namespace dragon::ir
