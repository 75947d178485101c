//===- HostCopies.h - host memory copied by several threads -----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One thread copies memory at a quarter of the rate that memory has. Used by
// one thread; the others are those of hostThreads().
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_BASE_HOSTCOPIES_H
#define DRAGON_RUNTIME_BASE_HOSTCOPIES_H

#include <cstddef>
#include <vector>

namespace dragon {

/// Copies that are gathered and made together. None is made later than flush()
/// or the end.
class HostCopies {
public:
  HostCopies() = default;
  ~HostCopies() { flush(); }
  HostCopies(const HostCopies &) = delete;
  HostCopies &operator=(const HostCopies &) = delete;

  void add(void *to, const void *from, size_t bytes);
  void flush();

private:
  struct Piece {
    char *to;
    const char *from;
    size_t bytes;
  };
  std::vector<Piece> Pieces;
  size_t Bytes = 0;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_BASE_HOSTCOPIES_H
