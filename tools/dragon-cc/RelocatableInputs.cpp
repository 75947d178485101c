//===- RelocatableInputs.cpp - does a link need a device link? ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-cc/RelocatableInputs.h"

#include "tools/dragon-cc/GpuArchs.h"
#include "tools/dragon-device-link/DeviceUnits.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace dragon::driver {

namespace {

std::string inFolder(StringRef Folder, const Twine &Name) {
  SmallString<256> Path(Folder);
  sys::path::append(Path, Name);
  return std::string(Path);
}

/// The archive that the linker takes for -lname; empty: none, or a shared
/// object.
std::string archiveOf(StringRef Name, ArrayRef<std::string> Folders,
                      bool Static) {
  bool Exact = Name.consume_front(":");
  for (const std::string &Folder : Folders) {
    if (Exact) {
      if (std::string Path = inFolder(Folder, Name); sys::fs::exists(Path))
        return Path;
      continue;
    }
    if (!Static && sys::fs::exists(inFolder(Folder, "lib" + Name + ".so")))
      return "";
    if (std::string Path = inFolder(Folder, "lib" + Name + ".a");
        sys::fs::exists(Path))
      return Path;
  }
  return "";
}

/// In the order in which clang's linker looks for libraries.
std::vector<std::string> libraryFolders(const Invocation &Asked) {
  std::vector<std::string> Folders;
  for (size_t I = 0; I < Asked.LinkArgs.size(); ++I) {
    StringRef Arg = Asked.LinkArgs[I];
    if (!Arg.consume_front("-L"))
      continue;
    if (!Arg.empty())
      Folders.push_back(Arg.str());
    else if (I + 1 < Asked.LinkArgs.size())
      Folders.push_back(Asked.LinkArgs[++I]);
  }
  if (const char *Path = getenv("LIBRARY_PATH"))
    for (StringRef Folder : split(Path, ':'))
      Folders.push_back(Folder.empty() ? "." : Folder.str());
  for (const char *Folder : {"/usr/lib/x86_64-linux-gnu", "/usr/lib64",
                             "/usr/lib", "/usr/local/lib/x86_64-linux-gnu",
                             "/usr/local/lib64", "/usr/local/lib"})
    Folders.push_back(Folder);
  return Folders;
}

/// What the linker reads, in its order.
std::vector<LinkedFile> filesOfLink(const Invocation &Asked) {
  std::vector<std::string> Folders = libraryFolders(Asked);
  bool Static = is_contained(Asked.LinkArgs, "-static"), Whole = false;
  std::vector<LinkedFile> Files;
  auto Switch = [&](StringRef Option) {
    if (Option == "-Bstatic" || Option == "-Bdynamic")
      Static = Option == "-Bstatic";
    else if (Option == "--whole-archive" || Option == "--no-whole-archive")
      Whole = Option == "--whole-archive";
  };
  for (const LinkArgument &One : Asked.Link) {
    StringRef Text = One.Text;
    if (One.InputIndex >= 0) {
      const Input &File = Asked.Inputs[One.InputIndex];
      if (File.Lang == Language::Linker)
        Files.push_back({File.Path, Whole});
    } else if (Text.consume_front("-l")) {
      if (std::string Path = archiveOf(Text, Folders, Static); !Path.empty())
        Files.push_back({Path, Whole});
    } else if (Text.consume_front("-Wl,")) {
      for (StringRef Option : split(Text, ','))
        Switch(Option);
    } else { // what follows -Xlinker stands alone, too
      Switch(Text);
    }
  }
  return Files;
}

/// -u and the like: something of an archive is needed that no file refers to.
bool namesSymbols(const Invocation &Asked) {
  auto Names = [](StringRef Option) {
    Option.consume_front("-Wl,");
    return Option.starts_with("-u") || Option.starts_with("--undefined") ||
           Option.starts_with("--require-defined");
  };
  return any_of(Asked.LinkArgs, Names) ||
         any_of(Asked.Link, [&](const LinkArgument &One) {
           return One.InputIndex < 0 && Names(One.Text);
         });
}

void intersect(std::vector<GpuArch> &Archs, const devicelink::DeviceUnit &Unit,
               bool First) {
  if (First) {
    for (const devicelink::DeviceImage &Image : Unit.Images)
      Archs.push_back({Image.Arch, Image.Ptx});
    return;
  }
  erase_if(Archs, [&](GpuArch &Arch) {
    const devicelink::DeviceImage *Image = Unit.image(Arch.Name);
    if (Image)
      Arch.Ptx &= Image->Ptx;
    return !Image;
  });
}

} // namespace

Expected<RelocatableInputs> findRelocatableInputs(const Invocation &Asked) {
  RelocatableInputs Result;
  std::vector<devicelink::DeviceUnit> Units;
  StringSet<> Linked, Seen;
  std::vector<std::pair<std::string, std::string>> Called; // file, id
  for (LinkedFile &File : filesOfLink(Asked)) {
    const std::string &Path = File.Path;
    if (!sys::fs::is_regular_file(Path) || !Seen.insert(Path).second)
      continue;
    Result.Program.push_back(File);
    Expected<devicelink::DeviceCode> Code = devicelink::readDeviceCode(Path);
    if (!Code)
      return Code.takeError();
    if (!Code->Units.empty() || !Code->Linked.empty())
      Result.Files.push_back(Path);
    if (Code->HostBitcode && Result.HostBitcode.empty())
      Result.HostBitcode = Path;
    for (devicelink::DeviceUnit &Unit : Code->Units)
      Units.push_back(std::move(Unit));
    for (const std::string &Id : Code->Linked)
      Linked.insert(Id);
    for (const std::string &Id : Code->Called)
      Called.emplace_back(Path, Id);
  }
  for (const auto &[File, Id] : Called)
    if (!Linked.contains(Id) &&
        none_of(Units, [&, &Id = Id](const devicelink::DeviceUnit &Unit) {
          return Unit.Id == Id;
        }))
      return error("'" + File +
                   "' has relocatable device code that dragon-cc has not made; "
                   "compile it with dragon-cc");
  for (const devicelink::DeviceUnit &Unit : Units) {
    if (Linked.contains(Unit.Id))
      continue;
    intersect(Result.Archs, Unit, !Result.Any);
    Result.Any = true;
    Result.InArchives |= Unit.Include != devicelink::Inclusion::Always;
  }
  Result.WhatIsTakenIsKnown = !namesSymbols(Asked);
  sortArchs(Result.Archs);
  return Result;
}

} // namespace dragon::driver
