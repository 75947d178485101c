//===- HostLink.h - what the host's linker takes of archives ----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The device link comes first, but the units in the program are those that the
// host's linker takes: it starts with the objects, and takes from archives what
// defines symbols that are missing. So does this, by the symbol tables alone.
// It may take too much (the order of archives and what shared objects define do
// not count), but not too little.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_DEVICE_LINK_HOSTLINK_H
#define DRAGON_TOOLS_DRAGON_DEVICE_LINK_HOSTLINK_H

#include "tools/dragon-device-link/DeviceUnits.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Object/Archive.h"

#include <set>

namespace dragon::devicelink {

class HostLink {
public:
  /// Reads an object, or the index of an archive, of which it takes all with
  /// `Whole`. Other files have no part in it.
  llvm::Error add(const std::string &Path, bool Whole);
  /// Something outside refers to the symbol, as it does to main.
  void need(llvm::StringRef Symbol) { Pending.push_back(Symbol.str()); }
  /// Takes members until nothing is missing that there is.
  llvm::Error resolve();

  bool takes(const DeviceUnit &Unit) const {
    return Taken.count({Unit.File, Unit.Offset});
  }

private:
  /// File and offset, as in DeviceUnit.
  using Member = std::pair<std::string, uint64_t>;

  llvm::Error take(const std::string &File,
                   const llvm::object::Archive::Child &Child);
  llvm::Error read(llvm::MemoryBufferRef Object);

  llvm::LLVMContext Context; // of bitcode in archives
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> Buffers;
  std::vector<std::unique_ptr<llvm::object::Archive>> Archives;
  llvm::StringMap<std::pair<std::string, llvm::object::Archive::Child>> Offered;
  llvm::StringSet<> Defined;
  std::vector<std::string> Pending;
  std::set<Member> Taken;
};

} // namespace dragon::devicelink

#endif // DRAGON_TOOLS_DRAGON_DEVICE_LINK_HOSTLINK_H
