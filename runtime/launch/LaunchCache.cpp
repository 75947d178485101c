//===- LaunchCache.cpp - plans of launches that come again ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/LaunchCache.h"

namespace dragon {

void LaunchCache::countLatest() {
  if (Entries.empty())
    return;
  Entry &latest = Entries.front();
  Held = Held - latest.counted + latest.launch->held();
  latest.counted = latest.launch->held();
}

void LaunchCache::dropOld() {
  while (!Entries.empty() && (Entries.size() >= MaxEntries || Held > MaxHeld)) {
    Held -= Entries.back().counted;
    Places.erase(Entries.back().key);
    Entries.pop_back();
  }
}

std::shared_ptr<PlannedLaunch>
LaunchCache::entry(const LaunchCall &call, const AddressIndex &allocations,
                   bool &isNew) {
  if (Generation != allocations.generation()) {
    Places.clear();
    Entries.clear();
    Keys.clear();
    Held = 0;
    Generation = allocations.generation();
  }
  countLatest();
  std::string key = Keys.of(call);
  auto found = Places.find(key);
  isNew = found == Places.end();
  if (!isNew) {
    Entries.splice(Entries.begin(), Entries, found->second);
    return found->second->launch;
  }
  dropOld();
  Entries.push_front({key, std::make_shared<PlannedLaunch>()});
  Places.emplace(std::move(key), Entries.begin());
  return Entries.front().launch;
}

} // namespace dragon
