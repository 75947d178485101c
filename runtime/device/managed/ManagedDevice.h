//===- ManagedDevice.h - a GPU by CUDA managed memory -----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The GPU as a Device whose addresses are managed memory, which the driver
// moves. Core's books and copies are those of any device; this one tells the
// driver what they mean, so that it has nothing to find out by page faults and
// nothing to move by itself:
//
//   reserve   cuMemAllocManaged; memory is there from then on, as far as the
//             driver finds some
//   create    device memory is a number of bytes of the budget, nothing else
//   map       the chunk's contents will be copied or written: discard and
//             prefetch, after which pages are on the device and nothing moved
//   unmap     the contents are dead, or were copied out: discard
//
// map and unmap are told to the driver in one batch in front of the next work,
// chunks side by side as one range, in a stream of their own (the batch calls
// take no legacy default stream) that the work's queue waits for. Of one batch,
// operations run in any order: no two ranges overlap, and discards go in a
// batch before.
//
// Discard is in drivers since CUDA 13.0 (the kernel module 580.65.06). It is
// tried once, on memory of its own: a newer libcuda may sit on an older module.
// Without it pages are prefetched, which moves contents that nobody needs.
//
// Source: CUDA driver API (cuMemDiscardBatchAsync and its kin); UVM Discard
// (Zhu et al., IISWC'22).
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_DEVICE_MANAGED_MANAGEDDEVICE_H
#define DRAGON_RUNTIME_DEVICE_MANAGED_MANAGEDDEVICE_H

#include "runtime/device/cuda/CudaDevice.h"
#include "runtime/device/cuda/PhysicalMemory.h"
#include "runtime/device/managed/PendingMaps.h"

#include <map>
#include <mutex>
#include <set>
#include <unordered_map>
#include <vector>

namespace dragon {

class ManagedDevice : public CudaDevice {
public:
  static StatusOr<std::unique_ptr<Device>> create(const Settings &settings);
  /// On a driver that the caller has loaded; for tests.
  static StatusOr<std::unique_ptr<Device>> createOn(const CudaDriver &cuda,
                                                    const Settings &settings);
  ~ManagedDevice() override;

protected:
  ManagedDevice(const CudaDriver &cuda, const CudaContext &context);
  /// Asks what the driver can; before any other call.
  Status open(const char *name, const Settings &settings);
  /// The end of the driver's allocation at the beginning of a reserved range.
  /// UNSUPPORTED: the range begins elsewhere, for alignment.
  StatusOr<uintptr_t> endOfAllocation(uintptr_t base);

  Status releaseImpl(uintptr_t base, size_t bytes) override;
  Status discardImpl(std::span<const AddressRange> ranges,
                     Queue queue) override;
  Status prefetchImpl(std::span<const AddressRange> ranges, Place place,
                      bool dead, Queue queue) override;
  Status adviseImpl(const AddressRange &range, Advice advice) override;

private:
  /// The unit of UVM's state, and of what discard does whole.
  static constexpr size_t Granularity = size_t(2) << 20;
  /// Managed memory is the driver's; its limit is ours.
  struct Range {
    CUdeviceptr allocation;
    uintptr_t end;
    size_t allocated; ///< bytes, with what is lost to alignment
  };
  /// What the driver takes of the hints.
  enum class Hints : uint8_t {
    None,     ///< not even that
    Prefetch, ///< range by range
    Batches,  ///< of prefetches
    Discards  ///< and of discards
  };
  enum class Batch : uint8_t { Discard, Prefetch, DiscardAndPrefetch };

  Hints findHints();
  Status tryDiscard();
  Status checkRoom(size_t bytes);
  /// Tells the driver what was mapped and unmapped since.
  Status flush();
  /// `queue` waits for what was told.
  Status beforeWork(Queue queue) override;
  Status send(Batch batch, std::span<const AddressRange> ranges, Place place,
              CUstream stream);
  Status sendEach(std::span<const AddressRange> ranges, Place place,
                  CUstream stream);
  /// Runs `send` in the queue's order, in a stream that the batch calls take.
  template <typename Send> Status inOrder(Queue queue, Send sendIn);
  /// A hint has failed, and is not given again.
  void giveUp(Hints to, const Status &why);
  bool isReserved(uintptr_t begin, uintptr_t end);

  StatusOr<uintptr_t> reserveImpl(size_t bytes) override;
  StatusOr<Physical> createImpl(Place place, size_t bytes) override;
  Status destroyImpl(const Physical &physical) override;
  Status mapImpl(uintptr_t va, const Physical &physical) override;
  Status unmapImpl(uintptr_t va, const Physical &physical) override;
  Status destroyQueueImpl(Queue queue) override;
  Status copyImpl(void *to, const void *from, size_t bytes, CopyKind kind,
                  Queue queue) override;
  Status fillImpl(void *to, uint32_t value, unsigned width, size_t count,
                  Queue queue) override;
  Status completeMapsImpl() override;
  Status guardHostAccessImpl(uintptr_t va, size_t bytes, bool guarded) override;
  Status setFaultHandlerImpl(FaultHandler handler, void *context) override;

  PhysicalMemory Memory; ///< pinned memory
  uint64_t Limit = 0;    ///< of managed memory; UINT64_MAX: the user's risk
  bool Oversubscribes = false;
  Hints Takes = Hints::None;
  bool ToldWhy = false;

  std::mutex Lock;
  std::map<uintptr_t, Range> Reserved; // by begin
  uint64_t ReservedBytes = 0;
  std::map<uint64_t, size_t> DeviceChunks; // id -> bytes
  uint64_t NextId = uint64_t(1) << 62;     // apart from Memory's
  std::map<uintptr_t, uintptr_t> Mapped;   // begin -> end
  PendingMaps Pending;
  CUstream Moves = nullptr;
  CUevent Moved = nullptr; ///< in Moves, after the last batch
  CUevent Order = nullptr;
  uint64_t Told = 0; ///< batches so far
  std::unordered_map<Queue, uint64_t>
      Waits; ///< of them, what a queue waits for
};

} // namespace dragon

#endif // DRAGON_RUNTIME_DEVICE_MANAGED_MANAGEDDEVICE_H
