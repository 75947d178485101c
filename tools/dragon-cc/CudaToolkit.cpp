//===- CudaToolkit.cpp - which CUDA toolkit to compile with ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-cc/CudaToolkit.h"

#include "tools/dragon-cc/Config.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace dragon::driver {

namespace {

using Strings = std::vector<std::string>;

/// The runtime has CUDA 13's calls; share/dragon/overlay has what makes those
/// of older headers from this one on out of them.
constexpr unsigned OldestCuda = 12040;

std::string path(StringRef Folder, const Twine &A, const Twine &B = "") {
  SmallString<256> Result(Folder);
  sys::path::append(Result, A, B);
  return std::string(Result);
}

bool isToolkit(StringRef Path) {
  return sys::fs::exists(path(Path, "include/cuda_runtime_api.h"));
}

/// A distribution's, in /usr: what is elsewhere in NVIDIA's packages.
constexpr StringLiteral ForClang = "lib/cuda",
                        OfDistribution = "lib/nvidia-cuda-toolkit";

bool isOfDistribution(StringRef Path) {
  return sys::fs::is_directory(path(Path, OfDistribution, "libdevice")) &&
         isToolkit(Path);
}

/// `Path`, or the prefix of a distribution in which it is.
std::string prefixOf(StringRef Path) {
  StringRef Prefix = Path.rtrim('/');
  for (StringRef Folder : {StringRef(ForClang), StringRef(OfDistribution)}) {
    StringRef Above = Prefix;
    if (Above.consume_back(Folder) && isOfDistribution(Above))
      return Above.rtrim('/').str();
  }
  return Path.str();
}

} // namespace

std::string clangPath(StringRef Toolkit) {
  return isOfDistribution(Toolkit) ? path(Toolkit, ForClang) : Toolkit.str();
}

std::string libdevice(StringRef Toolkit) {
  return isOfDistribution(Toolkit)
             ? path(Toolkit, OfDistribution, "libdevice/libdevice.10.bc")
             : path(Toolkit, "nvvm/libdevice/libdevice.10.bc");
}

std::string libraryFolder(StringRef Toolkit) {
  if (isOfDistribution(Toolkit))
    return path(Toolkit, "lib/x86_64-linux-gnu");
  for (const char *Folder : {"lib64", "targets/x86_64-linux/lib", "lib"})
    if (sys::fs::is_directory(path(Toolkit, Folder)))
      return path(Toolkit, Folder);
  return "";
}

unsigned cudaVersion(StringRef Toolkit) {
  auto Header = MemoryBuffer::getFile(path(Toolkit, "include/cuda.h"));
  if (!Header)
    return 0;
  StringRef Text = (*Header)->getBuffer();
  StringRef Key = "#define CUDA_VERSION ";
  size_t At = Text.find(Key);
  unsigned Version = 0;
  if (At != StringRef::npos) {
    StringRef Rest = Text.drop_front(At + Key.size()).ltrim();
    (void)Rest.consumeInteger(10, Version);
  }
  return Version;
}

namespace {

/// The folders lib/python3.* below a prefix of Python; the newest Python first.
Strings pythonLibraries(StringRef Prefix) {
  std::vector<std::pair<unsigned, std::string>> Found;
  std::error_code Error;
  for (sys::fs::directory_iterator Entry(path(Prefix, "lib"), Error), End;
       !Error && Entry != End; Entry.increment(Error)) {
    StringRef Name = sys::path::filename(Entry->path());
    unsigned Minor;
    if (Name.consume_front("python3.") && !Name.getAsInteger(10, Minor))
      Found.emplace_back(Minor, Entry->path());
  }
  sort(Found, std::greater<>());
  Strings Paths;
  for (auto &[Minor, Path] : Found)
    Paths.push_back(std::move(Path));
  return Paths;
}

/// Where a Python of the machine has its packages: the active environment, the
/// Pythons of PATH, what pip installs for one user.
Strings pythonPrefixes() {
  Strings Prefixes;
  auto Variable = [](const char *Name) {
    const char *Value = getenv(Name);
    return StringRef(Value ? Value : "");
  };
  if (StringRef Active = Variable("VIRTUAL_ENV"); !Active.empty())
    Prefixes.push_back(Active.str());
  for (StringRef Rest = Variable("PATH"); !Rest.empty();) {
    auto [Folder, Next] = Rest.split(':');
    Rest = Next;
    // Not where a link leads: an environment's python3 is one to the system's.
    if (sys::path::is_absolute(Folder) &&
        sys::fs::can_execute(path(Folder, "python3")))
      Prefixes.push_back(sys::path::parent_path(Folder).str());
  }
  if (StringRef Home = Variable("HOME"); !Home.empty())
    Prefixes.push_back(path(Home, ".local"));
  return Prefixes;
}

/// Where the wheels of a toolkit may be. If dragon-cc comes from a wheel, they
/// are beside it.
Strings wheelFolders(StringRef Prefix) {
  const char *Toolkit = "nvidia/cu" DRAGON_CUDA_MAJOR_TEXT;
  Strings Folders = {path(sys::path::parent_path(Prefix), Toolkit)};
  for (const std::string &Python : pythonPrefixes()) {
    for (const std::string &Library : pythonLibraries(Python))
      for (const char *Packages : {"site-packages", "dist-packages"})
        Folders.push_back(path(Library, Packages, Toolkit));
    Folders.push_back(path(Python, "lib/python3/dist-packages", Toolkit));
  }
  return Folders;
}

} // namespace

Error checkToolkit(StringRef Path, bool Gpu) {
  unsigned Version = cudaVersion(Path);
  if (Version && (Version < OldestCuda || Version / 1000 > DRAGON_CUDA_MAJOR))
    return error("the CUDA toolkit '" + Path + "' is version " +
                 Twine(Version / 1000) + "." + Twine(Version % 1000 / 10) +
                 "; dragon-cc needs " + Twine(OldestCuda / 1000) + "." +
                 Twine(OldestCuda % 1000 / 10) + " or later, up to " +
                 Twine(DRAGON_CUDA_MAJOR) +
                 "; name one with --cuda-path= or CUDA_PATH");
  if (!sys::fs::exists(libdevice(Path)))
    return error("the CUDA toolkit '" + Path +
                 "' has no nvvm/libdevice/libdevice.10.bc; name a complete "
                 "one with --cuda-path=");
  if (Gpu)
    for (const char *Part : {"bin/ptxas", "bin/fatbinary"})
      if (!sys::fs::exists(path(Path, Part)))
        return error("the CUDA toolkit '" + Path + "' has no " + Part +
                     "; name a complete one with --cuda-path=, or compile "
                     "with --dragon-targets=cpu");
  return Error::success();
}

Expected<std::string> findToolkit(StringRef Prefix, const Invocation &Asked) {
  auto Named = [](StringRef Path, StringRef By) -> Expected<std::string> {
    if (std::string Toolkit = prefixOf(Path); isToolkit(Toolkit))
      return Toolkit;
    return error("no CUDA toolkit in '" + Path + "' (from " + By +
                 "): it has no include/cuda_runtime_api.h");
  };
  if (!Asked.CudaPath.empty())
    return Named(Asked.CudaPath, "--cuda-path");
  for (const char *Variable : {"CUDA_PATH", "CUDA_HOME"})
    if (const char *Value = getenv(Variable); Value && *Value)
      return Named(Value, Variable);

  Strings Candidates = {DRAGON_CUDA_PATH, "/usr/local/cuda",
                        path(Prefix, "cuda")};
  append_range(Candidates, wheelFolders(Prefix));
  if (isOfDistribution("/usr"))
    Candidates.push_back("/usr");
  std::string Incomplete;
  for (const std::string &Candidate : Candidates) {
    if (!isToolkit(Candidate))
      continue;
    Error Failed = checkToolkit(Candidate, Asked.Cuda);
    if (!Failed)
      return Candidate;
    consumeError(std::move(Failed));
    if (Incomplete.empty())
      Incomplete = Candidate; // its error is told if no other one will do
  }
  if (!Incomplete.empty())
    return Incomplete;
  return error("no CUDA toolkit found (looked in '/usr/local/cuda', '" +
               path(Prefix, "cuda") +
               "' and nvidia/cu" DRAGON_CUDA_MAJOR_TEXT
               " of Python's packages, and in /usr); install "
               "CUDA " DRAGON_CUDA_MAJOR_TEXT
               " or its wheels (pip install '" DRAGON_CUDA_WHEELS
               "', in an active Python environment where the system's Python "
               "takes none), or name one with --cuda-path= or CUDA_PATH");
}

} // namespace dragon::driver
