//===- SingleSteps.cpp - goals that take no link --------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What one run of clang for each input makes, and -fatbin: assembly, PTX, one
// side's object, what -E and -M print.
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-cc/Planner.h"

using namespace llvm;

namespace dragon::driver {

/// A device compilation for the kernel summaries alone, for the host side to
/// read.
void Planner::summaryOnly(const Input &One, StringRef Stem) {
  Strings Args = Parts.language(One);
  append(Args, Parts.architectures(/*Lowest=*/true));
  append(Args, Parts.optimisation(One));
  for (const std::string &Arg : Asked.CompileArgs) {
    // What it says is said by the host compilation, or not asked for.
    if (StringRef(Arg).starts_with("-Rpass"))
      continue;
    Args.push_back(Arg);
  }
  for (size_t I = 0; I + 1 < Args.size();)
    if (Args[I] == "-Xclang")
      Args.erase(Args.begin() + I, Args.begin() + I + 2);
    else
      ++I;
  append(Args, Asked.CudaArgs);
  Args.push_back("-w");
  append(Args, Parts.plugin(One, Stem,
                            CompileArgs::Summary | CompileArgs::NoGpuCode));
  append(Args, {"-Qunused-arguments", "--cuda-device-only", "-emit-llvm", "-c",
                One.Path, "-o", Parts.temp(Stem, ".device.bc")});
  clang(std::move(Args));
}

/// Device code alone, of all architectures.
Error Planner::fatBinary(const Input &One) {
  if (One.Lang != Language::Cuda)
    return error("'" + One.Path +
                 "' has no device code: -fatbin is for .cu "
                 "files");
  std::string Stem = Parts.uniqueStem(One);
  for (const GpuArch &Arch : Asked.Archs) {
    Strings Args = Parts.language(One);
    append(Args, {"--cuda-gpu-arch=" + Arch.Name, "--cuda-device-only"});
    append(Args, Parts.relocatable());
    append(Args, Parts.optimisation(One));
    append(Args, Parts.user(One));
    append(Args, Parts.remarks(One));
    append(Args, Parts.plugin(One, Stem, CompileArgs::None));
    Strings Ptx = Args;
    append(Args, {"-c", One.Path, "-o",
                  Parts.temp(Stem, "." + Arch.Name + ".cubin")});
    clang(std::move(Args));
    if (!Arch.Ptx)
      continue;
    append(Ptx, {"-w", "-S", One.Path, "-o",
                 Parts.temp(Stem, "." + Arch.Name + ".s")});
    clang(std::move(Ptx));
  }
  std::string Out = Parts.outputFor(One, ".fatbin");
  fatBinary(Stem, Out);
  Result.Steps.back().Outputs = {Out};
  return Error::success();
}

Error Planner::checkSingle(const Input &One, bool DeviceOnly) const {
  if (One.Lang != Language::Cuda &&
      (Asked.What == Goal::Ptx || Asked.What == Goal::Cubin))
    return error("'" + One.Path + "' has no device code: " +
                 (Asked.What == Goal::Ptx ? "-ptx" : "-cubin") +
                 " is for .cu files");
  if (DeviceOnly && Asked.Archs.size() > 1 && !Asked.Output.empty())
    return error("one output file, but " + Twine(Asked.Archs.size()) +
                 " architectures: " + "compile for one, or leave out -o");
  return Error::success();
}

Strings Planner::codeOfSide(const Input &One, StringRef Stem, bool HostOnly) {
  if (!HostOnly)
    return Parts.plugin(One, Stem, CompileArgs::None);
  if (Asked.Relocatable) {
    Strings Args = {"-cuid=" + Parts.moduleId(One), "-Xclang",
                    "-fcuda-include-gpubinary", "-Xclang", Tools.noGpuCode()};
    append(Args, Parts.plugin(One, Stem, CompileArgs::Relocatable));
    return Args;
  }
  // The summary of one architecture stands for all.
  summaryOnly(One, Stem);
  Strings Args = {"-Xclang", "-fcuda-include-gpubinary", "-Xclang",
                  Tools.noGpuCode()};
  append(Args,
         Parts.plugin(One, Stem,
                      CompileArgs::Summary | (Asked.Cpu ? CompileArgs::CpuRef
                                                        : CompileArgs::None)));
  for (std::string &Arg : Args)
    if (StringRef(Arg).starts_with("-dragon-summary-archs="))
      Arg = "-dragon-summary-archs=" + Asked.lowestArch().Name;
  return Args;
}

std::string Planner::goalArguments(const Input &One, bool DeviceOnly,
                                   Strings &Args) {
  const Goal What = Asked.What;
  std::string Out = Asked.Output;
  switch (What) {
  case Goal::Object:
  case Goal::Cubin:
    if (!DeviceOnly || (What == Goal::Cubin && Asked.Archs.size() == 1))
      Out = Parts.outputFor(One, What == Goal::Cubin ? ".cubin"
                                 : Asked.EmitLlvm    ? ".bc"
                                                     : ".o");
    append(Args, Parts.dependencies(One, Out));
    Args.push_back("-c");
    break;
  case Goal::Assembly:
  case Goal::Ptx:
    if (!DeviceOnly || (What == Goal::Ptx && Asked.Archs.size() == 1))
      Out = Parts.outputFor(One, What == Goal::Ptx ? ".ptx"
                                 : Asked.EmitLlvm  ? ".ll"
                                                   : ".s");
    append(Args, Parts.dependencies(One, Out));
    Args.push_back("-S");
    break;
  case Goal::Preprocess:
    append(Args, Parts.dependencies(One, Parts.outputFor(One, ".o")));
    Args.push_back("-E");
    break;
  case Goal::CudaSource:
    // Both sides can be compiled from it: conditions and macros stay.
    Out = Parts.outputFor(One, ".cu.cpp.ii");
    append(Args, {"-E", "-frewrite-includes"});
    break;
  case Goal::Syntax:
    Args.push_back("-fsyntax-only");
    Out.clear();
    break;
  case Goal::Dependencies:
    Args.push_back(Asked.SystemHeaders ? "-M" : "-MM");
    if (!Asked.DependencyFile.empty())
      append(Args, {"-MF", Asked.DependencyFile});
    append(Args, Asked.DependencyTargets);
    if (Asked.PhonyTargets)
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
Error Planner::single(const Input &One) {
  if (One.Lang == Language::Mlir)
    return error("'" + One.Path +
                 "' can be compiled to an object or linked, no more; what is "
                 "between, dragon-opt and dragon-translate make");
  const Goal What = Asked.What;
  if (What == Goal::Fatbin)
    return fatBinary(One);
  if (printsAllSides(One)) {
    preprocess(One);
    return Error::success();
  }
  bool Cuda = One.Lang == Language::Cuda;
  bool DeviceOnly =
      Asked.Sides == Side::Device || What == Goal::Ptx || What == Goal::Cubin;
  bool HostOnly =
      Asked.Sides == Side::Host || (!DeviceOnly && What != Goal::Syntax);
  bool MakesCode = What == Goal::Object || What == Goal::Assembly ||
                   What == Goal::Ptx || What == Goal::Cubin;
  if (Error Failed = checkSingle(One, DeviceOnly))
    return Failed;

  Strings Args = Parts.language(One);
  if (Cuda) {
    append(Args, Parts.architectures(false));
    if (HostOnly)
      Args.push_back("--cuda-host-only");
    if (DeviceOnly)
      Args.push_back("--cuda-device-only");
    append(Args, Parts.relocatable());
  }
  append(Args, Parts.optimisation(One));
  append(Args, Parts.user(One));
  std::string Stem = Parts.uniqueStem(One);
  if (MakesCode)
    append(Args, Parts.remarks(One));
  if (Cuda && MakesCode)
    append(Args, codeOfSide(One, Stem, HostOnly));
  if (Asked.EmitLlvm)
    Args.push_back("-emit-llvm");
  std::string Out = goalArguments(One, DeviceOnly, Args);
  Args.push_back(One.Path);
  if (!Out.empty())
    append(Args, {"-o", Out});
  Step &Last = clang(std::move(Args));
  if (!Out.empty() && Out != "-")
    Last.Outputs = {Out};
  return Error::success();
}

} // namespace dragon::driver
