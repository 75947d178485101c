//===- Steps.cpp - the commands of an invocation, as data -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-cc/Steps.h"

#include "tools/dragon-cc/Planner.h"

#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace dragon::driver {

/// Compiles an input. `Object` is the user's name for it; `whole` asks for one
/// object file of that name, else several temporary ones will do.
Strings Planner::object(const Input &One, const std::string &Object,
                        bool Whole) {
  if (One.Lang == Language::Cuda)
    return Asked.Relocatable ? relocatableObject(One, Object, Whole)
                             : cudaObject(One, Object, Whole);
  if (One.Lang == Language::Mlir)
    return mlirObject(One, Object, Whole);
  std::string Stem = Parts.uniqueStem(One);
  std::string Out = Whole ? Object : Parts.temp(Stem, ".o");
  Strings Args = Parts.language(One);
  append(Args, Parts.optimisation(One));
  append(Args, Parts.user(One));
  append(Args, Parts.remarks(One));
  // Host code may call libraries that work on device memory.
  if (One.Lang == Language::Cxx || One.Lang == Language::C) {
    append(Args, Parts.plugin(One, Stem, CompileArgs::Bitcode));
    append(Args, CompileArgs::pluginOption("-dragon-lifetime=0"));
  }
  append(Args, Parts.dependencies(One, Object));
  append(Args, {"-c", One.Path, "-o", Out});
  clang(std::move(Args)).Outputs = {Out};
  return {Out};
}

Strings Planner::cudaObject(const Input &One, const std::string &Object,
                            bool Whole) {
  std::string Stem = Parts.uniqueStem(One);
  // The bitcode in an object has the kernels too: they must not be linked
  // twice.
  bool Merge = Asked.Cpu && (Whole || Asked.atLink());
  std::string Host = Whole && !Merge ? Object : Parts.temp(Stem, ".host.o");

  Strings Common = Parts.language(One);
  append(Common, Parts.architectures(/*Lowest=*/!Asked.Cuda));
  append(Common, Parts.optimisation(One));
  append(Common, Parts.user(One));
  append(Common, Parts.remarks(One));

  Strings Args = Common;
  if (Asked.Cuda) {
    append(Args, Parts.plugin(
                     One, Stem,
                     CompileArgs::Summary | CompileArgs::Bitcode |
                         (Asked.Cpu ? CompileArgs::CpuOut | CompileArgs::CpuRef
                                    : CompileArgs::None)));
  } else {
    Strings Device = Common;
    Device.push_back("--cuda-device-only");
    append(Device, Parts.plugin(One, Stem,
                                CompileArgs::Summary | CompileArgs::CpuOut |
                                    CompileArgs::NoGpuCode));
    append(Device, {"-emit-llvm", "-c", One.Path, "-o",
                    Parts.temp(Stem, ".device.bc")});
    clang(std::move(Device));
    append(Args, {"--cuda-host-only", "-Xclang", "-fcuda-include-gpubinary",
                  "-Xclang", Tools.noGpuCode()});
    append(Args, Parts.plugin(One, Stem,
                              CompileArgs::Summary | CompileArgs::CpuRef |
                                  CompileArgs::Bitcode));
  }
  append(Args, Parts.dependencies(One, Object));
  append(Args, {"-c", One.Path, "-o", Host});
  Step &HostStep = clang(std::move(Args));
  if (Whole)
    HostStep.Outputs = {Object};
  return mergeCpu(Stem, Host, Object, Whole);
}

Strings Planner::mergeCpu(StringRef Stem, const std::string &Host,
                          const std::string &Object, bool Whole) {
  if (!Asked.Cpu)
    return {Host};
  std::string Cpu = Parts.temp(Stem, ".cpu.o");
  clang({"-x", "ir", "-O2", "-fPIC", "-Wno-pass-failed", "-c",
         Parts.temp(Stem, ".cpu.bc"), "-o", Cpu});
  if (!Whole && !Asked.atLink())
    return {Host, Cpu};
  std::string Out = Whole ? Object : Parts.temp(Stem, ".o");
  Result.Steps.push_back({Tools.Linker, {"-r", "-o", Out, Host, Cpu}, {Out}});
  return {Out};
}

std::string Planner::linkOutput() const {
  if (!Asked.Output.empty())
    return Asked.Output;
  SmallString<256> Path(Asked.OutputDirectory);
  sys::path::append(Path,
                    Asked.What == Goal::DeviceLink ? "a_dlink.o" : "a.out");
  return std::string(Path);
}

void Planner::link(const std::vector<Strings> &Objects,
                   const Strings &DeviceCode) {
  std::string Out = linkOutput();
  Strings Args = {"-o", Out};
  append(Args, Asked.LinkArgs);
  if (Asked.WholeProgram && !Asked.OptLevel.empty())
    Args.push_back("-O" + Asked.OptLevel);
  if (Asked.atLink())
    append(Args, Parts.linkTime(Out));
  // First among the libraries, and needed whether or not the linker sees why:
  // it stands in front of the C library's calls for files.
  if (Asked.LinkRuntime)
    append(Args, {"-Wl,--push-state,--no-as-needed", Tools.runtime(),
                  "-Wl,--pop-state", "-Wl,-rpath," + Tools.LibDir});
  for (const LinkArgument &One : Asked.Link)
    if (One.InputIndex < 0)
      Args.push_back(One.Text);
    else
      append(Args, Objects[One.InputIndex]);
  append(Args, DeviceCode);
  // Where nvcc looks for -lcublas and -lcuda.
  if (!Tools.CudaLibDir.empty())
    append(Args, {"-L" + Tools.CudaLibDir, "-L" + Tools.CudaLibDir + "/stubs"});
  // An empty libdragon, for programs of DRAGON's artifact where that is not
  // installed: the runtime has what they call.
  if (any_of(Asked.Link, [](const LinkArgument &One) {
        return One.InputIndex < 0 && One.Text == "-ldragon";
      }))
    Args.push_back("-L" + Tools.LibDir + "/dragon");
  Args.push_back("-Qunused-arguments");
  clang(std::move(Args)).Outputs = {Out};
}

void Planner::archive(const std::vector<Strings> &Objects) {
  std::string Out = Parts.outputFor({"a", Language::Linker}, ".a");
  Strings Args = {"rcs"};
  append(Args, Asked.ArchiveArgs);
  Args.push_back(Out);
  for (const Strings &One : Objects)
    append(Args, One);
  Result.Steps.push_back({Asked.Archiver, std::move(Args), {Out}});
}

Expected<Plan> Planner::run() {
  bool Links = Asked.What == Goal::Link || Asked.What == Goal::DeviceLink;
  bool Whole = !Links;
  bool Objects = Links || Asked.What == Goal::Library ||
                 (Asked.What == Goal::Object && Asked.Sides == Side::Both &&
                  !Asked.EmitLlvm);
  Expected<bool> LinksDevice = needsDeviceLink();
  if (!LinksDevice)
    return LinksDevice.takeError();
  if (Objects && (Whole || Asked.atLink() || Asked.What == Goal::DeviceLink) &&
      Asked.Cpu && (Asked.hasCuda() || Asked.hasMlir() || *LinksDevice) &&
      Tools.Linker.empty())
    return error("no linker found in PATH (looked for ld and ld.lld); install "
                 "binutils or lld-" +
                 Twine(LLVM_VERSION_MAJOR));

  std::vector<Strings> Made(Asked.Inputs.size());
  for (size_t I = 0; I < Asked.Inputs.size(); ++I) {
    const Input &One = Asked.Inputs[I];
    if (One.Lang == Language::Linker) {
      Made[I] = {One.Path};
    } else if (!Objects) {
      if (Error Failed = single(One))
        return std::move(Failed);
    } else if (Asked.What == Goal::Library) {
      std::string Object = Parts.temp(sys::path::stem(One.Path), ".o");
      Made[I] = object(One, Object, /*Whole=*/true);
    } else {
      // For the user the object of `prog: foo.cu` is prog.
      std::string Name = Parts.outputFor(One, ".o");
      Made[I] = object(One, Name, Whole);
    }
  }
  if (Asked.What == Goal::Link && Asked.atLink() && Tools.Lld.empty())
    return error("'-flto' links with lld " + Twine(LLVM_VERSION_MAJOR) +
                 ", and there is none; install lld-" +
                 Twine(LLVM_VERSION_MAJOR) + ", or leave out -flto");
  Strings DeviceCode;
  if (*LinksDevice)
    DeviceCode = deviceLink(Made);
  if (Asked.What == Goal::Link)
    link(Made, DeviceCode);
  if (Asked.What == Goal::Library)
    archive(Made);
  Result.Files = Parts.files();
  Result.Sources = Parts.sources();
  Result.Warnings = Parts.warnings();
  return std::move(Result);
}

Expected<Plan> plan(const Invocation &Asked, const ToolPaths &Tools,
                    StringRef Temp) {
  return Planner(Asked, Tools, Temp).run();
}

void print(raw_ostream &OS, const Step &One) {
  OS << ' ';
  sys::printArg(OS, One.Program, /*Quote=*/true);
  for (const std::string &Arg : One.Args) {
    OS << ' ';
    sys::printArg(OS, Arg, /*Quote=*/true);
  }
  if (!One.Stdout.empty()) {
    OS << " > ";
    sys::printArg(OS, One.Stdout, /*Quote=*/true);
  }
  OS << '\n';
}

} // namespace dragon::driver
