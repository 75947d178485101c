//===- UnitNames.h - names of what belongs to an input ----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The names of the files that steps make of an input, and the id of the unit
// that the input is. For `-c a/foo.cu b/foo.cu`:
//
//   stems          foo, foo-2
//   intermediate   <temp>/foo.sm_90.cubin, <temp>/foo-2.sm_90.cubin
//   output         foo.o for each of them
//
// The class also collects the files that the driver writes before the first
// step runs. It writes nothing itself.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_CC_UNITNAMES_H
#define DRAGON_TOOLS_DRAGON_CC_UNITNAMES_H

#include "tools/dragon-cc/NvccOptions.h"

#include "llvm/ADT/StringSet.h"

#include <string>
#include <utility>
#include <vector>

namespace dragon::driver {

class UnitNames {
public:
  /// `Temp` is the folder for intermediate files.
  UnitNames(const Invocation &Asked, llvm::StringRef Temp)
      : Asked(Asked), Temp(Temp) {}

  /// The name of the input's file without folder and extension.
  static std::string stem(const Input &One);
  /// The stem, with a number if another input has that stem already.
  std::string uniqueStem(const Input &One);
  /// The path of an intermediate file.
  std::string temp(llvm::StringRef Stem, llvm::StringRef Suffix) const;
  /// The path of an intermediate file that the driver writes, with this text.
  std::string written(llvm::StringRef Stem, llvm::StringRef Suffix,
                      std::string Text);
  /// The argument of -o, or the input's name with the extension.
  std::string outputFor(const Input &One, llvm::StringRef Extension) const;
  /// The file that the input's remarks go to. `Arch` is empty for host code.
  std::string recordFile(const Input &One, llvm::StringRef Arch) const;
  /// The file that the remarks of a link with -flto go to.
  std::string linkRecordFile(llvm::StringRef Output) const;
  /// The file that the remarks of a device link go to.
  std::string deviceLinkRecordFile(llvm::StringRef Output,
                                   llvm::StringRef Arch) const;
  /// The id differs between the units of a program. Two runs of one compilation
  /// have the same id.
  std::string moduleId(const Input &One) const;

  /// The files that the driver writes before the first step: path and text.
  const std::vector<std::pair<std::string, std::string>> &files() const {
    return Files;
  }

private:
  std::string keptRecord(const Input &One, llvm::StringRef Suffix) const;
  std::string besideOutput(llvm::StringRef Output,
                           llvm::StringRef Suffix) const;

  const Invocation &Asked;
  llvm::StringRef Temp;
  llvm::StringSet<> Stems;
  std::vector<std::pair<std::string, std::string>> Files;
};

} // namespace dragon::driver

#endif // DRAGON_TOOLS_DRAGON_CC_UNITNAMES_H
