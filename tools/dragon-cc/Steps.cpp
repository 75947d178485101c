//===- Steps.cpp - the commands of an invocation, as data -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-cc/Steps.h"

#include "tools/dragon-cc/DeviceLinkSteps.h"
#include "tools/dragon-cc/ObjectSteps.h"
#include "tools/dragon-cc/SingleSteps.h"

#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace dragon::driver {

/// Adds the link of the objects, `Objects` of each input, and of the device
/// link.
static void addLink(StepList &To, const std::vector<Strings> &Objects,
                    const Strings &DeviceCode) {
  std::string Out = To.linkOutput();
  Strings Args = {"-o", Out};
  append(Args, To.Asked.LinkArgs);
  if (To.Asked.WholeProgram && !To.Asked.OptLevel.empty())
    Args.push_back("-O" + To.Asked.OptLevel);
  if (To.Asked.atLink())
    append(Args, To.Parts.linkTime(Out));
  // The runtime stands in front of the C library's calls for files. So it comes
  // first among the libraries, even if the linker sees no need for it.
  if (To.Asked.LinkRuntime)
    append(Args, {"-Wl,--push-state,--no-as-needed", To.Tools.runtime(),
                  "-Wl,--pop-state", "-Wl,-rpath," + To.Tools.LibDir});
  for (const LinkArgument &One : To.Asked.Link)
    if (One.InputIndex < 0)
      Args.push_back(One.Text);
    else
      append(Args, Objects[One.InputIndex]);
  append(Args, DeviceCode);
  if (To.Asked.atLink() && To.Asked.notesRecords())
    Args.push_back(
        To.Names.written(To.Names.uniqueStem({"link-notes", Language::Linker}),
                         ".s", To.Parts.linkNotes(Out)));
  // nvcc looks for -lcublas and -lcuda in these folders.
  if (!To.Tools.CudaLibDir.empty())
    append(Args,
           {"-L" + To.Tools.CudaLibDir, "-L" + To.Tools.CudaLibDir + "/stubs"});
  // Programs of DRAGON's artifact link libdragon. Where it is not installed, an
  // empty one will do: the runtime has what these programs call.
  if (any_of(To.Asked.Link, [](const LinkArgument &One) {
        return One.InputIndex < 0 && One.Text == "-ldragon";
      }))
    Args.push_back("-L" + To.Tools.LibDir + "/dragon");
  Args.push_back("-Qunused-arguments");
  To.clang(std::move(Args)).Outputs = {Out};
}

/// A link that is not told of -flto is one of a whole program if an object has
/// been compiled so. Build systems give options of compilations to no link.
static void noticeWholeProgram(StepList &To, const std::string &File) {
  Invocation &Asked = To.Asked;
  if (File.empty() || Asked.WholeProgram || Asked.NoWholeProgram ||
      !Asked.Lifetime)
    return;
  std::string Cause;
  if (StringRef Linker = Asked.otherLinker(); !Linker.empty())
    Cause = "with '" + Linker.str() + "'";
  else if (To.Tools.Lld.empty())
    Cause = "without lld " + std::to_string(LLVM_VERSION_MAJOR);
  if (!Cause.empty()) {
    To.warn("'" + File + "' was compiled with -flto, but is linked " + Cause +
            ": directives are those of single files; -fno-lto "
            "for the link silences this");
    return;
  }
  Asked.WholeProgram = true;
  Asked.LinkArgs.push_back("-flto");
}

static void addArchive(StepList &To, const std::vector<Strings> &Objects) {
  std::string Out = To.Names.outputFor({"a", Language::Linker}, ".a");
  Strings Args = {"rcs"};
  append(Args, To.Asked.ArchiveArgs);
  Args.push_back(Out);
  for (const Strings &One : Objects)
    append(Args, One);
  To.add({To.Asked.Archiver, std::move(Args), {Out}});
}

Expected<Plan> plan(const Invocation &Given, const ToolPaths &Tools,
                    StringRef Temp) {
  StepList To(Given, Tools, Temp);
  const Invocation &Asked = To.Asked;
  DeviceLink Device(To);
  bool Links = Asked.What == Goal::Link || Asked.What == Goal::DeviceLink;
  bool Whole = !Links;
  bool Objects = Links || Asked.What == Goal::Library ||
                 (Asked.What == Goal::Object && Asked.Sides == Side::Both &&
                  !Asked.EmitLlvm);
  Expected<bool> LinksDevice = Device.isNeeded();
  if (!LinksDevice)
    return LinksDevice.takeError();
  noticeWholeProgram(To, Device.hostBitcode());
  if (Objects && (Whole || Asked.atLink() || Asked.What == Goal::DeviceLink) &&
      Asked.Cpu && (Asked.hasCuda() || Asked.hasMlir() || *LinksDevice) &&
      Tools.Linker.empty())
    return error("no linker found in PATH (looked for ld and ld.lld); install "
                 "binutils or lld-" +
                 Twine(LLVM_VERSION_MAJOR));

  std::vector<Strings> Made(Asked.Inputs.size());
  for (size_t I = 0; I < Asked.Inputs.size(); ++I) {
    const Input &One = Asked.Inputs[I];
    if (One.Lang == Language::Linker) {
      Made[I] = {One.Path};
    } else if (!Objects) {
      if (Error Failed = addSingle(To, One))
        return std::move(Failed);
    } else if (Asked.What == Goal::Library) {
      std::string Object = To.Names.temp(sys::path::stem(One.Path), ".o");
      Made[I] = addObject(To, One, Object, /*Whole=*/true);
    } else {
      // For the user the object of `prog: foo.cu` is prog.
      std::string Name = To.Names.outputFor(One, ".o");
      Made[I] = addObject(To, One, Name, Whole);
    }
  }
  if (Asked.What == Goal::Link && Asked.atLink() && Tools.Lld.empty())
    return error("'-flto' links with lld " + Twine(LLVM_VERSION_MAJOR) +
                 ", and there is none; install lld-" +
                 Twine(LLVM_VERSION_MAJOR) + ", or leave out -flto");
  Strings DeviceCode;
  if (*LinksDevice)
    DeviceCode = Device.add(Made);
  if (Asked.What == Goal::Link)
    addLink(To, Made, DeviceCode);
  if (Asked.What == Goal::Library)
    addArchive(To, Made);
  return To.take();
}

void print(raw_ostream &OS, const Step &One) {
  OS << ' ';
  sys::printArg(OS, One.Program, /*Quote=*/true);
  for (const std::string &Arg : One.Args) {
    OS << ' ';
    sys::printArg(OS, Arg, /*Quote=*/true);
  }
  if (!One.Stdout.empty()) {
    OS << " > ";
    sys::printArg(OS, One.Stdout, /*Quote=*/true);
  }
  OS << '\n';
}

} // namespace dragon::driver
