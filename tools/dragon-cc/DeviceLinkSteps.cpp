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
// The device link is the second half of what is done to other units:
//   1. dragon-device-link: the bitcode of all units in one file for each
//      architecture, and a host module that registers the result;
//   2. clang++ with the plugin for each of them: PTX, the kernel summaries, the
//      kernels lowered to the host processor;
//   3. ptxas and nvlink, which adds NVIDIA's device runtime where it is
//      called, then fatbinary;
//   4. clang++ for the lowered kernels and for the module that registers.
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-cc/Planner.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace dragon::driver {

Strings Planner::relocatableObject(const Input &One, const std::string &Object,
                                   bool Whole) {
  std::string Stem = Parts.uniqueStem(One);
  std::string Id = Parts.moduleId(One);
  Strings Common = Parts.language(One);
  append(Common, Parts.optimisation(One));
  append(Common, Parts.user(One));
  append(Common, Parts.relocatable());
  Common.push_back("-cuid=" + Id);

  Strings Pack = {"--pack", "-o", Parts.temp(Stem, ".offload"), "--id", Id};
  for (const GpuArch &Arch : Asked.deviceArchs()) {
    std::string Bitcode = Parts.temp(Stem, "." + Arch.Name + ".bc");
    Strings Args = Common;
    append(Args,
           {"--cuda-gpu-arch=" + Arch.Name, "--cuda-device-only", "-emit-llvm",
            "-Xclang", "-disable-llvm-passes", "-fno-discard-value-names"});
    append(Args, Parts.locations());
    append(Args, {"-c", One.Path, "-o", Bitcode});
    clang(std::move(Args));
    if (Arch.Ptx)
      append(Pack, {"--ptx", Arch.Name});
    Pack.push_back(Arch.Name + "=" + Bitcode);
  }
  Result.Steps.push_back({Tools.DeviceLink, std::move(Pack), {}});

  std::string Out = Whole ? Object : Parts.temp(Stem, ".o");
  Strings Args = Common;
  // With steps between its phases clang would embed the bitcode in two of them.
  erase_if(Args, [](StringRef Arg) { return Arg.starts_with("-save-temps="); });
  append(Args, Parts.architectures(/*Lowest=*/!Asked.Cuda));
  append(Args, Parts.remarks(One));
  append(Args, {"--cuda-host-only", "-Xclang", "-fcuda-include-gpubinary",
                "-Xclang", Tools.noGpuCode(), "-Xclang",
                "-fembed-offload-object=" + Parts.temp(Stem, ".offload")});
  append(Args, Parts.plugin(One, Stem,
                            CompileArgs::Relocatable | CompileArgs::Bitcode));
  append(Args, Parts.dependencies(One, Object));
  append(Args, {"-c", One.Path, "-o", Out});
  Step &Host = clang(std::move(Args));
  if (Whole)
    Host.Outputs = {Object};
  return {Out};
}

Expected<bool> Planner::needsDeviceLink() {
  if ((Asked.What != Goal::Link && Asked.What != Goal::DeviceLink) ||
      !Asked.LinkDevice)
    return false;
  Expected<RelocatableInputs> Found = findRelocatableInputs(Asked);
  if (!Found)
    return Found.takeError();
  Relocatable = std::move(*Found);
  bool Compiled = Asked.Relocatable && Asked.hasCuda();
  if (!Compiled && !Relocatable.Any && Asked.What != Goal::DeviceLink)
    return false;
  if (!Asked.ArchsGiven && !Compiled && Relocatable.Any) {
    if (Relocatable.Archs.empty())
      return error("the objects have no architecture in common; compile them "
                   "for the same, as -arch=sm_90");
    Asked.Archs = Relocatable.Archs;
  }
  if (Error Failed = checkDeviceLink(Tools, Asked.Cuda))
    return std::move(Failed);
  return true;
}

void Planner::deviceCode(StringRef Stem, const Input &One,
                         const DeviceCode &How) {
  for (const GpuArch &Arch : Asked.deviceArchs()) {
    Strings Args = {"--target=nvptx64-nvidia-cuda", "-march=" + Arch.Name};
    if (!Tools.Cuda.empty())
      append(Args, {"--cuda-path=" + Tools.Cuda, "-Wno-unknown-cuda-version"});
    append(Args, Parts.deviceLink(One.Path, Arch.Name));
    append(Args, Parts.plugin(One, Stem, How.Files));
    append(Args, How.Args);
    append(Args,
           {"-x", "ir", Parts.temp(Stem, ("." + Arch.Name + How.Suffix).str()),
            "-Qunused-arguments"});
    if (!Asked.Cuda) {
      append(Args, {"-emit-llvm", "-c", "-o", Parts.temp(Stem, ".device.bc")});
      clang(std::move(Args));
      continue;
    }
    std::string Ptx = Parts.temp(Stem, "." + Arch.Name + ".s");
    std::string Object =
        Parts.temp(Stem, "." + Arch.Name + (How.Linked ? ".o" : ".cubin"));
    append(Args, {"-S", "-o", Ptx});
    clang(std::move(Args));
    Strings Assemble = Parts.ptxas(Arch.Name);
    if (How.Linked)
      Assemble.push_back("-c"); // an object that nvlink completes
    append(Assemble, {"-o", Object, Ptx});
    Result.Steps.push_back({Tools.cudaTool("ptxas"), std::move(Assemble), {}});
    if (!How.Linked)
      continue;
    Strings Nvlink = {"-arch=" + Arch.Name};
    if (Asked.DeviceDebug)
      Nvlink.push_back("-g");
    append(Nvlink, Asked.DeviceLinkArgs);
    append(Nvlink, {Object, "-L" + Tools.CudaLibDir, "-lcudadevrt", "-o",
                    Parts.temp(Stem, "." + Arch.Name + ".cubin")});
    Result.Steps.push_back({Tools.cudaTool("nvlink"), std::move(Nvlink), {}});
  }
}

void Planner::fatBinary(StringRef Stem, const std::string &Output) {
  Strings Args = {"-64", "--create", Output};
  for (const GpuArch &Arch : Asked.Archs) {
    std::string Number = Arch.Name.substr(3);
    auto Add = [&](StringRef Kind, const std::string &File) {
      Args.push_back(
          ("--image3=kind=" + Kind + ",sm=" + Number + ",file=" + File).str());
    };
    Add("elf", Parts.temp(Stem, "." + Arch.Name + ".cubin"));
    if (Arch.Ptx)
      Add("ptx", Parts.temp(Stem, "." + Arch.Name + ".s"));
  }
  Result.Steps.push_back({Tools.cudaTool("fatbinary"), std::move(Args), {}});
}

Strings Planner::deviceLink(const std::vector<Strings> &Objects) {
  // In messages, the device code of the output.
  Input Link{linkOutput(), Language::Linker};
  std::string Stem = Parts.uniqueStem({"device-link", Language::Linker});
  Strings Args = {"-o", Parts.temp(Stem, "")};
  for (const GpuArch &Arch : Asked.deviceArchs())
    append(Args, {"--arch", Arch.Name});
  // What the host's linker takes of archives depends on all that it reads.
  bool Program = Asked.What == Goal::Link && Relocatable.InArchives &&
                 Relocatable.WhatIsTakenIsKnown;
  if (Program)
    Args.push_back("--program");
  for (size_t I = 0; I < Objects.size(); ++I)
    if (Asked.Inputs[I].Lang != Language::Linker &&
        (Program ||
         (Asked.Relocatable && Asked.Inputs[I].Lang == Language::Cuda)))
      append(Args, Objects[I]);
  if (!Program)
    append(Args, Relocatable.Files);
  else
    for (const LinkedFile &File : Relocatable.Program)
      Args.push_back((File.Whole ? "--whole=" : "") + File.Path);
  Result.Steps.push_back({Tools.DeviceLink, std::move(Args), {}});

  DeviceCode Device;
  Device.Suffix = ".bc";
  Device.Files = CompileArgs::Summary |
                 (Asked.Cpu ? CompileArgs::CpuOut : CompileArgs::None);
  Device.Linked = true;
  deviceCode(Stem, Link, Device);
  if (Asked.Cuda)
    fatBinary(Stem, Parts.temp(Stem, ".fatbin"));
  bool Whole = Asked.What == Goal::DeviceLink;
  std::string Registered =
      Whole && !Asked.Cpu ? linkOutput() : Parts.temp(Stem, ".register.o");
  Strings Host = {"-x", "ir", "-Wno-override-module", "-O2", "-fPIC"};
  append(Host, Parts.plugin(
                   Link, Stem,
                   CompileArgs::Summary | CompileArgs::Bitcode |
                       (Asked.Cpu ? CompileArgs::CpuRef : CompileArgs::None)));
  append(Host,
         CompileArgs::pluginOption(
             "-dragon-fat-binary=" +
             (Asked.Cuda ? Parts.temp(Stem, ".fatbin") : Tools.noGpuCode())));
  append(Host, {"-Qunused-arguments", "-c", Parts.temp(Stem, ".register.ll"),
                "-o", Registered});
  Step &Last = clang(std::move(Host));
  if (Whole)
    Last.Outputs = {linkOutput()};
  return mergeCpu(Stem, Registered, linkOutput(), Whole);
}

} // namespace dragon::driver
