//===- NvccOptions.h - what the command line asks for -----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The command line, understood: which inputs, what to make of them, for which
// architectures, and nvcc's options translated to those of clang. Nothing here
// looks at files or starts programs.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_CC_NVCCOPTIONS_H
#define DRAGON_TOOLS_DRAGON_CC_NVCCOPTIONS_H

#include "tools/dragon-cc/CommandLine.h"

#include "llvm/ADT/ArrayRef.h"
#include <string>
#include <vector>

namespace dragon::driver {

/// What to make. Link is the whole way.
enum class Goal {
  Link,
  Library,
  Object,
  Assembly,
  Preprocess,
  Syntax,
  Dependencies, ///< -M and -MM
  Ptx,
  Cubin,
  Fatbin,
  CudaSource, ///< -cuda
  DeviceLink, ///< -dlink
};

enum class Language {
  Cuda,
  Cxx,
  C,
  Mlir,
  Other, ///< for clang: .s .ll
  Linker
};

struct Input {
  std::string Path;
  Language Lang;
};

/// One argument of the link: an input (its object) or an option in its place.
struct LinkArgument {
  int InputIndex = -1; ///< -1: Text is an option
  std::string Text;
};

struct GpuArch {
  std::string Name; ///< sm_90
  bool Ptx = false; ///< include PTX too
};

enum class Side { Both, Host, Device };

struct Invocation {
  Goal What = Goal::Link;
  Side Sides = Side::Both; ///< --cuda-host-only, --cuda-device-only
  bool EmitLlvm = false;
  std::vector<Input> Inputs;
  std::vector<LinkArgument> Link; ///< in order
  std::string Output;             ///< empty: the default for the goal
  std::string OutputDirectory;

  std::vector<GpuArch> Archs; ///< never empty; by number, lowest first
  bool NativeArch = false;    ///< Archs is to be asked of the machine
  bool ArchsGiven = false;    ///< else a device link takes those of its units
  bool Relocatable = false;   ///< -rdc=true
  bool LinkDevice = true;     ///< not -nodlink
  bool Cuda = true;           ///< --dragon-targets
  bool Cpu = true;

  std::vector<std::string> CompileArgs; ///< all compilations
  /// For compilations of CUDA alone. Square roots are rounded correctly unless
  /// the user says otherwise, as by nvcc: clang does not tell libdevice so.
  std::vector<std::string> CudaArgs = {"-mllvm",
                                       "-nvvm-reflect-add=__CUDA_PREC_SQRT=1"};
  std::vector<std::string> HostArgs;   ///< host side, C and C++ (-Xcompiler)
  std::vector<std::string> LinkArgs;   ///< order does not matter
  std::vector<std::string> PluginArgs; ///< -dragon-slicing=0
  std::vector<std::string> Summaries;  ///< --dragon-summaries
  std::vector<std::string> ArchiveArgs;
  std::vector<std::string> DeviceLinkArgs; ///< -Xnvlink
  std::string Archiver = "ar";
  std::string Standard; ///< c++17
  std::string OptLevel; ///< host side: "2"; empty = default
  bool Debug = false, DeviceDebug = false;
  bool DeviceOptimised = false; ///< -dopt=on
  bool Remarks = false;         ///< an -Rpass option is among CompileArgs
  bool OptRecord = false;       ///< -fsave-optimization-record
  std::string OptRecordFile, OptRecordExt = "yaml";
  std::string ReportFolder; ///< --dragon-report
  /// Made only for SARIF, and not kept: nobody asked for records.
  bool OwnRecords = false;
  std::string Sarif; ///< --dragon-diagnostics=sarif: where to; - is stdout
  bool WholeProgram = false;   ///< -flto, or objects were compiled with it
  bool NoWholeProgram = false; ///< -fno-lto
  bool Lifetime = true;        ///< -f[no-]dragon-lifetime

  // -MD and friends.
  bool Dependencies = false, SystemHeaders = true, PhonyTargets = false;
  std::string DependencyFile;
  std::vector<std::string> DependencyTargets; ///< with -MT or -MQ in front

  bool Verbose = false, DryRun = false, SaveTemps = false;
  bool LinkRuntime = true;
  std::string KeepDir;
  std::string CudaPath, ClangPath, PrecompiledFolder;

  /// -print-search-dirs and the like, for clang to answer.
  std::vector<std::string> Questions;
  // Questions answered here, instead of compiling.
  bool Help = false, Version = false, ListArchs = false, ListCodes = false;
  bool PrintCudaPath = false;

  /// What the driver itself has to say of the command line.
  std::vector<std::string> Warnings;

  bool hasCuda() const;
  /// C or C++ without CUDA's extensions.
  bool hasHostCode() const;
  /// What CudaArgs has for a tool that clang runs: for "-Xcuda-ptxas", ptxas'.
  std::vector<std::string> argsFor(llvm::StringRef Option) const;
  bool hasMlir() const;
  /// What is linked tells where its records are.
  bool notesRecords() const { return OptRecord && !ReportFolder.empty(); }
  /// Objects carry bitcode, and the link inserts the directives.
  /// The linker that the user asks for, which takes no plugin of LLVM's: the
  /// option; empty: there is none.
  llvm::StringRef otherLinker() const;
  bool atLink() const { return WholeProgram && Lifetime; }
  const GpuArch &lowestArch() const { return Archs.front(); }
  /// Architectures that device code is compiled for: the kernels for the host
  /// processor are made from the code for the lowest.
  llvm::ArrayRef<GpuArch> deviceArchs() const {
    return llvm::ArrayRef(Archs).take_front(Cuda ? Archs.size() : 1);
  }
};

llvm::Expected<Invocation> understand(const CommandLine &Line);

/// GPU architectures that clang knows, newest last: "sm_75".
std::vector<std::string> knownArchs();

} // namespace dragon::driver

#endif // DRAGON_TOOLS_DRAGON_CC_NVCCOPTIONS_H
