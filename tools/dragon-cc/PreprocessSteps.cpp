//===- PreprocessSteps.cpp - what -E prints -------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiler caches (ccache, sccache) run a compilation's command line with -E
// and take two compilations for the same one if that prints the same. So -E
// prints all that an object is made of:
//   * the host side, then the device side for each architecture: what stands
//     within #ifdef __CUDA_ARCH__ is part of the object;
//   * in front of them, what made it: a digest of the driver's own parts and of
//     what the environment adds to the command line. The plugin and the library
//     summaries are named in line markers as well, as if they were included:
//     then caches that do without -E look whether these files have changed.
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-cc/Config.h"
#include "tools/dragon-cc/SingleSteps.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

#include <cstdlib>

using namespace llvm;

namespace dragon::driver {

static bool asks(const Invocation &Asked, StringRef Option) {
  return is_contained(Asked.CompileArgs, Option);
}

/// A text that changes whenever a part of the driver does.
static std::string identity(const StepList &To, const Input &One) {
  Strings Shown = {To.Tools.plugin()};
  append(Shown, To.Tools.Summaries);
  append(Shown, To.Asked.Summaries);
  Strings Files = Shown;
  append(Files, {To.Tools.Clang, To.Tools.standIns(), To.Tools.noGpuCode()});
  if (One.Lang == Language::Cuda)
    append(Files, {To.Tools.cudaTool("ptxas"), To.Tools.Libdevice});
  std::string Known = DRAGON_VERSION " " DRAGON_LLVM_VERSION;
  for (const std::string &File : Files) {
    auto Contents = MemoryBuffer::getFile(File, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
    Known += " " + (Contents ? utohexstr(xxh3_64bits((*Contents)->getBuffer()))
                             : std::string("none"));
  }
  for (const char *Variable : {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"})
    if (const char *Flags = getenv(Variable))
      Known += std::string(" ") + Variable + "=" + Flags;

  std::string Text;
  raw_string_ostream OS(Text);
  auto Marker = [&OS](StringRef File) {
    OS << "# 1 \"";
    OS.write_escaped(File) << "\"\n";
  };
  if (!asks(To.Asked, "-P")) {
    // A compiler of preprocessed text takes the first file for the source.
    Marker(One.Path);
    for (const std::string &File : Shown)
      Marker(File);
    Marker(One.Path);
  }
  OS << "/* made by dragon-cc " DRAGON_VERSION ", "
     << utohexstr(xxh3_64bits(Known), /*LowerCase=*/true) << " */\n";
  return Text;
}

bool printsAllSides(const Invocation &Asked, const Input &One) {
  // Standard input can be read only once, and -dM asks for macros, which belong
  // to one side.
  return Asked.What == Goal::Preprocess && One.Lang != Language::Other &&
         One.Path != "-" && !asks(Asked, "-dM");
}

void addPreprocessing(StepList &To, const Input &One) {
  Strings Common = To.Parts.language(One);
  const std::string Stem = To.Names.uniqueStem(One);
  if (One.Lang == Language::Cuda)
    append(Common, To.Parts.relocatable());
  append(Common, To.Parts.optimisation(One));
  append(Common, To.Parts.user(One));

  Strings Joined = {To.Names.written(Stem, ".identity.i", identity(To, One))};
  auto Print = [&](StringRef Suffix, const Strings &Side) {
    Strings Args = Common;
    append(Args, Side);
    Joined.push_back(To.Names.temp(Stem, Suffix));
    append(Args, {"-E", One.Path, "-o", Joined.back()});
    To.clang(std::move(Args));
  };
  Strings Host = To.Parts.dependencies(One, To.Names.outputFor(One, ".o"));
  if (One.Lang == Language::Cuda) {
    append(Host, To.Parts.architectures(false));
    Host.push_back("--cuda-host-only");
  }
  if (To.Asked.Sides != Side::Device || One.Lang != Language::Cuda)
    Print(".host.i", Host);
  if (To.Asked.Sides != Side::Host && One.Lang == Language::Cuda)
    for (const GpuArch &Arch : To.Asked.deviceArchs())
      Print("." + Arch.Name + ".i",
            {"--cuda-gpu-arch=" + Arch.Name, "--cuda-device-only"});
  To.add({"cat", std::move(Joined), {}, To.Asked.Output});
  if (!To.Asked.Output.empty() && To.Asked.Output != "-")
    To.last().Outputs = {To.Asked.Output};
}

} // namespace dragon::driver
