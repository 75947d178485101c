//===- InitialValues.cpp - what device variables begin with ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/modules/InitialValues.h"

#include "runtime/base/Rounding.h"
#include "runtime/cudart/modules/Module.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace dragon {

namespace {

/// The end of the file's part of the segment that holds an address; what comes
/// behind it, up to the segment's end, began as zeros. Memory of no loaded file
/// (of a compiler in the process) has no such part.
struct FilePart {
  uintptr_t address;
  uintptr_t end = UINTPTR_MAX;
};

int findSegment(dl_phdr_info *object, size_t, void *argument) {
  auto *wanted = static_cast<FilePart *>(argument);
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = object->dlpi_phdr[i];
    const uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
    if (segment.p_type != PT_LOAD || wanted->address < begin ||
        wanted->address - begin >= segment.p_memsz)
      continue;
    wanted->end = begin + segment.p_filesz;
    return 1;
  }
  return 0;
}

void clear(char *at, size_t bytes, bool anonymous) {
  constexpr size_t WorthACall = 1 << 20;
  if (!anonymous || bytes < WorthACall) {
    std::memset(at, 0, bytes);
    return;
  }
  const auto page = uintptr_t(::sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<uintptr_t>(at);
  const uintptr_t begin = roundUp(address, page);
  const uintptr_t end = (address + bytes) / page * page;
  char *const first = at + (begin - address), *const last =
                                                  first + (end - begin);
  std::memset(at, 0, begin - address);
  if (::madvise(first, end - begin, MADV_DONTNEED) != 0) // locked, perhaps
    std::memset(first, 0, end - begin);
  std::memset(last, 0, address + bytes - end);
}

} // namespace

void InitialValues::remember(const dragon_module &unit) {
  const dragon_cpu_module *cpu = unit.cpu;
  if (!cpu || cpu->version != DRAGON_CPU_MODULE_VERSION)
    return;
  for (uint64_t i = 0; i < cpu->num_variables; ++i) {
    const dragon_cpu_variable &variable = cpu->variables[i];
    auto *at = static_cast<char *>(variable.address);
    FilePart part{reinterpret_cast<uintptr_t>(at)};
    ::dl_iterate_phdr(findSegment, &part);
    const auto inFile = size_t(std::clamp<uint64_t>(
        part.end > part.address ? part.end - part.address : 0, 0,
        variable.bytes));
    add(at, inFile, false);
    add(at + inFile, variable.bytes - inFile, true);
  }
}

void InitialValues::add(char *at, size_t bytes, bool anonymous) {
  if (bytes == 0)
    return;
  Part &part = Parts.emplace_back(Part{at, bytes, anonymous, {}});
  if (!anonymous && std::any_of(at, at + bytes, [](char c) { return c != 0; }))
    part.contents.assign(at, at + bytes);
}

void InitialValues::restore() const {
  for (const Part &part : Parts)
    if (part.contents.empty())
      clear(part.at, part.bytes, part.anonymous);
    else
      std::memcpy(part.at, part.contents.data(), part.bytes);
}

//===----------------------------------------------------------------------===//
// Of all modules
//===----------------------------------------------------------------------===//

// On a GPU the modules are loaded anew: what they are used by is looked up
// again at the next launch.
Result ModuleRegistry::restoreVariables(Front &front) {
  {
    std::lock_guard<std::mutex> preparing(Preparing);
    std::unique_lock<std::shared_mutex> guard(Lock);
    for (Module &module : Modules) {
      if (module.unregistered)
        continue;
      if (!front.gpu) {
        module.initial.restore();
        continue;
      }
      takeFromNvidia(module);
      for (Kernel &kernel : module.kernels)
        kernel.prepared.store(false, std::memory_order_release);
      for (Variable &variable : module.variables)
        if (variable.managed)
          *variable.managed = nullptr;
    }
    if (!front.gpu)
      return cudaSuccess;
    Handles.clear();
    ++Changes;
  }
  // The host may look at managed variables at once.
  return initialise(front);
}

} // namespace dragon
