//===- FatBinary.cpp - the GPU code that a program carries ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/modules/FatBinary.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <link.h>

namespace dragon {

namespace {

template <typename T> T valueAt(const void *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// How many bytes there are from the address on, in the part of a loaded file
/// that it is in.
size_t loadedFrom(const void *address) {
  struct Search {
    uintptr_t address;
    size_t bytes;
  } search{reinterpret_cast<uintptr_t>(address), 0};
  ::dl_iterate_phdr(
      [](dl_phdr_info *object, size_t, void *context) {
        auto &wanted = *static_cast<Search *>(context);
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          const auto &part = object->dlpi_phdr[i];
          const uintptr_t begin = object->dlpi_addr + part.p_vaddr;
          if (part.p_type != PT_LOAD || wanted.address - begin >= part.p_memsz)
            continue;
          wanted.bytes = part.p_memsz - (wanted.address - begin);
          return 1;
        }
        return 0;
      },
      &search);
  return search.bytes;
}

} // namespace

unsigned newestArchitecture(const void *binary, size_t bytes) {
  constexpr uint32_t Magic = 0xba55ed50;
  constexpr size_t HeaderBytes = 16, EntryBytes = 32;
  const char *at = static_cast<const char *>(binary);
  if (bytes < HeaderBytes || valueAt<uint32_t>(at) != Magic)
    return 0;
  const size_t header = valueAt<uint16_t>(at + 6);
  if (header > bytes)
    return 0;
  uint64_t left = std::min<uint64_t>(valueAt<uint64_t>(at + 8), bytes - header);
  at += header;
  unsigned newest = 0;
  while (left >= EntryBytes) {
    const uint64_t entryHeader = valueAt<uint32_t>(at + 4);
    const uint64_t payload = valueAt<uint64_t>(at + 8);
    const auto architecture = valueAt<uint32_t>(at + 28);
    if (entryHeader < EntryBytes || entryHeader > left ||
        payload > left - entryHeader)
      break;
    if (architecture >= 50 && architecture < 1000)
      newest = std::max(newest, unsigned(architecture));
    at += entryHeader + payload;
    left -= entryHeader + payload;
  }
  return newest;
}

unsigned newestArchitectureOf(const void *wrapper) {
  constexpr uint32_t Magic = 0x466243b1;
  const char *at = static_cast<const char *>(wrapper);
  if (valueAt<uint32_t>(at) != Magic)
    return 0;
  const auto *binary = valueAt<const void *>(at + 8);
  return binary ? newestArchitecture(binary, loadedFrom(binary)) : 0;
}

} // namespace dragon
