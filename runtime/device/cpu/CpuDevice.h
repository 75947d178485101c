//===- CpuDevice.h - the host processor as a device -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A device without a GPU: kernels lowered to the host processor run on a pool
// of threads; device memory is simulated by a memfd of DRAGON_DEVICE_MEMORY
// bytes, and pinned host memory by another. Chunks are mapped and unmapped by
// mmap at fixed addresses, as the vmm device does it on a GPU, so the rest of
// the runtime runs the same way here and there. DRAGON_CPU_DEVICES simulates
// more devices of that kind: their memory is there, as that of a GPU's peers.
//
// Queues: every call returns when its work is done, so a queue is the lock that
// keeps two host threads' work in order. The legacy default queue excludes all
// queues that were not created with the non-blocking flag.
//
// Strict mode (DRAGON_STRICT): see AddressMap.h. Poison (DRAGON_POISON): memory
// whose contents are undefined holds 0xA5 bytes: new physical memory, what core
// poisons, and shared memory at the start of a block.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_DEVICE_CPU_CPUDEVICE_H
#define DRAGON_RUNTIME_DEVICE_CPU_CPUDEVICE_H

#include "runtime/base/Settings.h"
#include "runtime/base/ThreadPool.h"
#include "runtime/device/Device.h"
#include "runtime/device/cpu/kernels/KernelRun.h"
#include "runtime/device/cpu/memory/AddressMap.h"
#include "runtime/device/cpu/memory/MemoryFile.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

namespace dragon {

class CpuDevice final : public Device {
public:
  static constexpr unsigned char PoisonByte = 0xA5;

  static StatusOr<std::unique_ptr<Device>> create(const Settings &settings);
  ~CpuDevice() override;

private:
  explicit CpuDevice(const Settings &settings);

  struct QueueState {
    bool blocking = true; ///< ordered with the legacy default queue
    std::recursive_mutex lock;
  };
  struct EventState {
    std::mutex lock;
    bool timing = true;
    bool recorded = false;
    uint64_t nanoseconds = 0;
  };
  struct PhysicalState {
    Place place;
    unsigned peer;
    uint64_t offset;
    size_t bytes;
    uintptr_t mappedAt = 0;
  };
  /// Holds a queue's place in the order while a call does its work.
  class Turn {
  public:
    Turn(CpuDevice &device, std::shared_ptr<QueueState> queue, bool legacy);
    ~Turn();

  private:
    CpuDevice &Device;
    std::shared_ptr<QueueState> Held;
    bool Legacy;
  };

  StatusOr<std::shared_ptr<QueueState>> findQueue(const char *call,
                                                  Queue queue);
  StatusOr<std::shared_ptr<EventState>> findEvent(const char *call,
                                                  Event event);
  Status checkAlive();
  MemoryFile &fileOf(Place place, unsigned peer) {
    return place == Place::Device ? *DeviceMemoryFile
           : place == Place::Peer ? *PeerMemoryFiles[peer]
                                  : *HostMemoryFile;
  }
  StatusOr<Physical> createIn(Place place, unsigned peer, size_t bytes);
  void moveBytes(char *to, const char *from, size_t bytes);

  StatusOr<uintptr_t> reserveImpl(size_t bytes) override;
  Status releaseImpl(uintptr_t base, size_t bytes) override;
  void describeImpl(uintptr_t base, size_t bytes,
                    const std::string &name) override {
    Addresses.describe(base, bytes, name);
  }
  AddressRange othersAtImpl(uintptr_t address) override;
  StatusOr<Physical> createImpl(Place place, size_t bytes) override;
  StatusOr<Physical> createOnPeerImpl(unsigned peer, size_t bytes) override;
  Status destroyImpl(const Physical &physical) override;
  Status mapImpl(uintptr_t va, const Physical &physical) override;
  Status unmapImpl(uintptr_t va, const Physical &physical) override;
  /// Kernels read all of the host's memory.
  Status pinImpl(uintptr_t, size_t) override { return {}; }
  Status unpinImpl(uintptr_t) override { return {}; }
  StatusOr<Queue> createQueueImpl(unsigned flags, int priority) override;
  Status destroyQueueImpl(Queue queue) override;
  Status synchronizeImpl(Queue queue) override;
  StatusOr<bool> queryImpl(Queue queue) override;
  Status synchronizeAllImpl() override;
  StatusOr<Event> createEventImpl(bool timing) override;
  Status destroyEventImpl(Event event) override;
  Status recordImpl(Event event, Queue queue) override;
  Status waitImpl(Queue queue, Event event) override;
  StatusOr<bool> queryEventImpl(Event event) override;
  Status synchronizeEventImpl(Event event) override;
  StatusOr<float> elapsedMillisecondsImpl(Event start, Event end) override;
  Status copyImpl(void *to, const void *from, size_t bytes, CopyKind kind,
                  Queue queue) override;
  Status fillImpl(void *to, uint32_t value, unsigned width, size_t count,
                  Queue queue) override;
  Status poisonImpl(uintptr_t va, size_t bytes, Queue queue) override;
  Status launchImpl(const LaunchRequest &request) override;
  bool acceptsImpl(const LaunchRequest &request) override;
  Status guardHostAccessImpl(uintptr_t va, size_t bytes, bool guarded) override;
  Status setFaultHandlerImpl(FaultHandler handler, void *context) override;
  StatusOr<DeviceMemory> memoryImpl() override;
  StatusOr<DeviceMemory> peerMemoryImpl(unsigned peer) override;

  const bool Poison;
  std::unique_ptr<MemoryFile> DeviceMemoryFile;
  std::unique_ptr<MemoryFile> HostMemoryFile;
  std::vector<std::unique_ptr<MemoryFile>> PeerMemoryFiles;
  AddressMap Addresses;
  ThreadPool Pool;
  KernelThreadPool KernelThreads;

  std::mutex Lock; // of the tables below
  std::unordered_map<uint64_t, PhysicalState> Physicals;
  std::unordered_map<Queue, std::shared_ptr<QueueState>> Queues;
  std::unordered_map<Event, std::shared_ptr<EventState>> Events;
  uint64_t NextId = 1;
  std::shared_ptr<QueueState> LegacyQueue;
  std::shared_mutex LegacyOrder; // legacy: exclusive; blocking queues: shared

  // The first kernel failure stops the device, as it does a CUDA context.
  std::atomic<int> FailedWith{0};
  std::string FailedKernel;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_DEVICE_CPU_CPUDEVICE_H
