//===- DeviceConformance.cpp - the contract of Device.h, for all ----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One suite, instantiated for every back end and for each with an ability taken
// away (after IREE's CTS). What a back end cannot do is asked of its
// capabilities, and the refusal is then what is tested.
//
// The back ends are those of DRAGON_TEST_BACKENDS (default: cpu); on a machine
// with a GPU: DRAGON_TEST_BACKENDS=cpu,vmm,managed.
//
//===----------------------------------------------------------------------===//

#include "TestKernels.h"
#include "runtime/base/Settings.h"
#include "runtime/device/ForwardingDevice.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <vector>

using namespace dragon;

namespace {

constexpr size_t MiB = 1 << 20;

struct BackEnd {
  std::string name;
  std::string device;
  bool strict;
  MaskedDevice::Without without;
};

void PrintTo(const BackEnd &backEnd, std::ostream *out) {
  *out << backEnd.name;
}

std::vector<BackEnd> backEnds() {
  const char *wanted = std::getenv("DRAGON_TEST_BACKENDS");
  std::string list = std::string(",") + (wanted ? wanted : "cpu") + ",";
  std::vector<BackEnd> result;
  for (const char *device : {"cpu", "vmm", "managed", "dragon"}) {
    if (list.find(std::string(",") + device + ",") == std::string::npos)
      continue;
    std::string name = device;
    result.push_back({name, device, false, {}});
    result.push_back({name + "_no_host_map", device, false, {true}});
    if (name == "cpu")
      result.push_back({name + "_strict", device, true, {}});
  }
  return result;
}

std::unique_ptr<Device> makeDevice(const BackEnd &backEnd) {
  Settings settings;
  settings.backend = backEnd.device;
  settings.strict = backEnd.strict;
  settings.deviceMemory = 256 * MiB;
  settings.managedMemory = 256 * MiB;
  settings.cpuThreads = 2;
  std::string notes;
  auto device = createDevice(settings, notes);
  if (!device.ok()) {
    ADD_FAILURE() << device.takeStatus().message();
    return nullptr;
  }
  return std::make_unique<MaskedDevice>(std::move(*device), backEnd.without);
}

#define ASSERT_OK(EXPR)                                                        \
  do {                                                                         \
    Status okStatus = (EXPR);                                                  \
    ASSERT_TRUE(okStatus.ok()) << okStatus.message();                          \
  } while (false)
#define EXPECT_CODE(EXPR, CODE)                                                \
  do {                                                                         \
    Status codeStatus = (EXPR);                                                \
    EXPECT_EQ(codeStatus.code(), CODE) << codeStatus.message();                \
    EXPECT_FALSE(codeStatus.message().empty());                                \
  } while (false)

class DeviceConformance : public testing::TestWithParam<BackEnd> {
protected:
  void SetUp() override {
    device = makeDevice(GetParam());
    ASSERT_NE(device, nullptr);
    granule = device->caps().granularity;
    auto made = TestKernels::create(*device);
    ASSERT_TRUE(made.ok()) << made.takeStatus().message();
    kernels = std::move(*made);
  }

  template <typename T> T must(StatusOr<T> value) {
    if (value.ok())
      return std::move(*value);
    ADD_FAILURE() << value.takeStatus().message();
    return T();
  }

  /// A range of `count` granules, each with a chunk of its own.
  struct Buffer {
    uintptr_t base = 0;
    std::vector<Physical> chunks;
    size_t bytes = 0;
    template <typename T = uint32_t> T *as(size_t offset = 0) const {
      return reinterpret_cast<T *>(base + offset);
    }
  };
  Buffer makeBuffer(const std::vector<Place> &places) {
    Buffer buffer;
    buffer.bytes = places.size() * granule;
    buffer.base = must(device->reserve(buffer.bytes));
    for (size_t i = 0; i < places.size(); ++i) {
      buffer.chunks.push_back(must(device->create(places[i], granule)));
      Status status = device->map(buffer.base + i * granule, buffer.chunks[i]);
      EXPECT_TRUE(status.ok()) << status.message();
    }
    return buffer;
  }
  void freeBuffer(const Buffer &buffer) {
    ASSERT_OK(device->synchronizeAll());
    for (size_t i = 0; i < buffer.chunks.size(); ++i) {
      ASSERT_OK(device->unmap(buffer.base + i * granule, buffer.chunks[i]));
      ASSERT_OK(device->destroy(buffer.chunks[i]));
    }
    ASSERT_OK(device->release(buffer.base, buffer.bytes));
  }
  std::vector<uint32_t> readBack(const void *from, size_t words) {
    std::vector<uint32_t> out(words, 0x5eed5eed);
    Status status = device->copy(out.data(), from, words * 4,
                                 CopyKind::DeviceToHost, nullptr);
    EXPECT_TRUE(status.ok()) << status.message();
    status = device->synchronizeAll();
    EXPECT_TRUE(status.ok()) << status.message();
    return out;
  }
  Status increment(void *pointer, uint32_t n, uint32_t by, Queue queue,
                   std::vector<AddressRange> touched) {
    TestLaunch launch(kernels->increment, {(n + 63) / 64}, 64,
                      {&pointer, &n, &by});
    launch.request.queue = queue;
    launch.request.touched = touched;
    launch.request.touchesAnything = false;
    return device->launch(launch.request);
  }

  std::unique_ptr<Device> device;
  std::unique_ptr<TestKernels> kernels;
  size_t granule = 0;
};

TEST_P(DeviceConformance, CapabilitiesMakeSense) {
  const DeviceCaps &caps = device->caps();
  EXPECT_EQ(GetParam().device, caps.name);
  EXPECT_GE(caps.granularity, 2 * MiB);
  EXPECT_EQ(caps.granularity & (caps.granularity - 1), 0u);
  EXPECT_GT(caps.totalMemory, 0u);
  EXPECT_LE(caps.freeMemory, caps.totalMemory);
  EXPECT_EQ(caps.strict, GetParam().strict);
}

TEST_P(DeviceConformance, ReservedRangesAreAlignedAndDisjoint) {
  std::vector<std::pair<uintptr_t, size_t>> ranges;
  for (size_t granules : {1, 7, 64, 1}) {
    uintptr_t base = must(device->reserve(granules * granule));
    EXPECT_EQ(base % granule, 0u);
    ranges.push_back({base, granules * granule});
  }
  std::sort(ranges.begin(), ranges.end());
  for (size_t i = 1; i < ranges.size(); ++i)
    EXPECT_LE(ranges[i - 1].first + ranges[i - 1].second, ranges[i].first);
  for (auto &[base, bytes] : ranges)
    ASSERT_OK(device->release(base, bytes));
}

TEST_P(DeviceConformance, BadArgumentsAreRefused) {
  EXPECT_CODE(device->reserve(0).takeStatus(), DRAGON_ERROR_INVALID_ARGUMENT);
  EXPECT_CODE(device->reserve(granule + 4096).takeStatus(),
              DRAGON_ERROR_INVALID_ARGUMENT);
  EXPECT_CODE(device->create(Place::Device, 1000).takeStatus(),
              DRAGON_ERROR_INVALID_ARGUMENT);
  EXPECT_CODE(device->create(Place::None, granule).takeStatus(),
              DRAGON_ERROR_INVALID_ARGUMENT);
  EXPECT_CODE(device->destroy(Physical{}), DRAGON_ERROR_INVALID_ARGUMENT);
  EXPECT_CODE(device->destroyQueue(nullptr), DRAGON_ERROR_INVALID_ARGUMENT);
  EXPECT_CODE(device->record(nullptr, nullptr), DRAGON_ERROR_INVALID_ARGUMENT);
  uint32_t word = 0;
  EXPECT_CODE(device->fill(&word, 0, 3, 1, nullptr),
              DRAGON_ERROR_INVALID_ARGUMENT);
  EXPECT_CODE(device->copy(nullptr, &word, 4, CopyKind::HostToHost, nullptr),
              DRAGON_ERROR_INVALID_ARGUMENT);
  EXPECT_CODE(device->launch(LaunchRequest{}), DRAGON_ERROR_INVALID_ARGUMENT);
  // Nothing to do is no error.
  ASSERT_OK(device->copy(nullptr, nullptr, 0, CopyKind::HostToHost, nullptr));
  ASSERT_OK(device->fill(nullptr, 0, 4, 0, nullptr));
}

TEST_P(DeviceConformance, MappingRules) {
  uintptr_t base = must(device->reserve(2 * granule));
  Physical chunk = must(device->create(Place::Device, granule));
  Physical other = must(device->create(Place::Device, granule));
  EXPECT_NE(chunk.id, other.id);
  EXPECT_CODE(device->map(base + 4096, chunk), DRAGON_ERROR_INVALID_ARGUMENT);
  EXPECT_FALSE(device->unmap(base, chunk).ok());
  ASSERT_OK(device->map(base, chunk));
  EXPECT_FALSE(device->map(base, other).ok()); // occupied
  EXPECT_FALSE(device->release(base, 2 * granule).ok());
  ASSERT_OK(device->unmap(base, chunk));
  ASSERT_OK(device->map(base, other));
  ASSERT_OK(device->unmap(base, other));
  ASSERT_OK(device->destroy(chunk));
  ASSERT_OK(device->destroy(other));
  EXPECT_FALSE(device->release(base, granule).ok()); // a part
  ASSERT_OK(device->release(base, 2 * granule));
}

TEST_P(DeviceConformance, ContentsStayWithTheChunk) {
  if (device->caps().migrates)
    return; // contents stay with the addresses
  Buffer buffer = makeBuffer({Place::Device, Place::Device});
  for (uint32_t i = 0; i < 2; ++i)
    ASSERT_OK(
        device->fill(buffer.as<>(i * granule), i + 1, 4, granule / 4, nullptr));
  ASSERT_OK(device->synchronizeAll());
  for (size_t i = 0; i < 2; ++i)
    ASSERT_OK(device->unmap(buffer.base + i * granule, buffer.chunks[i]));
  std::swap(buffer.chunks[0], buffer.chunks[1]);
  for (size_t i = 0; i < 2; ++i)
    ASSERT_OK(device->map(buffer.base + i * granule, buffer.chunks[i]));
  std::vector<uint32_t> words = readBack(buffer.as<>(), 2 * granule / 4);
  EXPECT_EQ(words.front(), 2u);
  EXPECT_EQ(words.back(), 1u);
  freeBuffer(buffer);
}

TEST_P(DeviceConformance, HostChunksHaveAViewThatStays) {
  Physical host = must(device->create(Place::Host, 2 * granule));
  ASSERT_NE(host.hostView, nullptr);
  std::memset(host.hostView, 0x3c, 2 * granule);
  uintptr_t base = must(device->reserve(2 * granule));
  if (!device->caps().hostMapped) {
    EXPECT_CODE(device->map(base, host), DRAGON_ERROR_UNSUPPORTED);
  } else {
    ASSERT_OK(device->map(base, host));
    auto *bytes = reinterpret_cast<volatile unsigned char *>(base);
    EXPECT_EQ(bytes[2 * granule - 1], 0x3c);
    bytes[5] = 1;
    EXPECT_EQ(static_cast<unsigned char *>(host.hostView)[5], 1);
    // And kernels.
    ASSERT_OK(increment(reinterpret_cast<void *>(base + granule), 100, 1,
                        nullptr, {{base, base + 2 * granule}}));
    ASSERT_OK(device->synchronizeAll());
    EXPECT_EQ(bytes[granule], 0x3d);
    ASSERT_OK(device->unmap(base, host));
    EXPECT_EQ(static_cast<unsigned char *>(host.hostView)[granule], 0x3d);
  }
  ASSERT_OK(device->destroy(host));
  ASSERT_OK(device->release(base, 2 * granule));
}

TEST_P(DeviceConformance, CopiesOfEveryKind) {
  Buffer buffer = makeBuffer({Place::Device, Place::Device});
  Physical pinned = must(device->create(Place::Host, granule));
  std::vector<uint32_t> in(granule / 4 + 1024);
  for (uint32_t i = 0; i < in.size(); ++i)
    in[i] = i * 2654435761u;
  // Pageable, unaligned, across the chunks' border.
  char *target = buffer.as<char>(granule - 4099);
  ASSERT_OK(device->copy(target, reinterpret_cast<char *>(in.data()) + 3, 9000,
                         CopyKind::HostToDevice, nullptr));
  std::vector<char> out(9000);
  ASSERT_OK(
      device->copy(out.data(), target, 9000, CopyKind::DeviceToHost, nullptr));
  ASSERT_OK(device->synchronize(nullptr));
  EXPECT_EQ(
      std::memcmp(out.data(), reinterpret_cast<char *>(in.data()) + 3, 9000),
      0);
  // Pinned, both ways, and on the device.
  std::memcpy(pinned.hostView, in.data(), granule);
  ASSERT_OK(device->copy(buffer.as<>(), pinned.hostView, granule,
                         CopyKind::HostToDevice, nullptr));
  ASSERT_OK(device->copy(buffer.as<>(granule), buffer.as<>(), granule,
                         CopyKind::DeviceToDevice, nullptr));
  ASSERT_OK(device->synchronize(nullptr));
  std::memset(pinned.hostView, 0, granule);
  ASSERT_OK(device->copy(pinned.hostView, buffer.as<>(granule), granule,
                         CopyKind::DeviceToHost, nullptr));
  ASSERT_OK(device->synchronize(nullptr));
  EXPECT_EQ(std::memcmp(pinned.hostView, in.data(), granule), 0);
  std::vector<uint32_t> host(1024);
  ASSERT_OK(device->copy(host.data(), in.data() + 7, 4096, CopyKind::HostToHost,
                         nullptr));
  ASSERT_OK(device->synchronize(nullptr));
  EXPECT_EQ(std::memcmp(host.data(), in.data() + 7, 4096), 0);
  ASSERT_OK(device->destroy(pinned));
  freeBuffer(buffer);
}

TEST_P(DeviceConformance, CopiesOverMixedPlaces) {
  if (!device->caps().hostMapped) {
    uintptr_t base = must(device->reserve(granule));
    Physical host = must(device->create(Place::Host, granule));
    EXPECT_CODE(device->map(base, host), DRAGON_ERROR_UNSUPPORTED);
    ASSERT_OK(device->destroy(host));
    ASSERT_OK(device->release(base, granule));
    return;
  }
  Buffer from = makeBuffer({Place::Device, Place::Host, Place::Device});
  Buffer to = makeBuffer({Place::Host, Place::Device, Place::Host});
  std::vector<uint32_t> in(3 * granule / 4);
  for (uint32_t i = 0; i < in.size(); ++i)
    in[i] = ~i;
  ASSERT_OK(device->copy(from.as<>(), in.data(), from.bytes,
                         CopyKind::HostToDevice, nullptr));
  ASSERT_OK(device->copy(to.as<>(), from.as<>(), from.bytes,
                         CopyKind::DeviceToDevice, nullptr));
  EXPECT_EQ(readBack(to.as<>(), in.size()), in);
  ASSERT_OK(device->fill(to.as<>(), 0x12345678, 4, in.size(), nullptr));
  EXPECT_EQ(readBack(to.as<>(), in.size()),
            std::vector<uint32_t>(in.size(), 0x12345678));
  freeBuffer(from);
  freeBuffer(to);
}

TEST_P(DeviceConformance, CopyOfWhatIsNotMapped) {
  if (device->caps().migrates)
    return; // all that is reserved is memory
  Buffer buffer = makeBuffer({Place::Device});
  uintptr_t empty = must(device->reserve(granule));
  uint32_t word = 0;
  EXPECT_CODE(device->copy(&word, reinterpret_cast<void *>(empty), 4,
                           CopyKind::DeviceToHost, nullptr),
              DRAGON_ERROR_INVALID_ARGUMENT);
  EXPECT_CODE(device->copy(buffer.as<>(), reinterpret_cast<void *>(empty), 4,
                           CopyKind::DeviceToDevice, nullptr),
              DRAGON_ERROR_INVALID_ARGUMENT);
  EXPECT_CODE(device->fill(reinterpret_cast<void *>(empty), 0, 1, 4, nullptr),
              DRAGON_ERROR_INVALID_ARGUMENT);
  EXPECT_CODE(device->fill(buffer.as<>(), 0, 4, granule / 4 + 1, nullptr),
              DRAGON_ERROR_INVALID_ARGUMENT);
  ASSERT_OK(device->release(empty, granule));
  freeBuffer(buffer);
}

TEST_P(DeviceConformance, FillsOfEveryWidth) {
  Buffer buffer = makeBuffer({Place::Device});
  ASSERT_OK(device->fill(buffer.as<>(), 0, 4, 1024, nullptr));
  ASSERT_OK(device->fill(buffer.as<char>(1), 0x1ab, 1, 2, nullptr));
  ASSERT_OK(device->fill(buffer.as<char>(6), 0x1beef, 2, 1, nullptr));
  ASSERT_OK(device->fill(buffer.as<char>(8), 0xdeadbeef, 4, 2, nullptr));
  EXPECT_EQ(readBack(buffer.as<>(), 5),
            (std::vector<uint32_t>{0x00abab00, 0xbeef0000, 0xdeadbeef,
                                   0xdeadbeef, 0}));
  freeBuffer(buffer);
}

TEST_P(DeviceConformance, LaunchesInOrderOfTheQueue) {
  Buffer buffer = makeBuffer({Place::Device});
  AddressRange range{buffer.base, buffer.base + buffer.bytes};
  ASSERT_OK(device->fill(buffer.as<>(), 0, 4, granule / 4, nullptr));
  for (uint32_t i = 1; i <= 10; ++i)
    ASSERT_OK(increment(buffer.as<>(), 1000, i, nullptr, {range}));
  std::vector<uint32_t> out = readBack(buffer.as<>(), 1001);
  EXPECT_EQ(std::count(out.begin(), out.end() - 1, 55u), 1000);
  EXPECT_EQ(out[1000], 0u);
  freeBuffer(buffer);
}

TEST_P(DeviceConformance, SlicesMakeTheWholeGrid) {
  Buffer buffer = makeBuffer({Place::Device});
  AddressRange range{buffer.base, buffer.base + buffer.bytes};
  ASSERT_OK(device->fill(buffer.as<>(), 0, 4, granule / 4, nullptr));
  void *pointer = buffer.as<>();
  // A 7 x 9 grid, cut in x and in y.
  for (uint32_t y : {0, 4})
    for (uint32_t x : {0, 3}) {
      TestLaunch launch(kernels->stamp, {7, 9}, 64, {&pointer});
      launch.request.touchesAnything = false;
      launch.request.touched = {&range, 1};
      launch.request.box.Lo[0] = x;
      launch.request.box.Hi[0] = x ? 7 : 3;
      launch.request.box.Lo[1] = y;
      launch.request.box.Hi[1] = y ? 9 : 4;
      ASSERT_OK(device->launch(launch.request));
    }
  std::vector<uint32_t> out = readBack(buffer.as<>(), 64);
  EXPECT_EQ(std::count(out.begin(), out.end(), 7u * 65536 + 9 * 256 + 64), 63);
  EXPECT_EQ(out[63], 0u);
  freeBuffer(buffer);
}

TEST_P(DeviceConformance, AnEmptyBoxIsNoLaunch) {
  void *nowhere = nullptr;
  TestLaunch launch(kernels->stamp, {4}, 32, {&nowhere});
  launch.request.box.Lo[0] = launch.request.box.Hi[0] = 2;
  ASSERT_OK(device->launch(launch.request));
  ASSERT_OK(device->synchronizeAll());
}

TEST_P(DeviceConformance, EventsOrderQueuesAndMeasureTime) {
  Queue a = must(device->createQueue(1, 0)),
        b = must(device->createQueue(0, 0));
  Event start = must(device->createEvent(true));
  Event end = must(device->createEvent(true));
  Event untimed = must(device->createEvent(false));
  Buffer buffer = makeBuffer({Place::Device});
  AddressRange range{buffer.base, buffer.base + buffer.bytes};
  ASSERT_OK(device->fill(buffer.as<>(), 5, 4, 1024, a));
  uint64_t pause = 20000000;
  ASSERT_OK(device->record(start, a));
  TestLaunch spin(kernels->spin, {1}, 1, {&pause});
  spin.request.queue = a;
  ASSERT_OK(device->launch(spin.request));
  ASSERT_OK(increment(buffer.as<>(), 1024, 1, a, {range}));
  ASSERT_OK(device->record(end, a));
  ASSERT_OK(device->record(untimed, a));
  ASSERT_OK(device->wait(b, end));
  std::vector<uint32_t> out(1024);
  ASSERT_OK(
      device->copy(out.data(), buffer.as<>(), 4096, CopyKind::DeviceToHost, b));
  ASSERT_OK(device->synchronize(b));
  EXPECT_EQ(std::count(out.begin(), out.end(), 6u), 1024);
  EXPECT_TRUE(must(device->queryEvent(end)));
  ASSERT_OK(device->synchronizeEvent(untimed));
  EXPECT_GE(must(device->elapsedMilliseconds(start, end)), 19.9f);
  EXPECT_FALSE(device->elapsedMilliseconds(start, untimed).ok());
  ASSERT_OK(device->synchronizeAll());
  EXPECT_TRUE(must(device->query(a)));
  EXPECT_TRUE(must(device->query(b)));
  for (Event event : {start, end, untimed})
    ASSERT_OK(device->destroyEvent(event));
  ASSERT_OK(device->destroyQueue(a));
  ASSERT_OK(device->destroyQueue(b));
  freeBuffer(buffer);
}

TEST_P(DeviceConformance, MemoryCountsChunks) {
  if (device->caps().migrates)
    return; // chunks are a number of bytes
  DeviceMemory before = must(device->memory());
  std::vector<Physical> chunks;
  for (int i = 0; i < 8; ++i)
    chunks.push_back(must(device->create(Place::Device, granule)));
  DeviceMemory during = must(device->memory());
  EXPECT_EQ(before.total, during.total);
  EXPECT_LE(during.free + 8 * granule, before.free + granule);
  for (const Physical &chunk : chunks)
    ASSERT_OK(device->destroy(chunk));
  EXPECT_GE(must(device->memory()).free, during.free + 8 * granule);
}

TEST_P(DeviceConformance, HostAccessToAnEmptyRangeReachesTheHandler) {
  struct Handler {
    Device *device;
    uintptr_t va;
    Physical host;
    std::atomic<int> faults{0};
    std::atomic<bool> write{false};
    static bool call(void *self, uintptr_t address, bool write) {
      auto &h = *static_cast<Handler *>(self);
      ++h.faults;
      h.write = write;
      return address == h.va + 40 && h.device->map(h.va, h.host).ok();
    }
  };
  Handler handler{device.get(),
                  must(device->reserve(granule)),
                  must(device->create(Place::Host, granule)),
                  {},
                  {}};
  if (device->caps().hostMapped) {
    std::memset(handler.host.hostView, 9, granule);
    ASSERT_OK(device->setFaultHandler(Handler::call, &handler));
    auto *word = reinterpret_cast<volatile uint32_t *>(handler.va + 40);
    EXPECT_EQ(*word, 0x09090909u);
    EXPECT_EQ(handler.faults, 1);
    EXPECT_FALSE(handler.write);
    ASSERT_OK(device->unmap(handler.va, handler.host));
    *word = 1;
    EXPECT_EQ(handler.faults, 2);
    EXPECT_TRUE(handler.write);
    ASSERT_OK(device->unmap(handler.va, handler.host));
    ASSERT_OK(device->setFaultHandler(nullptr, nullptr));
  }
  ASSERT_OK(device->destroy(handler.host));
  ASSERT_OK(device->release(handler.va, granule));
}

TEST_P(DeviceConformance, SeveralThreadsAtOnce) {
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; ++t)
    threads.emplace_back([this, t] {
      Queue queue = must(device->createQueue(1, 0));
      for (int round = 0; round < 5; ++round) {
        uintptr_t base = must(device->reserve(granule));
        Physical chunk = must(device->create(Place::Device, granule));
        ASSERT_OK(device->map(base, chunk));
        void *pointer = reinterpret_cast<void *>(base);
        ASSERT_OK(device->fill(pointer, t, 4, 256, queue));
        ASSERT_OK(
            increment(pointer, 256, 100, queue, {{base, base + granule}}));
        std::vector<uint32_t> out(256);
        ASSERT_OK(device->copy(out.data(), pointer, 1024,
                               CopyKind::DeviceToHost, queue));
        ASSERT_OK(device->synchronize(queue));
        EXPECT_EQ(std::count(out.begin(), out.end(), t + 100), 256);
        ASSERT_OK(device->unmap(base, chunk));
        ASSERT_OK(device->destroy(chunk));
        ASSERT_OK(device->release(base, granule));
      }
      ASSERT_OK(device->destroyQueue(queue));
    });
  for (std::thread &thread : threads)
    thread.join();
}

INSTANTIATE_TEST_SUITE_P(BackEnds, DeviceConformance,
                         testing::ValuesIn(backEnds()),
                         [](const auto &info) { return info.param.name; });

} // namespace
