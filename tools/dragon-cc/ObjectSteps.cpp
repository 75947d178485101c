//===- ObjectSteps.cpp - inputs that become objects --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-cc/ObjectSteps.h"

using namespace llvm;

namespace dragon::driver {

/// Takes CUDA without relocatable device code.
static Strings addCudaObject(StepList &To, const Input &One,
                             const std::string &Object, bool Whole) {
  std::string Stem = To.Names.uniqueStem(One);
  // The bitcode in an object has the kernels, too. They must not be linked
  // twice, so a link that reads it gets one object.
  bool Merge = To.Asked.Cpu && (Whole || To.Asked.atLink());
  std::string Host = Whole && !Merge ? Object : To.Names.temp(Stem, ".host.o");

  Strings Common = To.Parts.language(One);
  append(Common, To.Parts.architectures(/*Lowest=*/!To.Asked.Cuda));
  append(Common, To.Parts.optimisation(One));
  append(Common, To.Parts.user(One));
  append(Common, To.Parts.remarks(One));

  Strings Args = Common;
  if (To.Asked.Cuda) {
    append(Args, To.Parts.plugin(One, Stem,
                                 CompileArgs::Summary | CompileArgs::Bitcode |
                                     (To.Asked.Cpu ? CompileArgs::CpuOut |
                                                         CompileArgs::CpuRef
                                                   : CompileArgs::None)));
  } else {
    Strings Device = Common;
    Device.push_back("--cuda-device-only");
    append(Device, To.Parts.plugin(One, Stem,
                                   CompileArgs::Summary | CompileArgs::CpuOut |
                                       CompileArgs::NoGpuCode));
    append(Device, {"-emit-llvm", "-c", One.Path, "-o",
                    To.Names.temp(Stem, ".device.bc")});
    To.clang(std::move(Device)).Precompiled =
        To.headers(Common, "--cuda-device-only");
    append(Args, {"--cuda-host-only", "-Xclang", "-fcuda-include-gpubinary",
                  "-Xclang", To.Tools.noGpuCode()});
    append(Args, To.Parts.plugin(One, Stem,
                                 CompileArgs::Summary | CompileArgs::CpuRef |
                                     CompileArgs::Bitcode));
  }
  append(Args, To.Parts.dependencies(One, Object));
  append(Args, {"-c", One.Path, "-o", Host});
  Step &HostStep = To.clang(std::move(Args));
  if (!To.Asked.Cuda)
    HostStep.Precompiled = To.headers(Common, "--cuda-host-only");
  if (Whole)
    HostStep.Outputs = {Object};
  return To.mergeCpu(Stem, Host, Object, Whole);
}

Strings addObject(StepList &To, const Input &One, const std::string &Object,
                  bool Whole) {
  if (One.Lang == Language::Cuda)
    return To.Asked.Relocatable ? addRelocatableObject(To, One, Object, Whole)
                                : addCudaObject(To, One, Object, Whole);
  if (One.Lang == Language::Mlir)
    return addMlirObject(To, One, Object, Whole);
  std::string Stem = To.Names.uniqueStem(One);
  std::string Out = Whole ? Object : To.Names.temp(Stem, ".o");
  Strings Args = To.Parts.language(One);
  append(Args, To.Parts.optimisation(One));
  append(Args, To.Parts.user(One));
  append(Args, To.Parts.remarks(One));
  // Host code may call libraries that work on device memory.
  if (One.Lang == Language::Cxx || One.Lang == Language::C) {
    append(Args, To.Parts.plugin(One, Stem, CompileArgs::Bitcode));
    append(Args, CompileArgs::pluginOption("-dragon-lifetime=0"));
  }
  append(Args, To.Parts.dependencies(One, Object));
  append(Args, {"-c", One.Path, "-o", Out});
  To.clang(std::move(Args)).Outputs = {Out};
  return {Out};
}

} // namespace dragon::driver
