//===- OwnOptions.cpp - what the options of Options.td ask for ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One table: each option and what it does to the invocation. Most set a field
// or add to a list (OptionActions.h); what takes more has a function.
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-cc/OptionActions.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace llvm::opt;

namespace dragon::driver {

namespace {

//===----------------------------------------------------------------------===//
// What takes more than an entry of the table
//===----------------------------------------------------------------------===//

Error dependencies(OptionReader &Reader, const Argument &One) {
  // gcc's -E -M is -M.
  if (Reader.Result.What == Goal::Preprocess)
    Reader.GoalOption.clear();
  return Reader.goal(Goal::Dependencies, Reader.text(One));
}

Error language(OptionReader &Reader, const Argument &One) {
  return Reader.language(One.value());
}

Error arch(OptionReader &Reader, const Argument &One) {
  return Reader.Archs.arch(One.value());
}
Error gpuCode(OptionReader &Reader, const Argument &One) {
  return Reader.Archs.code(One.value());
}
Error generateCode(OptionReader &Reader, const Argument &One) {
  return Reader.Archs.gencode(One.value());
}
Error offloadArch(OptionReader &Reader, const Argument &One) {
  return Reader.Archs.offload(One.value());
}
Error includePtx(OptionReader &Reader, const Argument &One) {
  return Reader.Archs.includePtx(One.value(), One.id() == OPT_cuda_include_ptx);
}

Error targets(OptionReader &Reader, const Argument &One) {
  Invocation &Result = Reader.Result;
  StringRef Value = One.value();
  Result.Cuda = Result.Cpu = false;
  for (StringRef Target : split(Value, ','))
    if (Target == "cuda")
      Result.Cuda = true;
    else if (Target == "cpu")
      Result.Cpu = true;
    else
      return error("unknown target '" + Target + "' in '--dragon-targets=" +
                   Value + "'; expected cuda, cpu or cuda,cpu");
  return Error::success();
}

Error reportFolder(OptionReader &Reader, const Argument &One) {
  if (One.value().empty())
    return error("'" + Reader.text(One) + "' names no folder");
  Reader.Result.ReportFolder = One.value();
  return Error::success();
}

Error diagnostics(OptionReader &Reader, const Argument &One) {
  auto [Form, File] = One.value().split(':');
  if (Form != "sarif" || One.value() == "sarif:")
    return error("bad value in '" + Reader.text(One) +
                 "': expected sarif or sarif:FILE");
  Reader.Result.Sarif = File.empty() ? "-" : File.str();
  return Error::success();
}

Error lto(OptionReader &Reader, const Argument &One) {
  if (!is_contained({"full", "thin", "auto", "jobserver"}, One.value()))
    return error("unknown kind in '" + Reader.text(One) +
                 "'; -flto and -flto=thin are "
                 "known, and mean the same");
  Reader.Result.WholeProgram = true;
  Reader.Result.LinkArgs.push_back(Reader.text(One));
  return Error::success();
}

Error noLto(OptionReader &Reader, const Argument &) {
  Reader.Result.WholeProgram = false;
  Reader.Result.NoWholeProgram = true;
  return Error::success();
}

Error saveTempsWhere(OptionReader &Reader, const Argument &One) {
  if (One.value() != "cwd" && One.value() != "obj")
    return error("bad value in '" + Reader.text(One) +
                 "': expected cwd or obj");
  Reader.Result.SaveTemps = true;
  Reader.KeepBesideOutput = One.value() == "obj";
  return Error::success();
}

Error machine(OptionReader &Reader, const Argument &One) {
  if (One.value() != "64")
    return error("'" + Reader.text(One) +
                 "' is not supported; only 64 bits are");
  return Error::success();
}

Error withoutWarningOfOldGpus(OptionReader &Reader, const Argument &) {
  Reader.WarnOfOldGpus = false;
  return Error::success();
}

Error errorsOfKind(OptionReader &Reader, const Argument &One) {
  for (StringRef Kind : split(One.value(), ','))
    if (Kind == "all-warnings")
      Reader.Result.CompileArgs.push_back("-Werror");
    else if (!is_contained({"cross-execution-space-call",
                            "default-stream-launch", "missing-launch-bounds",
                            "ext-lambda-captures-this"},
                           Kind))
      Reader.Result.CompileArgs.push_back(("-Werror=" + Kind).str());
  return Error::success();
}

Error optimize(OptionReader &Reader, const Argument &One) {
  Reader.Result.OptLevel = One.value().empty() ? "1" : One.value();
  return Error::success();
}

Error deviceOptimised(OptionReader &Reader, const Argument &One) {
  Reader.Result.DeviceOptimised = One.value() == "on";
  return Error::success();
}

Error maxRegisters(OptionReader &Reader, const Argument &One) {
  unsigned Registers;
  if (One.value().getAsInteger(10, Registers))
    return error("bad value in '" + Reader.text(One) + "': expected a number");
  Reader.Result.CudaArgs.push_back("-Xcuda-ptxas");
  Reader.Result.CudaArgs.push_back(("--maxrregcount=" + One.value()).str());
  return Error::success();
}

Error xcompiler(OptionReader &Reader, const Argument &One) {
  return Reader.xcompiler(One.value(), Reader.text(One));
}

Error xlinker(OptionReader &Reader, const Argument &One) {
  for (const std::string &Word : splitList(One.value())) {
    Reader.addLink("-Xlinker");
    Reader.addLink(Word);
  }
  return Error::success();
}

Error compressMode(OptionReader &Reader, const Argument &One) {
  for (std::string Word : {std::string("-Xcuda-fatbinary"),
                           ("--compress-mode=" + One.value()).str()})
    Reader.Result.CudaArgs.push_back(std::move(Word));
  return Error::success();
}

Error library(OptionReader &Reader, const Argument &One) {
  if (!isCudaRuntime(One.value()))
    Reader.addLink("-l" + One.value());
  return Error::success();
}

Error cudart(OptionReader &Reader, const Argument &One) {
  if (One.value() != "none" && One.value() != "shared" &&
      One.value() != "static")
    return error("bad value in '" + Reader.text(One) +
                 "': expected none, shared or static");
  Reader.Result.LinkRuntime = One.value() != "none";
  return Error::success();
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

struct OwnOption {
  unsigned Id;
  Action First;
  Action Second = Nothing{};
};

using I = Invocation;

constexpr OwnOption Table[] = {
    // What to make.
    {OPT_compile, SetGoal{Goal::Object}},
    {OPT_assemble, SetGoal{Goal::Assembly}},
    {OPT_preprocess, SetGoal{Goal::Preprocess}},
    {OPT_syntax_only, SetGoal{Goal::Syntax}},
    {OPT_lib, SetGoal{Goal::Library}},
    {OPT_ptx, SetGoal{Goal::Ptx}},
    {OPT_cubin, SetGoal{Goal::Cubin}},
    {OPT_fatbin, SetGoal{Goal::Fatbin}},
    {OPT_cuda, SetGoal{Goal::CudaSource}},
    {OPT_dependencies, Set{&I::SystemHeaders}, Do{dependencies}},
    {OPT_user_dependencies, Set{&I::SystemHeaders, false}, Do{dependencies}},
    {OPT_output, SetText{&I::Output}},
    {OPT_output_directory, SetText{&I::OutputDirectory}},
    {OPT_language, Do{language}},
    {OPT_cuda_device_only, SetSide{Side::Device}},
    {OPT_cuda_host_only, SetSide{Side::Host}},
    {OPT_emit_llvm, Set{&I::EmitLlvm}},

    // Architectures.
    {OPT_arch, Do{arch}},
    {OPT_gpu_code, Do{gpuCode}},
    {OPT_generate_code, Do{generateCode}},
    {OPT_cuda_gpu_arch, Do{offloadArch}},
    {OPT_cuda_include_ptx, Do{includePtx}},
    {OPT_no_cuda_include_ptx, Do{includePtx}},
    {OPT_list_gpu_arch, Set{&I::ListArchs}},
    {OPT_list_gpu_code, Set{&I::ListCodes}},
    {OPT_print_cuda_path, Set{&I::PrintCudaPath}},
    {OPT_rdc, SetAsTold{&I::Relocatable}},
    {OPT_device_c, Set{&I::Relocatable}, SetGoal{Goal::Object}},
    {OPT_device_w, Set{&I::Relocatable, false}, SetGoal{Goal::Object}},
    {OPT_device_link, SetGoal{Goal::DeviceLink}},
    {OPT_no_device_link, Set{&I::LinkDevice, false}},

    // dragon-cc's own.
    {OPT_dragon_targets, Do{targets}},
    {OPT_dragon_summaries, AddValue{&I::Summaries, ""}},
    {OPT_dragon_clang, SetText{&I::ClangPath}},
    {OPT_dragon_diagnostics, Do{diagnostics}},
    {OPT_dragon_precompiled, SetText{&I::PrecompiledFolder}},
    {OPT_dragon_report, Do{reportFolder}, Set{&I::OptRecord}},
    {OPT_cuda_path, SetText{&I::CudaPath}},
    {OPT_dragon_slicing, TellPlugin{"slicing", true}},
    {OPT_no_dragon_slicing, TellPlugin{"slicing", false}},
    {OPT_dragon_trace_accesses, TellPlugin{"trace-accesses", true}},
    {OPT_no_dragon_trace_accesses, TellPlugin{"trace-accesses", false}},
    {OPT_dragon_lifetime, Set{&I::Lifetime}, TellPlugin{"lifetime", true}},
    {OPT_no_dragon_lifetime, Set{&I::Lifetime, false},
     TellPlugin{"lifetime", false}},
    {OPT_dragon_staging, TellPlugin{"staging", true}},
    {OPT_no_dragon_staging, TellPlugin{"staging", false}},
    {OPT_dragon_unroll, TellPlugin{"unroll", true}},
    {OPT_no_dragon_unroll, TellPlugin{"unroll", false}},
    {OPT_dragon_paging, TellPlugin{"paging", true}},
    {OPT_no_dragon_paging, TellPlugin{"paging", false}},
    {OPT_dragon_restrict, TellPlugin{"restrict", true}},
    {OPT_no_dragon_restrict, TellPlugin{"restrict", false}},
    {OPT_dragon_access_counts, TellPlugin{"access-counts", true}},
    {OPT_no_dragon_access_counts, TellPlugin{"access-counts", false}},
    {OPT_dragon_wavefront, TellPlugin{"wavefront", true}},
    {OPT_no_dragon_wavefront, TellPlugin{"wavefront", false}},
    {OPT_lto, Set{&I::WholeProgram}, AddAsWritten{&I::LinkArgs}},
    {OPT_lto_kind, Do{lto}},
    {OPT_no_lto, Do{noLto}, AddAsWritten{&I::LinkArgs}},

    // The driver.
    {OPT_verbose, Set{&I::Verbose}},
    {OPT_hash_hash_hash, Set{&I::DryRun}},
    {OPT_dryrun, Set{&I::DryRun}},
    {OPT_version, Set{&I::Version}},
    {OPT_help, Set{&I::Help}},
    {OPT_save_temps, Set{&I::SaveTemps}},
    {OPT_keep, Set{&I::SaveTemps}},
    {OPT_save_temps_where, Do{saveTempsWhere}},
    {OPT_keep_dir, SetText{&I::KeepDir}},
    {OPT_archiver_binary, SetText{&I::Archiver}},
    {OPT_Xarchive, AddList{&I::ArchiveArgs}},
    {OPT_machine, Do{machine}},

    // Language and preprocessor.
    {OPT_std, SetText{&I::Standard}},
    {OPT_define, AddValue{&I::CompileArgs, "-D"}},
    {OPT_undefine, AddValue{&I::CompileArgs, "-U"}},
    {OPT_include_path, AddValue{&I::CompileArgs, "-I"}},
    {OPT_system_include, AddPair{&I::CompileArgs, "-isystem"}},
    {OPT_force_include, AddPair{&I::CompileArgs, "-include"}},
    {OPT_no_exceptions, Add{&I::CompileArgs, "-fno-exceptions"}},
    {OPT_disable_warnings, Add{&I::CompileArgs, "-w"},
     Do{withoutWarningOfOldGpus}},
    {OPT_no_deprecated_gpu_targets, Do{withoutWarningOfOldGpus}},
    {OPT_werror_kind, Do{errorsOfKind}},

    // Optimisation and code generation.
    {OPT_optimize, Do{optimize}},
    {OPT_dopt, Do{deviceOptimised}},
    {OPT_debug, Set{&I::Debug}, Add{&I::CompileArgs, "-g"}},
    {OPT_device_debug, Set{&I::DeviceDebug}},
    {OPT_lineinfo, Add{&I::CudaArgs, "-Xarch_device -gline-tables-only"}},
    // Clang's headers have the fast sine, cosine and logarithms only.
    {OPT_fast_math,
     Add{&I::CudaArgs,
         "-fgpu-flush-denormals-to-zero -fgpu-approx-transcendentals "
         "-mllvm -nvptx-prec-divf32=0 -mllvm -nvptx-prec-sqrtf32=0 "
         "-mllvm -nvvm-reflect-add=__CUDA_PREC_SQRT=0 "
         "-D__nv_expf=__nv_fast_expf -D__nv_exp10f=__nv_fast_exp10f "
         "-D__nv_log10f=__nv_fast_log10f -D__nv_powf=__nv_fast_powf "
         "-D__nv_tanf=__nv_fast_tanf -D__nv_tanhf=__dragon_fast_tanhf"},
     TellPlugin{"approximate-division", true}},
    {OPT_ftz, AddAsTold{&I::CudaArgs, "-fgpu-flush-denormals-to-zero",
                        "-fno-gpu-flush-denormals-to-zero"}},
    {OPT_prec_div, AddAsTold{&I::CudaArgs, "-mllvm -nvptx-prec-divf32=2",
                             "-mllvm -nvptx-prec-divf32=1"}},
    {OPT_prec_sqrt, AddAsTold{&I::CudaArgs,
                              "-mllvm -nvptx-prec-sqrtf32=1 "
                              "-mllvm -nvvm-reflect-add=__CUDA_PREC_SQRT=1",
                              "-mllvm -nvptx-prec-sqrtf32=0 "
                              "-mllvm -nvvm-reflect-add=__CUDA_PREC_SQRT=0"}},
    {OPT_fmad, AddAsTold{&I::CudaArgs, "-Xarch_device -ffp-contract=fast",
                         "-Xarch_device -ffp-contract=off"}},
    {OPT_maxrregcount, Do{maxRegisters}},
    {OPT_resource_usage, Add{&I::CudaArgs, "-Xcuda-ptxas -v"}},

    // Options for one tool.
    {OPT_Xcompiler, Do{xcompiler}},
    {OPT_Xptxas, AddList{&I::CudaArgs, "-Xcuda-ptxas"}},
    {OPT_compress_mode, Do{compressMode}},
    {OPT_no_compress, Add{&I::CudaArgs, "-Xcuda-fatbinary --compress=false"}},
    {OPT_Xnvlink, AddList{&I::DeviceLinkArgs}},
    {OPT_Xlinker, Do{xlinker}},

    // Linking.
    {OPT_library, Do{library}},
    {OPT_library_path, AddValue{&I::LinkArgs, "-L"}},
    {OPT_shared, Add{&I::LinkArgs, "-shared"}},
    {OPT_cudart, Do{cudart}},

    // Dependencies.
    {OPT_dependencies_too, Set{&I::Dependencies}, Set{&I::SystemHeaders}},
    {OPT_user_dependencies_too, Set{&I::Dependencies},
     Set{&I::SystemHeaders, false}},
    {OPT_dependency_output, SetText{&I::DependencyFile}},
    {OPT_dependency_target, AddPair{&I::DependencyTargets, "-MT"}},
    {OPT_dependency_target_quoted, AddPair{&I::DependencyTargets, "-MQ"}},
    {OPT_dependency_phony, Set{&I::PhonyTargets}},
};

} // namespace

Error OptionReader::readOwn(const Argument &One) {
  const OwnOption *Entry = find_if(
      Table, [&](const OwnOption &Known) { return Known.Id == One.id(); });
  if (Entry == std::end(Table)) {
    if (One.Arg->getOption().hasFlag(NoEffect))
      return Error::success();
    return error("internal error: nothing handles '" + text(One) + "'");
  }
  if (Error Failed = perform(Entry->First, *this, One))
    return Failed;
  return perform(Entry->Second, *this, One);
}

} // namespace dragon::driver
