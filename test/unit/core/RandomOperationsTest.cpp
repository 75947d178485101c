//===- RandomOperationsTest.cpp - the runtime against a model of it -------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random operations on a few buffers that do not fit, beside the same ones on
// host vectors. Words that nothing has defined are not compared: the model
// knows them, the runtime fills them with poison. Every second time the device
// puts off what it can.
//
//===----------------------------------------------------------------------===//

#include "test/unit/support/core/RuntimeFixture.h"
#include "test/unit/support/device/LateDevice.h"

#include <optional>

using namespace dragon;
using namespace dragon::test;

namespace {

using Word = std::optional<int32_t>;

struct RandomBuffer {
  uintptr_t base = 0;
  std::vector<Word> words;
};

class RandomOperationsTest : public RuntimeFixture,
                             public testing::WithParamInterface<int> {
protected:
  size_t below(size_t n) {
    return std::uniform_int_distribution<size_t>(0, n - 1)(Random);
  }
  RandomBuffer &any() { return Buffers[below(Buffers.size())]; }
  /// A part of [0, n), often all of it, often with odd ends.
  std::pair<size_t, size_t> part(size_t n) {
    if (below(3) == 0)
      return {0, n};
    size_t begin = below(n);
    return {begin, begin + 1 + below(n - begin)};
  }
  static bool defined(const RandomBuffer &b, size_t begin, size_t end) {
    return std::all_of(b.words.begin() + long(begin),
                       b.words.begin() + long(end),
                       [](const Word &w) { return w.has_value(); });
  }

  void renew(RandomBuffer &b) {
    if (b.base)
      ASSERT_OK(runtime->buffers().free(b.base));
    b.words.assign(256 * 1024 + below(5 << 18), std::nullopt);
    // What is meant to be read only, but may be written.
    b.base = allocate(b.words.size() * 4, below(3) ? 0 : D_READ);
  }
  void copyIn(RandomBuffer &b) {
    auto [begin, end] = part(b.words.size());
    auto data = numbers(end - begin, uint32_t(Random()));
    ASSERT_OK(runtime->buffers().copy(pointer(b.base + begin * 4), data.data(),
                                      data.size() * 4, nullptr, false,
                                      /*pageable=*/below(2)));
    std::copy(data.begin(), data.end(), b.words.begin() + long(begin));
  }
  void fill(RandomBuffer &b) {
    auto [begin, end] = part(b.words.size());
    auto value = int32_t(Random());
    ASSERT_OK(runtime->buffers().fill(
        pointer(b.base + begin * 4), uint32_t(value), 4, end - begin, nullptr));
    std::fill(b.words.begin() + long(begin), b.words.begin() + long(end),
              value);
  }
  void fromFile(RandomBuffer &b) {
    auto [begin, end] = part(b.words.size());
    auto data = numbers(end - begin + 3, uint32_t(Random()));
    writeFile("in", data);
    auto file = open("in");
    std::filesystem::remove(path("in")); // each its own inode
    ASSERT_OK(runtime->files().mapFileRange(
        b.base + begin * 4, (end - begin) * 4, std::move(file), 12));
    std::copy(data.begin() + 3, data.end(), b.words.begin() + long(begin));
  }
  /// A copy from memory that changeSource() settles before it changes it.
  void fromProgram(RandomBuffer &b) {
    auto [begin, end] = part(b.words.size());
    std::vector<int32_t> &source = Sources[below(Sources.size())];
    if (source.size() < end - begin)
      return;
    const int32_t *from =
        source.data() + below(source.size() - (end - begin) + 1);
    auto mapped = runtime->files().mapProgramMemory(b.base + begin * 4,
                                                    (end - begin) * 4, from);
    ASSERT_TRUE(mapped.ok()) << mapped.takeStatus().message();
    if (!*mapped) // everything fits
      ASSERT_OK(runtime->buffers().copy(pointer(b.base + begin * 4), from,
                                        (end - begin) * 4, nullptr, false));
    std::copy(from, from + (end - begin), b.words.begin() + long(begin));
  }
  void changeSource(std::vector<int32_t> &source) {
    const bool ends = source.empty() || below(3) == 0;
    const auto [begin, end] =
        ends ? std::pair(size_t(0), source.size()) : part(source.size());
    ASSERT_OK(runtime->files().settleProgramMemory(source.data() + begin,
                                                   (end - begin) * 4));
    if (ends) // the old memory is given back
      source = numbers(256 * 1024 + below(5 << 18), uint32_t(Random()));
    else
      std::fill(source.begin() + long(begin), source.begin() + long(end),
                int32_t(Random()));
  }
  /// Results that may come to their place before they are copied there.
  struct Place {
    std::vector<int32_t> memory;
    RandomBuffer *of = nullptr;
    uintptr_t base = 0;
  };
  void settle(Place &place) {
    ASSERT_OK(runtime->files().settleProgramMemory(place.memory.data(),
                                                   place.memory.size() * 4));
    place.of = nullptr;
  }
  void announce(Place &place, RandomBuffer &b) {
    settle(place);
    place.memory.assign(b.words.size(), -1);
    place.of = &b;
    place.base = b.base;
    ASSERT_OK(runtime->files().announceCopyOut(b.base, b.words.size() * 4,
                                               place.memory.data()));
  }
  void copyOut(Place &place) {
    if (!place.of || place.of->base != place.base ||
        place.of->words.size() != place.memory.size())
      return settle(place);
    ASSERT_OK(runtime->buffers().copy(place.memory.data(), pointer(place.base),
                                      place.memory.size() * 4, nullptr, false,
                                      /*pageable=*/below(2)));
    for (size_t i = 0; i < place.memory.size(); ++i)
      if (place.of->words[i])
        ASSERT_EQ(place.memory[i], *place.of->words[i]) << "word " << i;
    place.of = nullptr; // it may still stand for the buffer
  }
  void between(RandomBuffer &to, RandomBuffer &from) {
    if (&to == &from)
      return;
    size_t n = std::min(to.words.size(), from.words.size());
    auto [begin, end] = part(n);
    ASSERT_OK(runtime->buffers().copy(pointer(to.base + begin * 4),
                                      pointer(from.base + begin * 4),
                                      (end - begin) * 4, nullptr, false));
    std::copy(from.words.begin() + long(begin), from.words.begin() + long(end),
              to.words.begin() + long(begin));
  }
  void discard(RandomBuffer &b) {
    auto [begin, end] = part(b.words.size());
    ASSERT_OK(runtime->buffers().discard(b.base + begin * 4, (end - begin) * 4,
                                         nullptr,
                                         /*eager=*/Random() % 2));
    std::fill(b.words.begin() + long(begin), b.words.begin() + long(end),
              std::nullopt);
  }
  void launch(RandomBuffer &c, RandomBuffer &a, RandomBuffer &b) {
    size_t n =
        1 + below(std::min({c.words.size(), a.words.size(), b.words.size()}));
    int count = int(n), k = int(below(100));
    switch (below(5)) {
    case 0:
      if (!defined(a, 0, n) || !defined(b, 0, n))
        return;
      ASSERT_OK(kernels.launch(*runtime, "add", count, pointer(c.base),
                               pointer(a.base), pointer(b.base), count));
      for (size_t i = 0; i < n; ++i)
        c.words[i] = sum(*a.words[i], *b.words[i]);
      return;
    case 1:
      if (!defined(a, 0, n))
        return;
      ASSERT_OK(
          kernels.launch(*runtime, "scale", count, pointer(a.base), count, k));
      for (size_t i = 0; i < n; ++i)
        a.words[i] = scaled(*a.words[i], k);
      return;
    case 2:
      ASSERT_OK(
          kernels.launch(*runtime, "iota", count, pointer(c.base), count, k));
      for (size_t i = 0; i < n; ++i)
        c.words[i] = scaled(int32_t(i), k);
      return;
    case 3:
      if (&a == &c || !defined(a, 0, n))
        return;
      ASSERT_OK(kernels.launch(*runtime, "stencil", count, pointer(c.base),
                               pointer(a.base), count));
      for (size_t i = 0; i < n; ++i)
        c.words[i] = sum(sum(*a.words[i ? i - 1 : 0], *a.words[i]),
                         *a.words[std::min(i + 1, n - 1)]);
      return;
    default: {
      int from = int(below(n));
      if (&a == &c || !defined(a, size_t(from), n))
        return;
      ASSERT_OK(kernels.launch(*runtime, "copyRest", count, pointer(c.base),
                               pointer(a.base), count, from));
      std::copy(a.words.begin() + from, a.words.begin() + long(n),
                c.words.begin() + from);
    }
    }
  }
  void compare(RandomBuffer &b) {
    auto found = download(b.base, b.words.size());
    for (size_t i = 0; i < found.size(); ++i)
      if (b.words[i])
        ASSERT_EQ(found[i], *b.words[i]) << "word " << i;
  }
  void toFile(RandomBuffer &b) {
    auto [begin, end] = part(b.words.size());
    auto out = open("out", true);
    const bool announced = below(2) && defined(b, begin, end);
    if (announced)
      ASSERT_OK(runtime->files().setSink(b.base + begin * 4, (end - begin) * 4,
                                         out, 0));
    size_t written = 0;
    ASSERT_OK(runtime->files().writeToFile(b.base + begin * 4,
                                           (end - begin) * 4, out, 0, written));
    ASSERT_EQ(written, (end - begin) * 4);
    auto found = readFile("out");
    for (size_t i = begin; i < end; ++i)
      if (b.words[i])
        ASSERT_EQ(found[i - begin], *b.words[i]) << "word " << i;
    std::filesystem::remove(path("out"));
    if (announced) // a promise that nobody reads it again
      std::fill(b.words.begin() + long(begin), b.words.begin() + long(end),
                std::nullopt);
  }

  std::mt19937 Random{unsigned(GetParam())};
  std::vector<RandomBuffer> Buffers;
  Place Places[2];
  std::vector<std::vector<int32_t>> Sources; ///< of copies that may be deferred
};

TEST_P(RandomOperationsTest, AgreeWithTheModel) {
  settings.deviceMemory = (6 + 2 * below(4)) * MiB;
  settings.hostMemory = (4 + 2 * below(4)) * MiB;
  // In every second run there are peers with a little memory.
  settings.cpuDevices = GetParam() % 2 ? 3 : 1;
  settings.peers.all = true;
  settings.peerMemory = 4 * MiB;
  settings.wavefront = GetParam() % 3 ? Wavefront::Always : Wavefront::Auto;
  LateDevice *late = nullptr;
  if (GetParam() % 2) {
    start();
  } else {
    auto made = makeDevice();
    ASSERT_TRUE(made);
    auto device = std::make_unique<LateDevice>(std::move(made));
    late = device.get();
    start(std::move(device));
  }
  Sources.resize(3);
  Buffers.resize(4);
  for (RandomBuffer &b : Buffers)
    renew(b);
  for (int step = 0; step < 90 && !HasFatalFailure(); ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    switch (below(16)) {
    case 0:
      renew(any());
      break;
    case 1:
      copyIn(any());
      break;
    case 2:
      fill(any());
      break;
    case 3:
      fromFile(any());
      break;
    case 4:
      between(any(), any());
      break;
    case 5:
      discard(any());
      break;
    case 6:
      compare(any());
      break;
    case 7:
      toFile(any());
      break;
    case 8:
    case 9:
      fromProgram(any());
      break;
    case 10:
      changeSource(Sources[below(Sources.size())]);
      break;
    case 11:
      announce(Places[below(2)], any());
      break;
    case 12:
      copyOut(Places[below(2)]);
      break;
    default:
      launch(any(), any(), any());
    }
  }
  for (RandomBuffer &b : Buffers)
    if (!HasFatalFailure())
      compare(b);
  if (late)
    EXPECT_EQ(late->misused(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomOperationsTest, testing::Range(1, 31));

} // namespace
