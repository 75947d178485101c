//===- LateDevices.cpp - whole programs on a device that is late ----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cpu device does everything at once, and a GPU does most things soon. What
// the runtime does while copies and kernels are on their way - it fetches
// ahead, it makes room with what is idle, a thread of its own goes on between
// calls - is tried with whole programs here: the cpu device has one in front
// that does nothing before somebody waits for it (LateDevice.h). Streams have
// CUDA's order: the legacy default stream waits for the others, and they for
// it, but for those that were made not to. Who asks whether work is done may
// bring it on by a step, as LATE_SEED decides (a number; 1 without it).
//
//===----------------------------------------------------------------------===//

#include "test/tools/WrappedDevice.h"
#include "test/unit/support/device/LateDevice.h"

#include <cstdlib>
#include <random>
#include <set>

namespace dragon::test {

namespace {

class ProgramDevice final : public LateDevice {
public:
  explicit ProgramDevice(std::unique_ptr<Device> inner)
      : LateDevice(std::move(inner), /*lateLaunches=*/true), Random(seed()) {}

private:
  static unsigned seed() {
    const char *text = std::getenv("LATE_SEED");
    return text ? unsigned(std::strtoul(text, nullptr, 10)) : 1;
  }

  bool isBlocking(Queue queue) const {
    return !NonBlockingQueues.contains(queue);
  }

  void waitFor(Queue queue, Queue other) {
    const uint64_t number = queued(other);
    if (Lines[other].done < number)
      Lines[queue].steps.push_back(
          {[this, other, number] { return runUpTo(other, number); }, {}});
  }

  void order(Queue queue) override {
    if (!isBlocking(queue))
      return;
    if (queue)
      return waitFor(queue, nullptr);
    std::vector<Queue> others;
    for (const auto &[other, line] : Lines)
      if (other && isBlocking(other) && !line.steps.empty())
        others.push_back(other);
    for (Queue other : others)
      waitFor(queue, other);
  }

  /// Parts of loops and paged kernels have arguments of their own.
  bool putsOff(const LaunchRequest &request) const override {
    return request.argSizes && !request.cooperative;
  }

  StatusOr<Queue> createQueueImpl(unsigned flags, int priority) override {
    Guard guard(Lock);
    DRAGON_ASSIGN(Queue queue, inner().createQueue(flags, priority));
    if (flags & NonBlocking)
      NonBlockingQueues.insert(queue);
    return queue;
  }
  Status destroyQueueImpl(Queue queue) override {
    Guard guard(Lock);
    DRAGON_TRY(LateDevice::destroyQueueImpl(queue));
    NonBlockingQueues.erase(queue);
    return {};
  }

  /// A step of the queue, or none.
  Status goOn(Queue queue) {
    const Line &line = Lines[queue];
    return !line.steps.empty() && Random() % 2 ? runUpTo(queue, line.done + 1)
                                               : Status();
  }
  StatusOr<bool> queryImpl(Queue queue) override {
    Guard guard(Lock);
    DRAGON_TRY(goOn(queue));
    return LateDevice::queryImpl(queue);
  }
  StatusOr<bool> queryEventImpl(Event event) override {
    Guard guard(Lock);
    if (const auto record = Records.find(event);
        record != Records.end() &&
        Lines[record->second.queue].done < record->second.number)
      DRAGON_TRY(goOn(record->second.queue));
    return LateDevice::queryEventImpl(event);
  }

  std::set<Queue> NonBlockingQueues;
  std::minstd_rand Random;
};

} // namespace

std::unique_ptr<Device> inFrontOf(std::unique_ptr<Device> device,
                                  const Settings &settings) {
  // Who watches blocks as they run takes those for the launch that is made.
  if (device->caps().asynchronous || settings.check || settings.footprints)
    return device;
  return std::make_unique<ProgramDevice>(std::move(device));
}

} // namespace dragon::test
