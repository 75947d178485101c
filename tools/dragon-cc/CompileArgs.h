//===- CompileArgs.h - parts of clang's command lines -----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The class turns what the user asks for into arguments of clang, ptxas and the
// linker. Each function has one matter: the language and its headers, the
// architectures, optimisation, the user's own options, the plugin, remarks,
// make rules. The files *Steps.cpp put the arguments together to command lines.
//
// File names come from UnitNames, and what depends on the text of a source
// comes from SourceNeeds.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_CC_COMPILEARGS_H
#define DRAGON_TOOLS_DRAGON_CC_COMPILEARGS_H

#include "tools/dragon-cc/SourceNeeds.h"
#include "tools/dragon-cc/Strings.h"
#include "tools/dragon-cc/ToolPaths.h"
#include "tools/dragon-cc/UnitNames.h"

namespace dragon::driver {

class CompileArgs {
public:
  /// The files that the plugin writes and reads besides the object.
  enum PluginFiles : unsigned {
    None = 0,
    Summary = 1, ///< the kernel summaries
    CpuOut = 2,  ///< device side: writes kernels for the host processor
    CpuRef = 4,  ///< host side: the object refers to these kernels
    Bitcode = 8, ///< the unit's bitcode in the object, if the link wants it
    Relocatable = 16, ///< no file: the device link makes them
    NoGpuCode = 32    ///< nothing but the plugin's files is wanted
  };

  CompileArgs(const Invocation &Asked, const ToolPaths &Tools,
              const UnitNames &Names, SourceNeeds &Needs)
      : Asked(Asked), Tools(Tools), Names(Names), Needs(Needs) {}

  Strings language(const Input &One) const;
  /// `Lowest`: one architecture stands for all.
  Strings architectures(bool Lowest) const;
  Strings optimisation(const Input &One) const;
  /// The options that the user gave for clang.
  Strings user(const Input &One) const;
  /// Loads the plugin. `Files` is a set of PluginFiles.
  Strings plugin(const Input &One, llvm::StringRef Stem, unsigned Files) const;
  /// An option that the plugin defines.
  static Strings pluginOption(llvm::StringRef Option);
  /// The arguments of -rdc=true, for compilations of CUDA.
  Strings relocatable() const;
  /// Remarks go to stderr or to files. Where the user asks for none, clang
  /// still keeps the locations in the source: messages of the runtime name
  /// them.
  Strings remarks(const Input &One) const;
  /// Where the records of the unit are, for the pages of runs: lines that the
  /// plugin leaves in the object. With -rdc=true the device code's come with
  /// the device link, whose "input" is for the linker.
  Strings recordNotes(const Input &One) const;
  /// The same of a link, as a source in assembly.
  std::string linkNotes(llvm::StringRef Output) const;
  /// The remarks of dragon-opt.
  Strings mlirRemarks(const Input &One) const;
  /// Keeps the locations of code that only the link compiles: the link makes
  /// the remarks, and has no other locations.
  Strings locations() const;
  /// The make rule of a compilation whose object the user knows as `Object`.
  Strings dependencies(const Input &One, llvm::StringRef Object) const;

  /// The arguments of a link that inserts the directives: the linker, the
  /// plugin, remarks.
  Strings linkTime(llvm::StringRef Output) const;

  /// The options of compilations that a device link takes, too.
  Strings deviceLink(llvm::StringRef Output, llvm::StringRef Arch) const;
  Strings ptxas(llvm::StringRef Arch) const;

private:
  bool deviceOptimised() const;
  Strings saveTemps() const;
  /// Records of --dragon-report and those for SARIF have nothing but our own
  /// remarks.
  Strings recordFilter() const;

  const Invocation &Asked;
  const ToolPaths &Tools;
  const UnitNames &Names;
  SourceNeeds &Needs;
};

} // namespace dragon::driver

#endif // DRAGON_TOOLS_DRAGON_CC_COMPILEARGS_H
