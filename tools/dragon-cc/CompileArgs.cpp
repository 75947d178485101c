//===- CompileArgs.cpp - parts of clang's command lines -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-cc/CompileArgs.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace dragon::driver {

Strings CompileArgs::language(const Input &One) const {
  if (One.Lang == Language::Other || One.Lang == Language::Mlir)
    return {};
  Strings Args = {"-x", One.Lang == Language::Cuda  ? "cuda"
                        : One.Lang == Language::Cxx ? "c++"
                                                    : "c"};
  // What nvcc and its host compiler take, with a warning at most.
  if (One.Lang == Language::Cuda) {
    append(Args, Tools.cudaForClang());
    append(Args, {"-iquote", Tools.OverlayDir + "/quoted", "-include",
                  "dragon-nvcc.h"});
    append(Args, Needs.arguments(One));
  }
  if (One.Lang != Language::C)
    append(Args, {"-Wno-error=register", "-Wno-error=c++11-narrowing",
                  "-Wno-error=reserved-user-defined-literal",
                  "-Wno-error=deprecated-declarations"});
  if (Tools.CudaVersion && Tools.CudaVersion < 13000)
    Args.push_back("-DDRAGON_CUDA_12");
  // clang looks into /usr/include by itself, after the C++ library's headers,
  // which include C's as the next of the same name.
  auto AddHeaders = [&Args](const std::string &Folder) {
    if (Folder != "/usr/include")
      append(Args, {"-isystem", Folder});
  };
  // In front of what else the machine may have, as in /usr/local/include. With
  // Thrust, CUB and libcu++, where nvcc finds them.
  if (!Tools.Cuda.empty()) {
    AddHeaders(Tools.OverlayDir);
    AddHeaders(Tools.Cuda + "/include");
    std::string Cccl = Tools.Cuda + "/include/cccl";
    if (sys::fs::is_directory(Cccl))
      AddHeaders(Cccl);
  }
  AddHeaders(Tools.IncludeDir);
  bool Cxx = One.Lang != Language::C;
  if (!Asked.Standard.empty() &&
      StringRef(Asked.Standard).contains("++") == Cxx)
    Args.push_back("-std=" + (Cxx ? Needs.standard(One) : Asked.Standard));
  return Args;
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

/// What of LLVM's optimiser is left to ptxas, as nvcc does. Counters of 32 bits
/// stay so: arithmetic on 64 bits takes two to four instructions for one. And
/// ptxas reduces the strength of addresses itself; done before, a loop that was
/// unrolled n times has n counters, each in two registers. Nor is anything
/// moved down to where its result is needed: behind the branches of a sine that
/// is a long way, for which all of its operands wait in registers.
/// And a condition of a few instructions is computed at once with the one in
/// front of it (`y0 < y && x < a * y + b`), as a branch for each thread of a
/// warp costs more. Divisions are not (codegen/CostlySelects.h); so what is put
/// in front of a branch to be shared must cost less than one.
constexpr StringLiteral LeftToAssembler[] = {
    "-indvars-widen-indvars=false",    "-disable-lsr",
    "-instcombine-code-sinking=false", "-disable-machine-sink",
    "-bonus-inst-threshold=4",         "-spec-exec-max-speculation-cost=3"};

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
  if (!Unoptimised)
    for (StringRef Option : LeftToAssembler)
      append(Args, {"-Xarch_device", ("-mllvm=" + Option).str()});
  return Args;
}

/// Makes clang keep the files between its phases, in the folder of its output.
/// That is the folder for intermediate files, unless they go to the current
/// one.
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
  // CMake takes the default architecture from clang's words.
  if (Asked.Verbose)
    Args.push_back("-v");
  // Where ptxas refuses code, clang takes it for its own crash.
  Args.push_back("-fno-crash-diagnostics");
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
  Options.push_back("-dragon-module-id=" + Names.moduleId(One));
  Options.push_back("-dragon-source=" + One.Path);
  if (Files & Summary) {
    Strings Archs;
    for (const GpuArch &Arch : Asked.deviceArchs())
      Archs.push_back(Arch.Name);
    Options.push_back("-dragon-summary=" + Names.temp(Stem, ".summary"));
    Options.push_back("-dragon-summary-archs=" + join(Archs, ","));
  }
  if (Files & CpuRef)
    Options.push_back("-dragon-cpu");
  if (Files & CpuOut) {
    Options.push_back("-dragon-cpu-out=" + Names.temp(Stem, ".cpu.bc"));
    Options.push_back("-dragon-cpu-arch=" + Asked.lowestArch().Name);
  }
  if (Files & NoGpuCode)
    Options.push_back("-dragon-gpu-code=0");
  if (Files & Relocatable)
    Options.push_back("-dragon-relocatable");
  if ((Files & Bitcode) && Asked.atLink()) {
    Options.push_back("-dragon-bitcode");
    if (Files & CpuRef)
      Options.push_back("-dragon-cpu-in=" + Names.temp(Stem, ".cpu.bc"));
  }
  // Who links an object is not known.
  if ((Asked.What == Goal::Object || Asked.What == Goal::Library) &&
      !Asked.EmitLlvm && Asked.LinkRuntime)
    append(Options, {"-dragon-stand-ins=" + Tools.standIns(),
                     "-dragon-runtime-library=" + Tools.runtime()});
  for (const auto *Files : {&Tools.Summaries, &Asked.Summaries})
    for (const std::string &File : *Files)
      Options.push_back("-dragon-library-summaries=" + File);
  for (const std::string &Note : recordNotes(One))
    Options.push_back("-dragon-note=" + Note);
  append(Options, Asked.PluginArgs);

  // Names and lines of the user's source, for remarks and messages.
  Strings Args = {"-fpass-plugin=" + Tools.plugin(),
                  "-fno-discard-value-names"};
  for (const std::string &Option : Options)
    append(Args, pluginOption(Option));
  return Args;
}

/// The option goes to clang -cc1 alone. -mllvm without -Xclang also reaches the
/// assembler where that is a step of its own (-save-temps), and the assembler
/// loads no plugin.
Strings CompileArgs::pluginOption(StringRef Option) {
  return {"-Xclang", "-mllvm", "-Xclang", Option.str()};
}

Strings CompileArgs::recordFilter() const {
  const StringRef Option = "-foptimization-record-passes=";
  if (!(Asked.notesRecords() || Asked.OwnRecords) ||
      any_of(Asked.CompileArgs,
             [&](StringRef Arg) { return Arg.starts_with(Option); }))
    return {};
  return {(Option + "dragon").str()};
}

static std::string note(StringRef Key, StringRef Value) {
  return ("dragon-" + Key + "=" + Value).str();
}

Strings CompileArgs::recordNotes(const Input &One) const {
  if (!Asked.notesRecords())
    return {};
  SmallString<256> Folder;
  (void)sys::fs::current_path(Folder);
  Strings Notes = {note("folder", Folder)};
  auto Add = [&](StringRef Arch) {
    SmallString<256> Path(Names.recordFile(One, Arch));
    (void)sys::fs::make_absolute(Path);
    Notes.push_back(note("record", Path));
  };
  if (One.Lang != Language::Linker)
    Add("");
  if (One.Lang == Language::Linker ||
      (One.Lang == Language::Cuda && !Asked.Relocatable))
    for (const GpuArch &Arch : Asked.deviceArchs())
      Add(Arch.Name);
  return Notes;
}

std::string CompileArgs::linkNotes(StringRef Output) const {
  std::string Text = "\t.section .dragon.notes,\"MS\",@progbits,1\n\t.asciz \"";
  raw_string_ostream(Text).write_escaped(
      note("record", Names.linkRecordFile(Output)));
  return Text + "\"\n\t.section .note.GNU-stack,\"\",@progbits\n";
}

Strings CompileArgs::remarks(const Input &One) const {
  if (!Asked.OptRecord) {
    if (Asked.Remarks || Asked.Debug ||
        (One.Lang != Language::Cuda && !Asked.atLink()))
      return {};
    return {"-Rpass=^$"};
  }
  Strings Args = {"-fsave-optimization-record=" + Asked.OptRecordExt};
  append(Args, recordFilter());
  std::string Option = "-foptimization-record-file=";
  if (One.Lang != Language::Cuda) {
    Args.push_back(Option + Names.recordFile(One, ""));
    return Args;
  }
  append(Args, {"-Xarch_host", Option + Names.recordFile(One, "")});
  for (const GpuArch &Arch : Asked.Archs)
    append(Args,
           {"-Xarch_" + Arch.Name, Option + Names.recordFile(One, Arch.Name)});
  return Args;
}

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
            "--remarks-output-file=" + Names.recordFile(One, "")};
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
  if (deviceOptimised())
    for (StringRef Option : LeftToAssembler)
      append(Args, {"-mllvm", Option.str()});
  for (StringRef Arg : Asked.CompileArgs)
    if (Arg.starts_with("-Rpass") || Arg == "-w")
      Args.push_back(Arg.str());
  if (Asked.OptRecord) {
    append(Args, {"-fsave-optimization-record=" + Asked.OptRecordExt,
                  "-foptimization-record-file=" +
                      Names.deviceLinkRecordFile(Output, Arch)});
    append(Args, recordFilter());
  }
  for (std::string &Arg : Asked.argsFor("-mllvm"))
    append(Args, {"-mllvm", std::move(Arg)});
  return Args;
}

/// The arguments are those that clang gives ptxas.
Strings CompileArgs::ptxas(StringRef Arch) const {
  Strings Args = {"-m64", deviceOptimised() ? "-O3" : "-O0"};
  if (Asked.DeviceDebug)
    append(Args, {"-g", "--dont-merge-basicblocks", "--return-at-end"});
  else if (is_contained(Asked.CudaArgs, "-gline-tables-only"))
    Args.push_back("-lineinfo");
  append(Args, Asked.argsFor("-Xcuda-ptxas"));
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
  Strings Records;
  if (Asked.OptRecord)
    Records = {"filename=" + Names.linkRecordFile(Output),
               "format=" + Asked.OptRecordExt};
  if (Asked.OptRecord && !recordFilter().empty())
    Records.push_back("passes=dragon");
  for (const std::string &Option : Records)
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
    File = FromOutput ? Asked.Output : Names.outputFor(One, ".o");
    if (!FromOutput && !Asked.Output.empty()) {
      File = Asked.OutputDirectory;
      sys::path::append(File, UnitNames::stem(One) + ".o");
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
