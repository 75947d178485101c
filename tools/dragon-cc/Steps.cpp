//===- Steps.cpp - the commands of an invocation, as data -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-cc/Steps.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MD5.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace dragon::driver {

namespace {

using Strings = std::vector<std::string>;

void append(Strings &To, const Strings &From) {
  To.insert(To.end(), From.begin(), From.end());
}

/// The plan of one compilation of the invocation.
class Planner {
public:
  Planner(const Invocation &Asked, const ToolPaths &Tools, StringRef Temp)
      : Asked(Asked), Tools(Tools), Temp(Temp) {}
  Expected<Plan> run();

private:
  /// What the plugin writes and reads besides the object.
  enum PluginFiles : unsigned { None = 0, Summary = 1, CpuOut = 2, CpuRef = 4 };

  std::string temp(StringRef Stem, StringRef Suffix) const;
  std::string stem(const Input &One) const {
    return sys::path::stem(One.Path).str();
  }
  std::string uniqueStem(const Input &One);
  std::string outputFor(const Input &One, StringRef Extension) const;
  std::string moduleId(const Input &One) const;

  // Parts of command lines.
  Strings language(const Input &One) const;
  Strings architectures(bool Lowest) const;
  Strings optimisation(const Input &One) const;
  Strings user(const Input &One) const;
  Strings plugin(const Input &One, StringRef Stem, unsigned Files) const;
  Strings remarks(const Input &One) const;
  Strings dependencies(const Input &One, StringRef Object) const;
  std::string recordFile(const Input &One, StringRef Arch) const;

  // Steps. Those that make objects return their names.
  Strings object(const Input &One, const std::string &Object, bool Whole);
  Strings cudaObject(const Input &One, const std::string &Object, bool Whole);
  Error single(const Input &One);
  void summaryOnly(const Input &One, StringRef Stem);
  void link(const std::vector<Strings> &Objects);
  void archive(const std::vector<Strings> &Objects);

  Step &clang(Strings Args) {
    Result.Steps.push_back({Tools.Clang, std::move(Args), {}});
    return Result.Steps.back();
  }

  const Invocation &Asked;
  const ToolPaths &Tools;
  StringRef Temp;
  StringSet<> Stems;
  Plan Result;
};

std::string Planner::temp(StringRef Stem, StringRef Suffix) const {
  SmallString<256> Path(Temp);
  sys::path::append(Path, Stem + Suffix);
  return std::string(Path);
}

/// Two inputs of one name in different folders have different files.
std::string Planner::uniqueStem(const Input &One) {
  std::string Name = stem(One);
  for (unsigned I = 2; !Stems.insert(Name).second; ++I)
    Name = stem(One) + "-" + utostr(I);
  return Name;
}

std::string Planner::outputFor(const Input &One, StringRef Extension) const {
  if (!Asked.Output.empty())
    return Asked.Output;
  SmallString<256> Path(Asked.OutputDirectory);
  sys::path::append(Path, stem(One) + Extension);
  return std::string(Path);
}

/// Unique among the units of a program, the same for the same compilation.
std::string Planner::moduleId(const Input &One) const {
  SmallString<256> Folder;
  (void)sys::fs::current_path(Folder);
  MD5 Hash;
  for (StringRef Part :
       {StringRef(Folder), StringRef(One.Path), StringRef(Asked.Output)}) {
    Hash.update(Part);
    Hash.update(StringRef("\0", 1));
  }
  for (const std::string &Arg : Asked.CompileArgs)
    Hash.update(Arg);
  return utohexstr(Hash.final().low(), /*LowerCase=*/true, /*Width=*/16);
}

Strings Planner::language(const Input &One) const {
  if (One.Lang == Language::Other)
    return {};
  Strings Args;
  if (One.Lang == Language::Cuda)
    Args = {"-x", "cuda", "--cuda-path=" + Tools.Cuda,
            "-Wno-unknown-cuda-version"};
  else
    Args = {"-x", One.Lang == Language::C ? "c" : "c++"};
  // In front of what else the machine may have, as in /usr/local/include. With
  // Thrust, CUB and libcu++, where nvcc finds them.
  if (!Tools.Cuda.empty()) {
    append(Args, {"-isystem", Tools.Cuda + "/include"});
    std::string Cccl = Tools.Cuda + "/include/cccl";
    if (sys::fs::is_directory(Cccl))
      append(Args, {"-isystem", Cccl});
  }
  append(Args, {"-isystem", Tools.IncludeDir});
  bool Cxx = One.Lang != Language::C;
  if (!Asked.Standard.empty() &&
      StringRef(Asked.Standard).contains("++") == Cxx)
    Args.push_back("-std=" + Asked.Standard);
  return Args;
}

Strings Planner::architectures(bool Lowest) const {
  if (Lowest)
    return {"--cuda-gpu-arch=" + Asked.lowestArch().Name};
  Strings Args;
  for (const GpuArch &Arch : Asked.Archs) {
    Args.push_back("--cuda-gpu-arch=" + Arch.Name);
    if (Arch.Ptx)
      Args.push_back("--cuda-include-ptx=" + Arch.Name);
  }
  return Args;
}

Strings Planner::optimisation(const Input &One) const {
  bool Debug = Asked.Debug || Asked.DeviceDebug;
  Strings Args = {"-O" + (!Asked.OptLevel.empty() ? Asked.OptLevel
                          : Debug                 ? "0"
                                                  : "2")};
  if (One.Lang != Language::Cuda)
    return Args;
  bool Unoptimised = Asked.DeviceDebug && !Asked.DeviceOptimised;
  append(Args, {"-Xarch_device", Unoptimised ? "-O0" : "-O3"});
  if (Asked.DeviceDebug) {
    append(Args, {"-Xarch_device", "-g"});
    if (Unoptimised)
      Args.push_back("--cuda-noopt-device-debug");
  }
  return Args;
}

Strings Planner::user(const Input &One) const {
  Strings Args = Asked.CompileArgs;
  for (const std::string &Arg : Asked.HostArgs) {
    if (One.Lang == Language::Cuda)
      Args.push_back("-Xarch_host");
    Args.push_back(Arg);
  }
  if (One.Lang == Language::Cuda) {
    append(Args, Asked.CudaArgs);
    if (Asked.WholeProgram) // kernels' objects are merged as machine code
      Args.push_back("-fno-lto");
  }
  // Options of the link stand on the same command line.
  Args.push_back("-Qunused-arguments");
  return Args;
}

Strings Planner::plugin(const Input &One, StringRef Stem,
                        unsigned Files) const {
  Strings Options;
  Options.push_back("-dragon-module-id=" + moduleId(One));
  Options.push_back("-dragon-source=" + One.Path);
  if (Files & Summary) {
    Strings Names;
    if (Asked.Cuda)
      for (const GpuArch &Arch : Asked.Archs)
        Names.push_back(Arch.Name);
    else
      Names.push_back(Asked.lowestArch().Name);
    Options.push_back("-dragon-summary=" + temp(Stem, ".summary"));
    Options.push_back("-dragon-summary-archs=" + join(Names, ","));
  }
  if (Files & CpuRef)
    Options.push_back("-dragon-cpu");
  if (Files & CpuOut) {
    Options.push_back("-dragon-cpu-out=" + temp(Stem, ".cpu.bc"));
    Options.push_back("-dragon-cpu-arch=" + Asked.lowestArch().Name);
  }
  append(Options, Asked.PluginArgs);

  // Names and lines of the user's source, for remarks and messages.
  Strings Args = {"-fpass-plugin=" + Tools.plugin(),
                  "-fno-discard-value-names"};
  for (const std::string &Option : Options)
    append(Args, {"-mllvm", Option});
  return Args;
}

std::string Planner::recordFile(const Input &One, StringRef Arch) const {
  SmallString<256> Path;
  if (!Asked.OptRecordFile.empty()) {
    Path = Asked.OptRecordFile;
  } else {
    if (Asked.What != Goal::Link && Asked.What != Goal::Library &&
        !Asked.Output.empty())
      Path = Asked.Output;
    else
      sys::path::append(Path, Asked.OutputDirectory, stem(One));
    sys::path::replace_extension(Path, "opt." + Asked.OptRecordExt);
  }
  if (Arch.empty())
    return std::string(Path);
  // foo.opt.yaml -> foo-sm_90.opt.yaml
  StringRef Name = sys::path::filename(Path);
  StringRef Folder = StringRef(Path).drop_back(Name.size());
  auto [Base, Extension] = Name.split('.');
  return (Folder + Base + "-" + Arch + "." + Extension).str();
}

/// Remarks to stderr or to files. Where none are asked for, locations are kept
/// all the same: the runtime's messages name them.
Strings Planner::remarks(const Input &One) const {
  if (!Asked.OptRecord) {
    if (Asked.Remarks || Asked.Debug || One.Lang != Language::Cuda)
      return {};
    return {"-Rpass=^$"};
  }
  Strings Args = {"-fsave-optimization-record=" + Asked.OptRecordExt};
  std::string Option = "-foptimization-record-file=";
  if (One.Lang != Language::Cuda) {
    Args.push_back(Option + recordFile(One, ""));
    return Args;
  }
  append(Args, {"-Xarch_host", Option + recordFile(One, "")});
  for (const GpuArch &Arch : Asked.Archs)
    append(Args, {"-Xarch_" + Arch.Name, Option + recordFile(One, Arch.Name)});
  return Args;
}

/// The make rule of a compilation whose object the user knows as `object`.
Strings Planner::dependencies(const Input &One, StringRef Object) const {
  if (!Asked.Dependencies)
    return {};
  size_t Sources = count_if(Asked.Inputs, [](const Input &Other) {
    return Other.Lang != Language::Linker;
  });
  SmallString<256> File(Asked.DependencyFile);
  if (File.empty()) {
    bool FromOutput = !Asked.Output.empty() && Sources == 1;
    File = FromOutput ? Asked.Output : outputFor(One, ".o");
    if (!FromOutput && !Asked.Output.empty()) {
      File = Asked.OutputDirectory;
      sys::path::append(File, stem(One) + ".o");
    }
    sys::path::replace_extension(File, "d");
  }
  Strings Args = {Asked.SystemHeaders ? "-MD" : "-MMD", "-MF",
                  std::string(File)};
  if (Asked.DependencyTargets.empty())
    append(Args, {"-MQ", Object.str()});
  append(Args, Asked.DependencyTargets);
  if (Asked.PhonyTargets)
    Args.push_back("-MP");
  return Args;
}

/// Compiles an input. `Object` is the user's name for it; `whole` asks for one
/// object file of that name, else several temporary ones will do.
Strings Planner::object(const Input &One, const std::string &Object,
                        bool Whole) {
  if (One.Lang == Language::Cuda)
    return cudaObject(One, Object, Whole);
  std::string Out = Whole ? Object : temp(uniqueStem(One), ".o");
  Strings Args = language(One);
  append(Args, optimisation(One));
  append(Args, user(One));
  append(Args, remarks(One));
  append(Args, dependencies(One, Object));
  append(Args, {"-c", One.Path, "-o", Out});
  clang(std::move(Args)).Outputs = {Out};
  return {Out};
}

Strings Planner::cudaObject(const Input &One, const std::string &Object,
                            bool Whole) {
  std::string Stem = uniqueStem(One);
  bool Merge = Asked.Cpu && Whole;
  std::string Host = Whole && !Merge ? Object : temp(Stem, ".host.o");

  Strings Common = language(One);
  append(Common, architectures(/*Lowest=*/!Asked.Cuda));
  append(Common, optimisation(One));
  append(Common, user(One));
  append(Common, remarks(One));

  Strings Args = Common;
  if (Asked.Cuda) {
    append(Args,
           plugin(One, Stem, Summary | (Asked.Cpu ? CpuOut | CpuRef : None)));
  } else {
    Strings Device = Common;
    Device.push_back("--cuda-device-only");
    append(Device, plugin(One, Stem, Summary | CpuOut));
    append(Device,
           {"-emit-llvm", "-c", One.Path, "-o", temp(Stem, ".device.bc")});
    clang(std::move(Device));
    append(Args, {"--cuda-host-only", "-Xclang", "-fcuda-include-gpubinary",
                  "-Xclang", Tools.noGpuCode()});
    append(Args, plugin(One, Stem, Summary | CpuRef));
  }
  append(Args, dependencies(One, Object));
  append(Args, {"-c", One.Path, "-o", Host});
  Step &HostStep = clang(std::move(Args));
  if (Whole)
    HostStep.Outputs = {Object};
  if (!Asked.Cpu)
    return {Host};

  std::string Cpu = temp(Stem, ".cpu.o");
  clang({"-x", "ir", "-O2", "-fPIC", "-Wno-pass-failed", "-c",
         temp(Stem, ".cpu.bc"), "-o", Cpu});
  if (!Merge)
    return {Host, Cpu};
  Result.Steps.push_back(
      {Tools.Linker, {"-r", "-o", Object, Host, Cpu}, {Object}});
  return {Object};
}

/// A device compilation for the kernel summaries alone, for the host side to
/// read.
void Planner::summaryOnly(const Input &One, StringRef Stem) {
  Strings Args = language(One);
  append(Args, architectures(/*Lowest=*/true));
  append(Args, optimisation(One));
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
  append(Args, plugin(One, Stem, Summary));
  append(Args, {"-Qunused-arguments", "--cuda-device-only", "-emit-llvm", "-c",
                One.Path, "-o", temp(Stem, ".device.bc")});
  clang(std::move(Args));
}

/// Goals that one run of clang per input reaches.
Error Planner::single(const Input &One) {
  bool Cuda = One.Lang == Language::Cuda;
  Strings Args = language(One);
  Goal What = Asked.What;
  bool DeviceOnly =
      Asked.Sides == Side::Device || What == Goal::Ptx || What == Goal::Cubin;
  bool HostOnly = !DeviceOnly && What != Goal::Syntax;
  if (Asked.Sides == Side::Host)
    HostOnly = true;
  bool MakesCode = What == Goal::Object || What == Goal::Assembly ||
                   What == Goal::Ptx || What == Goal::Cubin;

  if (!Cuda && (What == Goal::Ptx || What == Goal::Cubin))
    return error("'" + One.Path + "' has no device code: " +
                 (What == Goal::Ptx ? "-ptx" : "-cubin") + " is for .cu files");
  if (DeviceOnly && Asked.Archs.size() > 1 && !Asked.Output.empty())
    return error("one output file, but " + Twine(Asked.Archs.size()) +
                 " architectures: " + "compile for one, or leave out -o");

  if (Cuda) {
    append(Args, architectures(false));
    if (HostOnly)
      Args.push_back("--cuda-host-only");
    if (DeviceOnly)
      Args.push_back("--cuda-device-only");
  }
  append(Args, optimisation(One));
  append(Args, user(One));

  std::string Stem = uniqueStem(One);
  if (MakesCode)
    append(Args, remarks(One));
  if (Cuda && MakesCode) {
    if (HostOnly) {
      // Of one architecture; its summary stands for all.
      summaryOnly(One, Stem);
      append(Args, {"-Xclang", "-fcuda-include-gpubinary", "-Xclang",
                    Tools.noGpuCode()});
      Strings Plugin = plugin(One, Stem, Summary | (Asked.Cpu ? CpuRef : None));
      for (std::string &Arg : Plugin)
        if (StringRef(Arg).starts_with("-dragon-summary-archs="))
          Arg = "-dragon-summary-archs=" + Asked.lowestArch().Name;
      append(Args, Plugin);
    } else {
      append(Args, plugin(One, Stem, None));
    }
  }
  if (Asked.EmitLlvm)
    Args.push_back("-emit-llvm");

  std::string Out = Asked.Output;
  switch (What) {
  case Goal::Object:
  case Goal::Cubin:
    if (!DeviceOnly || (What == Goal::Cubin && Asked.Archs.size() == 1))
      Out = outputFor(One, What == Goal::Cubin ? ".cubin"
                           : Asked.EmitLlvm    ? ".bc"
                                               : ".o");
    append(Args, dependencies(One, Out));
    Args.push_back("-c");
    break;
  case Goal::Assembly:
  case Goal::Ptx:
    if (!DeviceOnly || (What == Goal::Ptx && Asked.Archs.size() == 1))
      Out = outputFor(One, What == Goal::Ptx ? ".ptx"
                           : Asked.EmitLlvm  ? ".ll"
                                             : ".s");
    append(Args, dependencies(One, Out));
    Args.push_back("-S");
    break;
  case Goal::Preprocess:
    append(Args, dependencies(One, outputFor(One, ".o")));
    Args.push_back("-E");
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
  case Goal::Link:
  case Goal::Library:
    llvm_unreachable("made of objects");
  }
  Args.push_back(One.Path);
  if (!Out.empty())
    append(Args, {"-o", Out});
  Step &Last = clang(std::move(Args));
  if (!Out.empty() && Out != "-")
    Last.Outputs = {Out};
  return Error::success();
}

void Planner::link(const std::vector<Strings> &Objects) {
  std::string Out = Asked.Output.empty() ? "a.out" : Asked.Output;
  if (Asked.Output.empty() && !Asked.OutputDirectory.empty())
    Out = Asked.OutputDirectory + "/a.out";
  Strings Args = {"-o", Out};
  append(Args, Asked.LinkArgs);
  if (Asked.WholeProgram && !Asked.OptLevel.empty())
    Args.push_back("-O" + Asked.OptLevel);
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
  // Where nvcc looks for -lcublas and -lcuda.
  if (!Tools.CudaLibDir.empty())
    append(Args, {"-L" + Tools.CudaLibDir, "-L" + Tools.CudaLibDir + "/stubs"});
  Args.push_back("-Qunused-arguments");
  clang(std::move(Args)).Outputs = {Out};
}

void Planner::archive(const std::vector<Strings> &Objects) {
  std::string Out = outputFor({"a", Language::Linker}, ".a");
  Strings Args = {"rcs"};
  append(Args, Asked.ArchiveArgs);
  Args.push_back(Out);
  for (const Strings &One : Objects)
    append(Args, One);
  Result.Steps.push_back({Asked.Archiver, std::move(Args), {Out}});
}

Expected<Plan> Planner::run() {
  bool Whole = Asked.What != Goal::Link;
  bool Objects = Asked.What == Goal::Link || Asked.What == Goal::Library ||
                 (Asked.What == Goal::Object && Asked.Sides == Side::Both &&
                  !Asked.EmitLlvm);
  if (Objects && Whole && Asked.Cpu && Asked.hasCuda() && Tools.Linker.empty())
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
      std::string Object = temp(stem(One), ".o");
      Made[I] = object(One, Object, /*Whole=*/true);
    } else {
      // For the user the object of `prog: foo.cu` is prog.
      std::string Name = outputFor(One, ".o");
      Made[I] = object(One, Name, Whole);
    }
  }
  if (Asked.What == Goal::Link)
    link(Made);
  if (Asked.What == Goal::Library)
    archive(Made);
  return std::move(Result);
}

} // namespace

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
  OS << '\n';
}

} // namespace dragon::driver
