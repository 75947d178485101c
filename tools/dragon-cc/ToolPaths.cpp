//===- ToolPaths.cpp - where the parts and the tools are ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-cc/ToolPaths.h"

#include "tools/dragon-cc/Config.h"
#include "tools/dragon-cc/CudaToolkit.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace llvm;

namespace dragon::driver {

namespace {

std::string path(StringRef Folder, StringRef A) {
  SmallString<256> Result(Folder);
  sys::path::append(Result, A);
  return std::string(Result);
}

bool isProgram(const Twine &Path) { return sys::fs::can_execute(Path); }

Expected<std::string> findClang(const Invocation &Asked) {
  if (!Asked.ClangPath.empty()) {
    if (StringRef(Asked.ClangPath).contains('/')) {
      if (isProgram(Asked.ClangPath))
        return Asked.ClangPath;
    } else if (ErrorOr<std::string> Found =
                   sys::findProgramByName(Asked.ClangPath)) {
      return *Found;
    }
    return error("clang++ '" + Asked.ClangPath +
                 "' (from --dragon-clang) is not a program");
  }
  std::string Built = path(DRAGON_LLVM_BINDIR, "clang++");
  if (isProgram(Built))
    return Built;
  if (ErrorOr<std::string> Found =
          sys::findProgramByName("clang++-" DRAGON_LLVM_MAJOR))
    return *Found;
  return error("clang++ " DRAGON_LLVM_MAJOR " not found (looked for '" + Built +
               "' and for clang++-" DRAGON_LLVM_MAJOR
               " in PATH); install clang-" DRAGON_LLVM_MAJOR
               " or name it with --dragon-clang=");
}

/// GNU ld and lld both do; the one that clang links with by default first.
std::string findLinker() {
  if (ErrorOr<std::string> Found = sys::findProgramByName("ld"))
    return *Found;
  std::string Built = path(DRAGON_LLVM_BINDIR, "ld.lld");
  if (isProgram(Built))
    return Built;
  for (const char *Name : {"ld.lld-" DRAGON_LLVM_MAJOR, "ld.lld"})
    if (ErrorOr<std::string> Found = sys::findProgramByName(Name))
      return *Found;
  return "";
}

/// lld of the version that the plugin was built for.
std::string findLld(StringRef Clang) {
  for (const std::string &Beside :
       {path(DRAGON_LLVM_BINDIR, "ld.lld"),
        path(sys::path::parent_path(Clang), "ld.lld-" DRAGON_LLVM_MAJOR)})
    if (isProgram(Beside))
      return Beside;
  if (ErrorOr<std::string> Found =
          sys::findProgramByName("ld.lld-" DRAGON_LLVM_MAJOR))
    return *Found;
  return "";
}

std::vector<std::string> findSummaries(StringRef Prefix) {
  std::vector<std::string> Files;
  std::error_code Error;
  for (sys::fs::directory_iterator
           File(path(Prefix, "share/dragon/summaries"), Error),
       End;
       !Error && File != End; File.increment(Error))
    if (StringRef(File->path()).ends_with(".yaml"))
      Files.push_back(File->path());
  llvm::sort(Files);
  return Files;
}

} // namespace

Expected<ToolPaths> findTools(StringRef Self, const Invocation &Asked) {
  ToolPaths Tools;
  std::string Prefix(sys::path::parent_path(sys::path::parent_path(Self)));
  for (const char *Folder : {"lib", DRAGON_LIBDIR}) {
    Tools.LibDir = path(Prefix, Folder);
    if (sys::fs::exists(Tools.plugin()))
      break;
  }
  Tools.IncludeDir = path(Prefix, "include");
  Tools.OverlayDir = path(Prefix, "share/dragon/overlay");
  Tools.RemarkPages = path(Prefix, "share/dragon/report/docs/remarks");
  Tools.Summaries = findSummaries(Prefix);
  if (!sys::fs::exists(Tools.plugin()))
    return error("the installation in '" + Prefix +
                 "' is not complete: no libDragonPasses.so in its lib folder");
  if (Asked.hasCuda() &&
      !sys::fs::exists(path(Tools.OverlayDir, "dragon-nvcc.h")))
    return error("the installation in '" + Prefix +
                 "' is not complete: no dragon-nvcc.h in its "
                 "share/dragon/overlay folder");
  if (Asked.What == Goal::Link && Asked.LinkRuntime &&
      !sys::fs::exists(Tools.runtime()))
    return error("the installation in '" + Prefix +
                 "' is not complete: no libdragonrt.so in its lib folder");

  Expected<std::string> Clang = findClang(Asked);
  if (!Clang)
    return Clang.takeError();
  Tools.Clang = *Clang;
  Tools.DeviceLink = path(path(Prefix, "bin"), "dragon-device-link");
  Tools.MlirOpt = path(path(Prefix, "bin"), "dragon-opt");
  Tools.MlirTranslate = path(path(Prefix, "bin"), "dragon-translate");
  if (Asked.hasMlir())
    for (const std::string &Tool : {Tools.MlirOpt, Tools.MlirTranslate})
      if (!isProgram(Tool))
        return error("no '" + Tool +
                     "'; install the package dragon-cc-mlir, or build "
                     "dragon-cc with DRAGON_BUILD_MLIR");
  Tools.Linker = findLinker();
  Tools.Lld = findLld(Tools.Clang);

  Expected<std::string> Cuda = findToolkit(Prefix, Asked);
  bool Needed = Asked.hasCuda() || (Asked.hasMlir() && Asked.Cuda);
  if (Cuda && Needed)
    if (Error Failed = checkToolkit(*Cuda, Asked.Cuda))
      return std::move(Failed);
  if (Cuda) {
    Tools.Cuda = *Cuda;
    Tools.CudaVersion = cudaVersion(*Cuda);
    Tools.CudaForClang = clangPath(*Cuda);
    Tools.Libdevice = libdevice(*Cuda);
    Tools.CudaLibDir = libraryFolder(*Cuda);
  } else if (Needed || !Asked.CudaPath.empty()) {
    return Cuda.takeError();
  } else {
    Tools.NoCuda = toString(Cuda.takeError()); // C and C++ may do without
  }
  return Tools;
}

Error checkDeviceLink(const ToolPaths &Tools, bool Gpu) {
  if (!isProgram(Tools.DeviceLink))
    return error("the installation is not complete: no '" + Tools.DeviceLink +
                 "'");
  if (!Gpu)
    return Error::success();
  if (Tools.Cuda.empty())
    return error("no CUDA toolkit found to link device code with; name one "
                 "with --cuda-path= or CUDA_PATH, or link with "
                 "--dragon-targets=cpu");
  for (const char *Name : {"ptxas", "nvlink", "fatbinary"})
    if (!isProgram(Tools.cudaTool(Name)))
      return error("the CUDA toolkit '" + Tools.Cuda + "' has no bin/" + Name +
                   "; name a complete one with --cuda-path=, or link with "
                   "--dragon-targets=cpu");
  return Error::success();
}

Expected<std::string> nativeArch(const ToolPaths &Tools) {
  std::string Program = path(sys::path::parent_path(Tools.Clang), "nvptx-arch");
  if (!isProgram(Program))
    Program = path(DRAGON_LLVM_BINDIR, "nvptx-arch");
  SmallString<64> Answer;
  if (isProgram(Program) &&
      !sys::fs::createTemporaryFile("dragon-cc", "arch", Answer)) {
    std::optional<StringRef> Redirects[] = {StringRef(), StringRef(Answer),
                                            StringRef()};
    int Status = sys::ExecuteAndWait(Program, {Program}, std::nullopt,
                                     Redirects, /*SecondsToWait=*/30);
    auto Text = MemoryBuffer::getFile(Answer);
    (void)sys::fs::remove(Answer);
    if (Status == 0 && Text) {
      StringRef First = (*Text)->getBuffer().split('\n').first.trim();
      if (First.starts_with("sm_"))
        return First.str();
    }
  }
  return error("'-arch=native': no GPU found in this machine; name an "
               "architecture, as -arch=sm_90");
}

} // namespace dragon::driver
