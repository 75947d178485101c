//===- StepList.cpp - the steps of an invocation as they are found -----===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-cc/StepList.h"

#include "llvm/ADT/STLExtras.h"

#include "llvm/Support/Path.h"

using namespace llvm;

namespace dragon::driver {

/// Make rules and kept files have to be those of a whole compilation.
std::optional<PrecompiledHeaders> StepList::headers(Strings Args,
                                                    StringRef Side) const {
  if (Asked.PrecompiledFolder.empty() || Asked.Dependencies || Asked.SaveTemps)
    return std::nullopt;
  // The headers are the same with any.
  erase_if(Args, [](StringRef Arg) {
    return Arg.starts_with("-Rpass") || Arg.starts_with("-cuid=");
  });
  Args.push_back(Side.str());
  if (Side == "--cuda-device-only")
    Args.push_back("-emit-llvm");
  return PrecompiledHeaders{Asked.PrecompiledFolder, std::move(Args)};
}

void StepList::deviceCode(StringRef Stem, const Input &One,
                          const DeviceCode &How) {
  for (const GpuArch &Arch : Asked.deviceArchs()) {
    Strings Args = {"--target=nvptx64-nvidia-cuda", "-march=" + Arch.Name};
    if (!Tools.Cuda.empty())
      append(Args, Tools.cudaForClang());
    append(Args, Parts.deviceLink(One.Path, Arch.Name));
    append(Args, Parts.plugin(One, Stem, How.Files));
    append(Args, How.Args);
    append(Args,
           {"-x", "ir", Names.temp(Stem, ("." + Arch.Name + How.Suffix).str()),
            "-Qunused-arguments"});
    if (!Asked.Cuda) {
      append(Args, {"-emit-llvm", "-c", "-o", Names.temp(Stem, ".device.bc")});
      clang(std::move(Args));
      continue;
    }
    std::string Ptx = Names.temp(Stem, "." + Arch.Name + ".s");
    std::string Object =
        Names.temp(Stem, "." + Arch.Name + (How.Linked ? ".o" : ".cubin"));
    append(Args, {"-S", "-o", Ptx});
    clang(std::move(Args));
    Strings Assemble = Parts.ptxas(Arch.Name);
    if (How.Linked)
      Assemble.push_back("-c"); // an object that nvlink completes
    append(Assemble, {"-o", Object, Ptx});
    add({Tools.cudaTool("ptxas"), std::move(Assemble), {}});
    if (!How.Linked)
      continue;
    Strings Nvlink = {"-arch=" + Arch.Name};
    if (Asked.DeviceDebug)
      Nvlink.push_back("-g");
    append(Nvlink, Asked.DeviceLinkArgs);
    append(Nvlink, {Object, "-L" + Tools.CudaLibDir, "-lcudadevrt", "-o",
                    Names.temp(Stem, "." + Arch.Name + ".cubin")});
    add({Tools.cudaTool("nvlink"), std::move(Nvlink), {}});
  }
}

void StepList::fatBinary(StringRef Stem, const std::string &Output) {
  Strings Args = {"-64", "--create", Output};
  append(Args, Asked.argsFor("-Xcuda-fatbinary"));
  for (const GpuArch &Arch : Asked.Archs) {
    std::string Number = Arch.Name.substr(3);
    auto Add = [&](StringRef Kind, const std::string &File) {
      Args.push_back(
          ("--image3=kind=" + Kind + ",sm=" + Number + ",file=" + File).str());
    };
    Add("elf", Names.temp(Stem, "." + Arch.Name + ".cubin"));
    if (Arch.Ptx)
      Add("ptx", Names.temp(Stem, "." + Arch.Name + ".s"));
  }
  add({Tools.cudaTool("fatbinary"), std::move(Args), {}});
}

Strings StepList::mergeCpu(StringRef Stem, const std::string &Host,
                           const std::string &Object, bool Whole) {
  if (!Asked.Cpu)
    return {Host};
  std::string Cpu = Names.temp(Stem, ".cpu.o");
  clang({"-x", "ir", "-O2", "-fPIC", "-Wno-pass-failed", "-c",
         Names.temp(Stem, ".cpu.bc"), "-o", Cpu});
  if (!Whole && !Asked.atLink())
    return {Host, Cpu};
  std::string Out = Whole ? Object : Names.temp(Stem, ".o");
  add({Tools.Linker, {"-r", "-o", Out, Host, Cpu}, {Out}});
  return {Out};
}

std::string StepList::linkOutput() const {
  if (!Asked.Output.empty())
    return Asked.Output;
  SmallString<256> Path(Asked.OutputDirectory);
  sys::path::append(Path,
                    Asked.What == Goal::DeviceLink ? "a_dlink.o" : "a.out");
  return std::string(Path);
}

Plan StepList::take() {
  Result.Files = Names.files();
  Result.Sources = Needs.sources();
  append(Result.Warnings, Needs.warnings());
  Result.Sarif = Asked.Sarif;
  Result.RemarkPages = Tools.RemarkPages;
  return std::move(Result);
}

} // namespace dragon::driver
