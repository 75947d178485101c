//===- CpuLowering.h - device code to host code ----------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lowers a device module (nvptx64, as clang hands it to its optimiser) to the
// host processor, so that the program runs where there is no GPU. The contract
// with the runtime is in dragon/CompilerABI.h. In order:
//
//   InlinePtx          inline assembly -> functions in IR
//   AccessTracing      (if asked for) calls that tell of accesses
//   DeviceMath         __nv_* -> intrinsics; the rest of libdevice stays code
//   ContextParameters  functions that read the thread's position get it as
//                      parameters
//   DeviceIntrinsics   llvm.nvvm.* -> IR and calls of the runtime
//   SharedMemory       __shared__ variables -> offsets in the block's memory
//   HostKernels        a loop over the threads of a block around each kernel
//                      (or one thread, on a fiber, if threads wait for each
//                      other elsewhere than at the block's barrier); the table
//                      of kernels and variables
//   HostModule         address spaces, attributes, triple: an x86-64 module
//
// The result is not optimised: clang -O2 does that, and turns loops over
// threads into vector code.
//
// Functions of libdevice are kept as they are where the host has no equal
// instruction, and so give the bits that the GPU gives (but for the approximate
// PTX instructions, which are exact here).
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_CPU_CPULOWERING_H
#define DRAGON_PASSES_CPU_CPULOWERING_H

#include "passes/cpu/Unsupported.h"

#include "llvm/IR/PassManager.h"
#include "llvm/Support/Error.h"
#include <string>

namespace dragon {

struct CpuLoweringOptions {
  /// The table is called dragon_cpu_module_<ModuleId>.
  std::string ModuleId = "0";
  /// How the compiler says that something cannot run on the host. Unless it is
  /// an error, the code is an error only when a thread gets there.
  UnsupportedAs Unsupported = UnsupportedAs::Warning;
  /// The processor that the code needs, in clang's -march words; "" = any. The
  /// default has AVX2 and fused multiply-add, which device code lives on:
  /// without them each one is a call. Ignored where the host is no x86-64.
  std::string Processor = "x86-64-v3";
  /// Kernels tell their accesses (AccessTracing.h).
  bool TraceAccesses = false;
};

/// Lowers the module in place. Fails if it cannot be lowered at all; errors
/// about single constructs go to the context's diagnostic handler.
llvm::Error lowerToHost(llvm::Module &Device,
                        const CpuLoweringOptions &Options);

/// Lowers the module and writes it to a file, as bitcode.
llvm::Error writeCpuModule(llvm::Module &Device,
                           const CpuLoweringOptions &Options,
                           llvm::StringRef Path);

/// `dragon-cpu-lower`
class CpuLoweringPass : public llvm::PassInfoMixin<CpuLoweringPass> {
public:
  explicit CpuLoweringPass(CpuLoweringOptions Given = {})
      : Options(std::move(Given)) {}
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }

private:
  CpuLoweringOptions Options;
};

} // namespace dragon

#endif // DRAGON_PASSES_CPU_CPULOWERING_H
