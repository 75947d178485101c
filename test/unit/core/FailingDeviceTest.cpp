//===- FailingDeviceTest.cpp - each call of the device fails once ---------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program that does a bit of everything, out of core, runs with a device whose
// first call fails, then with one whose second call does, and so on until a run
// has no failure left. Each time
//   - the operation says which call failed, or does without it;
//   - what the operation was to write is unknown from then on, and nothing else:
//     all other contents are compared at the end, after more operations;
//   - what was created is destroyed, but for what the failing call was to give
//     back, and the swap directory is empty.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/ForwardingDevice.h"
#include "test/unit/support/core/RuntimeFixture.h"

#include <array>
#include <functional>
#include <map>
#include <numeric>

using namespace dragon;
using namespace dragon::test;
using testing::HasSubstr;

namespace {

using Counts = std::array<int64_t, NumDeviceCalls>;

/// Counts calls that reach the device, and outlives it.
class TallyDevice final : public ForwardingDevice {
public:
  TallyDevice(std::unique_ptr<Device> inner, Counts &counts)
      : ForwardingDevice(std::move(inner)), Made(counts) {}

private:
  Status before(DeviceCall call) override {
    ++Made[size_t(call)];
    return {};
  }
  Counts &Made;
};

/// Contents as the program must see them; unknown after a failed operation.
struct ModelBuffer {
  uintptr_t base = 0;
  std::vector<int32_t> words;
  bool known = false;
};

constexpr uint64_t FailingChunk = 512 << 10;
constexpr int TwoChunks = 1 << 18; // two chunks each
constexpr size_t TwoChunkBytes = size_t(TwoChunks) * 4;

class FailingDeviceTest : public RuntimeFixture {
protected:
  /// Runs the program with a device whose n-th call fails; whether one did.
  bool runWithFailure(uint64_t n);

  std::map<std::string, int> Absorbed; ///< failed calls that were done without

private:
  /// One operation, which writes to `writes`. Without contents that it reads it
  /// is left out. `effect`: what it does to the model.
  void operation(const char *what, const std::vector<ModelBuffer *> &reads,
                 const std::vector<ModelBuffer *> &writes,
                 const std::function<Status()> &run,
                 const std::function<void()> &effect) {
    for (const ModelBuffer *buffer : reads)
      if (!buffer->base || !buffer->known)
        return;
    for (const ModelBuffer *buffer : writes)
      if (!buffer->base)
        return;
    Status status = run();
    note(what, status);
    if (status.ok())
      effect();
    for (ModelBuffer *buffer : writes)
      buffer->known = status.ok();
  }
  /// At most one operation fails, and it says why.
  void note(const char *what, const Status &status) {
    if (status.ok())
      return;
    EXPECT_EQ(status.code(), DRAGON_ERROR_DEVICE) << status.message();
    EXPECT_THAT(status.message(), HasSubstr("injected failure of call"))
        << what;
    ++Failures;
  }
  void make(ModelBuffer &buffer, unsigned flags = 0) {
    auto base =
        runtime->buffers().allocate(TwoChunkBytes, {flags, false, nullptr});
    if (base.ok())
      buffer.base = *base;
    note("allocate", base.takeStatus());
  }
  void upload(ModelBuffer &buffer, uint32_t seed, bool pageable) {
    std::vector<int32_t> data = numbers(TwoChunks, seed);
    operation(
        "upload", {}, {&buffer},
        [&] {
          return runtime->buffers().copy(pointer(buffer.base), data.data(),
                                         TwoChunkBytes, nullptr, false,
                                         pageable);
        },
        [&] { buffer.words = data; });
  }
  void add(ModelBuffer &c, ModelBuffer &a, ModelBuffer &b) {
    operation(
        "add", {&a, &b}, {&c},
        [&] {
          return kernels.launch(*runtime, "add", TwoChunks, pointer(c.base),
                                pointer(a.base), pointer(b.base), TwoChunks);
        },
        [&] {
          std::vector<int32_t> sums(TwoChunks);
          for (int i = 0; i < TwoChunks; ++i)
            sums[i] = sum(a.words[i], b.words[i]);
          c.words = std::move(sums);
        });
  }
  void scale(ModelBuffer &a, int k) {
    operation(
        "scale", {&a}, {&a},
        [&] {
          return kernels.launch(*runtime, "scale", TwoChunks, pointer(a.base),
                                TwoChunks, k);
        },
        [&] {
          for (int32_t &word : a.words)
            word = scaled(word, k);
        });
  }
  void mapFile(ModelBuffer &buffer, const std::vector<int32_t> &contents) {
    operation(
        "map a file", {}, {&buffer},
        [&] {
          return runtime->files().mapFileRange(buffer.base, TwoChunkBytes,
                                               open("in"), 0);
        },
        [&] { buffer.words = contents; });
  }
  void writeOut(ModelBuffer &buffer) {
    auto file = open("out", true);
    operation(
        "set a sink", {&buffer}, {},
        [&] {
          return runtime->files().setSink(buffer.base, TwoChunkBytes, file, 0);
        },
        [] {});
    scale(buffer, 5);
    operation(
        "write a file", {&buffer}, {},
        [&] {
          size_t written = 0;
          return runtime->files().writeToFile(buffer.base, TwoChunkBytes, file,
                                              0, written);
        },
        [&] { EXPECT_EQ(readFile("out"), buffer.words); });
    note("detach",
         runtime->files().detachFile(file->deviceId(), file->inode()));
  }
  void compare(const char *name, ModelBuffer &buffer) {
    if (!buffer.base || !buffer.known)
      return;
    std::vector<int32_t> got(TwoChunks);
    Status status = runtime->buffers().copy(got.data(), pointer(buffer.base),
                                            TwoChunkBytes, nullptr, false);
    note("download", status);
    if (status.ok())
      EXPECT_EQ(got == buffer.words, true) << "contents of " << name;
  }
  void program();
  void expectBalance(const Counts &made, std::optional<DeviceCall> failed);
  static bool givesBack(DeviceCall call);

  int Failures = 0;
};

void FailingDeviceTest::program() {
  std::vector<int32_t> input = numbers(TwoChunks, 77);
  ModelBuffer a, b, c, d;
  make(a);
  make(b);
  make(c);
  upload(a, 1, false);
  upload(b, 2, true);
  add(c, a, b);
  scale(c, 3);
  make(d, D_READ);
  mapFile(d, input);
  operation(
      "prefetch", {&d}, {},
      [&] {
        return runtime->buffers().prefetch(d.base, TwoChunkBytes, nullptr);
      },
      [] {});
  add(b, c, d);
  operation(
      "discard", {}, {&a},
      [&] {
        return runtime->buffers().discard(a.base, TwoChunkBytes, nullptr);
      },
      [&] { a.words.clear(); });
  a.known = false;
  operation(
      "discard eagerly", {}, {&a},
      [&] {
        return runtime->buffers().discard(a.base, TwoChunkBytes, nullptr, true);
      },
      [&] { a.words.clear(); });
  a.known = false;
  operation(
      "fill", {}, {&a},
      [&] {
        return runtime->buffers().fill(pointer(a.base), 42, 4, TwoChunks,
                                       nullptr);
      },
      [&] { a.words.assign(TwoChunks, 42); });
  operation(
      "copy", {&b}, {&c},
      [&] {
        return runtime->buffers().copy(pointer(c.base), pointer(b.base),
                                       TwoChunkBytes, nullptr, false);
      },
      [&] { c.words = b.words; });
  writeOut(c);
  if (b.base) {
    Status freed = runtime->buffers().free(b.base);
    note("free", freed);
    b = {};
    make(b);
  }
  add(b, a, d);
  compare("a", a);
  compare("b", b);
  compare("c", c);
  compare("d", d);
  for (ModelBuffer *buffer : {&a, &b, &c, &d})
    if (buffer->base)
      note("free", runtime->buffers().free(buffer->base));
}

bool FailingDeviceTest::givesBack(DeviceCall call) {
  switch (call) {
  case DeviceCall::Release:
  case DeviceCall::Destroy:
  case DeviceCall::Unmap:
  case DeviceCall::DestroyQueue:
  case DeviceCall::DestroyEvent:
    return true;
  default:
    return false;
  }
}

/// What could not be unmapped can neither be destroyed nor released.
void FailingDeviceTest::expectBalance(const Counts &made,
                                      std::optional<DeviceCall> failed) {
  auto left = [&](DeviceCall get, DeviceCall give) {
    const int64_t got = made[size_t(get)] - made[size_t(give)];
    return get == DeviceCall::Create
               ? got + made[size_t(DeviceCall::CreateOnPeer)]
               : got;
  };
  const int64_t most = failed && givesBack(*failed) ? 1 : 0;
  for (auto [get, give] :
       {std::pair(DeviceCall::Reserve, DeviceCall::Release),
        {DeviceCall::Create, DeviceCall::Destroy},
        {DeviceCall::Map, DeviceCall::Unmap},
        {DeviceCall::CreateQueue, DeviceCall::DestroyQueue},
        {DeviceCall::CreateEvent, DeviceCall::DestroyEvent}}) {
    EXPECT_GE(left(get, give), 0) << nameOf(give);
    EXPECT_LE(left(get, give), most) << nameOf(get);
  }
}

bool FailingDeviceTest::runWithFailure(uint64_t n) {
  SCOPED_TRACE("call " + std::to_string(n));
  Counts made{};
  Failures = 0;
  std::string notes;
  auto cpu = createDevice(settings, notes);
  EXPECT_TRUE(cpu.ok());
  auto device = std::make_unique<FaultyDevice>(
      std::make_unique<TallyDevice>(std::move(*cpu), made), n);
  FaultyDevice &faulty = *device;
  auto created = Runtime::create(settings, std::move(device));
  if (!created.ok()) {
    note("create", created.takeStatus());
    EXPECT_EQ(Failures, 1);
    expectBalance(made, std::nullopt);
    return true;
  }
  runtime = std::move(*created);
  program();
  note("shutdown", runtime->shutdown());
  if (n == 0) { // it is worth it
    EXPECT_GT(moved(Direction::HostToSwap), 0u);
    EXPECT_GT(moved(Direction::SwapToHost), 0u);
    EXPECT_GT(moved(Direction::FileToHost), 0u);
    EXPECT_GT(moved(Direction::HostToFile), 0u);
    EXPECT_GT(runtime->ledger().counter(Counter::SlicedLaunches), 0u);
  }
  std::optional<DeviceCall> failed;
  if (faulty.hasFailed())
    failed = faulty.failedCall();
  EXPECT_LE(Failures, failed ? 1 : 0);
  if (failed && Failures == 0)
    ++Absorbed[nameOf(*failed)];
  runtime.reset();
  const int64_t calls = std::accumulate(made.begin(), made.end(), int64_t(0));
  const bool ended = int64_t(n) > calls + 1; // and no call was the n-th
  // At the very end everything is given back.
  if (!failed && n && !ended)
    failed = DeviceCall::Destroy;
  expectBalance(made, failed);
  for (const auto &entry : std::filesystem::directory_iterator(folder.path()))
    EXPECT_TRUE(entry.path().filename() == "in" ||
                entry.path().filename() == "out")
        << entry.path();
  return !ended && n;
}

TEST_F(FailingDeviceTest, EachCallOnce) {
  settings.chunkBytes = FailingChunk;
  settings.deviceMemory = 3 * FailingChunk;
  settings.hostMemory = 4 * FailingChunk;
  writeFile("in", numbers(TwoChunks, 77));
  ASSERT_FALSE(runWithFailure(0));
  uint64_t n = 1;
  while (runWithFailure(n) && !HasFailure())
    ++n;
  EXPECT_GT(n, 100u);
  // Where the host has no room either, there is the swap file.
  for (const auto &[name, count] : Absorbed)
    EXPECT_EQ(name, "create") << count;
}

TEST_F(FailingDeviceTest, EachCallOnceWithPeers) {
  settings.chunkBytes = FailingChunk;
  settings.deviceMemory = 3 * FailingChunk;
  settings.hostMemory = 4 * FailingChunk;
  settings.cpuDevices = 2;
  settings.peers.all = true;
  settings.peerMemory = FailingChunk;
  writeFile("in", numbers(TwoChunks, 77));
  ASSERT_FALSE(runWithFailure(0));
  uint64_t n = 1;
  while (runWithFailure(n) && !HasFailure())
    ++n;
  EXPECT_GT(n, 100u);
  EXPECT_TRUE(Absorbed.contains("createOnPeer"));
  for (const auto &[name, count] : Absorbed)
    EXPECT_THAT(name, testing::AnyOf("create", "createOnPeer", "peerMemory"))
        << count;
}

} // namespace
