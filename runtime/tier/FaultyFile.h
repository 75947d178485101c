//===- FaultyFile.h - files that fail, for tests ----------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A filter on the results of system calls, nbdkit's way: short transfers and
// interruptions that must go unnoticed, and failures of exactly the n-th call,
// so that every error path can be walked by n = 1, 2, 3, ... until a run
// passes. Thread-safe.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_TIER_FAULTYFILE_H
#define DRAGON_RUNTIME_TIER_FAULTYFILE_H

#include "runtime/tier/Transfer.h"

#include <algorithm>
#include <atomic>
#include <cerrno>

namespace dragon {

class FaultyFile final : public IoFaults {
public:
  /// The n-th call (from 1) fails with this errno; 0 = none does.
  std::atomic<uint64_t> failAt{0};
  std::atomic<int> failWith{EIO};
  /// Every n-th call is interrupted, or does half of its bytes; 0 = none.
  std::atomic<uint64_t> interruptEvery{0};
  std::atomic<uint64_t> shortEvery{0};

  uint64_t calls() const { return Calls.load(); }
  void restart() { Calls.store(0); }

  long filter(const TransferPart &segment, long result) override {
    uint64_t call = ++Calls;
    if (failAt && call == failAt)
      return -long(failWith.load());
    if (interruptEvery && call % interruptEvery == 0)
      return -EINTR;
    if (shortEvery && call % shortEvery == 0 && result > 1)
      return segment.direct && result > long(Transfer::Alignment)
                 ? result / 2 / long(Transfer::Alignment) *
                       long(Transfer::Alignment)
                 : std::max(result / 2, 1L);
    return result;
  }

private:
  std::atomic<uint64_t> Calls{0};
};

} // namespace dragon

#endif // DRAGON_RUNTIME_TIER_FAULTYFILE_H
