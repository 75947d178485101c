//===- main.cpp - dragon-device-link --------------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The step of dragon-cc that brings the device code of several units together:
// objects and archives in, out come one bitcode file per architecture
// (<prefix>.sm_90.bc), which is compiled as a single unit's is, and the host
// module that registers the result (<prefix>.register.ll).
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-device-link/DeviceLinker.h"
#include "tools/dragon-device-link/HostLink.h"
#include "tools/dragon-device-link/Registration.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Object/OffloadBinary.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/WithColor.h"

using namespace llvm;
using namespace dragon::devicelink;

static cl::OptionCategory Category("dragon-device-link options");
static cl::list<std::string> Inputs(cl::Positional, cl::cat(Category),
                                    cl::desc("objects and archives..."));
static cl::opt<std::string> Prefix("o", cl::Required, cl::cat(Category),
                                   cl::value_desc("prefix"),
                                   cl::desc("Where the results go"));
static cl::list<std::string> Archs("arch", cl::CommaSeparated,
                                   cl::cat(Category),
                                   cl::value_desc("sm_90,..."),
                                   cl::desc("Architectures to link"));
static cl::opt<std::string> Id("id", cl::cat(Category), cl::value_desc("id"),
                               cl::desc("The name of the unit that is packed"));
static cl::opt<bool>
    Program("program", cl::cat(Category),
            cl::desc("The inputs are all that the host's linker will read"));
static cl::list<std::string> Whole("whole", cl::cat(Category),
                                   cl::value_desc("file"),
                                   cl::desc("An archive, or an object, of "
                                            "which it takes all"));
static cl::opt<bool> Pack("pack", cl::cat(Category),
                          cl::desc("Pack bitcode for an object"));
static cl::list<std::string> Ptx("ptx", cl::CommaSeparated, cl::cat(Category),
                                 cl::value_desc("sm_90,..."),
                                 cl::desc("Packed architectures for which PTX "
                                          "was asked for, too"));
/// One line for each line of the message, as linkers have it.
static int fail(Error Failed) {
  std::string Message = toString(std::move(Failed));
  for (StringRef Line : split(Message, '\n'))
    WithColor::error(errs(), "dragon-cc") << Line << '\n';
  return 1;
}

static Error write(const Twine &Path, function_ref<void(raw_ostream &)> Print) {
  std::error_code Code;
  std::string Name = Path.str();
  ToolOutputFile File(Name, Code, sys::fs::OF_None);
  if (!Code) {
    Print(File.os());
    File.os().close();
    Code = File.os().error();
    File.os().clear_error();
  }
  if (Code)
    return createStringError("cannot write '" + Name + "': " + Code.message());
  File.keep();
  return Error::success();
}

static Error pack() {
  SmallVector<char, 0> Packed;
  for (StringRef One : Inputs) {
    auto [Arch, Path] = One.split('=');
    Expected<std::unique_ptr<MemoryBuffer>> File = readFile(Path);
    if (!File)
      return File.takeError();
    object::OffloadBinary::OffloadingImage Image;
    Image.TheImageKind = object::IMG_Bitcode;
    Image.TheOffloadKind = object::OFK_Cuda;
    Image.StringData["triple"] = "nvptx64-nvidia-cuda";
    Image.StringData["arch"] = Arch;
    Image.StringData[UnitKey] = Id;
    if (is_contained(Ptx, Arch))
      Image.StringData[PtxKey] = "1";
    Image.Image = std::move(*File);
    SmallString<0> Bytes = object::OffloadBinary::write(Image);
    Packed.append(Bytes.begin(), Bytes.end());
  }
  return write(Prefix, [&](raw_ostream &Out) {
    Out << StringRef(Packed.data(), Packed.size());
  });
}

/// What the host's linker takes is known if all that it reads is.
static Error decide(std::vector<DeviceUnit> &Units) {
  if (!Program)
    return Error::success();
  HostLink Host;
  for (const std::string &File : Inputs)
    if (Error Failed = Host.add(File, /*Whole=*/false))
      return Failed;
  for (const std::string &File : Whole)
    if (Error Failed = Host.add(File, /*Whole=*/true))
      return Failed;
  Host.need("main");
  if (Error Failed = Host.resolve())
    return Failed;
  for (DeviceUnit &Unit : Units)
    if (Unit.Include == Inclusion::IfItFits)
      Unit.Include = Host.takes(Unit) ? Inclusion::Always : Inclusion::IfNeeded;
  return Error::success();
}

static Error run() {
  if (Pack)
    return pack();
  std::vector<std::string> Files(Inputs);
  Files.insert(Files.end(), Whole.begin(), Whole.end());
  Expected<std::vector<DeviceUnit>> Units = readUnits(Files);
  if (!Units)
    return Units.takeError();
  if (Error Failed = decide(*Units))
    return Failed;
  DeviceLinker Linking(std::move(*Units), Archs);
  if (Error Failed = Linking.resolve())
    return Failed;
  for (const std::string &Arch : Archs) {
    Expected<std::unique_ptr<Module>> Linked = Linking.link(Arch);
    if (!Linked)
      return Linked.takeError();
    if (Error Failed =
            write(Prefix + "." + Arch + ".bc",
                  [&](raw_ostream &Out) { WriteBitcodeToFile(**Linked, Out); }))
      return Failed;
  }
  return write(Prefix + ".register.ll", [&](raw_ostream &Out) {
    writeRegistration(Out, Linking.registered());
  });
}

int main(int Argc, char **Argv) {
  InitLLVM Setup(Argc, Argv);
  cl::HideUnrelatedOptions(Category);
  cl::ParseCommandLineOptions(Argc, Argv,
                              "links relocatable device code for dragon-cc\n");
  if (Error Failed = run())
    return fail(std::move(Failed));
  return 0;
}
