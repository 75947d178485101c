//===- NvccOptions.cpp - what the command line asks for -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-cc/NvccOptions.h"

#include "tools/dragon-cc/OptionReader.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace llvm::opt;

namespace dragon::driver {

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

static bool isCudaRuntimeFile(StringRef Path) {
  StringRef Name = sys::path::filename(Path);
  return Name.consume_front("lib") && isCudaRuntime(Name.split('.').first);
}

Error OptionReader::goal(Goal What, StringRef Option) {
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

Error OptionReader::input(StringRef Path) {
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

Error OptionReader::language(StringRef Value) {
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

Error OptionReader::read(const Argument &One) {
  if (One.isInput())
    return input(One.value());
  if (!One.Clang)
    return readOwn(One);
  if (isQuestion(One.Arg->getSpelling())) {
    Result.Questions.push_back(One.text(Line.list()));
    return Error::success();
  }
  return readClang(*One.Arg, Line.list(), /*HostOnly=*/false);
}

Error OptionReader::check() {
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
  if (Result.notesRecords() && Result.OptRecordExt != "yaml")
    return error("'--dragon-report=" + Result.ReportFolder +
                 "' needs records in YAML; leave out "
                 "'-fsave-optimization-record=" +
                 Result.OptRecordExt + "'");
  StringRef Linker = Result.otherLinker();
  if (Result.What == Goal::Link && Result.atLink() && !Linker.empty())
    return error("'-flto' links with lld " + Twine(LLVM_VERSION_MAJOR) +
                 "; leave out '" + Linker + "'");
  return Error::success();
}

Expected<Invocation> OptionReader::run() {
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
  // What compiles nothing has no remarks, and may print something else.
  if (Result.What == Goal::Preprocess || Result.What == Goal::Dependencies)
    Result.Sarif.clear();
  // SARIF is made of records.
  if (!Result.Sarif.empty() && !Result.OptRecord)
    Result.OptRecord = Result.OwnRecords = true;
  if (Error Failed = check())
    return std::move(Failed);
  return std::move(Result);
}

static bool hasInput(const Invocation &Asked, Language Lang) {
  return any_of(Asked.Inputs,
                [&](const Input &One) { return One.Lang == Lang; });
}

StringRef Invocation::otherLinker() const {
  for (StringRef Arg : LinkArgs)
    if ((Arg.starts_with("-fuse-ld=") && Arg != "-fuse-ld=lld") ||
        Arg.starts_with("--ld-path="))
      return Arg;
  return {};
}

std::vector<std::string> Invocation::argsFor(StringRef Option) const {
  std::vector<std::string> Args;
  for (size_t I = 0; I + 1 < CudaArgs.size(); ++I)
    if (CudaArgs[I] == Option)
      Args.push_back(CudaArgs[I + 1]);
  return Args;
}

bool Invocation::hasCuda() const { return hasInput(*this, Language::Cuda); }
bool Invocation::hasHostCode() const {
  return hasInput(*this, Language::C) || hasInput(*this, Language::Cxx);
}
bool Invocation::hasMlir() const { return hasInput(*this, Language::Mlir); }

Expected<Invocation> understand(const CommandLine &Line) {
  return OptionReader(Line).run();
}

} // namespace dragon::driver
