//===- LargestFile.h - the limit of a file's size ---------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Who makes a file larger than `ulimit -f` says gets a signal that ends the
// process without a word. So the limit is asked first. It counts for memory
// files, too.
//
// Source: getrlimit(2), RLIMIT_FSIZE.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_BASE_LARGESTFILE_H
#define DRAGON_RUNTIME_BASE_LARGESTFILE_H

#include <cstdint>
#include <sys/resource.h>

namespace dragon {

/// Bytes; UINT64_MAX: there is no limit.
inline uint64_t largestFile() {
  struct rlimit limit;
  return ::getrlimit(RLIMIT_FSIZE, &limit) != 0 ||
                 limit.rlim_cur == RLIM_INFINITY
             ? UINT64_MAX
             : uint64_t(limit.rlim_cur);
}

} // namespace dragon

#endif // DRAGON_RUNTIME_BASE_LARGESTFILE_H
