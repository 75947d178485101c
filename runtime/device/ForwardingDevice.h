//===- ForwardingDevice.h - devices in front of devices -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decorators (rmm's adaptors, nbdkit's filters): each stands in front of any
// device and hears of every call before it is made.
//
//   CountingDevice   counts calls by kind
//   FaultyDevice     fails the n-th call: a test runs n = 1, 2, 3, ... until a
//                    run passes, and so walks every error path
//   MaskedDevice     takes abilities away, to test what is done without them
//
// Example: FaultyDevice(std::move(cpu), 7) fails the seventh call with
// "injected failure of call 7 (map)" and lets all others through.
//
// Threads: as the device behind.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_DEVICE_FORWARDINGDEVICE_H
#define DRAGON_RUNTIME_DEVICE_FORWARDINGDEVICE_H

#include "runtime/device/Device.h"

#include <array>
#include <atomic>

namespace dragon {

enum class DeviceCall : uint8_t {
#define DEVICE_CALL(NAME, TEXT) NAME,
#include "runtime/device/DeviceCalls.def"
};
constexpr unsigned NumDeviceCalls = 0
#define DEVICE_CALL(NAME, TEXT) +1
#include "runtime/device/DeviceCalls.def"
    ;
const char *nameOf(DeviceCall call);

class ForwardingDevice : public Device {
public:
  explicit ForwardingDevice(std::unique_ptr<Device> inner);
  Device &inner() { return *Inner; }

protected:
  /// For destructors: the device behind is to outlive this one.
  std::unique_ptr<Device> takeInner() { return std::move(Inner); }

private:
  /// A failure becomes the call's result, and the call is not made.
  virtual Status before(DeviceCall call) = 0;

  StatusOr<uintptr_t> reserveImpl(size_t bytes) override;
  Status releaseImpl(uintptr_t base, size_t bytes) override;
  void describeImpl(uintptr_t base, size_t bytes,
                    const std::string &name) override {
    Inner->describe(base, bytes, name);
  }
  StatusOr<Physical> createImpl(Place place, size_t bytes) override;
  StatusOr<Physical> createOnPeerImpl(unsigned peer, size_t bytes) override;
  Status destroyImpl(const Physical &physical) override;
  Status mapImpl(uintptr_t va, const Physical &physical) override;
  Status unmapImpl(uintptr_t va, const Physical &physical) override;
  Status pinImpl(uintptr_t begin, size_t bytes) override;
  Status unpinImpl(uintptr_t begin) override;
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
  Status discardImpl(std::span<const AddressRange> ranges,
                     Queue queue) override;
  Status prefetchImpl(std::span<const AddressRange> ranges, Place place,
                      bool dead, Queue queue) override;
  Status adviseImpl(const AddressRange &range, Advice advice) override;
  Status completeMapsImpl() override;
  Status mapFileImpl(const DriverFile &file) override;
  Status remapFileImpl(uintptr_t base, unsigned flags) override;
  Status guardHostAccessImpl(uintptr_t va, size_t bytes, bool guarded) override;
  Status setFaultHandlerImpl(FaultHandler handler, void *context) override;
  bool hostReachesImpl(const void *address) override;
  AddressRange othersAtImpl(uintptr_t address) override;
  StatusOr<DeviceMemory> memoryImpl() override;
  StatusOr<DeviceMemory> peerMemoryImpl(unsigned peer) override;

  std::unique_ptr<Device> Inner;
};

class CountingDevice final : public ForwardingDevice {
public:
  using ForwardingDevice::ForwardingDevice;
  uint64_t calls(DeviceCall call) const { return Calls[unsigned(call)].load(); }
  uint64_t calls() const;

private:
  Status before(DeviceCall call) override;
  std::array<std::atomic<uint64_t>, NumDeviceCalls> Calls{};
};

class FaultyDevice final : public ForwardingDevice {
public:
  /// The n-th call, counted from 1, fails with `code`; 0: none does.
  FaultyDevice(std::unique_ptr<Device> inner, uint64_t n,
               dragon_error code = DRAGON_ERROR_DEVICE);
  /// Starts to count anew.
  void failAt(uint64_t n);
  bool hasFailed() const { return Failed.load(); }
  /// What failed; of no meaning before.
  DeviceCall failedCall() const { return Kind.load(); }

private:
  Status before(DeviceCall call) override;
  std::atomic<uint64_t> Count{0};
  std::atomic<uint64_t> FailAt;
  std::atomic<bool> Failed{false};
  std::atomic<DeviceCall> Kind{DeviceCall::Reserve};
  const dragon_error Code;
};

class MaskedDevice final : public ForwardingDevice {
public:
  struct Without {
    bool hostMapped = false; ///< true: takes the ability away
  };
  MaskedDevice(std::unique_ptr<Device> inner, Without without);

private:
  Status before(DeviceCall call) override;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_DEVICE_FORWARDINGDEVICE_H
