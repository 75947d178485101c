//===- LibcCalls.cpp - the C library's functions behind ours --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/process/LibcCalls.h"
#include "runtime/base/HostRanges.h"

#include <dlfcn.h>

namespace dragon::libc {

void *find(const char *name) { return ::dlsym(RTLD_NEXT, name); }

#define DRAGON_LIBC(name) constinit std::atomic<void *> name##Behind{nullptr};
#include "runtime/cudart/process/LibcCalls.def"

__attribute__((constructor)) static void findAll() {
#define DRAGON_LIBC(name) DRAGON_REAL(name);
#include "runtime/cudart/process/LibcCalls.def"
  ::pthread_atfork(nullptr, nullptr, HostRanges::removeAll);
}

} // namespace dragon::libc
