//===- DeviceModule.h - the kernels of a module as LLVM IR ------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All gpu.modules, lowered to the NVVM dialect, as one module for NVPTX, as
// clang makes it of a translation unit: kernels by their calling convention,
// all else internal, each function for one architecture.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_TRANSLATE_DEVICEMODULE_H
#define DRAGON_TOOLS_DRAGON_TRANSLATE_DEVICEMODULE_H

#include "mlir/IR/BuiltinOps.h"

#include <memory>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace dragon::ir {

/// Null if it cannot be done; the error has been told.
std::unique_ptr<llvm::Module> deviceModule(mlir::ModuleOp From,
                                           llvm::LLVMContext &Context,
                                           llvm::StringRef Arch);

} // namespace dragon::ir

#endif // DRAGON_TOOLS_DRAGON_TRANSLATE_DEVICEMODULE_H
