//===- MemoryCopies.h - copies that the processor makes ---------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Copies within host memory, in parts that any thread makes: requests of the
// program's memory, whose contents are read as they were when it was protected
// (ProtectedMemory.h), and others. They are gathered by one thread; then each
// part is made once, by whoever has time, in any order.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_TIER_MEMORYCOPIES_H
#define DRAGON_RUNTIME_TIER_MEMORYCOPIES_H

#include "runtime/tier/FileTier.h"

#include <cstdint>
#include <span>
#include <vector>

namespace dragon {

class MemoryCopies {
public:
  /// From or to the program's memory (BackingFile::programMemory). What is
  /// written is not protected any more.
  void add(const FileRequest &request);
  /// What the runtime has, to memory that may be protected.
  void add(char *to, const char *from, size_t bytes);

  bool empty() const { return Parts.empty(); }
  size_t size() const { return Parts.size(); }
  uint64_t bytes() const { return Bytes; }
  /// Each part from 0 to size() - 1 once.
  void make(size_t part) const;
  /// All of them, by several threads. There are none then.
  void makeAll();

private:
  struct Part {
    char *to;
    uintptr_t from;
    size_t bytes;
    bool asItWas; ///< `from` is of the program's memory
  };
  void add(char *to, uintptr_t from, size_t bytes, bool asItWas);

  std::vector<Part> Parts;
  uint64_t Bytes = 0;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_TIER_MEMORYCOPIES_H
