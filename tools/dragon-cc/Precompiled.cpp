//===- Precompiled.cpp - CUDA's headers, compiled once --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-cc/Precompiled.h"

#include "tools/dragon-cc/Strings.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA1.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace dragon::driver {

namespace {

/// Another compiler is another time or size.
void addState(SHA1 &Hash, StringRef File) {
  sys::fs::file_status Status;
  if (sys::fs::status(File, Status))
    return;
  Hash.update(std::to_string(Status.getSize()));
  Hash.update(std::to_string(
      Status.getLastModificationTime().time_since_epoch().count()));
}

/// Of all files in the folder, in whatever order they come.
void addStates(SHA1 &Hash, StringRef Folder) {
  std::vector<std::string> Files;
  std::error_code Code;
  for (sys::fs::recursive_directory_iterator It(Folder, Code), End;
       It != End && !Code; It.increment(Code))
    Files.push_back(It->path());
  llvm::sort(Files);
  for (const std::string &File : Files)
    addState(Hash, File);
}

/// A folder or file that is another one in another current folder.
bool isRelative(StringRef Arg, StringRef Before) {
  if (Arg.consume_front("-I") && !Arg.empty())
    return sys::path::is_relative(Arg);
  return StringSwitch<bool>(Before)
             .Cases({"-I", "-isystem", "-iquote", "-idirafter", "-include",
                     "-imacros"},
                    true)
             .Default(false) &&
         sys::path::is_relative(Arg) && Arg != "dragon-nvcc.h";
}

/// Clang looks at the times of all headers itself, and gives up where one is
/// newer. Ours change most.
std::string hashOf(const Step &One) {
  SHA1 Hash;
  Hash.update(One.Program);
  addState(Hash, One.Program);
  bool HasRelative = false;
  StringRef Before;
  for (const std::string &Arg : One.Precompiled->Args) {
    Hash.update(Arg);
    Hash.update(StringRef("\0", 1));
    HasRelative |= isRelative(Arg, Before);
    if (Before == "-isystem" && sys::fs::exists(Arg + "/dragon-nvcc.h"))
      addStates(Hash, Arg);
    Before = Arg;
  }
  SmallString<128> Current;
  if (HasRelative && !sys::fs::current_path(Current))
    Hash.update(Current);
  return toHex(Hash.final(), /*LowerCase=*/true).substr(0, 20);
}

/// Clang wants a file to compile; there is nothing in it but what it includes.
bool makeEmpty(const std::string &Path) {
  std::error_code Code;
  const raw_fd_ostream File(Path, Code, sys::fs::CD_OpenAlways,
                            sys::fs::FA_Write, sys::fs::OF_Append);
  return !Code;
}

} // namespace

Step withPrecompiled(Step One, function_ref<bool(const Step &)> Runs) {
  const std::string Folder = One.Precompiled->Folder;
  const std::string Headers = Folder + "/" + hashOf(One) + ".pch";
  if (!sys::fs::exists(Headers)) {
    const std::string Empty = Folder + "/empty.cu";
    SmallString<128> Unfinished;
    if (sys::fs::create_directories(Folder) || !makeEmpty(Empty) ||
        sys::fs::getPotentiallyUniqueFileName(Headers + ".%%%%%%", Unfinished))
      return One;
    Step Make{One.Program, One.Precompiled->Args, {}};
    append(Make.Args, {"-w", "-c", Empty, "-o", std::string(Unfinished),
                       "-Xclang", "-emit-pch"});
    const bool Made = Runs(Make) && !sys::fs::rename(Unfinished, Headers);
    if (!Made) {
      (void)sys::fs::remove(Unfinished);
      return One;
    }
  }
  One.Args.insert(One.Args.begin(),
                  {"-Xclang", "-include-pch", "-Xclang", Headers});
  return One;
}

} // namespace dragon::driver
