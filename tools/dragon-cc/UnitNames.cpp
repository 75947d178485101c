//===- UnitNames.cpp - names of what belongs to an input ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-cc/UnitNames.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MD5.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace dragon::driver {

std::string UnitNames::stem(const Input &One) {
  return sys::path::stem(One.Path).str();
}

std::string UnitNames::temp(StringRef Stem, StringRef Suffix) const {
  SmallString<256> Path(Temp);
  sys::path::append(Path, Stem + Suffix);
  return std::string(Path);
}

std::string UnitNames::written(StringRef Stem, StringRef Suffix,
                               std::string Text) {
  Files.push_back({temp(Stem, Suffix), std::move(Text)});
  return Files.back().first;
}

std::string UnitNames::uniqueStem(const Input &One) {
  std::string Name = stem(One);
  for (unsigned I = 2; !Stems.insert(Name).second; ++I)
    Name = stem(One) + "-" + utostr(I);
  return Name;
}

std::string UnitNames::outputFor(const Input &One, StringRef Extension) const {
  if (!Asked.Output.empty())
    return Asked.Output;
  SmallString<256> Path(Asked.OutputDirectory);
  sys::path::append(Path, stem(One) + Extension);
  return std::string(Path);
}

/// Of the names of a unit and its output.
static MD5 hashOf(const Input &One, StringRef Output) {
  SmallString<256> Folder;
  (void)sys::fs::current_path(Folder);
  MD5 Hash;
  for (StringRef Part : {StringRef(Folder), StringRef(One.Path), Output}) {
    Hash.update(Part);
    Hash.update(StringRef("\0", 1));
  }
  return Hash;
}

std::string UnitNames::moduleId(const Input &One) const {
  MD5 Hash = hashOf(One, Asked.Output);
  for (const std::string &Arg : Asked.CompileArgs)
    Hash.update(Arg);
  return utohexstr(Hash.final().low(), /*LowerCase=*/true, /*Width=*/16);
}

/// In the folder of --dragon-report, where units of a project with the same
/// name meet. A unit that is compiled again has the same file.
std::string UnitNames::keptRecord(const Input &One, StringRef Suffix) const {
  SmallString<256> Path(Asked.ReportFolder);
  const std::string Hash = utohexstr(hashOf(One, Asked.Output).final().low(),
                                     /*LowerCase=*/true, /*Width=*/16);
  sys::path::append(Path, stem(One) + "-" + Hash + Suffix);
  (void)sys::fs::make_absolute(Path);
  return std::string(Path);
}

/// Beside the output, or with the intermediate files.
std::string UnitNames::besideOutput(StringRef Output, StringRef Suffix) const {
  const std::string Name = (Suffix + Asked.OptRecordExt).str();
  return Asked.OwnRecords ? temp(sys::path::filename(Output), Name)
                          : Output.str() + Name;
}

std::string UnitNames::linkRecordFile(StringRef Output) const {
  if (Asked.notesRecords())
    return keptRecord({Output.str(), Language::Linker}, ".opt.ld.yaml");
  return besideOutput(Output, ".opt.ld.");
}

std::string UnitNames::deviceLinkRecordFile(StringRef Output,
                                            StringRef Arch) const {
  if (Asked.notesRecords())
    return recordFile({Output.str(), Language::Linker}, Arch);
  return besideOutput(Output, ("-" + Arch + ".opt.").str());
}

std::string UnitNames::recordFile(const Input &One, StringRef Arch) const {
  SmallString<256> Path;
  if (Asked.OwnRecords) {
    Path = temp(stem(One) + "-" + moduleId(One), ".opt." + Asked.OptRecordExt);
  } else if (!Asked.OptRecordFile.empty()) {
    Path = Asked.OptRecordFile;
  } else if (Asked.notesRecords()) {
    Path = keptRecord(One, ".opt.yaml");
  } else {
    if (Asked.What != Goal::Link && Asked.What != Goal::Library &&
        !Asked.Output.empty())
      Path = Asked.Output;
    else
      sys::path::append(Path, Asked.OutputDirectory, stem(One));
    sys::path::replace_extension(Path, "opt." + Asked.OptRecordExt);
  }
  if (Arch.empty())
    return std::string(Path);
  // foo.opt.yaml -> foo-sm_90.opt.yaml
  StringRef Name = sys::path::filename(Path);
  StringRef Folder = StringRef(Path).drop_back(Name.size());
  auto [Base, Extension] = Name.split('.');
  return (Folder + Base + "-" + Arch + "." + Extension).str();
}

} // namespace dragon::driver
