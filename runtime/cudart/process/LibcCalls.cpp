//===- LibcCalls.cpp - the C library's functions behind ours --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/process/LibcCalls.h"
#include "runtime/base/HostRanges.h"

#include <cstring>
#include <dlfcn.h>
#include <gnu/lib-names.h>
#include <string_view>

namespace dragon::libc {

namespace {

/// Whether the function is one of StandIns.s.in, which leads to ours: a shared
/// library of dragon-cc's objects has one for each. They begin at multiples of
/// 16. No dlsym that finds nothing: it would call functions that are looked up.
bool isStandIn(const void *function) {
  static constexpr std::string_view Mark = "dragon";
  constexpr size_t Place = 10; // behind the jump
  return reinterpret_cast<uintptr_t>(function) % 16 == 0 &&
         std::memcmp(static_cast<const char *>(function) + Place, Mark.data(),
                     Mark.size()) == 0;
}

} // namespace

void *find(const char *name) {
  void *next = ::dlsym(RTLD_NEXT, name);
  if (next && !isStandIn(next))
    return next;
  // It is not behind this library where only a library of the program's needs
  // ours: the program's own libraries are loaded first, the C library is one.
  // Not dlopen, which tells from programs that load code.
  void *library = ::dlmopen(LM_ID_BASE, LIBC_SO, RTLD_LAZY | RTLD_NOLOAD);
  return library ? ::dlsym(library, name) : nullptr;
}

#define DRAGON_LIBC(name) constinit std::atomic<void *> name##Behind{nullptr};
#include "runtime/cudart/process/LibcCalls.def"

__attribute__((constructor)) static void findAll() {
#define DRAGON_LIBC(name) DRAGON_REAL(name);
#include "runtime/cudart/process/LibcCalls.def"
  ::pthread_atfork(nullptr, nullptr, HostRanges::removeAll);
}

} // namespace dragon::libc
