//===- SingleSteps.cpp - goals that take no link --------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-cc/SingleSteps.h"

using namespace llvm;

namespace dragon::driver {

/// Adds a device compilation that makes nothing but the kernel summaries, which
/// the host side reads.
static void addSummary(StepList &To, const Input &One, StringRef Stem) {
  Strings Args = To.Parts.language(One);
  append(Args, To.Parts.architectures(/*Lowest=*/true));
  append(Args, To.Parts.optimisation(One));
  for (const std::string &Arg : To.Asked.CompileArgs) {
    // The host compilation makes the remarks, or the user wants none.
    if (StringRef(Arg).starts_with("-Rpass"))
      continue;
    Args.push_back(Arg);
  }
  for (size_t I = 0; I + 1 < Args.size();)
    if (Args[I] == "-Xclang")
      Args.erase(Args.begin() + I, Args.begin() + I + 2);
    else
      ++I;
  append(Args, To.Asked.CudaArgs);
  Args.push_back("-w");
  append(Args, To.Parts.plugin(One, Stem,
                               CompileArgs::Summary | CompileArgs::NoGpuCode));
  append(Args, {"-Qunused-arguments", "--cuda-device-only", "-emit-llvm", "-c",
                One.Path, "-o", To.Names.temp(Stem, ".device.bc")});
  To.clang(std::move(Args));
}

/// Adds the steps of -fatbin: device code of all architectures, and nothing
/// else.
static Error addFatBinary(StepList &To, const Input &One) {
  if (One.Lang != Language::Cuda)
    return error("'" + One.Path +
                 "' has no device code: -fatbin is for .cu "
                 "files");
  std::string Stem = To.Names.uniqueStem(One);
  for (const GpuArch &Arch : To.Asked.Archs) {
    Strings Args = To.Parts.language(One);
    append(Args, {"--cuda-gpu-arch=" + Arch.Name, "--cuda-device-only"});
    append(Args, To.Parts.relocatable());
    append(Args, To.Parts.optimisation(One));
    append(Args, To.Parts.user(One));
    append(Args, To.Parts.remarks(One));
    append(Args, To.Parts.plugin(One, Stem, CompileArgs::None));
    Strings Ptx = Args;
    append(Args, {"-c", One.Path, "-o",
                  To.Names.temp(Stem, "." + Arch.Name + ".cubin")});
    To.clang(std::move(Args));
    if (!Arch.Ptx)
      continue;
    append(Ptx, {"-w", "-S", One.Path, "-o",
                 To.Names.temp(Stem, "." + Arch.Name + ".s")});
    To.clang(std::move(Ptx));
  }
  std::string Out = To.Names.outputFor(One, ".fatbin");
  To.fatBinary(Stem, Out);
  To.last().Outputs = {Out};
  return Error::success();
}

/// Whether the goal can be reached with one run of clang.
static Error check(const StepList &To, const Input &One, bool DeviceOnly) {
  if (One.Lang != Language::Cuda &&
      (To.Asked.What == Goal::Ptx || To.Asked.What == Goal::Cubin))
    return error("'" + One.Path + "' has no device code: " +
                 (To.Asked.What == Goal::Ptx ? "-ptx" : "-cubin") +
                 " is for .cu files");
  if (DeviceOnly && To.Asked.Archs.size() > 1 && !To.Asked.Output.empty())
    return error("one output file, but " + Twine(To.Asked.Archs.size()) +
                 " architectures: " + "compile for one, or leave out -o");
  return Error::success();
}

/// More arguments of a run of clang that makes code of one side.
static Strings codeOfSide(StepList &To, const Input &One, StringRef Stem,
                          bool HostOnly) {
  if (!HostOnly)
    return To.Parts.plugin(One, Stem, CompileArgs::None);
  if (To.Asked.Relocatable) {
    Strings Args = {"-cuid=" + To.Names.moduleId(One), "-Xclang",
                    "-fcuda-include-gpubinary", "-Xclang",
                    To.Tools.noGpuCode()};
    append(Args, To.Parts.plugin(One, Stem, CompileArgs::Relocatable));
    return Args;
  }
  // The summary of one architecture stands for all.
  addSummary(To, One, Stem);
  Strings Args = {"-Xclang", "-fcuda-include-gpubinary", "-Xclang",
                  To.Tools.noGpuCode()};
  append(Args, To.Parts.plugin(One, Stem,
                               CompileArgs::Summary |
                                   (To.Asked.Cpu ? CompileArgs::CpuRef
                                                 : CompileArgs::None)));
  for (std::string &Arg : Args)
    if (StringRef(Arg).starts_with("-dragon-summary-archs="))
      Arg = "-dragon-summary-archs=" + To.Asked.lowestArch().Name;
  return Args;
}

/// Adds the arguments that the goal takes, and returns the name of the output.
static std::string goalArguments(StepList &To, const Input &One,
                                 bool DeviceOnly, Strings &Args) {
  const Goal What = To.Asked.What;
  std::string Out = To.Asked.Output;
  switch (What) {
  case Goal::Object:
  case Goal::Cubin:
    if (!DeviceOnly || (What == Goal::Cubin && To.Asked.Archs.size() == 1))
      Out = To.Names.outputFor(One, What == Goal::Cubin ? ".cubin"
                                    : To.Asked.EmitLlvm ? ".bc"
                                                        : ".o");
    append(Args, To.Parts.dependencies(One, Out));
    Args.push_back("-c");
    break;
  case Goal::Assembly:
  case Goal::Ptx:
    if (!DeviceOnly || (What == Goal::Ptx && To.Asked.Archs.size() == 1))
      Out = To.Names.outputFor(One, What == Goal::Ptx   ? ".ptx"
                                    : To.Asked.EmitLlvm ? ".ll"
                                                        : ".s");
    append(Args, To.Parts.dependencies(One, Out));
    Args.push_back("-S");
    break;
  case Goal::Preprocess:
    append(Args, To.Parts.dependencies(One, To.Names.outputFor(One, ".o")));
    Args.push_back("-E");
    break;
  case Goal::CudaSource:
    // Both sides can be compiled from it: conditions and macros stay.
    Out = To.Names.outputFor(One, ".cu.cpp.ii");
    append(Args, {"-E", "-frewrite-includes"});
    break;
  case Goal::Syntax:
    Args.push_back("-fsyntax-only");
    Out.clear();
    break;
  case Goal::Dependencies:
    Args.push_back(To.Asked.SystemHeaders ? "-M" : "-MM");
    if (!To.Asked.DependencyFile.empty())
      append(Args, {"-MF", To.Asked.DependencyFile});
    append(Args, To.Asked.DependencyTargets);
    if (To.Asked.PhonyTargets)
      Args.push_back("-MP");
    break;
  case Goal::Fatbin:
  case Goal::Link:
  case Goal::DeviceLink:
  case Goal::Library:
    llvm_unreachable("made of objects");
  }
  return Out;
}

/// Goals that one run of clang per input reaches.
Error addSingle(StepList &To, const Input &One) {
  if (One.Lang == Language::Mlir)
    return error("'" + One.Path +
                 "' can be compiled to an object or linked, no more; what is "
                 "between, dragon-opt and dragon-translate make");
  const Goal What = To.Asked.What;
  if (What == Goal::Fatbin)
    return addFatBinary(To, One);
  if (printsAllSides(To.Asked, One)) {
    addPreprocessing(To, One);
    return Error::success();
  }
  bool Cuda = One.Lang == Language::Cuda;
  bool DeviceOnly = To.Asked.Sides == Side::Device || What == Goal::Ptx ||
                    What == Goal::Cubin;
  bool HostOnly =
      To.Asked.Sides == Side::Host || (!DeviceOnly && What != Goal::Syntax);
  bool MakesCode = What == Goal::Object || What == Goal::Assembly ||
                   What == Goal::Ptx || What == Goal::Cubin;
  if (Error Failed = check(To, One, DeviceOnly))
    return Failed;

  Strings Args = To.Parts.language(One);
  if (Cuda) {
    append(Args, To.Parts.architectures(false));
    if (HostOnly)
      Args.push_back("--cuda-host-only");
    if (DeviceOnly)
      Args.push_back("--cuda-device-only");
    append(Args, To.Parts.relocatable());
  }
  append(Args, To.Parts.optimisation(One));
  append(Args, To.Parts.user(One));
  std::string Stem = To.Names.uniqueStem(One);
  if (MakesCode)
    append(Args, To.Parts.remarks(One));
  if (Cuda && MakesCode)
    append(Args, codeOfSide(To, One, Stem, HostOnly));
  if (To.Asked.EmitLlvm)
    Args.push_back("-emit-llvm");
  std::string Out = goalArguments(To, One, DeviceOnly, Args);
  Args.push_back(One.Path);
  if (!Out.empty())
    append(Args, {"-o", Out});
  Step &Last = To.clang(std::move(Args));
  if (!Out.empty() && Out != "-")
    Last.Outputs = {Out};
  return Error::success();
}

} // namespace dragon::driver
