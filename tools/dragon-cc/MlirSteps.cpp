//===- MlirSteps.cpp - programs in MLIR -----------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A module in the gpu dialect becomes an object like a unit of CUDA does:
//   1. dragon-opt: directives and slices, both sides lowered to LLVM's dialect;
//   2. dragon-translate: the kernel summaries, LLVM IR of the kernels for each
//      architecture, LLVM IR of the host functions;
//   3. clang++ with the plugin and ptxas for the kernels, then fatbinary;
//   4. clang++ with the plugin for the host functions, which embeds it all.
// The plugin analyses nothing and changes no kernel here: steps 1 and 2 have
// done that.
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-cc/ObjectSteps.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace dragon::driver {

/// Lowers the source to what dragon-translate takes, and returns the file.
static std::string addLowering(StepList &To, const Input &One, StringRef Stem) {
  std::string Lowered = To.Names.temp(Stem, ".lowered.mlirbc");
  const bool Slices = !is_contained(To.Asked.PluginArgs, "-dragon-slicing=0");
  Strings Args = {std::string("--dragon-pipeline=directives=") +
                  (To.Asked.Lifetime ? "true" : "false") +
                  " slicing=" + (Slices ? "true" : "false")};
  // A message names the place in the source, which is enough.
  Args.push_back("--mlir-print-op-on-diagnostic=false");
  append(Args, To.Parts.mlirRemarks(One));
  append(Args, {One.Path, "--emit-bytecode", "-o", Lowered});
  To.add({To.Tools.MlirOpt, std::move(Args), {}});
  return Lowered;
}

Strings addMlirObject(StepList &To, const Input &One, const std::string &Object,
                      bool Whole) {
  std::string Stem = To.Names.uniqueStem(One);
  std::string Host =
      Whole && !To.Asked.Cpu ? Object : To.Names.temp(Stem, ".host.o");
  std::string Lowered = addLowering(To, One, Stem);
  auto Translate = [&](const std::string &What, const std::string &Out,
                       const Strings &More = {}) {
    Strings Args = {"--dragon-to-" + What};
    append(Args, More);
    append(Args, {Lowered, "-o", Out});
    To.add({To.Tools.MlirTranslate, std::move(Args), {}});
  };
  // All architectures have the same kernels, so one lowering serves them all.
  for (const GpuArch &Arch : To.Asked.deviceArchs()) {
    Translate("summary", To.Names.temp(Stem, ".summary." + Arch.Name));
    Translate("device-llvmir", To.Names.temp(Stem, "." + Arch.Name + ".ll"),
              {"--arch=" + Arch.Name});
  }
  std::string HostCode = To.Names.temp(Stem, ".host.ll");
  Translate("host-llvmir", HostCode);

  DeviceCode Device;
  Device.Suffix = ".ll";
  Device.Files = To.Asked.Cpu ? CompileArgs::CpuOut : CompileArgs::None;
  Device.Args = {"-Wno-override-module"};
  append(Device.Args, CompileArgs::pluginOption("-dragon-slicing=0"));
  // Kernels call functions of libdevice, as __nv_expf.
  if (!To.Tools.Cuda.empty() && sys::fs::exists(To.Tools.Libdevice))
    append(Device.Args, {"-Xclang", "-mlink-builtin-bitcode", "-Xclang",
                         To.Tools.Libdevice});
  To.deviceCode(Stem, One, Device);
  if (To.Asked.Cuda)
    To.fatBinary(Stem, To.Names.temp(Stem, ".fatbin"));

  Strings Args = {"-x", "ir", "-Wno-override-module"};
  append(Args, To.Parts.optimisation(One));
  append(Args, To.Parts.user(One));
  append(Args, To.Parts.plugin(One, Stem,
                               CompileArgs::Summary |
                                   (To.Asked.Cpu ? CompileArgs::CpuRef
                                                 : CompileArgs::None)));
  append(Args, CompileArgs::pluginOption("-dragon-lifetime=0"));
  append(Args, CompileArgs::pluginOption("-dragon-fat-binary=" +
                                         (To.Asked.Cuda
                                              ? To.Names.temp(Stem, ".fatbin")
                                              : To.Tools.noGpuCode())));
  append(Args, {"-c", HostCode, "-o", Host});
  Step &Last = To.clang(std::move(Args));
  if (Whole)
    Last.Outputs = {Object};
  return To.mergeCpu(Stem, Host, Object, Whole);
}

} // namespace dragon::driver
