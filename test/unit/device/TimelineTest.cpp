//===- TimelineTest.cpp - when a device did what was queued ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On a device whose copies take a time that follows from their bytes, by a
// clock of its own, and whose events happen when somebody asks.
//
//===----------------------------------------------------------------------===//

#include "runtime/base/Settings.h"
#include "runtime/device/ForwardingDevice.h"
#include "runtime/trace/Log.h"
#include "runtime/trace/Trace.h"
#include "test/unit/support/base/Expect.h"

#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <sstream>
#include <unistd.h>

using namespace dragon;

namespace {

using test::MiB;

class ClockedDevice final : public ForwardingDevice {
public:
  ClockedDevice(std::unique_ptr<Device> inner, bool hasLink)
      : ForwardingDevice(std::move(inner)) {
    Caps.asynchronous = true;
    Caps.hasLink = hasLink;
  }
  double toDevice = 10e9, toHost = 5e9; ///< bytes a second
  bool idle = true;                     ///< all that was queued is done
  bool forgetful = false;               ///< knows no times any more
  unsigned events() const { return unsigned(Times.size()); }

private:
  Status before(DeviceCall) override { return {}; }
  Status copyImpl(void *, const void *, size_t bytes, CopyKind kind,
                  Queue) override {
    Now += double(bytes) /
           (kind == CopyKind::HostToDevice ? toDevice : toHost) * 1e3;
    return {};
  }
  StatusOr<Event> createEventImpl(bool timing) override {
    EXPECT_TRUE(timing);
    auto event = reinterpret_cast<Event>(++Last);
    Times[event] = -1;
    return event;
  }
  Status destroyEventImpl(Event event) override {
    EXPECT_EQ(Times.erase(event), 1u);
    return {};
  }
  Status recordImpl(Event event, Queue) override {
    Times.at(event) = Now;
    return {};
  }
  StatusOr<bool> queryEventImpl(Event) override { return idle; }
  Status synchronizeEventImpl(Event) override { return {}; }
  StatusOr<float> elapsedMillisecondsImpl(Event start, Event end) override {
    if (forgetful)
      return Status::error(DRAGON_ERROR_DEVICE, "no times");
    return float(Times.at(end) - Times.at(start));
  }

  double Now = 0; ///< milliseconds
  uintptr_t Last = 0;
  std::map<Event, double> Times;
};

std::unique_ptr<ClockedDevice> makeDevice(bool hasLink) {
  Settings settings;
  settings.backend = "cpu";
  std::string notes;
  auto cpu = createDevice(settings, notes);
  EXPECT_TRUE(cpu.ok()) << notes;
  return std::make_unique<ClockedDevice>(std::move(*cpu), hasLink);
}

void copy(Device &device, CopyKind kind, size_t bytes, unsigned times = 1) {
  static char there, here; // ClockedDevice leaves them alone
  for (unsigned i = 0; i < times; ++i)
    ASSERT_TRUE(device.copy(&there, &here, bytes, kind, nullptr).ok());
}

TEST(TimelineTest, LargeCopiesTellTheLinksRates) {
  auto device = makeDevice(true);
  EXPECT_EQ(device->copyRates().toDevice, 0);
  copy(*device, CopyKind::HostToDevice, MiB); // too small to tell
  EXPECT_EQ(device->copyRates().toDevice, 0);
  copy(*device, CopyKind::HostToDevice, 32 * MiB);
  EXPECT_NEAR(device->copyRates().toDevice, 10e9, 1e6);
  EXPECT_EQ(device->copyRates().toHost, 0);
  copy(*device, CopyKind::DeviceToHost, 32 * MiB);
  EXPECT_NEAR(device->copyRates().toHost, 5e9, 1e6);
  // The link has become slower.
  device->toDevice = 1e9;
  copy(*device, CopyKind::HostToDevice, 32 * MiB, 2000);
  EXPECT_NEAR(device->copyRates().toDevice, 1e9, 1e7);
  device->finishTimeline();
  EXPECT_EQ(device->events(), 0u);
}

TEST(TimelineTest, FewEventsAreUnderWay) {
  auto device = makeDevice(true);
  device->idle = false;
  copy(*device, CopyKind::HostToDevice, 32 * MiB, 100000);
  EXPECT_EQ(device->copyRates().toDevice, 0);
  EXPECT_LE(device->events(), 2 * 64u);
  device->idle = true;
  EXPECT_NEAR(device->copyRates().toDevice, 10e9, 1e6);
  device->finishTimeline();
  EXPECT_EQ(device->events(), 0u);
}

TEST(TimelineTest, WhatIsNotKnownIsSaidOnce) {
  auto device = makeDevice(true);
  device->forgetful = true;
  copy(*device, CopyKind::HostToDevice, 32 * MiB);
  const LogLevel before = LogLevel(detail::logLevel.load());
  setLogLevel(LogLevel::Info);
  testing::internal::CaptureStderr();
  device->finishTimeline();
  device->finishTimeline(); // each end of a process may be the last
  setLogLevel(before);
  const std::string said = testing::internal::GetCapturedStderr();
  const size_t first = said.find("is not known: no times");
  EXPECT_NE(first, std::string::npos) << said;
  EXPECT_EQ(said.find("is not known", first + 1), std::string::npos) << said;
}

TEST(TimelineTest, WithoutALinkNothingIsMeasured) {
  auto device = makeDevice(false);
  copy(*device, CopyKind::HostToDevice, 32 * MiB);
  EXPECT_EQ(device->copyRates().toDevice, 0);
  EXPECT_EQ(device->events(), 0u);
}

TEST(TimelineTest, TheTraceHasALaneForEachDirection) {
  const std::string path =
      testing::TempDir() + "timeline" + std::to_string(::getpid()) + ".json";
  auto device = makeDevice(true);
  ASSERT_TRUE(startTrace(path));
  copy(*device, CopyKind::HostToDevice, MiB); // small ones as well
  copy(*device, CopyKind::DeviceToHost, 32 * MiB);
  device->finishTimeline();
  copy(*device, CopyKind::DeviceToHost, 8 * MiB); // too late
  ASSERT_TRUE(stopTrace());
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  std::remove(path.c_str());
  const std::string trace = text.str();
  EXPECT_NE(trace.find("{\"name\":\"copies to the device\"}"),
            std::string::npos);
  EXPECT_NE(trace.find("{\"name\":\"copies from the device\"}"),
            std::string::npos);
  // 1 MiB at 10 GB/s, 32 MiB at 5 GB/s: microseconds.
  EXPECT_NE(trace.find("\"dur\":104."), std::string::npos) << trace;
  EXPECT_NE(trace.find("\"dur\":6710."), std::string::npos) << trace;
  EXPECT_EQ(trace.find("\"bytes\":8388608"), std::string::npos);
  EXPECT_EQ(device->events(), 0u);
}

} // namespace
