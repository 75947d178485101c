//===- DeviceAddresses.h - addresses and memory of a device -----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A device reserves address ranges, creates physical memory, and maps the
// memory into the ranges. A reserved range has the same value in kernels and on
// the host.
//
// Threads: every call may be made from any thread at any time. The caller
// serialises calls that touch the same address range or the same Physical.
//
// Time: map and unmap take effect at once, for the work queued before as well:
// the caller waits for what uses a chunk before it is unmapped (cuMemUnmap does
// not wait for kernels).
//
// Source: the CUDA driver API's virtual memory management (cuMemAddressReserve,
// cuMemCreate, cuMemMap, cuMemSetAccess); the interface follows its model, and
// the cpu device rebuilds it with memfd and mmap.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_DEVICE_DEVICEADDRESSES_H
#define DRAGON_RUNTIME_DEVICE_DEVICEADDRESSES_H

#include "runtime/base/Status.h"
#include "runtime/device/DeviceCaps.h"

#include <map>
#include <mutex>
#include <string>

namespace dragon {

/// Where a chunk's contents are now.
///   Pinned: host memory that the device copies from and to
///   Host: the same, which map() takes as well
///   Peer: memory of another device
enum class Place : uint8_t { None, Device, Host, Pinned, Peer };

/// A chunk of physical memory. `hostView` is the permanent address on the host
/// of Place::Host and Place::Pinned memory; Place::Device memory has none.
struct Physical {
  uint64_t id = 0; ///< 0 = none
  Place place = Place::None;
  size_t bytes = 0;
  void *hostView = nullptr;
  unsigned peer = 0; ///< of Place::Peer: whose it is, an index of caps().peers
  /// Of Place::Peer: where copies and kernels reach it, and the host does not.
  void *peerView = nullptr;

  /// Where copies reach it besides where it is mapped; null: nowhere.
  void *copyView() const { return hostView ? hostView : peerView; }
};

struct DeviceMemory {
  uint64_t free;
  uint64_t total;
};

/// Called on a host access to a reserved but inaccessible address, on the
/// accessing thread, outside of signal context restrictions as far as POSIX
/// allows. True: the access can be retried.
using FaultHandler = bool (*)(void *context, uintptr_t address, bool write);

struct AddressRange {
  uintptr_t begin;
  uintptr_t end;
  bool holds(uintptr_t address) const {
    return begin <= address && address < end;
  }
  bool operator==(const AddressRange &) const = default;
};

class DeviceAddresses {
public:
  DeviceAddresses(const DeviceAddresses &) = delete;
  DeviceAddresses &operator=(const DeviceAddresses &) = delete;

  /// bytes: a multiple of the granularity. Nothing is mapped in it.
  StatusOr<uintptr_t> reserve(size_t bytes);
  /// Everything in it must be unmapped.
  Status release(uintptr_t base, size_t bytes);
  /// Nothing is mapped yet in the reserved range: `bytes` of it are the
  /// program's, under this name. For messages, and for who watches over it.
  void describe(uintptr_t base, size_t bytes, const std::string &name);
  /// What traces call copies to and from there, until it is released or has
  /// another one. `range` begins where a reserved one does.
  void setLabel(AddressRange range, std::string label);
  /// Empty: it has none.
  std::string labelAt(uintptr_t address);
  /// DRAGON_ERROR_OUT_OF_MEMORY if the device or host has no more. Pinned
  /// memory is quicker to create than Host memory; it may come as such.
  StatusOr<Physical> create(Place place, size_t bytes);
  /// Memory of another device, an index of caps().peers. It can be mapped as
  /// what is ours, but not for the host.
  StatusOr<Physical> createOnPeer(unsigned peer, size_t bytes);
  Status destroy(const Physical &physical);
  /// Maps all of `physical` at `va`, accessible to kernels; Place::Host also
  /// to the host. One Physical may be mapped at one va at a time.
  Status map(uintptr_t va, const Physical &physical);
  /// Unmaps what map() mapped at va. Queued work that uses it has ended.
  Status unmap(uintptr_t va, const Physical &physical);
  /// Until unpin(begin), kernels may read memory of the process that is not
  /// ours, whole pages of the system, at its addresses on the host. Memory that
  /// is pinned already, and that of some kinds, is refused. From any thread.
  Status pin(uintptr_t begin, size_t bytes);
  /// What pin() took. Queued work that reads it has ended.
  Status unpin(uintptr_t begin);

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
  /// The address is outside of all reserved ranges: the piece of memory there
  /// that somebody else has, from the driver or, where kernels reach all of the
  /// host's memory, from the system. Empty: none is known.
  AddressRange othersAt(uintptr_t address) { return othersAtImpl(address); }

  StatusOr<DeviceMemory> memory();
  /// Of a peer; what others take from it between two calls is seen.
  StatusOr<DeviceMemory> peerMemory(unsigned peer);

protected:
  /// `caps` is the device's; it may be set later.
  explicit DeviceAddresses(const DeviceCaps &caps) : Abilities(caps) {}
  ~DeviceAddresses() = default;

private:
  virtual StatusOr<uintptr_t> reserveImpl(size_t bytes) = 0;
  virtual Status releaseImpl(uintptr_t base, size_t bytes) = 0;
  virtual void describeImpl(uintptr_t, size_t, const std::string &) {}
  virtual StatusOr<Physical> createImpl(Place place, size_t bytes) = 0;
  virtual StatusOr<Physical> createOnPeerImpl(unsigned peer, size_t bytes);
  virtual Status destroyImpl(const Physical &physical) = 0;
  virtual Status mapImpl(uintptr_t va, const Physical &physical) = 0;
  virtual Status unmapImpl(uintptr_t va, const Physical &physical) = 0;
  virtual Status pinImpl(uintptr_t begin, size_t bytes) = 0;
  virtual Status unpinImpl(uintptr_t begin) = 0;
  virtual Status guardHostAccessImpl(uintptr_t va, size_t bytes,
                                     bool guarded) = 0;
  virtual Status setFaultHandlerImpl(FaultHandler handler, void *context) = 0;
  virtual bool hostReachesImpl(const void *) { return true; }
  virtual AddressRange othersAtImpl(uintptr_t address) {
    return {address, address};
  }
  virtual StatusOr<DeviceMemory> memoryImpl() = 0;
  virtual StatusOr<DeviceMemory> peerMemoryImpl(unsigned peer);
  Status checkPeer(const char *call, unsigned peer) const;

  const DeviceCaps &Abilities;
  struct Label {
    uintptr_t end;
    std::string text;
  };
  std::mutex LabelsLock;
  std::map<uintptr_t, Label> Labels; ///< by where they begin
};

} // namespace dragon

#endif // DRAGON_RUNTIME_DEVICE_DEVICEADDRESSES_H
