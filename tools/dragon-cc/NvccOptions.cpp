//===- NvccOptions.cpp - what the command line asks for -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-cc/NvccOptions.h"

#include "tools/dragon-cc/GpuArchs.h"

#include "clang/Options/Options.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace llvm::opt;

namespace dragon::driver {

namespace {

namespace clangopt = clang::options;

/// Commas and blanks separate; quotes and backslashes keep them. A list that
/// starts with -Wl, -Wa or -Wp is one option, as users mean it.
std::vector<std::string> splitList(StringRef List) {
  if (List.starts_with("-Wl,") || List.starts_with("-Wa,") ||
      List.starts_with("-Wp,"))
    return {List.str()};
  std::vector<std::string> Result;
  std::string Word;
  char Quote = 0;
  bool Any = false;
  for (size_t I = 0; I < List.size(); ++I) {
    char C = List[I];
    if (C == '\\' && I + 1 < List.size()) {
      Word += List[++I];
      Any = true;
    } else if (Quote ? C == Quote : C == '"' || C == '\'') {
      Quote = Quote ? 0 : C;
      Any = true;
    } else if (!Quote && (C == ',' || C == ' ')) {
      if (Any)
        Result.push_back(Word);
      Word.clear();
      Any = false;
    } else {
      Word += C;
      Any = true;
    }
  }
  if (Any)
    Result.push_back(Word);
  return Result;
}

bool isCudaRuntime(StringRef Library) {
  return Library == "cudart" || Library == "cudart_static" ||
         Library == "cudadevrt";
}

bool isCudaRuntimeFile(StringRef Path) {
  StringRef Name = sys::path::filename(Path);
  return Name.consume_front("lib") && isCudaRuntime(Name.split('.').first);
}

class Reader {
public:
  explicit Reader(const CommandLine &Line) : Line(Line) {}
  Expected<Invocation> run();

private:
  Error read(const Argument &One);
  Error readOwn(const Argument &One);
  Error readClang(const Arg &Option, const ArgList &List, bool HostOnly);
  Error input(StringRef Path);
  Error xcompiler(StringRef Value, StringRef Option);
  Error language(StringRef Value);
  Error targets(StringRef Value);
  Error goal(Goal What, StringRef Option);
  Error boolean(const Argument &One, bool &Result);
  void addLink(const Twine &Text) { Result.Link.push_back({-1, Text.str()}); }
  void plugin(StringRef Name, bool On) {
    Result.PluginArgs.push_back(("-dragon-" + Name + (On ? "=1" : "=0")).str());
  }
  void ptxas(const Twine &Option) {
    Result.CudaArgs.push_back("-Xcuda-ptxas");
    Result.CudaArgs.push_back(Option.str());
  }
  void mllvm(const Twine &Option) {
    Result.CudaArgs.push_back("-mllvm");
    Result.CudaArgs.push_back(Option.str());
  }
  void device(const Twine &Option) {
    Result.CudaArgs.push_back("-Xarch_device");
    Result.CudaArgs.push_back(Option.str());
  }
  Error check();

  const CommandLine &Line;
  Invocation Result;
  GpuArchs Archs;
  bool WarnOfOldGpus = true;
  std::string GoalOption;
  bool KeepBesideOutput = false; ///< -save-temps=obj
  std::optional<Language> Forced;
};

Error Reader::goal(Goal What, StringRef Option) {
  // nvcc compiles then, to be linked later.
  if (!GoalOption.empty() && What != Result.What &&
      (What == Goal::Object || What == Goal::DeviceLink) &&
      (Result.What == Goal::Object || Result.What == Goal::DeviceLink)) {
    Result.What = Goal::Object;
    Result.Relocatable = true;
    return Error::success();
  }
  if (!GoalOption.empty() && Result.What != What)
    return error("'" + Option + "' and '" + GoalOption +
                 "' exclude each other");
  GoalOption = Option.str();
  Result.What = What;
  return Error::success();
}

Error Reader::boolean(const Argument &One, bool &Value) {
  if (One.value() == "true" || One.value() == "false") {
    Value = One.value() == "true";
    return Error::success();
  }
  return error("bad value in '" + One.text(Line.list()) +
               "': expected true or false");
}

Error Reader::input(StringRef Path) {
  if (isCudaRuntimeFile(Path))
    return Error::success(); // libdragonrt takes its place
  StringRef Name = sys::path::filename(Path);
  StringRef Extension = sys::path::extension(Path);
  std::optional<Language> Lang = Forced;
  if (!Lang && Name.ends_with(".cu.cpp.ii"))
    Lang = Language::Cuda; // of -cuda
  if (!Lang)
    Lang = StringSwitch<std::optional<Language>>(Extension)
               .Case(".cu", Language::Cuda)
               .Cases({".cpp", ".cc", ".cxx", ".c++", ".cp", ".C", ".CPP"},
                      Language::Cxx)
               .Case(".c", Language::C)
               .Cases({".mlir", ".mlirbc"}, Language::Mlir)
               .Cases({".s", ".S", ".ll", ".bc", ".i", ".ii"}, Language::Other)
               .Cases({".o", ".obj", ".lo", ".a", ".so", ".ld", ".lds"},
                      Language::Linker)
               .Default(std::nullopt);
  if (!Lang && Name.contains(".so."))
    Lang = Language::Linker;
  if (!Lang && Path == "-")
    return error("cannot tell the language of '-': put -x cu, -x c++ or -x c "
                 "in front of it");
  if (!Lang)
    return error(
        "do not know what to do with '" + Path +
        "'; known are .cu .cpp .cc .cxx .c .mlir .s .ll .o .a .so, or say "
        "-x cu, -x c++ or -x c");
  Result.Link.push_back({int(Result.Inputs.size()), ""});
  Result.Inputs.push_back({Path.str(), *Lang});
  return Error::success();
}

Error Reader::language(StringRef Value) {
  if (Value == "none") {
    Forced.reset();
    return Error::success();
  }
  Forced = StringSwitch<std::optional<Language>>(Value)
               .Cases({"cu", "cuda"}, Language::Cuda)
               .Case("c++", Language::Cxx)
               .Case("c", Language::C)
               .Default(std::nullopt);
  if (!Forced)
    return error("unknown language '" + Value +
                 "' in '-x'; expected cu, c++ or c");
  return Error::success();
}

Error Reader::targets(StringRef Value) {
  Result.Cuda = Result.Cpu = false;
  for (StringRef Target : split(Value, ','))
    if (Target == "cuda")
      Result.Cuda = true;
    else if (Target == "cpu")
      Result.Cpu = true;
    else
      return error("unknown target '" + Target + "' in '--dragon-targets=" +
                   Value + "'; expected cuda, cpu or both");
  return Error::success();
}

Error Reader::xcompiler(StringRef Value, StringRef Option) {
  std::vector<std::string> Words = splitList(Value);
  SmallVector<const char *, 8> Pointers;
  for (const std::string &Word : Words)
    Pointers.push_back(Word.c_str());
  InputArgList List(Pointers.begin(), Pointers.end());
  for (unsigned Index = 0; Index < Pointers.size();) {
    StringRef Text = Pointers[Index];
    std::unique_ptr<Arg> Parsed = clang::getDriverOptTable().ParseOneArg(
        List, Index, Visibility(clangopt::ClangOption));
    if (!Parsed)
      return error("argument to '" + Text + "' is missing in '" + Option + "'");
    if (Parsed->getOption().getKind() == Option::UnknownClass)
      return error("unknown host compiler option '" + Text + "' in '" + Option +
                   "' (the host compiler is clang)");
    if (Parsed->getOption().getKind() == Option::InputClass) {
      if (Error Failed = input(Text))
        return Failed;
      continue;
    }
    if (Error Failed = readClang(*Parsed, List, /*HostOnly=*/true))
      return Failed;
  }
  return Error::success();
}

/// An option of clang's table: to compilations, to the link, or both.
Error Reader::readClang(const Arg &One, const ArgList &List, bool HostOnly) {
  const Option &Opt = One.getOption();
  ArgStringList Rendered;
  One.render(List, Rendered);
  std::vector<std::string> Texts(Rendered.begin(), Rendered.end());
  auto Append = [&](std::vector<std::string> &To) {
    To.insert(To.end(), Texts.begin(), Texts.end());
  };

  if (Opt.hasFlag(clangopt::LinkerInput)) {
    for (const std::string &Text : Texts)
      addLink(Text);
    return Error::success();
  }
  if (Opt.hasFlag(clangopt::LinkOption)) {
    Append(Result.LinkArgs);
    return Error::success();
  }

  switch (Opt.getID()) {
  case clangopt::OPT_fsave_optimization_record:
    Result.OptRecord = true;
    return Error::success();
  case clangopt::OPT_fsave_optimization_record_EQ:
    Result.OptRecord = true;
    Result.OptRecordExt = One.getValue();
    return Error::success();
  case clangopt::OPT_fno_save_optimization_record:
    Result.OptRecord = false;
    return Error::success();
  case clangopt::OPT_foptimization_record_file_EQ:
    Result.OptRecord = true;
    Result.OptRecordFile = One.getValue();
    return Error::success();
  case clangopt::OPT_flto:
  case clangopt::OPT_flto_EQ:
    Result.WholeProgram = true;
    break;
  case clangopt::OPT_fno_lto:
    Result.WholeProgram = false;
    break;
  case clangopt::OPT_fgpu_rdc:
  case clangopt::OPT_fno_gpu_rdc:
    Result.Relocatable = Opt.getID() == clangopt::OPT_fgpu_rdc;
    return Error::success();
  case clangopt::OPT_Rpass_EQ:
  case clangopt::OPT_Rpass_missed_EQ:
  case clangopt::OPT_Rpass_analysis_EQ:
    Result.Remarks = true;
    Append(Result.CompileArgs);
    return Error::success();
  case clangopt::OPT_mllvm:
    if (StringRef(One.getValue()).starts_with("-dragon-")) {
      Result.PluginArgs.push_back(One.getValue());
      return Error::success();
    }
    Append(Result.CompileArgs);
    return Error::success();
  case clangopt::OPT_Xclang:
  case clangopt::OPT_fpass_plugin_EQ:
    Append(Result.CompileArgs);
    return Error::success();
  default:
    break;
  }
  if (Opt.matches(clangopt::OPT_O_Group)) {
    Result.OptLevel = StringRef(Texts[0]).drop_front(2).str();
    if (Result.OptLevel.empty())
      Result.OptLevel = "1";
    return Error::success();
  }
  if (Opt.matches(clangopt::OPT_g_Group))
    Result.Debug = true;
  if (Opt.matches(clangopt::OPT_I_Group)) {
    Append(Result.CompileArgs);
    return Error::success();
  }
  if (!Opt.matches(clangopt::OPT_W_Group))
    Append(Result.LinkArgs);
  if (HostOnly && Texts.size() == 1 && !Opt.hasFlag(clangopt::NoXarchOption))
    Append(Result.HostArgs);
  else
    Append(Result.CompileArgs);
  return Error::success();
}

Error Reader::readOwn(const Argument &One) {
  std::string Text = One.text(Line.list());
  bool On = false;
  switch (One.id()) {
  // What to make.
  case OPT_compile:
    return goal(Goal::Object, Text);
  case OPT_assemble:
    return goal(Goal::Assembly, Text);
  case OPT_preprocess:
    return goal(Goal::Preprocess, Text);
  case OPT_syntax_only:
    return goal(Goal::Syntax, Text);
  case OPT_lib:
    return goal(Goal::Library, Text);
  case OPT_ptx:
    return goal(Goal::Ptx, Text);
  case OPT_cubin:
    return goal(Goal::Cubin, Text);
  case OPT_fatbin:
    return goal(Goal::Fatbin, Text);
  case OPT_cuda:
    return goal(Goal::CudaSource, Text);
  case OPT_dependencies:
  case OPT_user_dependencies:
    Result.SystemHeaders = One.id() == OPT_dependencies;
    // gcc's -E -M is -M.
    if (Result.What == Goal::Preprocess)
      GoalOption.clear();
    return goal(Goal::Dependencies, Text);
  case OPT_output:
    Result.Output = One.value();
    return Error::success();
  case OPT_output_directory:
    Result.OutputDirectory = One.value();
    return Error::success();
  case OPT_language:
    return language(One.value());
  case OPT_cuda_device_only:
    Result.Sides = Side::Device;
    return Error::success();
  case OPT_cuda_host_only:
    Result.Sides = Side::Host;
    return Error::success();
  case OPT_emit_llvm:
    Result.EmitLlvm = true;
    return Error::success();

  // Architectures.
  case OPT_arch:
    return Archs.arch(One.value());
  case OPT_gpu_code:
    return Archs.code(One.value());
  case OPT_generate_code:
    return Archs.gencode(One.value());
  case OPT_cuda_gpu_arch:
    return Archs.offload(One.value());
  case OPT_cuda_include_ptx:
    return Archs.includePtx(One.value(), true);
  case OPT_no_cuda_include_ptx:
    return Archs.includePtx(One.value(), false);
  case OPT_list_gpu_arch:
    Result.ListArchs = true;
    return Error::success();
  case OPT_list_gpu_code:
    Result.ListCodes = true;
    return Error::success();
  case OPT_print_cuda_path:
    Result.PrintCudaPath = true;
    return Error::success();
  case OPT_rdc:
    return boolean(One, Result.Relocatable);
  case OPT_device_c:
  case OPT_device_w:
    Result.Relocatable = One.id() == OPT_device_c;
    return goal(Goal::Object, Text);
  case OPT_device_link:
    return goal(Goal::DeviceLink, Text);
  case OPT_no_device_link:
    Result.LinkDevice = false;
    return Error::success();

  // dragon-cc's own.
  case OPT_dragon_targets:
    return targets(One.value());
  case OPT_dragon_summaries:
    Result.Summaries.push_back(One.value().str());
    return Error::success();
  case OPT_dragon_clang:
    Result.ClangPath = One.value();
    return Error::success();
  case OPT_cuda_path:
    Result.CudaPath = One.value();
    return Error::success();
  case OPT_dragon_slicing:
  case OPT_no_dragon_slicing:
    plugin("slicing", One.id() == OPT_dragon_slicing);
    return Error::success();
  case OPT_dragon_trace_accesses:
  case OPT_no_dragon_trace_accesses:
    plugin("trace-accesses", One.id() == OPT_dragon_trace_accesses);
    return Error::success();
  case OPT_dragon_lifetime:
  case OPT_no_dragon_lifetime:
    Result.Lifetime = One.id() == OPT_dragon_lifetime;
    plugin("lifetime", Result.Lifetime);
    return Error::success();
  case OPT_dragon_staging:
  case OPT_no_dragon_staging:
    plugin("staging", One.id() == OPT_dragon_staging);
    return Error::success();
  case OPT_dragon_heat:
  case OPT_no_dragon_heat:
    plugin("heat", One.id() == OPT_dragon_heat);
    return Error::success();
  case OPT_dragon_wavefront:
  case OPT_no_dragon_wavefront:
    plugin("wavefront", One.id() == OPT_dragon_wavefront);
    return Error::success();

  case OPT_lto:
  case OPT_lto_kind:
    if (One.id() == OPT_lto_kind &&
        !is_contained({"full", "thin", "auto", "jobserver"}, One.value()))
      return error("unknown kind in '" + Text +
                   "'; -flto and -flto=thin are "
                   "known, and mean the same");
    Result.WholeProgram = true;
    Result.LinkArgs.push_back(Text);
    return Error::success();
  case OPT_no_lto:
    Result.WholeProgram = false;
    Result.LinkArgs.push_back(Text);
    return Error::success();

  // The driver.
  case OPT_verbose:
    Result.Verbose = true;
    return Error::success();
  case OPT_hash_hash_hash:
  case OPT_dryrun:
    Result.DryRun = true;
    return Error::success();
  case OPT_version:
    Result.Version = true;
    return Error::success();
  case OPT_help:
    Result.Help = true;
    return Error::success();
  case OPT_save_temps:
  case OPT_keep:
    Result.SaveTemps = true;
    return Error::success();
  case OPT_save_temps_where:
    if (One.value() != "cwd" && One.value() != "obj")
      return error("bad value in '" + Text + "': expected cwd or obj");
    Result.SaveTemps = true;
    KeepBesideOutput = One.value() == "obj";
    return Error::success();
  case OPT_keep_dir:
    Result.KeepDir = One.value();
    return Error::success();
  case OPT_archiver_binary:
    Result.Archiver = One.value();
    return Error::success();
  case OPT_Xarchive:
    for (std::string &Word : splitList(One.value()))
      Result.ArchiveArgs.push_back(std::move(Word));
    return Error::success();
  case OPT_machine:
    if (One.value() != "64")
      return error("'" + Text + "' is not supported; only 64 bits are");
    return Error::success();

  // Language and preprocessor.
  case OPT_std:
    Result.Standard = One.value();
    return Error::success();
  case OPT_define:
  case OPT_undefine:
  case OPT_include_path: {
    const char *Name = One.id() == OPT_define     ? "-D"
                       : One.id() == OPT_undefine ? "-U"
                                                  : "-I";
    Result.CompileArgs.push_back((Name + One.value()).str());
    return Error::success();
  }
  case OPT_system_include:
  case OPT_force_include:
    Result.CompileArgs.push_back(One.id() == OPT_force_include ? "-include"
                                                               : "-isystem");
    Result.CompileArgs.push_back(One.value().str());
    return Error::success();
  case OPT_no_exceptions:
    Result.CompileArgs.push_back("-fno-exceptions");
    return Error::success();
  case OPT_disable_warnings:
    WarnOfOldGpus = false;
    Result.CompileArgs.push_back("-w");
    return Error::success();
  case OPT_no_deprecated_gpu_targets:
    WarnOfOldGpus = false;
    return Error::success();
  case OPT_werror_kind:
    for (StringRef Kind : split(One.value(), ','))
      if (Kind == "all-warnings")
        Result.CompileArgs.push_back("-Werror");
      else if (!is_contained({"cross-execution-space-call",
                              "default-stream-launch", "missing-launch-bounds",
                              "ext-lambda-captures-this"},
                             Kind))
        Result.CompileArgs.push_back(("-Werror=" + Kind).str());
    return Error::success();

  // Optimisation and code generation.
  case OPT_optimize:
    Result.OptLevel = One.value().empty() ? "1" : One.value();
    return Error::success();
  case OPT_dopt:
    Result.DeviceOptimised = One.value() == "on";
    return Error::success();
  case OPT_debug:
    Result.Debug = true;
    Result.CompileArgs.push_back("-g");
    return Error::success();
  case OPT_device_debug:
    Result.DeviceDebug = true;
    return Error::success();
  case OPT_lineinfo:
    device("-gline-tables-only");
    return Error::success();
  case OPT_fast_math:
    Result.CudaArgs.push_back("-fgpu-flush-denormals-to-zero");
    Result.CudaArgs.push_back("-fgpu-approx-transcendentals");
    mllvm("-nvptx-prec-divf32=1");
    mllvm("-nvptx-prec-sqrtf32=0");
    return Error::success();
  case OPT_ftz:
    if (Error Failed = boolean(One, On))
      return Failed;
    Result.CudaArgs.push_back(On ? "-fgpu-flush-denormals-to-zero"
                                 : "-fno-gpu-flush-denormals-to-zero");
    return Error::success();
  case OPT_prec_div:
    if (Error Failed = boolean(One, On))
      return Failed;
    mllvm(On ? "-nvptx-prec-divf32=2" : "-nvptx-prec-divf32=1");
    return Error::success();
  case OPT_prec_sqrt:
    if (Error Failed = boolean(One, On))
      return Failed;
    mllvm(On ? "-nvptx-prec-sqrtf32=1" : "-nvptx-prec-sqrtf32=0");
    return Error::success();
  case OPT_fmad:
    if (Error Failed = boolean(One, On))
      return Failed;
    device(On ? "-ffp-contract=fast" : "-ffp-contract=off");
    return Error::success();
  case OPT_maxrregcount: {
    unsigned Registers;
    if (One.value().getAsInteger(10, Registers))
      return error("bad value in '" + Text + "': expected a number");
    ptxas("--maxrregcount=" + One.value());
    return Error::success();
  }
  case OPT_resource_usage:
    ptxas("-v");
    return Error::success();

  // Options for one tool.
  case OPT_Xcompiler:
    return xcompiler(One.value(), Text);
  case OPT_Xptxas:
    for (const std::string &Word : splitList(One.value()))
      ptxas(Word);
    return Error::success();
  case OPT_Xnvlink:
    for (std::string &Word : splitList(One.value()))
      Result.DeviceLinkArgs.push_back(std::move(Word));
    return Error::success();
  case OPT_Xlinker:
    for (const std::string &Word : splitList(One.value())) {
      addLink("-Xlinker");
      addLink(Word);
    }
    return Error::success();

  // Linking.
  case OPT_library:
    if (!isCudaRuntime(One.value()))
      addLink("-l" + One.value());
    return Error::success();
  case OPT_library_path:
    Result.LinkArgs.push_back(("-L" + One.value()).str());
    return Error::success();
  case OPT_shared:
    Result.LinkArgs.push_back("-shared");
    return Error::success();
  case OPT_cudart:
    if (One.value() != "none" && One.value() != "shared" &&
        One.value() != "static")
      return error("bad value in '" + Text +
                   "': expected none, shared or static");
    Result.LinkRuntime = One.value() != "none";
    return Error::success();

  // Dependencies.
  case OPT_dependencies_too:
  case OPT_user_dependencies_too:
    Result.Dependencies = true;
    Result.SystemHeaders = One.id() == OPT_dependencies_too;
    return Error::success();
  case OPT_dependency_output:
    Result.DependencyFile = One.value();
    return Error::success();
  case OPT_dependency_target:
  case OPT_dependency_target_quoted:
    Result.DependencyTargets.push_back(
        One.id() == OPT_dependency_target ? "-MT" : "-MQ");
    Result.DependencyTargets.push_back(One.value().str());
    return Error::success();
  case OPT_dependency_phony:
    Result.PhonyTargets = true;
    return Error::success();
  default:
    break;
  }
  if (One.Arg->getOption().hasFlag(NoEffect))
    return Error::success();
  return error("internal error: nothing handles '" + Text + "'");
}

Error Reader::read(const Argument &One) {
  if (One.isInput())
    return input(One.value());
  if (!One.Clang)
    return readOwn(One);
  StringRef Spelling = One.Arg->getSpelling();
  if (Spelling.starts_with("-print-") || Spelling.starts_with("--print-") ||
      Spelling.starts_with("-dump")) {
    Result.Questions.push_back(One.text(Line.list()));
    return Error::success();
  }
  return readClang(*One.Arg, Line.list(), /*HostOnly=*/false);
}

Error Reader::check() {
  if (Result.Help || Result.Version || Result.ListArchs || Result.ListCodes ||
      Result.PrintCudaPath || !Result.Questions.empty())
    return Error::success();
  if (Result.Inputs.empty())
    return error("no input files");

  size_t Sources = count_if(Result.Inputs, [](const Input &One) {
    return One.Lang != Language::Linker;
  });
  bool OneOutput = Result.What == Goal::Link || Result.What == Goal::Library ||
                   Result.What == Goal::DeviceLink;
  if (!OneOutput && Sources == 0)
    return error("nothing to compile: '" + GoalOption +
                 "' was given, but only files for the linker");
  if (!OneOutput && Sources > 1 && !Result.Output.empty() &&
      Result.What != Goal::Dependencies)
    return error("'-o " + Result.Output + "' with '" + GoalOption + "' and " +
                 Twine(Sources) +
                 " source files; leave out -o, or compile "
                 "them one by one");
  if (Result.Sides != Side::Both && OneOutput) {
    if (Result.EmitLlvm)
      return error("-emit-llvm needs -c or -S");
    return error("'--cuda-host-only' and '--cuda-device-only' cannot link; "
                 "add -c or -S");
  }
  if (Result.EmitLlvm && OneOutput)
    return error("-emit-llvm needs -c or -S");
  if (Result.What == Goal::Link && Result.atLink())
    for (StringRef Arg : Result.LinkArgs)
      if ((Arg.starts_with("-fuse-ld=") && Arg != "-fuse-ld=lld") ||
          Arg.starts_with("--ld-path="))
        return error("'-flto' links with lld " + Twine(LLVM_VERSION_MAJOR) +
                     "; leave out '" + Arg + "'");
  return Error::success();
}

Expected<Invocation> Reader::run() {
  for (const Argument &One : Line.arguments())
    if (Error Failed = read(One))
      return std::move(Failed);
  Result.ArchsGiven = Archs.given();
  Expected<std::vector<GpuArch>> List = Archs.finish(Result.NativeArch);
  if (!List)
    return List.takeError();
  Result.Archs = std::move(*List);
  if (std::string Text = Archs.warning();
      !Text.empty() && WarnOfOldGpus && Result.hasCuda())
    Result.Warnings.push_back(std::move(Text));
  if (KeepBesideOutput && Result.KeepDir.empty())
    Result.KeepDir = Result.Output.empty()
                         ? Result.OutputDirectory
                         : sys::path::parent_path(Result.Output).str();
  if (Error Failed = check())
    return std::move(Failed);
  return std::move(Result);
}

} // namespace

static bool hasInput(const Invocation &Asked, Language Lang) {
  return any_of(Asked.Inputs,
                [&](const Input &One) { return One.Lang == Lang; });
}

bool Invocation::hasCuda() const { return hasInput(*this, Language::Cuda); }
bool Invocation::hasMlir() const { return hasInput(*this, Language::Mlir); }

Expected<Invocation> understand(const CommandLine &Line) {
  return Reader(Line).run();
}

} // namespace dragon::driver
