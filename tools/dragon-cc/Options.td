//===- Options.td - the command line of dragon-cc -------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// nvcc's options and our own. Each says in one flag what becomes of it:
//   Ours         dragon-cc acts on it itself
//   Translated   becomes other options of clang, ptxas or the linker
//   Forwarded    clang knows it under the same name
//   NoEffect     accepted; there is nothing to do here
//   Unsupported  an error that names it
// What stands here neither nor in clang's own table is an unknown option.
// docs/driver.md has the table of all of these, made from this file by
// scripts/check-docs --write.
//
//===----------------------------------------------------------------------===//

include "llvm/Option/OptParser.td"

def Ours : OptionFlag;
def Translated : OptionFlag;
def Forwarded : OptionFlag;
def NoEffect : OptionFlag;
def Unsupported : OptionFlag;

class What<OptionFlag flag> { list<OptionFlag> Flags = [flag]; }

// nvcc gives most options a long and a short name, takes either after one or
// two dashes, and a value either joined with '=' or as the next argument.
multiclass Switch<string short, string long, OptionFlag flag, string help> {
  def NAME : Flag<["--", "-"], long>, What<flag>, HelpText<help>;
  def NAME#_short : Flag<["-", "--"], short>, Alias<!cast<Option>(NAME)>;
}
// A one-letter or one-name switch.
multiclass Switch1<string name, OptionFlag flag, string help> {
  def NAME : Flag<["--", "-"], name>, What<flag>, HelpText<help>;
}
multiclass Value<string short, string long, OptionFlag flag, string meta,
                 string help> {
  def NAME : Joined<["--", "-"], long#"=">, What<flag>, MetaVarName<meta>,
             HelpText<help>;
  def NAME#_separate : Separate<["--", "-"], long>,
                       Alias<!cast<Option>(NAME)>;
  def NAME#_short_joined : Joined<["-", "--"], short#"=">,
                           Alias<!cast<Option>(NAME)>;
  def NAME#_short : Separate<["-", "--"], short>, Alias<!cast<Option>(NAME)>;
}
multiclass Value1<string name, OptionFlag flag, string meta, string help> {
  def NAME : Joined<["--", "-"], name#"=">, What<flag>, MetaVarName<meta>,
             HelpText<help>;
  def NAME#_separate : Separate<["--", "-"], name>,
                       Alias<!cast<Option>(NAME)>;
}
// -Idir, -I dir, --include-path dir, --include-path=dir
multiclass Prefix<string short, string long, OptionFlag flag, string meta,
                  string help> {
  def NAME : JoinedOrSeparate<["-"], short>, What<flag>, MetaVarName<meta>,
             HelpText<help>;
  def NAME#_long : Joined<["--", "-"], long#"=">, Alias<!cast<Option>(NAME)>;
  def NAME#_long_separate : Separate<["--", "-"], long>,
                            Alias<!cast<Option>(NAME)>;
}

//===-- What to make ------------------------------------------------------===//

defm compile : Switch<"c", "compile", Ours, "compile to object files">;
defm assemble : Switch1<"S", Ours, "compile to assembly of the host side">;
defm preprocess : Switch<"E", "preprocess", Ours,
                         "preprocess the host side to stdout or -o">;
defm syntax_only : Switch1<"fsyntax-only", Ours, "check the source only">;
defm link : Switch1<"link", NoEffect, "link (the default)">;
defm lib : Switch1<"lib", Ours, "compile and put into a static library">;
defm ptx : Switch1<"ptx", Ours, "compile device code to PTX">;
defm cubin : Switch1<"cubin", Ours,
                    "compile device code to a GPU binary">;
defm fatbin : Switch1<"fatbin", Ours,
                     "compile device code to a fat binary file">;
defm cuda : Switch1<"cuda", Ours,
                   "make a .cu.cpp.ii file: the source with all that it "
                   "includes, for dragon-cc">;
defm optix_ir : Switch1<"optix-ir", Unsupported, "make OptiX IR">;
defm ltoir : Switch1<"ltoir", Unsupported, "make LTO IR">;
defm run : Switch1<"run", Unsupported, "run the program">;
defm output : Prefix<"o", "output-file", Ours, "<file>", "write to this file">;
defm output_directory : Value<"odir", "output-directory", Ours, "<dir>",
                              "write output files that -o does not name here">;
def language : JoinedOrSeparate<["-", "--"], "x">, What<Ours>,
  MetaVarName<"<cu|c++|c>">, HelpText<"language of the inputs that follow">;
def cuda_device_only : Flag<["--"], "cuda-device-only">, What<Ours>,
  HelpText<"compile the device side only">;
def cuda_host_only : Flag<["--"], "cuda-host-only">, What<Ours>,
  HelpText<"compile the host side only">;
def offload_device_only : Flag<["--"], "offload-device-only">,
  Alias<cuda_device_only>;
def offload_host_only : Flag<["--"], "offload-host-only">,
  Alias<cuda_host_only>;
def emit_llvm : Flag<["-"], "emit-llvm">, What<Ours>,
  HelpText<"with -S or -c: LLVM IR or bitcode of the host side">;

//===-- Architectures -----------------------------------------------------===//

defm arch : Value<"arch", "gpu-architecture", Translated, "<sm_90>",
                  "GPU to compile for; native, all, all-major; "
                  "default sm_75 with PTX">;
defm gpu_code : Value<"code", "gpu-code", Translated, "<sm_90,...>",
                  "GPUs to include code for, with -arch=compute_X">;
defm generate_code : Value<"gencode", "generate-code", Translated,
                           "arch=compute_90,code=[sm_90,compute_90]",
                           "include code for a GPU; may be repeated">;
def cuda_gpu_arch : Joined<["--"], "cuda-gpu-arch=">, What<Translated>,
  MetaVarName<"<sm_90>">, HelpText<"clang's name for -gencode">;
def offload_arch : Joined<["--"], "offload-arch=">, Alias<cuda_gpu_arch>;
def offload_arch_separate : Separate<["--"], "offload-arch">,
  Alias<cuda_gpu_arch>;
def cuda_include_ptx : Joined<["--"], "cuda-include-ptx=">, What<Translated>,
  MetaVarName<"<sm_90|all>">, HelpText<"include PTX too">;
def no_cuda_include_ptx : Joined<["--"], "no-cuda-include-ptx=">,
  What<Translated>, MetaVarName<"<sm_90|all>">, HelpText<"include no PTX">;
defm list_gpu_arch : Switch<"arch-ls", "list-gpu-arch", Ours,
                            "list the virtual architectures known">;
defm list_gpu_code : Switch<"code-ls", "list-gpu-code", Ours,
                            "list the GPU architectures known">;
defm rdc : Value<"rdc", "relocatable-device-code", Ours, "<true|false>",
                 "relocatable device code: kernels and device functions of "
                 "several files, linked with each other">;
defm device_c : Switch<"dc", "device-c", Ours,
                       "compile to objects with relocatable device code: "
                       "-rdc=true -c">;
defm device_w : Switch<"dw", "device-w", Ours,
                       "compile to objects with executable device code: "
                       "-rdc=false -c">;
defm device_link : Switch<"dlink", "device-link", Ours,
                          "link relocatable device code to an object for "
                          "another linker; default a_dlink.o">;
defm dlto : Switch<"dlto", "dlink-time-opt", NoEffect,
                   "relocatable device code is always optimised at the link">;
defm nvlto : Switch1<"lto", NoEffect,
                    "relocatable device code is always optimised at the link">;
defm gen_opt_lto : Switch1<"gen-opt-lto", NoEffect,
                          "relocatable device code is always optimised at the "
                          "link">;
defm ewp : Switch<"ewp", "extensible-whole-program", Unsupported,
                  "extensible whole program device code">;
defm relocatable_ptx : Switch<"reloc-ptx", "relocatable-ptx", Unsupported,
                              "relocatable PTX">;
defm no_device_link : Switch<"nodlink", "no-device-link", Ours,
                             "skip the device link step">;
defm cudadevrt : Value1<"cudadevrt", NoEffect, "<none|static>",
                       "device runtime library; linked where it is needed">;

//===-- dragon-cc's own ---------------------------------------------------===//

def dragon_targets : Joined<["--"], "dragon-targets=">, What<Ours>,
  MetaVarName<"<cuda,cpu>">,
  HelpText<"what the program can run on: cuda (a GPU), cpu (the host "
           "processor); default both">;
def dragon_summaries : Joined<["--"], "dragon-summaries=">, What<Ours>,
  MetaVarName<"<file.yaml>">,
  HelpText<"what functions of a library do to device memory; may be "
           "repeated, see docs/summaries.md">;
def dragon_summaries_separate : Separate<["--"], "dragon-summaries">,
  Alias<dragon_summaries>;
def dragon_clang : Joined<["--"], "dragon-clang=">, What<Ours>,
  MetaVarName<"<clang++>">, HelpText<"the clang++ 22 to compile with">;
def dragon_diagnostics : Joined<["--"], "dragon-diagnostics=">, What<Ours>,
  MetaVarName<"<sarif[:file]>">,
  HelpText<"print the remarks as SARIF 2.1.0, or write them to the file, for "
           "editors and reviews">;
def dragon_precompiled : Joined<["--"], "dragon-precompiled=">, What<Ours>,
  MetaVarName<"<dir>">,
  HelpText<"compile CUDA's headers once, into this folder, for all files with "
           "the same options; with --dragon-targets=cpu or -rdc=true">;
def cuda_path : Joined<["--"], "cuda-path=">, What<Ours>, MetaVarName<"<dir>">,
  HelpText<"CUDA toolkit; else CUDA_PATH, CUDA_HOME, the one dragon-cc was "
           "built with, /usr/local/cuda, NVIDIA's wheels">;
def cuda_path_separate : Separate<["--"], "cuda-path">, Alias<cuda_path>;
def dragon_report : Joined<["--"], "dragon-report=">, What<Ours>,
  MetaVarName<"<dir>">,
  HelpText<"keep what the compiler says in this folder, for the page that a "
           "run with DRAGON_REPORT=<file.html> makes">;
defm print_cuda_path : Switch1<"print-cuda-path", Ours,
  "print the folder of the CUDA toolkit that is used">;
multiclass DragonSwitch<string name, string help> {
  def NAME : Flag<["-"], "fdragon-"#name>, What<Translated>, HelpText<help>;
  def no_#NAME : Flag<["-"], "fno-dragon-"#name>, What<Translated>,
                 HelpText<"switch -fdragon-"#name#" off">;
}
defm dragon_slicing : DragonSwitch<"slicing",
  "clone kernels so that launches larger than the device run in slices, "
  "of blocks or of a loop (default)">;
defm dragon_access_counts : DragonSwitch<"access-counts",
  "copy kernels that access data here and there, to count what they access "
  "most while they run on data larger than the device (default)">;
def dragon_heat : Flag<["-"], "fdragon-heat">, Alias<dragon_access_counts>;
def no_dragon_heat : Flag<["-"], "fno-dragon-heat">,
                     Alias<no_dragon_access_counts>;
defm dragon_paging : DragonSwitch<"paging",
  "copy kernels whose addresses are data, to fetch pages of what is not in "
  "device memory (default)">;
defm dragon_restrict : DragonSwitch<"restrict",
  "copy kernels whose loads wait for stores, for launches on buffers that do "
  "not overlap (default)">;
defm dragon_unroll : DragonSwitch<"unroll",
  "unroll loops of device code as nvcc does (default)">;
defm dragon_trace_accesses : DragonSwitch<"trace-accesses",
  "kernels on the host processor tell their accesses, and directives their "
  "reasons, for DRAGON_CHECK, DRAGON_ORACLE, DRAGON_PAGER and "
  "DRAGON_FOOTPRINTS; slow">;
defm dragon_lifetime : DragonSwitch<"lifetime",
  "insert maps, discards and other directives into host code (default)">;
defm dragon_staging : DragonSwitch<"staging",
  "elide host buffers that only stage files in and out (default)">;

defm dragon_wavefront : DragonSwitch<"wavefront",
  "run launches that follow each other together, slice by slice (default)">;

def lto : Flag<["-"], "flto">, What<Ours>,
  HelpText<"whole program: insert directives at the link, into the host code "
           "of all source files together; for compilations and the link">;
def lto_kind : Joined<["-"], "flto=">, What<Ours>, MetaVarName<"<full|thin>">,
  HelpText<"as -flto; all files are one module in either case">;
def no_lto : Flag<["-"], "fno-lto">, What<Ours>,
  HelpText<"switch -flto off">;

//===-- The driver itself -------------------------------------------------===//

defm verbose : Switch<"v", "verbose", Ours, "print each command that is run">;
def hash_hash_hash : Flag<["-"], "###">, What<Ours>,
  HelpText<"print the commands, run none">;
defm dryrun : Switch1<"dryrun", Ours, "as -###">;
defm version : Switch<"V", "version", Ours, "print the version">;
defm help : Switch<"h", "help", Ours, "print this text">;
defm save_temps : Switch1<"save-temps", Ours,
                         "keep intermediate files">;
def save_temps_where : Joined<["--", "-"], "save-temps=">, What<Ours>,
  MetaVarName<"<cwd|obj>">,
  HelpText<"keep intermediate files here, or beside the output">;
defm keep : Switch1<"keep", Ours, "keep intermediate files">;
defm keep_dir : Value1<"keep-dir", Ours, "<dir>",
                      "where kept intermediate files go; default here">;
defm options_file : Value<"optf", "options-file", Ours, "<file,...>",
                          "read options from files, as @file does">;
defm archiver_binary : Value<"arbin", "archiver-binary", Ours, "<ar>",
                             "the ar that -lib uses">;
defm compiler_bindir : Value<"ccbin", "compiler-bindir", NoEffect, "<path>",
                             "host compiler; it is always clang here">;
defm threads : Value<"t", "threads", NoEffect, "<n>", "parallel compilation">;
defm split_compile : Value1<"split-compile", NoEffect, "<n>",
                           "parallel compilation">;
defm split_compile_extended : Value1<"split-compile-extended", NoEffect, "<n>", "parallel compilation">;
defm jobserver : Switch1<"jobserver", NoEffect,
                        "parallel compilation">;
defm objtemp : Switch<"objtemp", "objdir-as-tempdir", NoEffect,
                      "where intermediate files go">;
defm allow_unsupported_compiler : Switch1<"allow-unsupported-compiler", NoEffect, "do not check the host compiler">;
defm use_local_env : Switch1<"use-local-env", NoEffect,
                            "Windows only">;
defm force_cl_env_setup : Switch1<"force-cl-env-setup",
                                 NoEffect, "Windows only">;
defm target_directory : Value<"target-dir", "target-directory", NoEffect,
                              "<dir>", "folder of the toolkit's target">;
defm noprof : Switch<"noprof", "dont-use-profile", NoEffect,
                     "do not read nvcc.profile">;
defm time : Value1<"time", NoEffect, "<file>", "write step times">;
defm clean : Switch<"clean", "clean-targets", Unsupported,
                    "delete what would be made">;
defm forward_host : Switch1<"forward-unknown-to-host-compiler", NoEffect,
  "clang's own options are always taken">;
defm forward_linker : Switch1<"forward-unknown-to-host-linker", NoEffect,
  "clang's own options are always taken">;
defm forward_opts : Switch1<"forward-unknown-opts",
  NoEffect, "clang's own options are always taken">;

//===-- Language and preprocessor -----------------------------------------===//

defm std : Value1<"std", Forwarded, "<c++17>", "language standard">;
defm define : Prefix<"D", "define-macro", Forwarded, "<name[=value]>",
                     "define a macro">;
defm undefine : Prefix<"U", "undefine-macro", Forwarded, "<name>",
                       "undefine a macro">;
defm include_path : Prefix<"I", "include-path", Forwarded, "<dir>",
                           "search headers here">;
def system_include : JoinedOrSeparate<["-"], "isystem">, What<Forwarded>,
  MetaVarName<"<dir>">, HelpText<"search system headers here">;
def system_include_joined : Joined<["-"], "isystem=">, Alias<system_include>;
def system_include_long : Joined<["--", "-"], "system-include=">,
  Alias<system_include>;
def system_include_long_separate : Separate<["--", "-"], "system-include">,
  Alias<system_include>;
def force_include : Separate<["-", "--"], "include">, What<Forwarded>,
  MetaVarName<"<file>">, HelpText<"include a file first">;
def pre_include : Joined<["--", "-"], "pre-include=">, Alias<force_include>;
def pre_include_separate : Separate<["--", "-"], "pre-include">,
  Alias<force_include>;
defm relaxed_constexpr : Switch1<"expt-relaxed-constexpr", NoEffect,
  "constexpr functions are always callable from device code">;
defm extended_lambda : Switch1<"extended-lambda", NoEffect,
                              "device lambdas are always allowed">;
defm expt_extended_lambda : Switch1<"expt-extended-lambda", NoEffect, "device lambdas are always allowed">;
defm no_exceptions : Switch<"noeh", "no-exceptions", Translated,
                            "as -fno-exceptions">;
defm no_hd_initializer_list : Switch<"nohdinitlist",
  "no-host-device-initializer-list", NoEffect,
  "std::initializer_list in device code">;
defm no_hd_move_forward : Switch<"nohdmoveforward",
  "no-host-device-move-forward", NoEffect, "std::move in device code">;
defm default_stream : Value1<"default-stream", NoEffect,
  "<legacy|null|per-thread>",
  "stream 0 is the legacy stream, which waits for all that a per-thread one "
  "waits for">;
defm brief_diag : Value<"brief-diag", "brief-diagnostics", NoEffect,
                        "<true|false>", "shape of messages">;
defm err_no : Switch<"err-no", "display-error-number", NoEffect,
                     "numbers in messages">;
defm no_err_no : Switch<"no-err-no", "no-display-error-number", NoEffect,
                        "numbers in messages">;
defm diag_error : Value1<"diag-error", NoEffect, "<n,...>",
                        "nvcc's own messages">;
defm diag_suppress : Value1<"diag-suppress", NoEffect,
                           "<n,...>", "nvcc's own messages">;
defm diag_warn : Value1<"diag-warn", NoEffect, "<n,...>",
                       "nvcc's own messages">;
defm disable_warnings : Switch<"w", "disable-warnings", Translated,
                               "print no warnings">;
def werror_kind : Joined<["-", "--"], "Werror=">, What<Translated>,
  MetaVarName<"<kind,...>">,
  HelpText<"warnings to take for errors; all-warnings for all">;
defm no_deprecated_gpu_targets : Switch1<"Wno-deprecated-gpu-targets", Ours,
  "do not warn of GPUs older than the toolkit knows">;
defm w_default_stream : Switch1<"Wdefault-stream-launch", NoEffect,
                                "a warning of nvcc">;
defm w_launch_bounds : Switch1<"Wmissing-launch-bounds", NoEffect,
                               "a warning of nvcc">;
defm w_lambda_this : Switch1<"Wext-lambda-captures-this", NoEffect,
                             "a warning of nvcc">;

//===-- Optimisation and code generation ----------------------------------===//

def optimize : Joined<["-"], "O">, What<Translated>, MetaVarName<"<level>">,
  HelpText<"optimisation of the host side (default 2, with -g 0); device "
           "code always has level 3 unless -G or -Xptxas -O asks otherwise">;
def optimize_long : Joined<["--"], "optimize=">, Alias<optimize>;
def optimize_long_separate : Separate<["--"], "optimize">, Alias<optimize>;
defm ofast_compile : Value<"Ofc", "Ofast-compile", NoEffect, "<level>",
                           "faster compilation">;
defm dopt : Value1<"dopt", Translated, "<on>",
                  "optimise device code in spite of -G">;
defm debug : Switch<"g", "debug", Forwarded, "debug information">;
defm device_debug : Switch<"G", "device-debug", Translated,
                           "debug device code: unoptimised, with debug "
                           "information">;
defm lineinfo : Switch<"lineinfo", "generate-line-info", Translated,
                       "line numbers in device code">;
defm fast_math : Switch1<"use_fast_math", Translated,
                        "fast device mathematics: -ftz=true "
                        "-prec-div=false -prec-sqrt=false -fmad=true and "
                        "fast functions">;
defm ftz : Value1<"ftz", Translated, "<true|false>",
                 "flush small floats to zero in device code">;
defm prec_div : Value1<"prec-div", Translated, "<true|false>",
                      "IEEE division of floats in device code">;
defm prec_sqrt : Value1<"prec-sqrt", Translated, "<true|false>",
                       "IEEE square root of floats in device code">;
defm fmad : Value1<"fmad", Translated, "<true|false>",
                  "contract to multiply-add in device code">;
defm maxrregcount : Value1<"maxrregcount", Translated, "<n>",
                          "registers per thread">;
defm resource_usage : Switch<"res-usage", "resource-usage", Translated,
                             "print the kernels' registers and memory">;
defm restrict : Switch1<"restrict", NoEffect,
                       "all kernel pointers are __restrict__">;
defm extra_vectorization : Switch1<"extra-device-vectorization", NoEffect, "vectorise device code more">;
defm keep_device_functions : Switch1<"keep-device-functions", NoEffect, "keep unused device functions">;
defm src_in_ptx : Switch<"src-in-ptx", "source-in-ptx", NoEffect,
                         "source lines in PTX">;
defm opt_info : Value<"opt-info", "optimization-info", NoEffect, "<inline>",
                      "use -Rpass= instead">;
defm jump_table : Value<"jtd", "jump-table-density", NoEffect, "<n>",
                        "jump tables in device code">;
defm compress_mode : Value1<"compress-mode", Translated,
                           "<default,...>", "compression of GPU code">;
defm no_compress : Switch1<"no-compress", Translated,
                          "GPU code is not compressed">;
defm static_stub : Value1<"static-global-template-stub", NoEffect, "<true|false>",
  "linkage of kernel stubs">;
defm hidden_entity : Value1<"device-entity-has-hidden-visibility", NoEffect, "<true|false>",
  "visibility of device variables">;
defm machine : Value<"m", "machine", Ours, "<64>", "only 64 bits">;
defm m64 : Switch1<"m64", NoEffect, "64 bits (the default)">;
defm libdevice_directory : Value<"ldir", "libdevice-directory", NoEffect,
                                 "<dir>", "the toolkit's libdevice is used">;
defm no_align_double : Switch1<"no-align-double", NoEffect, "32 bits only">;

//===-- Options for one tool ----------------------------------------------===//

defm Xcompiler : Value<"Xcompiler", "compiler-options", Translated,
                       "<option,...>", "options for host compilations">;
defm Xptxas : Value<"Xptxas", "ptxas-options", Translated, "<option,...>",
                    "options for ptxas">;
defm Xlinker : Value<"Xlinker", "linker-options", Translated, "<option,...>",
                     "options for the linker">;
defm Xarchive : Value<"Xarchive", "archive-options", Ours, "<option,...>",
                      "options for ar">;
defm Xnvlink : Value<"Xnvlink", "nvlink-options", Translated, "<option,...>",
                     "options for nvlink">;

//===-- Linking -----------------------------------------------------------===//

defm library : Prefix<"l", "library", Forwarded, "<name>", "link a library">;
defm library_path : Prefix<"L", "library-path", Forwarded, "<dir>",
                           "search libraries here">;
defm shared : Switch1<"shared", Forwarded, "make a shared library">;
defm cudart : Value1<"cudart", Ours, "<shared|static|none>",
                    "none: do not link the runtime library; else it is "
                    "always libdragonrt.so">;
defm host_linker_script : Value<"hls", "host-linker-script", NoEffect,
                                "<use-lcs|gen-lcs>", "linker script">;
defm aug_hls : Switch<"aug-hls", "augment-host-linker-script", NoEffect,
                      "linker script">;
defm relocatable_link : Switch<"r", "relocatable-link", Unsupported,
                               "link to an object">;

//===-- Dependencies ------------------------------------------------------===//

defm dependencies : Switch<"M", "generate-dependencies", Ours,
                           "print a make rule, compile nothing">;
defm user_dependencies : Switch<"MM", "generate-nonsystem-dependencies", Ours,
                                "as -M, without system headers">;
defm dependencies_too : Switch<"MD", "generate-dependencies-with-compile",
                               Ours, "write a make rule while compiling">;
defm user_dependencies_too : Switch<"MMD",
  "generate-nonsystem-dependencies-with-compile", Ours,
  "as -MD, without system headers">;
defm dependency_output : Prefix<"MF", "dependency-output", Ours, "<file>",
                                "write the make rule here">;
defm dependency_target : Prefix<"MT", "dependency-target-name", Ours,
                                "<target>", "the make rule's target">;
def dependency_target_quoted : JoinedOrSeparate<["-"], "MQ">, What<Ours>,
  MetaVarName<"<target>">, HelpText<"as -MT, quoted for make">;
defm dependency_phony : Switch<"MP", "generate-dependency-targets", Ours,
                               "a rule for each header">;
