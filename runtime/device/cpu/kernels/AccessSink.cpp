//===- AccessSink.cpp - where kernels report their accesses ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/kernels/AccessSink.h"
#include "dragon/CompilerABI.h"

namespace dragon {

namespace {
AccessSink *theSink = nullptr;
}

void setAccessSink(AccessSink *sink) { theSink = sink; }
AccessSink *accessSink() { return theSink; }

} // namespace dragon

extern "C" __attribute__((visibility("default"))) void
dragon_cpu_access(const void *address, uint64_t bytes, uint32_t kind) {
  if (dragon::theSink)
    dragon::theSink->access(reinterpret_cast<uintptr_t>(address), bytes, kind);
}
