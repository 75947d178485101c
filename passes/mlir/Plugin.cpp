//===- Plugin.cpp - the dialect and its passes for mlir-opt ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mlir-opt --load-dialect-plugin=libDragonMLIR.so
//          --load-pass-plugin=libDragonMLIR.so
//
//===----------------------------------------------------------------------===//

#include "dragon/mlir/Passes.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Config/llvm-config.h"

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "dragon", LLVM_VERSION_STRING,
          [](mlir::DialectRegistry *Registry) {
            dragon::ir::registerDragonDialect(*Registry);
          }};
}

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "dragon", LLVM_VERSION_STRING,
          [] { dragon::ir::registerDragonPasses(); }};
}
