//===- CpuLowering.cpp - device code to host code -------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cpu/CpuLowering.h"

#include "passes/cpu/AccessTracing.h"
#include "passes/cpu/AddressSpaces.h"
#include "passes/cpu/ContextParameters.h"
#include "passes/cpu/DeviceIntrinsics.h"
#include "passes/cpu/DeviceMath.h"
#include "passes/cpu/Divisions.h"
#include "passes/cpu/HostKernels.h"
#include "passes/cpu/HostModule.h"
#include "passes/cpu/InlinePtx.h"
#include "passes/cpu/SharedMemory.h"
#include "passes/cpu/Unsupported.h"
#include "passes/support/LaunchBounds.h"

#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"

using namespace llvm;

namespace dragon {

/// The bug is ours: names the first thing that is wrong.
static Error verified(Module &M) {
  std::string Problem;
  raw_string_ostream Stream(Problem);
  if (verifyModule(M, &Stream))
    return createStringError("internal error: the lowered module is broken: " +
                             Problem);
  return Error::success();
}

/// Of a block; 0: not known.
static uint32_t maxThreads(const Function &Kernel) {
  const uint64_t Product = productOf(Kernel, "nvvm.maxntid").value_or(0);
  return Product <= 1024 ? uint32_t(Product) : 0;
}

/// A kernel whose blocks come in clusters (__cluster_dims__) has shared memory
/// that other blocks read: they would have to run together.
static void refuseClusters(ArrayRef<Function *> Kernels, Unsupported &Refused) {
  for (Function *Kernel : Kernels) {
    StringRef Text =
        Kernel->getFnAttribute("nvvm.cluster_dim").getValueAsString();
    SmallVector<StringRef, 3> Extents;
    Text.split(Extents, ',', -1, /*KeepEmpty=*/false);
    if (any_of(Extents, [](StringRef E) { return E.trim() != "1"; }))
      Refused.replace(*Kernel->getEntryBlock().getFirstNonPHIOrDbgOrAlloca(),
                      "a cluster of " + Text + " thread blocks");
  }
}

Error lowerToHost(Module &M, const CpuLoweringOptions &Options) {
  SmallVector<Function *, 16> Kernels;
  for (Function &F : M)
    if (F.getCallingConv() == CallingConv::PTX_Kernel && !F.isDeclaration())
      Kernels.push_back(&F);
  prepareDeviceModule(M, Kernels);

  Unsupported Refused(M, Options.Unsupported);
  refuseForeignVariables(M, Refused);
  refuseClusters(Kernels, Refused);
  lowerInlinePtx(M, Refused);
  lowerDeviceMath(M);
  protectDivisions(M);
  if (Options.TraceAccesses)
    traceAccesses(M);
  yieldInSpinLoops(M);
  if (Error E = exposeSharedVariables(M))
    return E;
  ContextMap Contexts = addContextParameters(M, Kernels);
  lowerDeviceIntrinsics(M, Contexts, Refused);
  auto SharedBytes = lowerSharedMemory(M, Contexts, Kernels);
  SmallVector<HostVariable, 8> Variables = moveVariables(M);

  SmallVector<HostKernel, 16> HostKernels;
  for (Function *Kernel : Kernels)
    HostKernels.push_back({Kernel->getName().str(), Kernel, SharedBytes[Kernel],
                           !Kernel->hasFnAttribute(Attribute::OptimizeNone),
                           maxThreads(*Kernel)});
  if (Error E = flattenAddressSpaces(M))
    return E;
  for (HostKernel &Kernel : HostKernels)
    Kernel.Thread = M.getFunction(Kernel.Name);
  bool IsX86 = Triple(sys::getDefaultTargetTriple()).isX86_64();
  StringRef Processor = IsX86 ? StringRef(Options.Processor) : "";
  const unsigned Architecture = gpuArchitecture(M);
  makeHostModule(M, Processor);
  emitHostKernels(M, HostKernels, Variables,
                  {Options.ModuleId, Processor, Architecture},
                  Options.TraceAccesses);
  ModuleAnalysisManager None;
  GlobalDCEPass().run(M, None);
  return verified(M);
}

Error writeCpuModule(Module &M, const CpuLoweringOptions &Options,
                     StringRef Path) {
  if (Error Failed = lowerToHost(M, Options))
    return createStringError(
        "cannot lower the kernels to the host processor: " +
        toString(std::move(Failed)));
  std::error_code Code;
  raw_fd_ostream File(Path, Code, sys::fs::OF_None);
  if (!Code) {
    WriteBitcodeToFile(M, File);
    File.close();
    Code = File.error();
    File.clear_error();
  }
  if (Code)
    return createStringError("cannot write '" + Path + "': " + Code.message());
  return Error::success();
}

PreservedAnalyses CpuLoweringPass::run(Module &M, ModuleAnalysisManager &) {
  if (Error E = lowerToHost(M, Options))
    M.getContext().emitError(toString(std::move(E)));
  return PreservedAnalyses::none();
}

} // namespace dragon
