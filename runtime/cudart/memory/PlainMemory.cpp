//===- PlainMemory.cpp - memory that stays NVIDIA's -----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/memory/PlainMemory.h"

#include "runtime/cudart/front/Forward.h"
#include "runtime/trace/Log.h"

#include <cstring>
#include <cuda_runtime_api.h>
#include <elf.h>
#include <link.h>

namespace dragon {

namespace {

struct DynamicSymbols {
  const ElfW(Sym) *symbols = nullptr;
  const char *strings = nullptr;
  const uint32_t *hash = nullptr;    // DT_HASH
  const uint32_t *gnuHash = nullptr; // DT_GNU_HASH
};

/// How many symbols there are stands only in the hash tables. DT_GNU_HASH
/// begins its chains at the first defined symbol: what is undefined is below.
size_t countUndefinedCandidates(const DynamicSymbols &dynamic) {
  if (dynamic.hash)
    return dynamic.hash[1];
  return dynamic.gnuHash ? dynamic.gnuHash[1] : 0;
}

/// dl_iterate_phdr reports the executable first.
int inspectExecutable(dl_phdr_info *info, size_t, void *result) {
  DynamicSymbols dynamic;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_DYNAMIC)
      continue;
    // ld.so has relocated the entries of the running executable.
    for (auto *entry = reinterpret_cast<const ElfW(Dyn) *>(
             info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
         entry->d_tag != DT_NULL; ++entry) {
      const void *at = reinterpret_cast<const void *>(entry->d_un.d_ptr);
      if (entry->d_tag == DT_SYMTAB)
        dynamic.symbols = static_cast<const ElfW(Sym) *>(at);
      else if (entry->d_tag == DT_STRTAB)
        dynamic.strings = static_cast<const char *>(at);
      else if (entry->d_tag == DT_HASH)
        dynamic.hash = static_cast<const uint32_t *>(at);
      else if (entry->d_tag == DT_GNU_HASH)
        dynamic.gnuHash = static_cast<const uint32_t *>(at);
    }
  }
  if (dynamic.symbols && dynamic.strings)
    for (size_t i = 0, n = countUndefinedCandidates(dynamic); i < n; ++i) {
      const char *name = dynamic.strings + dynamic.symbols[i].st_name;
      if (dynamic.symbols[i].st_shndx == SHN_UNDEF &&
          !std::strcmp(name, "cudaIpcGetMemHandle"))
        *static_cast<bool *>(result) = true;
    }
  return 1;
}

} // namespace

bool plainMemoryOnly(Front &front) {
  if (!front.gpu)
    return false;
  static const bool Exports = [] {
    bool found = false;
    dl_iterate_phdr(inspectExecutable, &found);
    if (found)
      notice("this program shares device memory with other processes "
             "(cudaIpcGetMemHandle): its buffers are plain device memory and "
             "cannot exceed it");
    return found;
  }();
  return Exports;
}

cudaError_t allocatePlain(void **pointer, size_t bytes) {
  return nvidia<cudaError_t (*)(void **, size_t)>("cudaMalloc", pointer, bytes);
}

cudaError_t freePlain(void *pointer) {
  return nvidia<cudaError_t (*)(void *)>("cudaFree", pointer);
}

} // namespace dragon
