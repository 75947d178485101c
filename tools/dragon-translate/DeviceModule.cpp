//===- DeviceModule.cpp - the kernels of a module as LLVM IR --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-translate/DeviceModule.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;

namespace dragon::ir {

static bool isKernel(const llvm::Function &Function) {
  return Function.getCallingConv() == llvm::CallingConv::PTX_Kernel;
}

/// gpu.dynamic_shared_memory: what CUDA declares `extern __shared__ char x[]`.
static bool isDynamicShared(const llvm::GlobalVariable &Variable) {
  auto *Type = llvm::dyn_cast<llvm::ArrayType>(Variable.getValueType());
  return Variable.getAddressSpace() == 3 && Type && !Type->getNumElements();
}

/// What one gpu.module does not show the others, and clang's attributes.
static void prepare(llvm::Module &Module, llvm::StringRef Arch) {
  for (llvm::Function &Function : Module) {
    if (Function.isDeclaration())
      continue;
    if (!isKernel(Function))
      Function.setLinkage(llvm::GlobalValue::InternalLinkage);
    Function.addFnAttr("target-cpu", Arch);
    // Barriers must stay where they are, in functions that are called, too.
    Function.addFnAttr(llvm::Attribute::Convergent);
  }
  for (llvm::GlobalVariable &Variable : Module.globals()) {
    if (isDynamicShared(Variable)) {
      Variable.setInitializer(nullptr);
      Variable.setLinkage(llvm::GlobalValue::ExternalLinkage);
    } else if (!Variable.isDeclaration() && !Variable.hasLocalLinkage() &&
               !Variable.hasAppendingLinkage()) {
      Variable.setLinkage(llvm::GlobalValue::InternalLinkage);
    }
  }
}

/// Kernels are registered by their names.
static LogicalResult checkName(gpu::GPUModuleOp Op,
                               const llvm::Function &Function,
                               const llvm::Module &Known) {
  const llvm::Function *Other = Known.getFunction(Function.getName());
  if (!isKernel(Function) || !Other || Other->isDeclaration())
    return success();
  return Op.emitError("there are two kernels '")
         << Function.getName() << "': give one of them another name";
}

std::unique_ptr<llvm::Module>
deviceModule(ModuleOp From, llvm::LLVMContext &Context, llvm::StringRef Arch) {
  // Attributes such as nvvm.kernel are translated by dialects that are loaded,
  // and bytecode loads those of its operations alone.
  From.getContext()->loadDialect<NVVM::NVVMDialect>();
  auto Result = std::make_unique<llvm::Module>("device", Context);
  const llvm::Triple Triple("nvptx64-nvidia-cuda");
  auto target = [&](llvm::Module &Module) {
    Module.setTargetTriple(Triple);
    Module.setDataLayout(Triple.computeDataLayout());
  };
  target(*Result);
  llvm::Linker Linker(*Result);
  for (auto Op : From.getOps<gpu::GPUModuleOp>()) {
    std::unique_ptr<llvm::Module> Part =
        translateModuleToLLVMIR(Op, Context, Op.getName());
    if (!Part)
      return nullptr;
    target(*Part);
    for (const llvm::Function &Function : *Part)
      if (failed(checkName(Op, Function, *Result)))
        return nullptr;
    prepare(*Part, Arch);
    if (Linker.linkInModule(std::move(Part))) {
      Op.emitError("cannot be linked with the kernels of the others");
      return nullptr;
    }
  }
  Result->addModuleFlag(llvm::Module::Override, "nvvm-reflect-ftz", 0u);
  return Result;
}

} // namespace dragon::ir
