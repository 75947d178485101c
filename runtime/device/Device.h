//===- Device.h - what the runtime needs of a device -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A device gives address ranges, physical chunks that are mapped into them,
// queues, events, copies and launches. It holds no policy: core decides what is
// where and when, the back ends (vmm, managed, dragon, cpu) do it. Public calls
// are not virtual: they validate, trace and then call the Impl.
//
// The interface has four parts: addresses and memory (DeviceAddresses.h),
// queues and events (DeviceQueues.h), hints and files for the driver
// (DeviceHints.h), and the work itself, here. A class that needs one part takes
// that part.
//
// Threads: every call may be made from any thread at any time, unless it says
// otherwise. The caller serialises calls that touch the same address range or
// the same Physical. No back end calls back into core, except by the fault
// handler that core registers.
//
// Time: map, unmap and setAccess take effect at once, for the work queued
// before as well: the caller waits for what uses a chunk before it is unmapped
// (cuMemUnmap does not wait for kernels). copy, fill and launch are queued.
//
// Addresses: a reserved range has the same value in kernels and on the host.
//
// Source: the CUDA driver API's virtual memory management (cuMemAddressReserve,
// cuMemCreate, cuMemMap, cuMemSetAccess); the interface follows its model, and
// the cpu device rebuilds it with memfd and mmap.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_DEVICE_DEVICE_H
#define DRAGON_RUNTIME_DEVICE_DEVICE_H

#include "dragon/BlockBox.h"
#include "dragon/CompilerABI.h"
#include "runtime/base/Status.h"
#include "runtime/device/DeviceAddresses.h"
#include "runtime/device/DeviceCaps.h"
#include "runtime/device/DeviceHints.h"
#include "runtime/device/DeviceQueues.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace dragon {

class Timeline;
struct Settings;

enum class CopyKind : uint8_t {
  HostToDevice, ///< from pinned or pageable host memory
  DeviceToHost,
  DeviceToDevice,
  HostToHost
};

struct KernelHandle; ///< owned by the device, from loadKernel

struct LaunchRequest {
  KernelHandle *kernel;
  const char *kernelName;
  uint32_t grid[3];
  uint32_t block[3];
  /// The blocks to run; the whole grid, or a slice of it.
  BlockBox box;
  uint32_t dynamicSharedBytes;
  void **args;
  uint32_t numArgs;
  const uint32_t *argSizes; ///< bytes of each; null: not said
  bool cooperative;
  bool programmatic; ///< a permission: LaunchCall's
  Queue queue;
  /// What the launch may touch (chunk granular, mapped). Strict devices make
  /// everything else inaccessible to the kernel.
  std::span<const AddressRange> touched;
  bool touchesAnything; ///< `touched` is not complete: open every mapped chunk

  bool isWholeGrid() const {
    for (unsigned axis = 0; axis < 3; ++axis)
      if (box.Hi[axis] - box.Lo[axis] != grid[axis])
        return false;
    return true;
  }
};

/// Bytes a second of large copies; 0 where none has been measured.
struct CopyRates {
  double toDevice;
  double toHost;
};

class Device : public DeviceAddresses, public DeviceQueues, public DeviceHints {
public:
  virtual ~Device();
  Device();
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  const DeviceCaps &caps() const { return Caps; }

  /// Device addresses must be mapped. Pageable host memory is allowed; the call
  /// may then be synchronous.
  Status copy(void *to, const void *from, size_t bytes, CopyKind kind,
              Queue queue);
  /// The same, and waits until it is done, as synchronize(queue) would.
  Status copyAndWait(void *to, const void *from, size_t bytes, CopyKind kind,
                     Queue queue);
  /// Sets `count` elements of `width` (1, 2, 4) bytes.
  Status fill(void *to, uint32_t value, unsigned width, size_t count,
              Queue queue);
  /// Poison for undefined contents, if the device has the mode on (see
  /// Settings::poison): called by core for chunks that become undefined.
  Status poison(uintptr_t va, size_t bytes, Queue queue);
  Status launch(const LaunchRequest &request);
  /// The device would surely take the launch, at once and in parts, whatever
  /// its arguments. False where that cannot be told before.
  bool accepts(const LaunchRequest &request);

  /// As measured of late, on devices that have a link.
  CopyRates copyRates();
  /// The same without looking for newer ones: asks the driver nothing.
  CopyRates knownCopyRates() const;
  /// Waits for what the trace shows of the device, and writes it there; for the
  /// end of the process.
  void finishTimeline();

protected:
  DeviceCaps Caps{};

  /// In one call, where there is such a one.
  virtual Status copyAndWaitImpl(void *to, const void *from, size_t bytes,
                                 CopyKind kind, Queue queue);

private:
  std::string labelOf(uintptr_t to, uintptr_t from, CopyKind kind);
  template <typename Queued>
  Status checkedCopy(const void *to, const void *from, size_t bytes,
                     CopyKind kind, Queue queue, Queued work);

  virtual Status copyImpl(void *to, const void *from, size_t bytes,
                          CopyKind kind, Queue queue) = 0;
  virtual Status fillImpl(void *to, uint32_t value, unsigned width,
                          size_t count, Queue queue) = 0;
  virtual Status poisonImpl(uintptr_t va, size_t bytes, Queue queue) = 0;
  virtual Status launchImpl(const LaunchRequest &request) = 0;
  virtual bool acceptsImpl(const LaunchRequest &request) = 0;

  std::unique_ptr<Timeline> Watched;
};

/// Code of a GPU. A CUkernel is loaded when it first runs: that takes a tenth
/// of a millisecond or more, and most slice clones never run.
struct KernelCode {
  /// CUfunction; a CUkernel's is known once it has been loaded. Threads that
  /// launch read and set it by atomic_ref.
  mutable void *function = nullptr;
  void *kernel = nullptr; ///< CUkernel, if that is what is known first
  explicit operator bool() const { return function || kernel; }
};

/// Kernels as the front end knows them; the back end's half. The cpu device is
/// given the lowered entry, the vmm device the code of the kernel and of its
/// slice clone (none = it has none).
struct KernelImage {
  const char *name;
  const dragon_cpu_kernel *cpu; ///< null if built without the cpu target
  KernelCode code, sliceCode;
};

/// Creates the handle that LaunchRequest::kernel takes; lives as long as the
/// process. Both back ends share its layout.
struct KernelHandle {
  KernelImage image;
};

/// A back end's entry in the registry. create() may be slow and fail; its
/// status then says why the back end is not available here.
struct DeviceRegistration {
  const char *name;
  bool byDefault; ///< tried where DRAGON_BACKEND names none
  StatusOr<std::unique_ptr<Device>> (*create)(const Settings &settings);
};

/// In the order in which they are tried.
std::span<const DeviceRegistration> deviceRegistrations();

/// DRAGON_BACKEND if set, else the first of vmm, cpu that can be created.
/// `notes` receives one line per back end that was tried and is not available.
StatusOr<std::unique_ptr<Device>> createDevice(const Settings &settings,
                                               std::string &notes);

} // namespace dragon

#endif // DRAGON_RUNTIME_DEVICE_DEVICE_H
