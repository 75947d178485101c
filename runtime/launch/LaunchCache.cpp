//===- LaunchCache.cpp - plans of launches that come again ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/LaunchCache.h"

namespace dragon {

const std::vector<LaunchCache::Bytes> &
LaunchCache::inputsOf(const KernelInfo &kernel) {
  auto [found, isNew] = Inputs.try_emplace(kernel.record);
  if (!isNew)
    return found->second;
  const SummaryView &summary = *kernel.summary;
  const KernelRecord &record = *kernel.record;
  const uint32_t *sizes = summary.argSizes(record);
  std::vector<bool> whole(record.NumArgs);
  for (uint32_t i = 0; i < record.NumPointers; ++i) {
    const PointerRecord &pointer = summary.pointer(record.FirstPointer + i);
    if (pointer.Mode == AccessMode::None)
      continue;
    found->second.push_back(
        {pointer.ArgIndex, pointer.ByteOffset, sizeof(uintptr_t)});
    summary.visitExprs(pointer, [&](const ExprNode &node) {
      if (node.Op == ExprOp::Arg)
        whole[node.A] = true;
    });
  }
  for (uint32_t i = 0; i < record.NumArgs; ++i)
    if (whole[i])
      found->second.push_back({i, 0, sizes[i]});
  return found->second;
}

std::string LaunchCache::keyOf(const LaunchCall &call) {
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
  if (call.kernel->summary && record && call.numArgs >= record->NumArgs)
    for (const Bytes &input : inputsOf(*call.kernel))
      add(static_cast<const char *>(call.args[input.argument]) + input.offset,
          input.count);
  return key;
}

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
    Inputs.clear();
    Held = 0;
    Generation = allocations.generation();
  }
  countLatest();
  std::string key = keyOf(call);
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
