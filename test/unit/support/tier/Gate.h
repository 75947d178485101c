//===- Gate.h - writes end when they may, and as they are told --*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_UNIT_SUPPORT_TIER_GATE_H
#define DRAGON_TEST_UNIT_SUPPORT_TIER_GATE_H

#include "runtime/tier/Transfer.h"

#include <climits>
#include <condition_variable>
#include <mutex>

namespace dragon::test {

class Gate final : public IoFaults {
public:
  void setOpen(bool value) {
    std::lock_guard<std::mutex> guard(Lock);
    Open = value;
    Changed.notify_all();
  }
  /// A write is under way.
  void waitForWrite() {
    std::unique_lock<std::mutex> guard(Lock);
    Changed.wait(guard, [this] { return Held > 0; });
  }
  /// So many writes fail.
  void fail(int code, unsigned times = UINT_MAX) {
    std::lock_guard<std::mutex> guard(Lock);
    Code = code;
    Times = times;
  }
  long filter(const TransferPart &segment, long result) override {
    std::unique_lock<std::mutex> guard(Lock);
    if (!segment.write)
      return result;
    ++Held;
    Changed.notify_all();
    Changed.wait(guard, [this] { return Open; });
    --Held;
    if (!Code || !Times)
      return result;
    --Times;
    return -long(Code);
  }

private:
  std::mutex Lock;
  std::condition_variable Changed;
  bool Open = true;
  unsigned Held = 0;
  int Code = 0;
  unsigned Times = 0;
};

} // namespace dragon::test

#endif // DRAGON_TEST_UNIT_SUPPORT_TIER_GATE_H
