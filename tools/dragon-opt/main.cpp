//===- main.cpp - dragon-opt: mlir-opt with the dragon dialect ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All dialects and passes of mlir-opt, and ours (docs/mlir.md).
//
//===----------------------------------------------------------------------===//

#include "dragon/mlir/Dragon.h"
#include "dragon/mlir/Passes.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int Argc, char **Argv) {
  mlir::registerAllPasses();
  dragon::ir::registerDragonPasses();
  mlir::DialectRegistry Registry;
  mlir::registerAllDialects(Registry);
  mlir::registerAllExtensions(Registry);
  dragon::ir::registerDragonDialect(Registry);
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      Argc, Argv, "dragon-cc's optimizer for MLIR\n", Registry));
}
