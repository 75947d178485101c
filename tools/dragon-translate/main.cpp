//===- main.cpp - dragon-translate: from MLIR to files --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What -dragon-pipeline has lowered, as the files that the rest of the compiler
// works on: LLVM IR of each side and the kernel summaries (docs/mlir.md).
//
//===----------------------------------------------------------------------===//

#include "dragon/mlir/Dragon.h"
#include "tools/dragon-translate/DeviceModule.h"

#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;

static llvm::cl::opt<std::string>
    Arch("arch", llvm::cl::desc("The architecture of device code"),
         llvm::cl::init("sm_80"));

/// What a lowered program may have: kernels and their summaries, LLVM, and, for
/// summaries alone, anything.
static void registerLowered(DialectRegistry &Registry) {
  registerAllDialects(Registry);
  dragon::ir::registerDragonDialect(Registry);
  registerBuiltinDialectTranslation(Registry);
  registerGPUDialectTranslation(Registry);
  registerLLVMDialectTranslation(Registry);
  registerNVVMDialectTranslation(Registry);
}

static LogicalResult writeHost(ModuleOp Op, raw_ostream &To) {
  llvm::LLVMContext Context;
  OwningOpRef<ModuleOp> Host(Op.clone());
  for (auto Kernels :
       llvm::make_early_inc_range(Host->getOps<gpu::GPUModuleOp>()))
    Kernels.erase();
  (*Host)->removeAttr(gpu::GPUDialect::getContainerModuleAttrName());
  auto Module = translateModuleToLLVMIR(*Host, Context, "host");
  if (!Module)
    return failure();
  const llvm::Triple Triple(llvm::sys::getDefaultTargetTriple());
  Module->setTargetTriple(Triple);
  Module->setDataLayout(Triple.computeDataLayout());
  Module->print(To, nullptr);
  return success();
}

static LogicalResult writeDevice(ModuleOp Op, raw_ostream &To) {
  llvm::LLVMContext Context;
  auto Module = dragon::ir::deviceModule(Op, Context, Arch);
  if (!Module)
    return failure();
  Module->print(To, nullptr);
  return success();
}

/// Whether the kernel may ask where in the grid it is: a slice needs a copy.
static bool asksForPosition(Operation &Kernel) {
  return Kernel
      .walk([](Operation *Op) {
        const StringRef Name = Op->getName().getStringRef();
        return isa<gpu::BlockIdOp, gpu::GridDimOp, gpu::GlobalIdOp,
                   CallOpInterface>(Op) ||
                       Name.contains("sreg.ctaid") ||
                       Name.contains("sreg.nctaid")
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Writes the summaries of kernels that have one; nothing is known of others.
static LogicalResult writeSummary(ModuleOp Op, raw_ostream &To) {
  dragon::ModuleSummary Summary;
  for (auto Kernels : Op.getOps<gpu::GPUModuleOp>())
    for (Operation &Kernel : Kernels.getOps())
      if (auto Known = Kernel.getAttrOfType<dragon::ir::SummaryAttr>(
              dragon::ir::SummaryAttrName)) {
        dragon::ir::fromAttribute(Known, SymbolTable::getSymbolName(&Kernel),
                                  Summary);
        dragon::KernelSummary &Written = Summary.Kernels.back();
        if (Written.SliceName.empty() && asksForPosition(Kernel))
          Written.Flags &= ~uint32_t(dragon::KernelSliceable);
      }
  const std::vector<char> Bytes = Summary.write();
  To.write(Bytes.data(), Bytes.size());
  return success();
}

int main(int Argc, char **Argv) {
  const TranslateFromMLIRRegistration Translations[] = {
      {"dragon-to-host-llvmir", "LLVM IR of the host functions", writeHost,
       registerLowered},
      {"dragon-to-device-llvmir", "LLVM IR of the kernels, for NVPTX",
       writeDevice, registerLowered},
      {"dragon-to-summary", "The kernel summaries that the runtime reads",
       writeSummary, registerLowered}};
  (void)Translations;
  return failed(
      mlirTranslateMain(Argc, Argv, "dragon-cc's translations of MLIR"));
}
