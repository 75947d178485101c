//===- ProgramPins.h - memory of the program that kernels read --*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Contents that are still where the program copied them from
// (files/ProgramMemory.h) need not come to host memory of ours for a kernel
// that reads them over the link: their pages are pinned where they are, at 20
// to 50 GB/s, which is three times as fast as to make pinned memory and to copy
// them there. They stay pinned until the program says that it changes or frees
// them (drop).
//
// Source: cudaHostRegister, cudaHostRegisterReadOnly in the CUDA Runtime API.
// Threads: under the runtime's lock.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_PROGRAMPINS_H
#define DRAGON_RUNTIME_MEMORY_PROGRAMPINS_H

#include "runtime/memory/Context.h"

#include <map>
#include <span>

namespace dragon {

class ProgramPins {
public:
  explicit ProgramPins(Context &context) : Ctx(context) {}

  /// As much of the ranges as the device takes: see holds().
  void add(std::span<const AddressRange> ranges);
  /// All of [begin, end) is pinned.
  bool holds(uintptr_t begin, uintptr_t end) const;
  /// Nothing of [begin, end) is pinned any more, once what is queued has ended.
  /// Some of what lies beside it is not either.
  void drop(uintptr_t begin, uintptr_t end);

private:
  Context &Ctx;
  std::map<uintptr_t, uintptr_t> Pinned; ///< begin: end, of whole pages
};

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_PROGRAMPINS_H
