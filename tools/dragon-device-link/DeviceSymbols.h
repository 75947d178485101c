//===- DeviceSymbols.h - symbols of device code -----------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a unit's device code defines and refers to, and what is done to modules
// before and after they are linked.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_DEVICE_LINK_DEVICESYMBOLS_H
#define DRAGON_TOOLS_DRAGON_DEVICE_LINK_DEVICESYMBOLS_H

#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Module.h"

#include <string>
#include <vector>

namespace dragon::devicelink {

struct DeviceSymbols {
  std::vector<std::string> Strong, Weak; ///< defined
  std::vector<std::string> Needed;       ///< referred to by device code
  std::vector<std::string> Wanted;       ///< by host code of the unit
  bool Visible = false; ///< it has kernels, or variables that the host sees
};

/// Mends a unit's module and lists its symbols:
///   * Clang gives static variables that host code names a suffix, but not in
///     functions that came before the host code.
///   * Nobody defines threadIdx, blockIdx, blockDim and gridDim.
///   * Units may differ in whether small floats are flushed to zero, a property
///     of the whole module: libdevice is told here.
///   * References that host code makes become DeviceSymbols::Wanted.
DeviceSymbols prepareUnit(llvm::Module &M);

/// Dynamic shared memory of one name is declared as the units' most aligned.
class SharedMemory {
public:
  void add(const llvm::Module &M);
  void apply(llvm::Module &M) const;

private:
  llvm::StringMap<llvm::Align> Alignment;
};

/// Makes internal what is neither a kernel nor a variable, and marks the module
/// with the metadata "dragon.device_link", for the plugin.
void closeProgram(llvm::Module &M);

/// 'scale(float)', or the symbol itself, in quotes.
std::string symbolName(llvm::StringRef Symbol);

} // namespace dragon::devicelink

#endif // DRAGON_TOOLS_DRAGON_DEVICE_LINK_DEVICESYMBOLS_H
