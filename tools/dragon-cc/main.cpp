//===- main.cpp - dragon-cc, an nvcc-compatible compiler driver -----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-cc/Config.h"
#include "tools/dragon-cc/Execute.h"
#include "tools/dragon-cc/NvccWords.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>

using namespace llvm;
using namespace dragon::driver;

static int fail(Error Failed) {
  WithColor::error(errs(), "dragon-cc") << toString(std::move(Failed)) << '\n';
  return 1;
}

static void printVersion(raw_ostream &OS, StringRef Self) {
  OS << "dragon-cc version " DRAGON_VERSION
        " (based on clang version " DRAGON_LLVM_VERSION ")\n"
        "Target: x86_64-pc-linux-gnu, nvptx64-nvidia-cuda\n"
        "InstalledDir: "
     << sys::path::parent_path(Self) << '\n';
}

static void printHelp() {
  optionTable().printHelp(
      outs(), "dragon-cc [options] file...",
      "dragon-cc: CUDA C++ for data larger than GPU memory.\n"
      "Takes nvcc's options and clang's; -Rpass=dragon, -Rpass-missed=dragon "
      "and -Rpass-analysis=dragon\nsay what it did and why");
}

/// What a build system wants to know of the tools; what is missing is not told.
static ToolPaths anyTools(StringRef Self, const Invocation &Asked) {
  Expected<ToolPaths> Tools = findTools(Self, Asked);
  if (Tools)
    return std::move(*Tools);
  consumeError(Tools.takeError());
  return {};
}

/// nvcc tells its folders although it does not know what to do with a file, and
/// CMake asks it so.
static bool isVerbose(const CommandLine &Line) {
  return any_of(Line.arguments(),
                [](const Argument &One) { return One.id() == OPT_verbose; });
}

/// Answers the questions that need no input. True if there was one.
static bool answer(const Invocation &Asked, StringRef Self) {
  if (Asked.Help)
    printHelp();
  else if (Asked.Version) {
    printVersion(outs(), Self);
    printNvccVersion(outs(), anyTools(Self, Asked));
  } else if (Asked.ListArchs)
    for (StringRef Name : knownArchs())
      outs() << "compute_" << Name.drop_front(3) << '\n';
  else if (Asked.ListCodes)
    for (StringRef Name : knownArchs())
      outs() << Name << '\n';
  else
    return false;
  return true;
}

/// Files that do not exist are named at once, and in one line.
static Error checkFiles(const Invocation &Asked) {
  for (const Input &One : Asked.Inputs) {
    if (One.Path == "-")
      continue;
    sys::fs::file_status Status;
    std::error_code Code = sys::fs::status(One.Path, Status);
    if (Code)
      return error("cannot open '" + One.Path + "': " + Code.message());
    if (sys::fs::is_directory(Status))
      return error("cannot open '" + One.Path + "': it is a folder");
    if (::access(One.Path.c_str(), R_OK))
      return error("cannot open '" + One.Path + "': " + std::strerror(errno));
  }
  StringRef Folder = Asked.Output.empty()
                         ? StringRef(Asked.OutputDirectory)
                         : sys::path::parent_path(Asked.Output);
  StringRef Shown = Asked.Output.empty() ? Folder : StringRef(Asked.Output);
  if (sys::fs::is_directory(Asked.Output))
    return error("cannot write '" + Shown + "': it is a folder");
  if (!Folder.empty() && !sys::fs::is_directory(Folder))
    return error("cannot write '" + Shown + "': no folder '" + Folder + "'");
  if (::access(Folder.empty() ? "." : Folder.str().c_str(), W_OK))
    return error("cannot write '" + (Shown.empty() ? StringRef(".") : Shown) +
                 "': folder '" + (Folder.empty() ? StringRef(".") : Folder) +
                 "': " + std::strerror(errno));
  return Error::success();
}

static Error makeReportFolder(const Invocation &Asked) {
  if (!Asked.notesRecords())
    return Error::success();
  const std::string &Folder = Asked.ReportFolder;
  std::error_code Code = sys::fs::create_directories(
      Folder, /*IgnoreExisting=*/true, sys::fs::all_all);
  if (!Code && !sys::fs::is_directory(Folder))
    Code = std::make_error_code(std::errc::not_a_directory);
  if (!Code && ::access(Folder.c_str(), W_OK))
    Code = {errno, std::generic_category()};
  if (Code)
    return error("cannot write into '" + Folder +
                 "' (from --dragon-report): " + Code.message());
  return Error::success();
}

int main(int Argc, char **Argv) {
  Expected<std::unique_ptr<CommandLine>> Line = CommandLine::parse(
      ArrayRef<const char *>(const_cast<const char **>(Argv) + 1, Argc - 1));
  if (!Line)
    return fail(Line.takeError());
  std::string Self = sys::fs::getMainExecutable(
      Argv[0], reinterpret_cast<void *>(&printVersion));
  Expected<Invocation> Asked = understand(**Line);
  if (!Asked) {
    if (isVerbose(**Line))
      printNvccFolders(errs(), anyTools(Self, {}), {}, Self);
    return fail(Asked.takeError());
  }

  auto Warn = [](const auto &Warnings) {
    for (const std::string &Text : Warnings)
      errs() << "dragon-cc: warning: " << Text << '\n';
  };
  Warn(Asked->Warnings);

  if (answer(*Asked, Self))
    return 0;
  // Questions to clang need no files: the name that comes with them may be
  // none.
  if (!Asked->DryRun && Asked->Questions.empty()) {
    if (Error Failed = checkFiles(*Asked))
      return fail(std::move(Failed));
    if (Error Failed = makeReportFolder(*Asked))
      return fail(std::move(Failed));
  }
  Expected<ToolPaths> Tools = findTools(Self, *Asked);
  if (!Tools)
    return fail(Tools.takeError());
  if (Asked->PrintCudaPath) {
    outs() << Tools->Cuda << '\n';
    return 0;
  }
  if (Asked->NativeArch) {
    Expected<std::string> Arch = nativeArch(*Tools);
    if (!Arch)
      return fail(Arch.takeError());
    Asked->Archs.push_back({*Arch, false});
  }

  Expected<TempFolder> Temp = Asked->SaveTemps
                                  ? TempFolder::kept(Asked->KeepDir)
                              : Asked->DryRun ? TempFolder::imagined()
                                              : TempFolder::create();
  if (!Temp)
    return fail(Temp.takeError());
  Plan Steps;
  if (!Asked->Questions.empty()) {
    Steps.Steps.push_back({Tools->Clang, Asked->Questions, {}});
  } else {
    Expected<Plan> Made = plan(*Asked, *Tools, Temp->path());
    if (!Made)
      return fail(Made.takeError());
    Steps = std::move(*Made);
    Warn(Steps.Warnings);
  }
  if (Asked->Verbose || Asked->DryRun) {
    printVersion(errs(), Self);
    printNvccFolders(errs(), *Tools, *Asked, Self);
  }
  if (Asked->DryRun) {
    for (const Step &One : Steps.Steps)
      print(errs(), One);
    return 0;
  }
  const int Status = execute(Steps, Asked->Verbose, std::move(*Temp));
  if (Status && Asked->hasHostCode() && !Tools->NoCuda.empty())
    WithColor::note(errs(), "dragon-cc")
        << "C and C++ were compiled without CUDA's headers: " << Tools->NoCuda
        << '\n';
  return Status;
}
