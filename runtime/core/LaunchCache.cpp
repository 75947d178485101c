//===- LaunchCache.cpp - plans of launches that come again ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/LaunchCache.h"

#include <algorithm>

namespace dragon {

namespace {

/// Launches of a training step, say. Each holds its slices' chunks.
constexpr size_t MaxEntries = 256;

std::string keyOf(const LaunchCall &call) {
  std::string key;
  auto add = [&key](const void *bytes, size_t count) {
    key.append(static_cast<const char *>(bytes), count);
  };
  const auto kernel = reinterpret_cast<uintptr_t>(call.kernel);
  add(&kernel, sizeof(kernel));
  add(call.grid, sizeof(call.grid));
  add(call.block, sizeof(call.block));
  key.push_back(char(call.cooperative));
  const KernelRecord *record = call.kernel->record;
  if (const SummaryView *summary = call.kernel->summary; summary && record) {
    const uint32_t *sizes = summary->argSizes(*record);
    for (uint32_t i = 0; i < std::min(record->NumArgs, call.numArgs); ++i)
      add(call.args[i], sizes[i]);
  }
  return key;
}

} // namespace

std::shared_ptr<PlannedLaunch>
LaunchCache::entry(const LaunchCall &call, const AddressIndex &allocations,
                   bool &isNew) {
  if (Generation != allocations.generation()) {
    Places.clear();
    Entries.clear();
    Generation = allocations.generation();
  }
  std::string key = keyOf(call);
  auto found = Places.find(key);
  isNew = found == Places.end();
  if (!isNew) {
    Entries.splice(Entries.begin(), Entries, found->second);
    return found->second->launch;
  }
  if (Entries.size() == MaxEntries) {
    Places.erase(Entries.back().key);
    Entries.pop_back();
  }
  Entries.push_front({key, std::make_shared<PlannedLaunch>()});
  Places.emplace(std::move(key), Entries.begin());
  return Entries.front().launch;
}

} // namespace dragon
