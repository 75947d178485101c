//===- Timeline.h - when a device did what was queued -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Queued work runs after the call that queued it has returned. A pair of events
// around it tells when: lanes of the trace show copies each way and kernels
// side by side, as the device had them.
//
//   to the device    |copy 1|copy 2|copy 3|
//   kernels                 |slice 1|slice 2|
//   from the device                 |copy 1|
//
// The same pairs tell the rate of copies each way, if the device has a link: a
// few of the large ones are watched without a trace, too. On devices that have
// done it when the call returns, the host's clock stands for events.
//
// Threads: every call from any thread. The device outlives it.
//
// Source: CUDA driver API, event management (cuEventElapsedTime).
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_DEVICE_TIMELINE_H
#define DRAGON_RUNTIME_DEVICE_TIMELINE_H

#include "runtime/device/Device.h"

#include <array>
#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace dragon {

class Timeline {
public:
  explicit Timeline(Device &device) : Dev(device) {}
  Timeline(const Timeline &) = delete;
  Timeline &operator=(const Timeline &) = delete;

  enum class Lane : uint8_t { ToDevice, FromDevice, Within, Kernels };

  /// What is queued between begin() and end(), on one queue. Empty: it is not
  /// watched.
  struct Watch {
    Event started = nullptr; ///< null where the device is synchronous
    uint64_t began = 0;      ///< then by the host's clock
    /// For a trace nobody else queues in between: what others have queued would
    /// be taken for a part of it.
    std::unique_lock<std::mutex> alone = {};
  };
  std::optional<Watch> begin(Lane lane, Queue queue, uint64_t bytes);
  void end(Watch watch, Lane lane, Queue queue, uint64_t bytes,
           std::string detail);

  /// Takes over what has ended by now.
  void collect();
  /// Waits for what is watched. Nothing is watched any more afterwards.
  void finish();

  /// Bytes a second of large copies that way, of late; 0: not known.
  double rate(Lane lane) const;

private:
  struct Pending {
    Event started, ended;
    Lane lane;
    Queue queue;
    uint64_t bytes;
    std::string detail;
  };

  std::optional<Event> takeEvent();
  bool hasOrigin();
  void collectLocked(bool wait);
  void take(const Pending &pending);
  void missed(const Status &why);
  void measure(Lane lane, uint64_t bytes, double seconds);
  void show(Lane lane, Queue queue, uint64_t begin, uint64_t end,
            uint64_t bytes, std::string detail);

  Device &Dev;
  std::mutex Alone; ///< taken before Lock
  std::mutex Lock;
  std::deque<Pending> Work;
  std::vector<Event> Free;
  Event Origin = nullptr; ///< what the host's clock said when it was reached
  uint64_t OriginClock = 0;
  bool Finished = false;
  uint64_t Missed = 0; ///< pieces of work whose times nobody knows
  std::string WhyMissed;
  std::map<std::pair<Lane, Queue>, unsigned> Lanes;
  std::array<std::atomic<uint32_t>, 2> Seen{}; ///< large copies
  std::array<std::atomic<double>, 2> Rates{};
};

} // namespace dragon

#endif // DRAGON_RUNTIME_DEVICE_TIMELINE_H
