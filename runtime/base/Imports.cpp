//===- Imports.cpp - what a loaded object takes from others ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/Imports.h"

#include <cstddef>
#include <cstdint>
#include <elf.h>

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

DynamicSymbols symbolsOf(const dl_phdr_info &object) {
  DynamicSymbols dynamic;
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    if (object.dlpi_phdr[i].p_type != PT_DYNAMIC)
      continue;
    // ld.so has made addresses of the entries, but not of the vDSO's.
    auto address = [&](const ElfW(Dyn) & entry) {
      const ElfW(Addr) at = entry.d_un.d_ptr;
      return reinterpret_cast<const void *>(
          at < object.dlpi_addr ? object.dlpi_addr + at : at);
    };
    for (auto *entry = reinterpret_cast<const ElfW(Dyn) *>(
             object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
         entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_SYMTAB)
        dynamic.symbols = static_cast<const ElfW(Sym) *>(address(*entry));
      else if (entry->d_tag == DT_STRTAB)
        dynamic.strings = static_cast<const char *>(address(*entry));
      else if (entry->d_tag == DT_HASH)
        dynamic.hash = static_cast<const uint32_t *>(address(*entry));
      else if (entry->d_tag == DT_GNU_HASH)
        dynamic.gnuHash = static_cast<const uint32_t *>(address(*entry));
    }
  }
  return dynamic;
}

} // namespace

bool importsAny(const dl_phdr_info &object,
                const std::function<bool(std::string_view)> &which) {
  const DynamicSymbols dynamic = symbolsOf(object);
  if (!dynamic.symbols || !dynamic.strings)
    return false;
  for (size_t i = 1, n = countUndefinedCandidates(dynamic); i < n; ++i)
    if (dynamic.symbols[i].st_shndx == SHN_UNDEF &&
        which(dynamic.strings + dynamic.symbols[i].st_name))
      return true;
  return false;
}

bool programImportsAny(const std::function<bool(std::string_view)> &which) {
  struct Asked {
    const std::function<bool(std::string_view)> &which;
    bool found = false;
  } asked{which};
  // The executable comes first.
  ::dl_iterate_phdr(
      [](dl_phdr_info *object, size_t, void *to) {
        auto &asked = *static_cast<Asked *>(to);
        asked.found = importsAny(*object, asked.which);
        return 1;
      },
      &asked);
  return asked.found;
}

} // namespace dragon
