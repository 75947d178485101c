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

#include "dragon/CompilerABI.h"
#include "dragon/FootprintEval.h"
#include "runtime/base/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace dragon {

class Timeline;
struct Settings;

/// Where a chunk's contents are now.
///   Pinned: host memory that the device copies from and to
///   Host: the same, which map() takes as well
enum class Place : uint8_t { None, Device, Host, Pinned };

/// A chunk of physical memory. `hostView` is the permanent address on the host
/// of Place::Host and Place::Pinned memory; Place::Device memory has none.
struct Physical {
  uint64_t id = 0; ///< 0 = none
  Place place = Place::None;
  size_t bytes = 0;
  void *hostView = nullptr;
};

using Queue = void *; ///< CUstream; null = the legacy default stream
using Event = void *; ///< CUevent

struct DeviceCaps {
  const char *name;         ///< "vmm", "managed", "dragon", "cpu"
  size_t granularity;       ///< chunk sizes are multiples of it (2 MiB)
  bool hostMapped;          ///< Place::Host chunks can be mapped for kernels
  bool deviceIsHostVisible; ///< the host can touch mapped Device chunks (cpu)
  bool strict;              ///< kernels can touch only LaunchRequest::touched
  bool asynchronous;        ///< queued work runs after the call returns
  bool hasLink;             ///< the times of copies tell its rates
  /// Reserved addresses are the driver's to move to the side that touches them,
  /// host or device, mapped or not; it takes the hints below.
  bool migrates;
  bool mapsFiles; ///< mapFile works
  uint64_t totalMemory;
  uint64_t freeMemory; ///< at creation
};

struct AddressRange {
  uintptr_t begin;
  uintptr_t end;
  bool operator==(const AddressRange &) const = default;
};

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
  bool cooperative;
  Queue queue;
  /// What the launch may touch (chunk granular, mapped). Strict devices make
  /// everything else inaccessible to the kernel.
  std::span<const AddressRange> touched;
  bool touchesAnything; ///< `touched` is not complete: open every mapped chunk
};

/// What the driver is told of a range of addresses; CUDA's cudaMemAdvise.
enum class Advice : uint8_t {
  ReadMostly,
  NotReadMostly,
  PreferDevice,
  PreferHost,
  PreferNone,
  AccessedByDevice,
  NotAccessedByDevice,
  AccessedByHost,
  NotAccessedByHost
};

/// A file for the driver to read and write under a reserved range.
struct DriverFile {
  int descriptor; ///< the driver keeps the file open
  uintptr_t base; ///< where the range begins, and the file's first byte
  size_t bytes;   ///< of the file
  unsigned flags; ///< D_READ, D_WRITE, MapHostBuffer
};
/// Among dragon_flags: what is evicted stays in host memory. For drivers alone.
constexpr unsigned MapHostBuffer = 0x20;

struct DeviceMemory {
  uint64_t free;
  uint64_t total;
};

/// Bytes a second of large copies; 0 where none has been measured.
struct CopyRates {
  double toDevice;
  double toHost;
};

/// Called on a host access to a reserved but inaccessible address, on the
/// accessing thread, outside of signal context restrictions as far as POSIX
/// allows. True: the access can be retried.
using FaultHandler = bool (*)(void *context, uintptr_t address, bool write);

class Device {
public:
  virtual ~Device();
  Device();
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  const DeviceCaps &caps() const { return Caps; }

  // -- Addresses and physical memory
  /// bytes: a multiple of the granularity. Nothing is mapped in it.
  StatusOr<uintptr_t> reserve(size_t bytes);
  /// Everything in it must be unmapped.
  Status release(uintptr_t base, size_t bytes);
  /// Nothing is mapped yet in the reserved range: `bytes` of it are the
  /// program's, under this name. For messages, and for who watches over it.
  void describe(uintptr_t base, size_t bytes, const std::string &name);
  /// DRAGON_ERROR_OUT_OF_MEMORY if the device or host has no more. Pinned
  /// memory is quicker to create than Host memory; it may come as such.
  StatusOr<Physical> create(Place place, size_t bytes);
  Status destroy(const Physical &physical);
  /// Maps all of `physical` at `va`, accessible to kernels; Place::Host also
  /// to the host. One Physical may be mapped at one va at a time.
  Status map(uintptr_t va, const Physical &physical);
  /// Unmaps what map() mapped at va. Queued work that uses it has ended.
  Status unmap(uintptr_t va, const Physical &physical);

  // -- Queues and events
  /// A queue that the legacy default stream does not wait for:
  /// CU_STREAM_NON_BLOCKING, cudaStreamNonBlocking.
  static constexpr unsigned NonBlocking = 1;
  /// CU_STREAM_PER_THREAD, cudaStreamPerThread: the calling thread's own queue,
  /// another one in each thread.
  static inline const Queue PerThreadQueue = reinterpret_cast<Queue>(2);
  StatusOr<Queue> createQueue(unsigned flags, int priority);
  Status destroyQueue(Queue queue);
  Status synchronize(Queue queue);
  /// True if all queued work is done.
  StatusOr<bool> query(Queue queue);
  Status synchronizeAll();
  StatusOr<Event> createEvent(bool timing);
  Status destroyEvent(Event event);
  Status record(Event event, Queue queue);
  Status wait(Queue queue, Event event); ///< later work waits for the event
  StatusOr<bool> queryEvent(Event event);
  Status synchronizeEvent(Event event);
  StatusOr<float> elapsedMilliseconds(Event start, Event end);

  // -- Work
  /// Device addresses must be mapped. Pageable host memory is allowed; the call
  /// may then be synchronous.
  Status copy(void *to, const void *from, size_t bytes, CopyKind kind,
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

  // -- Hints, for devices that migrate; others take them and do nothing.
  // Ranges are in reserved addresses and do not overlap.
  /// Contents are dead, in the queue's order, until they are written again.
  /// Pages of which a part is in a range are left alone.
  Status discard(std::span<const AddressRange> ranges, Queue queue);
  /// Moves contents to the device, or to the host (Place::Host), in the queue's
  /// order. `dead`: they are discarded first, so nothing moves.
  Status prefetch(std::span<const AddressRange> ranges, Place place, bool dead,
                  Queue queue);
  Status advise(const AddressRange &range, Advice advice);
  /// Waits until what was mapped is there for work that this device does not
  /// see: a library's. copy, fill and launch need no such call.
  Status completeMaps();

  // -- Files that the driver reads and writes, for devices with mapsFiles
  /// Until the range is released, which writes what D_WRITE maps hold to the
  /// file's page cache. UNSUPPORTED: the driver cannot have it there.
  Status mapFile(const DriverFile &file);
  /// Other flags for a mapped file, which no work uses. Nothing is written
  /// before.
  Status remapFile(uintptr_t base, unsigned flags);

  // -- Host access
  /// Host accesses to [va, va + bytes) of a Device chunk fault (true) or, where
  /// the device allows it, do not (false). For host-accessible buffers. Holds
  /// for the addresses, whatever is mapped there later, until it is taken back
  /// or the range is released; Host chunks never fault. Kernels and copies are
  /// not concerned.
  Status guardHostAccess(uintptr_t va, size_t bytes, bool guarded);
  Status setFaultHandler(FaultHandler handler, void *context);

  /// False for device memory outside of all reserved ranges that the host
  /// cannot touch: the program's device variables, and what other libraries or
  /// the program have from the driver. The host may only copy it by copy().
  bool hostReaches(const void *address) { return hostReachesImpl(address); }

  StatusOr<DeviceMemory> memory();

  // -- What it has done
  /// As measured of late, on devices that have a link.
  CopyRates copyRates();
  /// Waits for what the trace shows of the device, and writes it there; for the
  /// end of the process.
  void finishTimeline();

protected:
  DeviceCaps Caps{};

private:
  virtual StatusOr<uintptr_t> reserveImpl(size_t bytes) = 0;
  virtual Status releaseImpl(uintptr_t base, size_t bytes) = 0;
  virtual void describeImpl(uintptr_t, size_t, const std::string &) {}
  virtual StatusOr<Physical> createImpl(Place place, size_t bytes) = 0;
  virtual Status destroyImpl(const Physical &physical) = 0;
  virtual Status mapImpl(uintptr_t va, const Physical &physical) = 0;
  virtual Status unmapImpl(uintptr_t va, const Physical &physical) = 0;
  virtual StatusOr<Queue> createQueueImpl(unsigned flags, int priority) = 0;
  virtual Status destroyQueueImpl(Queue queue) = 0;
  virtual Status synchronizeImpl(Queue queue) = 0;
  virtual StatusOr<bool> queryImpl(Queue queue) = 0;
  virtual Status synchronizeAllImpl() = 0;
  virtual StatusOr<Event> createEventImpl(bool timing) = 0;
  virtual Status destroyEventImpl(Event event) = 0;
  virtual Status recordImpl(Event event, Queue queue) = 0;
  virtual Status waitImpl(Queue queue, Event event) = 0;
  virtual StatusOr<bool> queryEventImpl(Event event) = 0;
  virtual Status synchronizeEventImpl(Event event) = 0;
  virtual StatusOr<float> elapsedMillisecondsImpl(Event start, Event end) = 0;
  virtual Status copyImpl(void *to, const void *from, size_t bytes,
                          CopyKind kind, Queue queue) = 0;
  virtual Status fillImpl(void *to, uint32_t value, unsigned width,
                          size_t count, Queue queue) = 0;
  virtual Status poisonImpl(uintptr_t va, size_t bytes, Queue queue) = 0;
  virtual Status launchImpl(const LaunchRequest &request) = 0;
  virtual bool acceptsImpl(const LaunchRequest &request) = 0;
  virtual Status discardImpl(std::span<const AddressRange> ranges, Queue queue);
  virtual Status prefetchImpl(std::span<const AddressRange> ranges, Place place,
                              bool dead, Queue queue);
  virtual Status adviseImpl(const AddressRange &range, Advice advice);
  virtual Status completeMapsImpl();
  virtual Status mapFileImpl(const DriverFile &file);
  virtual Status remapFileImpl(uintptr_t base, unsigned flags);
  virtual Status guardHostAccessImpl(uintptr_t va, size_t bytes,
                                     bool guarded) = 0;
  virtual Status setFaultHandlerImpl(FaultHandler handler, void *context) = 0;
  virtual bool hostReachesImpl(const void *) { return true; }
  virtual StatusOr<DeviceMemory> memoryImpl() = 0;

  std::unique_ptr<Timeline> Watched;
};

/// Kernels as the front end knows them; the back end's half. The cpu device is
/// given the lowered entry, the vmm device the CUfunctions of the kernel and of
/// its slice clone (null = it has none).
struct KernelImage {
  const char *name;
  const dragon_cpu_kernel *cpu; ///< null if built without the cpu target
  void *function;               ///< CUfunction
  void *sliceFunction;          ///< CUfunction
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
