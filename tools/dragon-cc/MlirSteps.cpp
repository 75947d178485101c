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
// The plugin finds nothing out and changes no kernel here: that has been done.
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-cc/Planner.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace dragon::driver {

/// -Rpass=dragon and -fsave-optimization-record, for dragon-opt.
Strings CompileArgs::mlirRemarks(const Input &One) const {
  Strings Args;
  for (StringRef Arg : Asked.CompileArgs) {
    if (!Arg.consume_front("-Rpass"))
      continue;
    auto [Kind, Filter] = Arg.split('=');
    StringRef Name = StringSwitch<StringRef>(Kind)
                         .Case("-missed", "missed")
                         .Case("-analysis", "analyse")
                         .Default("passed");
    Args.push_back(("--remarks-filter-" + Name + "=" + Filter).str());
  }
  if (!Args.empty())
    Args.push_back("--remark-format=emitRemark");
  else if (Asked.OptRecord)
    Args = {"--remarks-filter=.*", "--remark-format=yaml",
            "--remarks-output-file=" + recordFile(One, "")};
  return Args;
}

/// From the source to what dragon-translate takes.
std::string Planner::loweredMlir(const Input &One, StringRef Stem) {
  std::string Lowered = Parts.temp(Stem, ".lowered.mlirbc");
  const bool Slices = !is_contained(Asked.PluginArgs, "-dragon-slicing=0");
  Strings Args = {std::string("--dragon-pipeline=directives=") +
                  (Asked.Lifetime ? "true" : "false") +
                  " slicing=" + (Slices ? "true" : "false")};
  // A message names the place in the source, which is enough.
  Args.push_back("--mlir-print-op-on-diagnostic=false");
  append(Args, Parts.mlirRemarks(One));
  append(Args, {One.Path, "--emit-bytecode", "-o", Lowered});
  Result.Steps.push_back({Tools.MlirOpt, std::move(Args), {}});
  return Lowered;
}

Strings Planner::mlirObject(const Input &One, const std::string &Object,
                            bool Whole) {
  std::string Stem = Parts.uniqueStem(One);
  std::string Host = Whole && !Asked.Cpu ? Object : Parts.temp(Stem, ".host.o");
  std::string Lowered = loweredMlir(One, Stem);
  auto Translate = [&](const std::string &What, const std::string &Out,
                       const Strings &More = {}) {
    Strings Args = {"--dragon-to-" + What};
    append(Args, More);
    append(Args, {Lowered, "-o", Out});
    Result.Steps.push_back({Tools.MlirTranslate, std::move(Args), {}});
  };
  // One for all architectures: they have the same kernels.
  for (const GpuArch &Arch : Asked.deviceArchs()) {
    Translate("summary", Parts.temp(Stem, ".summary." + Arch.Name));
    Translate("device-llvmir", Parts.temp(Stem, "." + Arch.Name + ".ll"),
              {"--arch=" + Arch.Name});
  }
  std::string HostCode = Parts.temp(Stem, ".host.ll");
  Translate("host-llvmir", HostCode);

  DeviceCode Device;
  Device.Suffix = ".ll";
  Device.Files = Asked.Cpu ? CompileArgs::CpuOut : CompileArgs::None;
  Device.Args = {"-Wno-override-module"};
  append(Device.Args, CompileArgs::pluginOption("-dragon-slicing=0"));
  // Kernels call its functions, as __nv_expf.
  std::string Libdevice = Tools.Cuda + "/nvvm/libdevice/libdevice.10.bc";
  if (!Tools.Cuda.empty() && sys::fs::exists(Libdevice))
    append(Device.Args,
           {"-Xclang", "-mlink-builtin-bitcode", "-Xclang", Libdevice});
  deviceCode(Stem, One, Device);
  if (Asked.Cuda)
    fatBinary(Stem, Parts.temp(Stem, ".fatbin"));

  Strings Args = {"-x", "ir", "-Wno-override-module"};
  append(Args, Parts.optimisation(One));
  append(Args, Parts.user(One));
  append(Args,
         Parts.plugin(One, Stem,
                      CompileArgs::Summary | (Asked.Cpu ? CompileArgs::CpuRef
                                                        : CompileArgs::None)));
  append(Args, CompileArgs::pluginOption("-dragon-lifetime=0"));
  append(Args,
         CompileArgs::pluginOption(
             "-dragon-fat-binary=" +
             (Asked.Cuda ? Parts.temp(Stem, ".fatbin") : Tools.noGpuCode())));
  append(Args, {"-c", HostCode, "-o", Host});
  Step &Last = clang(std::move(Args));
  if (Whole)
    Last.Outputs = {Object};
  return mergeCpu(Stem, Host, Object, Whole);
}

} // namespace dragon::driver
