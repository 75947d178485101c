//===- CompileArgs.cpp - parts of clang's command lines -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-cc/CompileArgs.h"

#include "tools/dragon-cc/HeaderEdits.h"
#include "tools/dragon-cc/MissingTemplates.h"
#include "tools/dragon-cc/SourceWords.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MD5.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace dragon::driver {

static std::string stem(const Input &One) {
  return sys::path::stem(One.Path).str();
}

std::string CompileArgs::temp(StringRef Stem, StringRef Suffix) const {
  SmallString<256> Path(Temp);
  sys::path::append(Path, Stem + Suffix);
  return std::string(Path);
}

std::string CompileArgs::written(StringRef Stem, StringRef Suffix,
                                 std::string Text) const {
  Files.push_back({temp(Stem, Suffix), std::move(Text)});
  return Files.back().first;
}

std::string CompileArgs::uniqueStem(const Input &One) {
  std::string Name = stem(One);
  for (unsigned I = 2; !Stems.insert(Name).second; ++I)
    Name = stem(One) + "-" + utostr(I);
  return Name;
}

std::string CompileArgs::outputFor(const Input &One,
                                   StringRef Extension) const {
  if (!Asked.Output.empty())
    return Asked.Output;
  SmallString<256> Path(Asked.OutputDirectory);
  sys::path::append(Path, stem(One) + Extension);
  return std::string(Path);
}

std::string CompileArgs::moduleId(const Input &One) const {
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

const Strings &CompileArgs::forSource(const Input &One) const {
  auto [Known, New] = ForSource.try_emplace(One.Path);
  Strings &Args = Known->second;
  if (!New)
    return Args;
  Strings Folders = includeFolders();
  if (mentions(One.Path, "cudaBindTexture", Folders))
    Args.push_back("-DDRAGON_TEXTURE_REFERENCES");
  // CMake would drive what calls itself nvcc by nvcc's own words, and take its
  // output apart; it knows clang as well.
  if (sys::path::filename(One.Path) == "CMakeCUDACompilerId.cu")
    Args.push_back("-DDRAGON_AS_CLANG");
  json::Array Roots;
  StringMap<std::pair<std::string, std::string>> Copies;
  auto Replace = [&](StringRef Path, std::string Text) {
    SmallString<256> Absolute(Path);
    (void)sys::fs::make_absolute(Absolute);
    sys::path::remove_dots(Absolute, /*remove_dot_dot=*/true);
    std::string Copy =
        temp(stem(One) + "-replaced-" + utostr(Files.size()), ".cu");
    Roots.push_back(json::Object{{"type", "file"},
                                 {"name", std::string(Absolute)},
                                 {"external-contents", Copy}});
    Files.push_back({Copy, std::move(Text)});
    return Copies[Path] = {std::string(Absolute), Copy};
  };
  for (auto &[Path, Text] : withClangSpelling(One.Path, Folders))
    Replace(Path, std::move(Text));
  for (auto &[Path, Text] :
       editedHeaders(Tools.Cuda + "/include", One.Path, Folders))
    Replace(Path, std::move(Text));
  for (auto &[Path, Text] : filesWith(One.Path, Folders, mayMissTemplates)) {
    auto Copy = Copies.find(Path);
    Sources.push_back(Copy == Copies.end() ? Replace(Path, std::move(Text))
                                           : Copy->second);
  }
  if (Roots.empty())
    return Args;
  std::string Overlay =
      temp(stem(One) + "-replaced-" + utostr(Files.size()), ".json");
  std::string Text;
  raw_string_ostream(Text) << json::Value(
      json::Object{{"version", 0},
                   {"use-external-names", false},
                   {"roots", std::move(Roots)}});
  Files.push_back({Overlay, std::move(Text)});
  append(Args, {"-ivfsoverlay", Overlay});
  return Args;
}

Strings CompileArgs::language(const Input &One) const {
  if (One.Lang == Language::Other || One.Lang == Language::Mlir)
    return {};
  Strings Args = {"-x", One.Lang == Language::Cuda  ? "cuda"
                        : One.Lang == Language::Cxx ? "c++"
                                                    : "c"};
  // What nvcc and its host compiler take, with a warning at most.
  if (One.Lang == Language::Cuda)
    append(Args,
           {"--cuda-path=" + Tools.Cuda, "-Wno-unknown-cuda-version", "-iquote",
            Tools.OverlayDir + "/quoted", "-include", "dragon-nvcc.h"});
  if (One.Lang == Language::Cuda)
    append(Args, forSource(One));
  if (One.Lang != Language::C)
    append(Args, {"-Wno-error=register", "-Wno-error=c++11-narrowing",
                  "-Wno-error=reserved-user-defined-literal",
                  "-Wno-error=deprecated-declarations"});
  // In front of what else the machine may have, as in /usr/local/include. With
  // Thrust, CUB and libcu++, where nvcc finds them.
  if (!Tools.Cuda.empty()) {
    append(Args,
           {"-isystem", Tools.OverlayDir, "-isystem", Tools.Cuda + "/include"});
    std::string Cccl = Tools.Cuda + "/include/cccl";
    if (sys::fs::is_directory(Cccl))
      append(Args, {"-isystem", Cccl});
  }
  append(Args, {"-isystem", Tools.IncludeDir});
  bool Cxx = One.Lang != Language::C;
  if (!Asked.Standard.empty() &&
      StringRef(Asked.Standard).contains("++") == Cxx)
    Args.push_back("-std=" + (Cxx ? standard(One) : Asked.Standard));
  return Args;
}

/// What was asked for, unless the source includes what CUDA 13 has for C++17
/// and later only.
const std::string &CompileArgs::standard(const Input &One) const {
  auto [Known, New] = Standards.try_emplace(One.Path, Asked.Standard);
  std::string &Standard = Known->second;
  if (!New)
    return Standard;
  StringRef Name = Asked.Standard;
  bool Gnu = Name.consume_front("gnu");
  if (!Gnu)
    Name.consume_front("c");
  if (!is_contained({"++98", "++03", "++0x", "++11", "++1y", "++14"}, Name) ||
      !sys::fs::is_directory(Tools.Cuda + "/include/cccl"))
    return Standard;
  static constexpr StringLiteral Headers[] = {"cooperative_groups", "cub/",
                                              "cuda/", "thrust/"};
  if (!includesAny(One.Path, Headers, includeFolders()))
    return Standard;
  if (!is_contained(Asked.CompileArgs, "-w"))
    Warnings.push_back(
        "'" + One.Path +
        "' is compiled as C++17, not with -std=" + Asked.Standard +
        ": CUDA 13's Thrust, CUB, libcu++ and cooperative groups "
        "take nothing older");
  return Standard = Gnu ? "gnu++17" : "c++17";
}

Strings CompileArgs::includeFolders() const {
  Strings Folders;
  for (StringRef Arg : Asked.CompileArgs)
    if (Arg.consume_front("-I"))
      Folders.push_back(Arg.str());
  return Folders;
}

Strings CompileArgs::architectures(bool Lowest) const {
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

Strings CompileArgs::optimisation(const Input &One) const {
  bool Debug = Asked.Debug || Asked.DeviceDebug;
  Strings Args = {"-O" + (!Asked.OptLevel.empty() ? Asked.OptLevel
                          : Debug                 ? "0"
                                                  : "2")};
  if (One.Lang != Language::Cuda)
    return Args;
  bool Unoptimised = !deviceOptimised();
  append(Args, {"-Xarch_device", Unoptimised ? "-O0" : "-O3"});
  if (Asked.DeviceDebug) {
    append(Args, {"-Xarch_device", "-g"});
    if (Unoptimised)
      Args.push_back("--cuda-noopt-device-debug");
  }
  return Args;
}

/// For clang to keep what is between its phases: outputs of steps are where
/// intermediate files go, unless that is the current folder.
Strings CompileArgs::saveTemps() const {
  if (!Asked.SaveTemps)
    return {};
  return {Asked.KeepDir.empty() ? "-save-temps=cwd" : "-save-temps=obj"};
}

Strings CompileArgs::user(const Input &One) const {
  Strings Args = Asked.CompileArgs;
  for (const std::string &Arg : Asked.HostArgs) {
    if (One.Lang == Language::Cuda)
      Args.push_back("-Xarch_host");
    Args.push_back(Arg);
  }
  if (One.Lang == Language::Cuda)
    append(Args, Asked.CudaArgs);
  // Objects are code, beside which the plugin puts bitcode; LTO objects are
  // not, whatever -Xcompiler says.
  if (Asked.WholeProgram && One.Lang != Language::Other)
    Args.push_back("-fno-lto");
  append(Args, saveTemps());
  // Options of the link stand on the same command line.
  Args.push_back("-Qunused-arguments");
  return Args;
}

Strings CompileArgs::relocatable() const {
  if (!Asked.Relocatable)
    return {};
  // The macro is nvcc's.
  return {"-fgpu-rdc", "--no-offload-new-driver", "-D__CUDACC_RDC__=1"};
}

Strings CompileArgs::plugin(const Input &One, StringRef Stem,
                            unsigned Files) const {
  Strings Options;
  Options.push_back("-dragon-module-id=" + moduleId(One));
  Options.push_back("-dragon-source=" + One.Path);
  if (Files & Summary) {
    Strings Names;
    for (const GpuArch &Arch : Asked.deviceArchs())
      Names.push_back(Arch.Name);
    Options.push_back("-dragon-summary=" + temp(Stem, ".summary"));
    Options.push_back("-dragon-summary-archs=" + join(Names, ","));
  }
  if (Files & CpuRef)
    Options.push_back("-dragon-cpu");
  if (Files & CpuOut) {
    Options.push_back("-dragon-cpu-out=" + temp(Stem, ".cpu.bc"));
    Options.push_back("-dragon-cpu-arch=" + Asked.lowestArch().Name);
  }
  if (Files & NoGpuCode)
    Options.push_back("-dragon-gpu-code=0");
  if (Files & Relocatable)
    Options.push_back("-dragon-relocatable");
  if ((Files & Bitcode) && Asked.atLink()) {
    Options.push_back("-dragon-bitcode");
    if (Files & CpuRef)
      Options.push_back("-dragon-cpu-in=" + temp(Stem, ".cpu.bc"));
  }
  // Who links an object is not known.
  if ((Asked.What == Goal::Object || Asked.What == Goal::Library) &&
      !Asked.EmitLlvm && Asked.LinkRuntime)
    append(Options, {"-dragon-stand-ins=" + Tools.standIns(),
                     "-dragon-runtime-library=" + Tools.runtime()});
  for (const auto *Files : {&Tools.Summaries, &Asked.Summaries})
    for (const std::string &File : *Files)
      Options.push_back("-dragon-library-summaries=" + File);
  append(Options, Asked.PluginArgs);

  // Names and lines of the user's source, for remarks and messages.
  Strings Args = {"-fpass-plugin=" + Tools.plugin(),
                  "-fno-discard-value-names"};
  for (const std::string &Option : Options)
    append(Args, pluginOption(Option));
  return Args;
}

/// An option that the plugin defines. It goes to clang -cc1 alone: with a mere
/// -mllvm an assembler that is a step of its own, as with -save-temps, gets it
/// too, and has no plugin.
Strings CompileArgs::pluginOption(StringRef Option) {
  return {"-Xclang", "-mllvm", "-Xclang", Option.str()};
}

std::string CompileArgs::recordFile(const Input &One, StringRef Arch) const {
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
Strings CompileArgs::remarks(const Input &One) const {
  if (!Asked.OptRecord) {
    if (Asked.Remarks || Asked.Debug ||
        (One.Lang != Language::Cuda && !Asked.atLink()))
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

Strings CompileArgs::locations() const {
  if (Asked.Remarks || Asked.Debug || Asked.DeviceDebug)
    return {};
  return {"-Rpass=^$"};
}

bool CompileArgs::deviceOptimised() const {
  return !Asked.DeviceDebug || Asked.DeviceOptimised;
}

Strings CompileArgs::deviceLink(StringRef Output, StringRef Arch) const {
  Strings Args = {deviceOptimised() ? "-O3" : "-O0"};
  for (StringRef Arg : Asked.CompileArgs)
    if (Arg.starts_with("-Rpass") || Arg == "-w")
      Args.push_back(Arg.str());
  if (Asked.OptRecord)
    append(Args, {"-fsave-optimization-record=" + Asked.OptRecordExt,
                  ("-foptimization-record-file=" + Output + "-" + Arch +
                   ".opt." + Asked.OptRecordExt)
                      .str()});
  for (size_t I = 0; I + 1 < Asked.CudaArgs.size(); ++I)
    if (Asked.CudaArgs[I] == "-mllvm")
      append(Args, {"-mllvm", Asked.CudaArgs[I + 1]});
  return Args;
}

/// As clang does.
Strings CompileArgs::ptxas(StringRef Arch) const {
  Strings Args = {"-m64", deviceOptimised() ? "-O3" : "-O0"};
  if (Asked.DeviceDebug)
    append(Args, {"-g", "--dont-merge-basicblocks", "--return-at-end"});
  else if (is_contained(Asked.CudaArgs, "-gline-tables-only"))
    Args.push_back("-lineinfo");
  for (size_t I = 0; I + 1 < Asked.CudaArgs.size(); ++I)
    if (Asked.CudaArgs[I] == "-Xcuda-ptxas")
      Args.push_back(Asked.CudaArgs[I + 1]);
  append(Args, {"--gpu-name", Arch.str()});
  return Args;
}

Strings CompileArgs::linkTime(StringRef Output) const {
  Strings Args = {"--ld-path=" + Tools.Lld, "-Wl,--fat-lto-objects", "-Xlinker",
                  "--load-pass-plugin=" + Tools.plugin()};
  // -Rpass-missed=dragon is -pass-remarks-missed=dragon there.
  for (StringRef Arg : Asked.CompileArgs)
    if (Arg.consume_front("-Rpass") && Arg != "=^$")
      append(Args,
             {"-Xlinker", "-mllvm", "-Xlinker", ("-pass-remarks" + Arg).str()});
  if (Asked.OptRecord)
    for (const std::string &Option :
         {("filename=" + Output + ".opt.ld." + Asked.OptRecordExt).str(),
          "format=" + Asked.OptRecordExt})
      append(Args, {"-Xlinker", "--plugin-opt=opt-remarks-" + Option});
  return Args;
}

Strings CompileArgs::dependencies(const Input &One, StringRef Object) const {
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

} // namespace dragon::driver
