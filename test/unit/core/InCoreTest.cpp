//===- InCoreTest.cpp - the short way of launches for which all fits ------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// While everything fits, the second launch of a kernel goes to the driver at
// once, whatever the contents of its buffers: not initialised, written in part,
// dead after each launch. What is dead is known all the same when memory gets
// short.
//
//===----------------------------------------------------------------------===//

#include "test/unit/support/core/ImplFixture.h"

#include <optional>

using namespace dragon;
using namespace dragon::test;

namespace {

constexpr int TouchedWords = 1024; ///< words that a launch touches
constexpr size_t InCoreChunk = 2 * MiB;

class InCoreTest : public ImplFixture {
protected:
  void SetUp() override {
    ImplFixture::SetUp();
    settings.strict = false;
    settings.poison = false;
    settings.deviceMemory = 16 * MiB;
    settings.hostMemory = 32 * MiB;
    ASSERT_NO_FATAL_FAILURE(startImpl(2));
  }
  template <typename Run, typename... Args>
  auto launchWith(Run run, std::span<const LastUse> lastUses,
                  const char *kernel, Args... values) {
    void *args[] = {&values...};
    LaunchCall call{};
    call.kernel = kernels.find(kernel);
    call.grid[0] = call.grid[1] = call.grid[2] = 1;
    call.block[0] = TouchedWords;
    call.block[1] = call.block[2] = 1;
    call.args = args;
    call.numArgs = sizeof...(values);
    call.lastUses = lastUses;
    return run(call);
  }
  /// By the way that launches take; true: by the short one.
  template <typename... Args>
  bool launchesShort(std::span<const LastUse> lastUses, const char *kernel,
                     Args... values) {
    return launchWith(
        [&](const LaunchCall &call) {
          {
            RuntimeImpl::StateGuard guard(*impl);
            if (auto status = impl->Launches.launchInCore(call)) {
              EXPECT_TRUE(status->ok()) << status->message();
              return true;
            }
          }
          RuntimeImpl::Guard guard(*impl);
          EXPECT_OK(impl->Launches.launch(call));
          return false;
        },
        lastUses, kernel, values...);
  }
  std::vector<int32_t> words(uintptr_t from, size_t count) {
    std::vector<int32_t> found(count, -1);
    RuntimeImpl::Guard guard(*impl);
    Buffer &buffer = *impl->Space.Allocations.find(from)->buffer;
    EXPECT_OK(impl->Moves.fromBuffer(buffer,
                                     reinterpret_cast<char *>(found.data()),
                                     from, count * 4, nullptr, {true, false}));
    return found;
  }
  /// What another runtime of the process, or a library, writes.
  void writeUnseen(uintptr_t to, int32_t value) {
    std::fill_n(reinterpret_cast<int32_t *>(to), TouchedWords, value);
  }
};

TEST_F(InCoreTest, BuffersThatAreWrittenInPart) {
  for (size_t bytes :
       {size_t{TouchedWords} * 4, size_t{1} << 20, 3 * InCoreChunk}) {
    const uintptr_t to = buffer(bytes);
    EXPECT_FALSE(launchesShort({}, "iota", to, TouchedWords, 3)) << bytes;
    EXPECT_TRUE(launchesShort({}, "iota", to, TouchedWords, 5)) << bytes;
    EXPECT_EQ(words(to, TouchedWords)[7], scaled(7, 5));
    EXPECT_TRUE(launchesShort({}, "iota", to, TouchedWords, 6)) << bytes;
  }
}

TEST_F(InCoreTest, BuffersThatNobodyHasWritten) {
  const uintptr_t to = buffer(InCoreChunk), from = buffer(3 * InCoreChunk);
  launchesShort({}, "stencil", to, from, TouchedWords);
  EXPECT_TRUE(launchesShort({}, "stencil", to, from, TouchedWords));
}

TEST_F(InCoreTest, ContentsThatDieWithEachLaunch) {
  const uintptr_t to = buffer(2 * InCoreChunk);
  const LastUse dies[] = {{to, 2 * InCoreChunk}};
  launchesShort(dies, "iota", to, TouchedWords, 3);
  for (int seed = 4; seed < 8; ++seed)
    EXPECT_TRUE(launchesShort(dies, "iota", to, TouchedWords, seed));
}

TEST_F(InCoreTest, WhatIsDeadIsNotEvictedLater) {
  const uintptr_t dead = buffer(2 * InCoreChunk),
                  alive = buffer(2 * InCoreChunk);
  const LastUse dies[] = {{dead, 2 * InCoreChunk}};
  for (int seed : {3, 4}) {
    launchesShort(dies, "iota", dead, TouchedWords, seed);
    launchesShort({}, "iota", alive, TouchedWords, seed);
  }
  // Dead for a while, and then written again: alive.
  const LastUse too[] = {{alive, 2 * InCoreChunk}};
  launchesShort(too, "iota", alive, TouchedWords, 5);
  launchesShort({}, "iota", alive, TouchedWords, 6);
  const uintptr_t more = buffer(12 * MiB); // with what there is, 24 of 16 MiB
  Buffer &lost = *impl->Space.Allocations.find(dead)->buffer;
  Buffer &kept = *impl->Space.Allocations.find(alive)->buffer;
  EXPECT_EQ(lost.numOnDevice, 0u);
  EXPECT_TRUE(kept.allOnDevice());
  {
    RuntimeImpl::Guard guard(*impl);
    std::vector<ChunkUse> uses;
    for (Chunk &chunk : impl->Space.Allocations.find(more)->buffer->chunks)
      uses.push_back(useOfAll(chunk, LaunchNeed::Overwrite));
    ASSERT_OK(impl->Resident.bringIn(uses, nullptr, Cause::Demand));
    EXPECT_EQ(impl->Ctx.ledger.bytes(Direction::DeviceToHost), 0u);
  }
  EXPECT_EQ(words(alive, TouchedWords)[7], scaled(7, 6));
}

TEST_F(InCoreTest, WhatDiedAndIsCopiedIntoIsAlive) {
  const uintptr_t to = buffer(InCoreChunk), from = buffer(InCoreChunk);
  const LastUse dies[] = {{to, InCoreChunk}};
  launchesShort({}, "iota", from, TouchedWords, 9);
  launchesShort(dies, "iota", to, TouchedWords, 3);
  {
    RuntimeImpl::Guard guard(*impl);
    Buffer &target = *impl->Space.Allocations.find(to)->buffer;
    Buffer &source = *impl->Space.Allocations.find(from)->buffer;
    ASSERT_OK(impl->Moves.between(target, to, source, from, TouchedWords * 4,
                                  nullptr));
  }
  buffer(16 * MiB);
  EXPECT_EQ(words(to, TouchedWords)[7], scaled(7, 9));
}

TEST_F(InCoreTest, WhatOthersWroteUnseenIsRead) {
  const uintptr_t to = buffer(InCoreChunk), from = buffer(2 * InCoreChunk);
  writeUnseen(from, 42);
  EXPECT_EQ(words(from, 1)[0], 42);
  const uintptr_t other = buffer(InCoreChunk);
  writeUnseen(other, 43);
  launchesShort({}, "scale", other, TouchedWords, 1);
  EXPECT_EQ(words(other, 1)[0], scaled(43, 1));
  launchesShort({}, "stencil", to, from, TouchedWords);
  EXPECT_EQ(words(from, 1)[0], 42);
}

TEST_F(InCoreTest, LibraryCallsHoldWhatIsInPlace) {
  const uintptr_t in = buffer(2 * InCoreChunk), out = buffer(InCoreChunk);
  const uintptr_t work = buffer(InCoreChunk); // nobody has written it
  launchesShort({}, "iota", in, TouchedWords, 3);
  launchesShort({}, "iota", out, TouchedWords, 3);
  const LibraryCall call{"gemm",
                         {{in, LibraryUse::Unknown, LaunchNeed::Read},
                          {in + InCoreChunk, 16, LaunchNeed::Read},
                          {out, 64, LaunchNeed::Overwrite},
                          {work, LibraryUse::Unknown, LaunchNeed::Write}},
                         Queue(nullptr)};
  RuntimeImpl::Guard guard(*impl);
  LibraryHold hold;
  ASSERT_OK(impl->Library.begin(call, hold));
  // A chunk twice: nobody has looked at what belongs together.
  EXPECT_EQ(hold.chunks.size(),
            impl->Space.Allocations.find(in)->buffer->chunks.size() + 3);
  for (uintptr_t base : {in, out, work})
    for (const Chunk &chunk :
         impl->Space.Allocations.find(base)->buffer->chunks)
      EXPECT_NE(chunk.holds.calls, 0u);
  for (const EvictionCandidate &candidate : impl->OnDevice.candidates())
    EXPECT_EQ(impl->OnDevice.Chunks[candidate.index]->buffer, Whole);
  ASSERT_OK(impl->Library.end(hold));
  for (uintptr_t base : {in, out, work})
    for (const Chunk &chunk :
         impl->Space.Allocations.find(base)->buffer->chunks)
      EXPECT_EQ(chunk.holds.calls, 0u);
}

/// Pointers that it may have written are looked for again.
TEST_F(InCoreTest, ALaunchByTheShortWayCountsAsAWrite) {
  const uintptr_t to = buffer(InCoreChunk);
  const Buffer &written = *impl->Space.Allocations.find(to)->buffer;
  launchesShort({}, "iota", to, TouchedWords, 3);
  {
    RuntimeImpl::Guard guard(*impl);
    std::vector<uintptr_t> done;
    EXPECT_OK(impl->Library.keepReachable(to, done));
    EXPECT_TRUE(written.kept);
  }
  const uint64_t before = written.writes;
  EXPECT_TRUE(launchesShort({}, "iota", to, TouchedWords, 4));
  EXPECT_NE(written.writes, before);
}

} // namespace
