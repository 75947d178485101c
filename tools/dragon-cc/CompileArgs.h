//===- CompileArgs.h - parts of clang's command lines -----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The arguments of compilations and links by what they say: language and
// headers, architectures, optimisation, the user's own, the plugin, remarks,
// make rules; and the names of the files that belong to an input. Steps.cpp
// puts them together.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_CC_COMPILEARGS_H
#define DRAGON_TOOLS_DRAGON_CC_COMPILEARGS_H

#include "tools/dragon-cc/ToolPaths.h"

#include "llvm/ADT/StringSet.h"

#include <string>

namespace dragon::driver {

using Strings = std::vector<std::string>;

inline void append(Strings &To, const Strings &From) {
  To.insert(To.end(), From.begin(), From.end());
}

class CompileArgs {
public:
  /// What the plugin writes and reads besides the object: the kernel summaries;
  /// the kernels for the host processor (device side), and a reference to them
  /// (host side); the unit's bitcode in the object, if the link wants it. The
  /// last but one has no file: the device link makes them. The last: nothing
  /// else of the compilation is wanted.
  enum PluginFiles : unsigned {
    None = 0,
    Summary = 1,
    CpuOut = 2,
    CpuRef = 4,
    Bitcode = 8,
    Relocatable = 16,
    NoGpuCode = 32
  };

  CompileArgs(const Invocation &Asked, const ToolPaths &Tools,
              llvm::StringRef Temp)
      : Asked(Asked), Tools(Tools), Temp(Temp) {}

  Strings language(const Input &One) const;
  Strings architectures(bool Lowest) const;
  Strings optimisation(const Input &One) const;
  Strings user(const Input &One) const;
  Strings plugin(const Input &One, llvm::StringRef Stem, unsigned Files) const;
  static Strings pluginOption(llvm::StringRef Option);
  /// -rdc=true, for compilations of CUDA.
  Strings relocatable() const;
  Strings remarks(const Input &One) const;
  Strings mlirRemarks(const Input &One) const;
  /// Keeps the locations of code that only the link compiles: the link makes
  /// the remarks, and has no other locations.
  Strings locations() const;
  /// The make rule of a compilation whose object the user knows as `Object`.
  Strings dependencies(const Input &One, llvm::StringRef Object) const;

  /// For a link that inserts the directives: the linker, the plugin, remarks.
  Strings linkTime(llvm::StringRef Output) const;

  /// What a device link takes from the options of compilations.
  Strings deviceLink(llvm::StringRef Output, llvm::StringRef Arch) const;
  Strings ptxas(llvm::StringRef Arch) const;

  /// The files that the arguments name and that are to be written first.
  const std::vector<std::pair<std::string, std::string>> &files() const {
    return Files;
  }

  /// Copies of sources that are compiled in their place and may be completed
  /// (MissingTemplates.h), each with the source's path.
  const std::vector<std::pair<std::string, std::string>> &sources() const {
    return Sources;
  }

  /// What the user is to know of the arguments.
  const Strings &warnings() const { return Warnings; }

  /// Unique among the units of a program, the same for the same compilation.
  std::string moduleId(const Input &One) const;
  /// An intermediate file.
  std::string temp(llvm::StringRef Stem, llvm::StringRef Suffix) const;
  /// One with this text, for steps to read.
  std::string written(llvm::StringRef Stem, llvm::StringRef Suffix,
                      std::string Text) const;
  /// Two inputs of one name in different folders have different stems.
  std::string uniqueStem(const Input &One);
  /// -o, or the input's name with the extension.
  std::string outputFor(const Input &One, llvm::StringRef Extension) const;

private:
  bool deviceOptimised() const;
  Strings saveTemps() const;
  const std::string &standard(const Input &One) const;
  Strings includeFolders() const;
  /// What a source needs that only a look at it tells.
  const Strings &forSource(const Input &One) const;
  std::string recordFile(const Input &One, llvm::StringRef Arch) const;

  const Invocation &Asked;
  const ToolPaths &Tools;
  llvm::StringRef Temp;
  llvm::StringSet<> Stems;
  mutable llvm::StringMap<Strings> ForSource; ///< by path
  mutable std::vector<std::pair<std::string, std::string>> Files;
  mutable std::vector<std::pair<std::string, std::string>> Sources;
  mutable llvm::StringMap<std::string> Standards; ///< by path
  mutable Strings Warnings;
};

} // namespace dragon::driver

#endif // DRAGON_TOOLS_DRAGON_CC_COMPILEARGS_H
