//===- HostCalls.h - calls of the runtime in the LLVM dialect ---*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares what is called and makes the calls, with the checks behind them:
// functions of the CUDA runtime API and of dragon/dragon.h that fail end the
// program with a message that names the operation's place in the source.
//
// Places on the stack are made where they are asked for, and moved to the
// beginning of the function in the end: a loop must not take more and more.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_MLIR_LOWERING_HOSTCALLS_H
#define DRAGON_PASSES_MLIR_LOWERING_HOSTCALLS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace dragon::ir {

class HostCalls {
public:
  explicit HostCalls(mlir::ModuleOp Module);

  /// Functions that return a cudaError_t.
  void cuda(mlir::OpBuilder &Builder, mlir::Location Loc,
            llvm::StringRef Function, mlir::ValueRange Args);
  /// Functions that return a dragon_error.
  void dragon(mlir::OpBuilder &Builder, mlir::Location Loc,
              llvm::StringRef Function, mlir::ValueRange Args);
  /// Others; the result is null for `result` = void.
  mlir::Value call(mlir::OpBuilder &Builder, mlir::Location Loc,
                   llvm::StringRef Function, mlir::Type Result,
                   mlir::ValueRange Args);

  mlir::Value stack(mlir::OpBuilder &Builder, mlir::Location Loc, mlir::Type Ty,
                    int64_t Count = 1);
  /// A pointer to the arguments, as cudaLaunchKernel wants them.
  mlir::Value argumentArray(mlir::OpBuilder &Builder, mlir::Location Loc,
                            mlir::ValueRange Args);
  void hoistStack();

  /// A pointer to the dragon_source of the place.
  mlir::Value source(mlir::OpBuilder &Builder, mlir::Location Loc);
  /// A pointer to the text and a 0.
  mlir::Value text(mlir::OpBuilder &Builder, mlir::Location Loc,
                   llvm::StringRef Text);
  /// What launches of the kernel name it by.
  mlir::Value stub(mlir::OpBuilder &Builder, mlir::Location Loc,
                   llvm::StringRef Kernel);

  mlir::Value i32(mlir::OpBuilder &Builder, mlir::Location Loc, int64_t V);
  mlir::Value i64(mlir::OpBuilder &Builder, mlir::Location Loc, int64_t V);
  mlir::Value null(mlir::OpBuilder &Builder, mlir::Location Loc);

  mlir::LLVM::LLVMPointerType PtrType;
  mlir::IntegerType I32Type, I64Type;
  mlir::LLVM::LLVMVoidType VoidType;

  /// The kernels that stub() was asked for.
  const llvm::SetVector<llvm::StringRef> &kernels() const { return Launched; }
  static std::string stubName(llvm::StringRef Kernel);

private:
  void require(mlir::OpBuilder &Builder, mlir::Location Loc,
               llvm::StringRef Check, llvm::StringRef Function,
               mlir::Value Error);
  mlir::LLVM::GlobalOp global(mlir::Type Ty, const llvm::Twine &Name,
                              mlir::Attribute V);
  mlir::LLVM::GlobalOp textGlobal(llvm::StringRef Text);

  mlir::ModuleOp Module;
  llvm::StringMap<mlir::LLVM::GlobalOp> Texts;
  llvm::DenseMap<mlir::Location, mlir::LLVM::GlobalOp> Sources;
  llvm::SetVector<llvm::StringRef> Launched;
  llvm::SmallVector<mlir::LLVM::AllocaOp> Places;
};

} // namespace dragon::ir

#endif // DRAGON_PASSES_MLIR_LOWERING_HOSTCALLS_H
