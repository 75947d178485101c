//===- DeviceLinker.h - device code of several units in one -----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes one module of the device code of all units, one for each architecture.
// Units of objects are in it, and of archives those that define what others
// refer to, as linkers do. What the host's linker takes from archives must be
// in it, too. If that is not known (-dlink), units with kernels or with
// variables that the host can see are, unless they define what is defined
// already, or refer to what nobody defines: it does not take those, or fails.
//
// Then kernels and variables are all that the outside can see: functions of
// other units are inlined, analysed and thrown away as in a single unit.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_DEVICE_LINK_DEVICELINKER_H
#define DRAGON_TOOLS_DRAGON_DEVICE_LINK_DEVICELINKER_H

#include "tools/dragon-device-link/DeviceUnits.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

namespace dragon::devicelink {

class DeviceLinker {
public:
  DeviceLinker(std::vector<DeviceUnit> Units, std::vector<std::string> Archs);
  ~DeviceLinker();

  /// Chooses the units. The error names all symbols that are undefined or
  /// defined twice, one a line.
  llvm::Error resolve();
  /// The module for one architecture; once for each.
  llvm::Expected<std::unique_ptr<llvm::Module>> link(llvm::StringRef Arch);
  /// Ids of the units whose host code may be in the program: of the chosen
  /// ones, and of those that have no device code to speak of.
  std::vector<std::string> registered() const;

private:
  struct Candidate;
  class Resolution;
  llvm::Error parse();

  llvm::LLVMContext Context;
  std::vector<std::string> Archs;
  std::vector<Candidate> Candidates;
};

} // namespace dragon::devicelink

#endif // DRAGON_TOOLS_DRAGON_DEVICE_LINK_DEVICELINKER_H
