//===- SpareMemory.h - device memory that nobody else wants -----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory for areas, each mapped at its place in one reserved range. How much
// there may be is the least of
//
//   hard      what the user allows
//   spare     what the programs that share the device leave (DeviceShare, as
//             one without a claim); while one of them wants any: soft at most
//   outside   what programs that take no part leave: so much of the device's
//             memory stays free as `keep` says. Looked at by look()
//
// When it becomes less, the owner is told, and gives areas back.
//
// A call that fails for another reason than missing memory means that the
// device is lost: contexts do not come back. No call is made from then on, and
// what was only there is gone.
//
// Source: GAME (GPU memory that serves the host while no program of the GPU
// wants it).
//
// Threads: all calls from any thread; those for one area by one at a time, but
// for copies.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_NBD_SPAREMEMORY_H
#define DRAGON_TOOLS_DRAGON_NBD_SPAREMEMORY_H

#include "runtime/base/Settings.h"
#include "runtime/device/Device.h"
#include "runtime/share/DeviceShare.h"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

namespace dragon::nbd {

/// Something that an administrator must know of.
using Report = std::function<void(const std::string &)>;

class SpareMemory {
public:
  struct Limits {
    std::optional<uint64_t> Soft, Hard; ///< none: all
    std::optional<uint64_t> Keep;       ///< none: half of the usual reserve
  };
  static StatusOr<std::unique_ptr<SpareMemory>>
  create(std::unique_ptr<Device> Of, const Settings &Settings,
         const Limits &Limits, uint64_t AreaBytes, uint64_t NumAreas,
         Report Tell);
  ~SpareMemory();
  SpareMemory(const SpareMemory &) = delete;
  SpareMemory &operator=(const SpareMemory &) = delete;

  /// Memory for the area, of undefined contents. None: there is none for it
  /// now.
  std::optional<Physical> take(uint64_t Area);
  /// Back to who wants it.
  void give(uint64_t Area, const Physical &Memory);
  /// The device is lost, and this with it.
  void forget(const Physical &Memory);

  // They fail where the device is lost, then or before.
  Status copyIn(uint64_t Area, uint64_t Offset, const void *From,
                uint64_t Bytes);
  Status copyOut(uint64_t Area, uint64_t Offset, void *To, uint64_t Bytes);
  Status zero(uint64_t Area, uint64_t Offset, uint64_t Bytes);
  bool isLost() const { return Lost.load(std::memory_order_acquire); }

  uint64_t held() const { return Held.load(std::memory_order_relaxed); }
  uint64_t limit();
  bool hasRoom() { return !isLost() && held() + AreaBytes <= limit(); }
  /// So many areas more, or fewer, need memory.
  void wants(int64_t Areas);

  /// Host memory that is quick to copy from and to, of an area's size.
  StatusOr<Physical> makeStage() {
    return Of->create(Place::Pinned, AreaBytes);
  }
  void dropStage(const Physical &Stage);

  /// Calls `Follow` when others leave another limit(), on a thread of its own.
  /// False: it is called again soon.
  void start(std::function<bool()> Follow);
  void stop();
  /// Sees what programs that take no part leave.
  void look();

private:
  SpareMemory(std::unique_ptr<Device> Of, uint64_t AreaBytes, Report Tell)
      : Of(std::move(Of)), AreaBytes(AreaBytes), Tell(std::move(Tell)) {}
  uintptr_t addressOf(uint64_t Area, uint64_t Offset) const {
    return Base + Area * AreaBytes + Offset;
  }
  Status lose(Status Why);
  Status copy(void *To, const void *From, uint64_t Bytes, CopyKind Kind);

  const std::unique_ptr<Device> Of;
  const uint64_t AreaBytes;
  const Report Tell;
  std::unique_ptr<DeviceShare> Share; ///< null: takes no part
  uint64_t Hard = UINT64_MAX, Keep = 0;
  uintptr_t Base = 0;
  size_t Reserved = 0;
  std::atomic<uint64_t> Held{0};
  std::atomic<uint64_t> Outside{UINT64_MAX};
  std::atomic<bool> Lost{false};
  std::mutex WantsLock;
  uint64_t Needed = 0; ///< by all areas
  uint64_t Wanted = 0; ///< as it was told
};

} // namespace dragon::nbd

#endif // DRAGON_TOOLS_DRAGON_NBD_SPAREMEMORY_H
