//===- DeviceLinkSteps.cpp - relocatable device code ----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A unit with -rdc=true becomes an object with its device code as bitcode:
//   1. clang++ for each architecture, front end only: bitcode;
//   2. dragon-device-link --pack: one container for all;
//   3. clang++ for the host side, which embeds the container.
// The device link does the rest of what a unit without -rdc=true goes through:
//   1. dragon-device-link: the bitcode of all units in one file for each
//      architecture, and a host module that registers the result;
//   2. clang++ with the plugin for each of them: PTX, the kernel summaries, the
//      kernels lowered to the host processor;
//   3. ptxas and nvlink, which adds NVIDIA's device runtime where it is
//      called, then fatbinary;
//   4. clang++ for the lowered kernels and for the module that registers.
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-cc/DeviceLinkSteps.h"

#include "tools/dragon-cc/ObjectSteps.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace dragon::driver {

Strings addRelocatableObject(StepList &To, const Input &One,
                             const std::string &Object, bool Whole) {
  std::string Stem = To.Names.uniqueStem(One);
  std::string Id = To.Names.moduleId(One);
  Strings Common = To.Parts.language(One);
  append(Common, To.Parts.optimisation(One));
  append(Common, To.Parts.user(One));
  append(Common, To.Parts.relocatable());
  Common.push_back("-cuid=" + Id);

  Strings Pack = {"--pack", "-o", To.Names.temp(Stem, ".offload"), "--id", Id};
  for (const GpuArch &Arch : To.Asked.deviceArchs()) {
    std::string Bitcode = To.Names.temp(Stem, "." + Arch.Name + ".bc");
    Strings Args = Common;
    append(Args,
           {"--cuda-gpu-arch=" + Arch.Name, "--cuda-device-only", "-emit-llvm",
            "-Xclang", "-disable-llvm-passes", "-fno-discard-value-names"});
    append(Args, To.Parts.locations());
    append(Args, {"-c", One.Path, "-o", Bitcode});
    Strings Headers = Common;
    Headers.push_back("--cuda-gpu-arch=" + Arch.Name);
    To.clang(std::move(Args)).Precompiled =
        To.headers(std::move(Headers), "--cuda-device-only");
    if (Arch.Ptx)
      append(Pack, {"--ptx", Arch.Name});
    Pack.push_back(Arch.Name + "=" + Bitcode);
  }
  To.add({To.Tools.DeviceLink, std::move(Pack), {}});

  std::string Out = Whole ? Object : To.Names.temp(Stem, ".o");
  Strings Args = Common;
  // With steps between its phases clang would embed the bitcode in two of them.
  erase_if(Args, [](StringRef Arg) { return Arg.starts_with("-save-temps="); });
  append(Args, To.Parts.architectures(/*Lowest=*/!To.Asked.Cuda));
  append(Args, To.Parts.remarks(One));
  auto Headers = To.headers(Args, "--cuda-host-only");
  append(Args, {"--cuda-host-only", "-Xclang", "-fcuda-include-gpubinary",
                "-Xclang", To.Tools.noGpuCode(), "-Xclang",
                "-fembed-offload-object=" + To.Names.temp(Stem, ".offload")});
  append(Args, To.Parts.plugin(
                   One, Stem, CompileArgs::Relocatable | CompileArgs::Bitcode));
  append(Args, To.Parts.dependencies(One, Object));
  append(Args, {"-c", One.Path, "-o", Out});
  Step &Host = To.clang(std::move(Args));
  Host.Precompiled = std::move(Headers);
  if (Whole)
    Host.Outputs = {Object};
  return {Out};
}

Expected<bool> DeviceLink::isNeeded() {
  if ((To.Asked.What != Goal::Link && To.Asked.What != Goal::DeviceLink) ||
      !To.Asked.LinkDevice)
    return false;
  Expected<RelocatableInputs> Found = findRelocatableInputs(To.Asked);
  if (!Found)
    return Found.takeError();
  Relocatable = std::move(*Found);
  bool Compiled = To.Asked.Relocatable && To.Asked.hasCuda();
  if (!Compiled && !Relocatable.Any && To.Asked.What != Goal::DeviceLink)
    return false;
  if (!To.Asked.ArchsGiven && !Compiled && Relocatable.Any) {
    if (Relocatable.Archs.empty())
      return error("the objects have no architecture in common; compile them "
                   "for the same, as -arch=sm_90");
    To.Asked.Archs = Relocatable.Archs;
  }
  if (Error Failed = checkDeviceLink(To.Tools, To.Asked.Cuda))
    return std::move(Failed);
  return true;
}

Strings DeviceLink::add(const std::vector<Strings> &Objects) {
  // Messages name the output.
  Input Link{To.linkOutput(), Language::Linker};
  std::string Stem = To.Names.uniqueStem({"device-link", Language::Linker});
  Strings Args = {"-o", To.Names.temp(Stem, "")};
  for (const GpuArch &Arch : To.Asked.deviceArchs())
    append(Args, {"--arch", Arch.Name});
  // What the host's linker takes of archives depends on all that it reads.
  bool Program = To.Asked.What == Goal::Link && Relocatable.InArchives &&
                 Relocatable.WhatIsTakenIsKnown;
  if (Program)
    Args.push_back("--program");
  for (size_t I = 0; I < Objects.size(); ++I)
    if (To.Asked.Inputs[I].Lang != Language::Linker &&
        (Program ||
         (To.Asked.Relocatable && To.Asked.Inputs[I].Lang == Language::Cuda)))
      append(Args, Objects[I]);
  if (!Program)
    append(Args, Relocatable.Files);
  else
    for (const LinkedFile &File : Relocatable.Program)
      Args.push_back((File.Whole ? "--whole=" : "") + File.Path);
  To.add({To.Tools.DeviceLink, std::move(Args), {}});

  DeviceCode Device;
  Device.Suffix = ".bc";
  Device.Files = CompileArgs::Summary |
                 (To.Asked.Cpu ? CompileArgs::CpuOut : CompileArgs::None);
  Device.Linked = true;
  To.deviceCode(Stem, Link, Device);
  if (To.Asked.Cuda)
    To.fatBinary(Stem, To.Names.temp(Stem, ".fatbin"));
  bool Whole = To.Asked.What == Goal::DeviceLink;
  std::string Registered = Whole && !To.Asked.Cpu
                               ? To.linkOutput()
                               : To.Names.temp(Stem, ".register.o");
  Strings Host = {"-x", "ir", "-Wno-override-module", "-O2", "-fPIC"};
  append(Host, To.Parts.plugin(Link, Stem,
                               CompileArgs::Summary | CompileArgs::Bitcode |
                                   (To.Asked.Cpu ? CompileArgs::CpuRef
                                                 : CompileArgs::None)));
  append(Host, CompileArgs::pluginOption("-dragon-fat-binary=" +
                                         (To.Asked.Cuda
                                              ? To.Names.temp(Stem, ".fatbin")
                                              : To.Tools.noGpuCode())));
  append(Host, {"-Qunused-arguments", "-c", To.Names.temp(Stem, ".register.ll"),
                "-o", Registered});
  Step &Last = To.clang(std::move(Host));
  if (Whole)
    Last.Outputs = {To.linkOutput()};
  return To.mergeCpu(Stem, Registered, To.linkOutput(), Whole);
}

} // namespace dragon::driver
