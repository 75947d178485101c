//===- LaunchKey.cpp - when two launches are the same ---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/LaunchKey.h"

#include <functional>

namespace dragon {

namespace {

/// Mixes the bits (splitmix64's finaliser).
uint64_t mixBits(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

void append(std::string &key, const void *bytes, size_t count) {
  key.append(static_cast<const char *>(bytes), count);
}

/// How keys begin that are compared byte by byte.
std::string kernelAndSizes(const LaunchCall &call) {
  std::string key;
  const auto kernel = reinterpret_cast<uintptr_t>(call.kernel);
  append(key, &kernel, sizeof(kernel));
  append(key, call.grid, sizeof(call.grid));
  append(key, call.block, sizeof(call.block));
  return key;
}

} // namespace

uint64_t shapeKey(const LaunchCall &call) {
  uint64_t hash = mixBits(reinterpret_cast<uintptr_t>(call.kernel));
  for (unsigned i = 0; i < 3; ++i)
    hash = mixBits(mixBits(hash ^ call.grid[i]) ^ call.block[i]);
  return mixBits(hash ^ call.dynamicSharedBytes);
}

uint64_t buffersKey(const ResolvedLaunch &launch) {
  uint64_t key = mixBits(reinterpret_cast<uintptr_t>(launch.kernel));
  for (const LaunchPointer &pointer : launch.pointers)
    key = mixBits(
        key ^ (pointer.allocation ? pointer.allocation->base : pointer.value));
  return key;
}

uint64_t buffersKey(std::string_view function,
                    const std::vector<uintptr_t> &addresses) {
  uint64_t key = std::hash<std::string_view>()(function);
  for (uintptr_t address : addresses)
    key = mixBits(key ^ address);
  return key;
}

std::string contentsKey(const LaunchCall &call) {
  std::string key = kernelAndSizes(call);
  const KernelRecord &record = *call.kernel->record;
  const uint32_t *sizes = call.kernel->summary->argSizes(record);
  for (uint32_t i = 0; i < record.NumArgs; ++i)
    append(key, call.args[i], sizes[i]);
  return key;
}

const std::vector<FootprintKeys::Bytes> &
FootprintKeys::inputsOf(const KernelInfo &kernel) {
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
    for (uint32_t argument : summary.argumentsOf(pointer))
      whole[argument] = true;
  }
  for (uint32_t i = 0; i < record.NumArgs; ++i)
    if (whole[i])
      found->second.push_back({i, 0, sizes[i]});
  return found->second;
}

std::string FootprintKeys::of(const LaunchCall &call) {
  std::string key = kernelAndSizes(call);
  key.push_back(char(call.cooperative));
  const KernelRecord *record = call.kernel->record;
  if (call.kernel->summary && record && call.numArgs >= record->NumArgs)
    for (const Bytes &input : inputsOf(*call.kernel))
      append(key,
             static_cast<const char *>(call.args[input.argument]) +
                 input.offset,
             input.count);
  if (call.memory)
    call.memory->appendTo(key);
  return key;
}

} // namespace dragon
