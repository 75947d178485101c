//===- AccessRecorder.h - accesses of kernels, by steps ---------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gathers what kernels report, byte by byte, into steps, which end when so many
// different bytes have been used, and in waves, which are as many blocks as run
// at the same time on a large GPU.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_ORACLE_ACCESSRECORDER_H
#define DRAGON_RUNTIME_ORACLE_ACCESSRECORDER_H

#include "runtime/base/Intervals.h"
#include "runtime/base/PageSlot.h"
#include "runtime/device/Device.h"
#include "runtime/device/cpu/kernels/AccessSink.h"
#include "runtime/oracle/PageMask.h"

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace dragon::oracle {

class AccessRecorder : public AccessSink {
public:
  /// What a GPU runs at a time: 132 processors with 2048 threads each (H200).
  static constexpr uint64_t ThreadsPerWave = 132 * 2048;

  struct Consumer {
    virtual ~Consumer() = default;
    /// A page is about to be read for the first time in this step; `address`
    /// is read. Who looks at it there is stopped as the kernel would be.
    virtual void firstRead(uintptr_t) {}
    virtual void step(std::span<const PageAccess> accesses) = 0;
    /// Pages, in the order in which they were used first.
    virtual void wave(std::span<const uint64_t>) {}
  };

  static constexpr uint64_t NoSteps = UINT64_MAX; ///< until finish()

  AccessRecorder(uint64_t bytesPerStep, Consumer &consumer)
      : BytesPerStep(bytesPerStep), Consume(consumer) {}

  /// Accesses elsewhere are of no interest.
  void addBuffer(AddressRange range);
  void removeBuffer(AddressRange range);

  void blockBegins(uint64_t threads) override;
  void access(uintptr_t address, uint64_t bytes, uint32_t kind) override;
  void blocksEnd(bool) override {}
  /// The step and the wave end here at the latest.
  void finish();

private:
  static constexpr size_t NoIndex = SIZE_MAX;
  /// The page's place in Accesses, or NoIndex if it is in no buffer.
  size_t indexOf(uint64_t page) {
    const Known &known = Recent[slotOfPage<Slots>(page)];
    return known.page == page ? known.index : findIndex(page);
  }
  size_t findIndex(uint64_t page);
  bool isInBuffer(uint64_t page) const;

  void endStep();
  void endWave();

  const uint64_t BytesPerStep;
  Consumer &Consume;
  uint64_t Bytes = 0;   ///< different ones, in this step
  uint64_t Threads = 0; ///< in this wave
  std::vector<uint64_t> Wave;
  std::unordered_set<uint64_t> InWave;
  IntervalSet<uintptr_t> Buffers;
  std::vector<PageAccess> Accesses; ///< of this step
  std::unordered_map<uint64_t, size_t> Index;
  struct Known {
    uint64_t page = UINT64_MAX;
    size_t index = NoIndex;
  };
  static constexpr size_t Slots = 1024;
  std::array<Known, Slots> Recent; ///< at slotOfPage()
};

} // namespace dragon::oracle

#endif // DRAGON_RUNTIME_ORACLE_ACCESSRECORDER_H
