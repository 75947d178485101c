//===- FootprintTable.h - announced and real footprints ---------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares byte by byte what the compiler announced of a kernel with what its
// threads did, for each set of blocks that ran together: a launch, or each of
// its slices, so that what is announced too much of a slice shows although the
// other slices touch it. Bytes that were touched and not announced,
// or announced as overwritten and not overwritten (or read before), are wrong
// answers of the compiler; bytes that were announced and not touched are moved
// in vain.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_ORACLE_FOOTPRINTTABLE_H
#define DRAGON_RUNTIME_ORACLE_FOOTPRINTTABLE_H

#include "runtime/oracle/Observer.h"
#include "runtime/oracle/PageMask.h"

#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace dragon::oracle {

class FootprintTable {
public:
  void launchBegins(const char *kernel);
  void blocksRun(const ObservedBlocks &blocks);
  void step(std::span<const PageAccess> accesses);
  void launchEnds();

  /// By kernel.
  const std::map<std::string, StatsFootprint> &rows() const { return Rows; }

private:
  void blocksEnd();

  StatsFootprint *Row = nullptr;                    ///< the launch's
  ObservedBlocks Blocks;                            ///< that run
  bool Running = false;                             ///< some do
  std::unordered_map<uint64_t, PageAccess> Touched; ///< by them
  std::map<std::string, StatsFootprint> Rows;
};

} // namespace dragon::oracle

#endif // DRAGON_RUNTIME_ORACLE_FOOTPRINTTABLE_H
