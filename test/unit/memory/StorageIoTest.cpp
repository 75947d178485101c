//===- StorageIoTest.cpp - reading and writing what chunks have stored ----===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/StorageIo.h"
#include "test/unit/support/memory/MemoryFixture.h"
#include "test/unit/support/tier/Gate.h"

#include <cerrno>
#include <cstring>
#include <random>
#include <set>

using namespace dragon;
using namespace dragon::test;

namespace {

/// Knows which slots are in use.
class WatchedSwap final : public SwapFile {
public:
  explicit WatchedSwap(std::unique_ptr<SwapFile> inner)
      : Inner(std::move(inner)) {}
  StatusOr<Slot> allocate(size_t bytes) override {
    if (Full)
      return Status::error(DRAGON_ERROR_NO_SPACE, "the disk is full");
    DRAGON_ASSIGN(const Slot slot, Inner->allocate(bytes));
    EXPECT_TRUE(Used.insert({slot.file, slot.offset}).second);
    return slot;
  }
  void release(const Slot &slot) override {
    EXPECT_EQ(Used.erase({slot.file, slot.offset}), 1u);
    Inner->release(slot);
  }
  uint64_t available() const override { return Inner->available(); }

  std::set<std::pair<BackingFile *, int64_t>> Used;
  bool Full = false;

private:
  std::unique_ptr<SwapFile> Inner;
};

class StorageIoTest : public MemoryFixture {
protected:
  static constexpr size_t Count = 3;

  void SetUp() override {
    MemoryFixture::SetUp();
    ASSERT_NO_FATAL_FAILURE(startParts(Count));
    parts->Store.Background.reset();
    auto files = createFileTier(settings, parts->Ctx.ledger, &gate);
    ASSERT_TRUE(files.ok());
    parts->Store.Files = std::move(*files);
    parts->Store.Background =
        std::make_unique<BackgroundIo>(*parts->Store.Files, 2 * MiB);
    auto swap = SwapFile::create(settings);
    ASSERT_TRUE(swap.ok());
    auto watched = std::make_unique<WatchedSwap>(std::move(*swap));
    Slots = watched.get();
    parts->Store.Swap = std::move(watched);
    Data = numbers(Count * Words, 12);
  }
  /// The chunk's, which lie in memory of ours.
  char *bytesOf(const Chunk &chunk) {
    return reinterpret_cast<char *>(Data.data()) + chunk.index * 2 * MiB;
  }
  /// Contents that are in memory alone.
  void makeDirty() {
    for (Chunk *chunk : Chunks)
      Whole->note(*chunk, ChunkEvent::WrittenOnDevice);
  }
  Status store(Removal target) {
    std::vector<WritePlan> plans;
    for (Chunk *chunk : Chunks)
      plans.push_back({chunk, bytesOf(*chunk), target, {}, {}});
    return parts->Store.write(plans, Cause::Eviction);
  }
  Status read(const Chunk &chunk, size_t begin, size_t end, char *memory) {
    ReadPlan plan;
    parts->Store.planRead(chunk, begin, end, memory, plan);
    return parts->Store.run(plan, Cause::Demand);
  }
  void expectStored(const Chunk &chunk) {
    EXPECT_TRUE(chunk.copies.storage);
    Memory found(2 * MiB);
    ASSERT_OK(read(chunk, 0, chunk.used(), found.data));
    EXPECT_EQ(std::memcmp(found.data, bytesOf(chunk), chunk.used()), 0);
  }
  /// The buffer may go to the file, as far as the bytes go.
  std::shared_ptr<BackingFile> addSink(size_t bytes, int64_t offset) {
    writeFile("out", {});
    auto file = FolderFixture::open("out", true);
    Whole->sinks.push_back(
        {Whole->base, Whole->base + bytes, file, offset, false});
    return file;
  }

  Gate gate;
  WatchedSwap *Slots = nullptr;
};

TEST_F(StorageIoTest, EachByteComesFromItsPiece) {
  Chunk &chunk = *Chunks[0];
  writeFile("in", Data);
  const auto file = FolderFixture::open("in");
  auto slot = Slots->allocate(chunk.used());
  ASSERT_TRUE(slot.ok());
  chunk.slot = *slot;
  // Words of the file further on, zeros, a gap, and words in swap.
  constexpr size_t Zeros = 1000, Gap = 5000, Swapped = 9000, End = 20000;
  chunk.storage.put({0, Zeros, PieceKind::File, file, 4 * MiB + 40});
  chunk.storage.put({Zeros, Gap, PieceKind::Zero, nullptr, 0});
  chunk.storage.put({Swapped, End, PieceKind::Swap, nullptr, 128});
  ASSERT_OK(parts->Store.Files->write(*slot->file, bytesOf(*Chunks[1]),
                                      End - Swapped, slot->offset + 128));
  std::vector<char> model(End);
  std::memcpy(model.data(), bytesOf(*Chunks[2]) + 40, Zeros);
  std::memcpy(model.data() + Swapped, bytesOf(*Chunks[1]), End - Swapped);
  auto within = [](size_t begin, size_t end, size_t first, size_t last) {
    return std::max(begin, first) < std::min(end, last)
               ? std::min(end, last) - std::max(begin, first)
               : 0;
  };
  std::mt19937 random(8);
  uint64_t filed = 0, swapped = 0;
  for (int round = 0; round < 300; ++round) {
    const size_t begin = random() % End;
    const size_t end = begin + 1 + random() % (End - begin);
    SCOPED_TRACE(testing::Message() << begin << " " << end);
    std::vector<char> found(end - begin, 'x');
    ReadPlan plan;
    parts->Store.planRead(chunk, begin, end, found.data(), plan);
    EXPECT_EQ(plan.fileBytes, within(begin, end, 0, Zeros));
    EXPECT_EQ(plan.swapBytes, within(begin, end, Swapped, End));
    filed += plan.fileBytes;
    swapped += plan.swapBytes;
    ASSERT_OK(parts->Store.run(plan, Cause::Demand));
    for (size_t at = begin; at < end; ++at) {
      if (at < Gap || at >= Swapped)
        ASSERT_EQ(found[at - begin], model[at]) << at;
      else
        ASSERT_TRUE(found[at - begin] != 'x' && found[at - begin]); // poison
    }
  }
  EXPECT_EQ(moved(Direction::FileToHost, Cause::Demand), filed);
  EXPECT_EQ(moved(Direction::SwapToHost, Cause::Demand), swapped);
}

TEST_F(StorageIoTest, ZerosTakeNoRequest) {
  Chunk &chunk = *Chunks[0];
  chunk.storage.put({0, chunk.used(), PieceKind::Zero, nullptr, 0});
  std::vector<char> found(1000, 'x');
  ReadPlan plan;
  parts->Store.planRead(chunk, 0, 1000, found.data(), plan);
  EXPECT_TRUE(plan.requests.empty());
  EXPECT_EQ(found, std::vector<char>(1000, 0));
  ASSERT_OK(parts->Store.run(plan, Cause::Demand));
}

TEST_F(StorageIoTest, AFileThatOthersChangedIsAnError) {
  writeFile("in", Data);
  storeIn(FolderFixture::open("in"));
  Memory found(2 * MiB);
  ASSERT_OK(read(*Chunks[0], 0, 2 * MiB, found.data));
  EXPECT_EQ(moved(Direction::FileToHost), 2 * MiB);
  std::filesystem::resize_file(path("in"), Whole->bytes + 4);
  EXPECT_EQ(read(*Chunks[0], 0, 2 * MiB, found.data).code(),
            DRAGON_ERROR_FILE_CHANGED);
  EXPECT_EQ(moved(Direction::FileToHost), 2 * MiB); // of use
}

TEST_F(StorageIoTest, WhatIsWrittenToSwapIsThere) {
  for (int round = 0; round < 2; ++round) {
    Data = numbers(Count * Words, uint32_t(round));
    makeDirty(); // what the chunks have there is old
    for (Chunk *chunk : Chunks)
      chunk->fetched = true;
    ASSERT_OK(store(Removal::ToSwap));
    EXPECT_EQ(Slots->Used.size(), Count);
    EXPECT_EQ(moved(Direction::HostToSwap, Cause::Eviction),
              uint64_t(round + 1) * Whole->bytes);
    for (const Chunk *chunk : Chunks) {
      EXPECT_EQ(chunk->copies, (Copies{true, false, true}));
      EXPECT_EQ(chunk->storage.kind(), Stored::Swap);
      EXPECT_FALSE(chunk->fetched);
      expectStored(*chunk);
    }
  }
}

TEST_F(StorageIoTest, WhatHasASinkGoesThere) {
  makeDirty();
  // For two chunks and a half.
  const auto file = addSink(5 * MiB, 4096);
  struct Asked {
    int64_t begin, end, delta;
    const Buffer *except;
  };
  std::vector<Asked> asked;
  parts->Store.setDetach([&](const BackingFile &detached, int64_t begin,
                             int64_t end, const Buffer *except, int64_t delta) {
    EXPECT_EQ(&detached, file.get());
    asked.push_back({begin, end, delta, except});
    return Status();
  });
  ASSERT_OK(store(Removal::ToSink));
  EXPECT_TRUE(Whole->sinks[0].used);
  EXPECT_EQ(moved(Direction::HostToFile, Cause::Eviction), 4 * MiB);
  EXPECT_EQ(moved(Direction::HostToSwap, Cause::Eviction), 2 * MiB);
  for (size_t i : {0, 1}) {
    ASSERT_EQ(Chunks[i]->storage.numberOfPieces(), 1u);
    EXPECT_TRUE((*Chunks[i]->storage.pieces().begin())
                    .isAt(*file, 4096 + int64_t(i * 2 * MiB)));
  }
  EXPECT_EQ(Chunks[2]->storage.kind(), Stored::Swap);
  EXPECT_EQ(Slots->Used.size(), 1u);
  for (const Chunk *chunk : Chunks)
    expectStored(*chunk);
  const std::vector<int32_t> written = readFile("out");
  EXPECT_TRUE(std::equal(written.begin() + 1024, written.end(), Data.begin(),
                         Data.begin() + 2 * long(Words)));
  // Others that have these bytes were told before.
  ASSERT_EQ(asked.size(), 2u);
  for (size_t i : {0, 1}) {
    EXPECT_EQ(asked[i].begin, 4096 + int64_t(i * 2 * MiB));
    EXPECT_EQ(asked[i].end, 4096 + int64_t((i + 1) * 2 * MiB));
    EXPECT_EQ(asked[i].delta, 4096 - int64_t(Whole->base));
    EXPECT_EQ(asked[i].except, Whole);
  }
  ASSERT_EQ(Whole->lines.size(), 1u);
  EXPECT_EQ(Whole->lines[0].delta, 4096 - int64_t(Whole->base));
}

TEST_F(StorageIoTest, WhatASinkRefusesGoesToSwap) {
  makeDirty();
  addSink(6 * MiB, 0);
  gate.fail(EIO, 1);
  ASSERT_OK(store(Removal::ToSink));
  EXPECT_EQ(moved(Direction::HostToFile), 4 * MiB);
  EXPECT_EQ(moved(Direction::HostToSwap), 2 * MiB);
  EXPECT_EQ(Slots->Used.size(), 1u);
  for (const Chunk *chunk : Chunks)
    expectStored(*chunk);
}

TEST_F(StorageIoTest, WhatIsNotWrittenStaysDirty) {
  makeDirty();
  gate.fail(EIO, 1);
  EXPECT_FALSE(store(Removal::ToSwap).ok());
  size_t dirty = 0;
  for (const Chunk *chunk : Chunks) {
    if (chunk->copies.storage) {
      expectStored(*chunk);
      continue;
    }
    ++dirty;
    EXPECT_TRUE(chunk->storage.undefined());
    EXPECT_EQ(chunk->slot.bytes, 0u);
  }
  EXPECT_EQ(dirty, 1u);
  EXPECT_EQ(Slots->Used.size(), Count - 1); // its slot is free again
  EXPECT_EQ(moved(Direction::HostToSwap), 4 * MiB);
}

TEST_F(StorageIoTest, WhatFindsNoPlaceStopsNoOther) {
  makeDirty();
  addSink(4 * MiB, 0);
  Slots->Full = true; // the last one has no sink
  EXPECT_EQ(store(Removal::ToSink).code(), DRAGON_ERROR_NO_SPACE);
  expectStored(*Chunks[0]);
  expectStored(*Chunks[1]);
  EXPECT_FALSE(Chunks[2]->copies.storage);
  makeDirty();
  Slots->Full = false;
  parts->Store.setDetach(
      [](const BackingFile &, int64_t, int64_t, const Buffer *, int64_t) {
        return Status::error(DRAGON_ERROR_FILE, "not detached");
      });
  EXPECT_EQ(store(Removal::ToSink).code(), DRAGON_ERROR_FILE);
  EXPECT_FALSE(Chunks[0]->copies.storage);
  EXPECT_FALSE(Chunks[1]->copies.storage);
  expectStored(*Chunks[2]);
}

TEST_F(StorageIoTest, ASlotIsHeldWhileAPieceIsInIt) {
  makeDirty();
  ASSERT_OK(store(Removal::ToSwap));
  Chunk &chunk = *Chunks[0];
  chunk.storage.erase(0, 1 * MiB);
  parts->Store.releaseUnusedSlot(chunk);
  EXPECT_EQ(Slots->Used.size(), Count);
  chunk.storage.put({1 * MiB, 2 * MiB, PieceKind::Zero, nullptr, 0});
  parts->Store.releaseUnusedSlot(chunk);
  EXPECT_EQ(Slots->Used.size(), Count - 1);
  EXPECT_EQ(chunk.storage.kind(), Stored::Zero);
  parts->Store.releaseUnusedSlot(chunk); // once
  parts->Store.release(*Chunks[1]);
  EXPECT_EQ(Slots->Used.size(), Count - 2);
  EXPECT_TRUE(Chunks[1]->storage.undefined());
  parts->Store.release(*Chunks[1]);
}

TEST_F(StorageIoTest, PoisonLiesOutsideOfWhatIsDefined) {
  Chunk &chunk = *Chunks[0];
  for (const ChunkPart part :
       {ChunkPart{100, 300}, ChunkPart{0, 300}, ChunkPart{100, 2 * MiB},
        ChunkPart{0, 2 * MiB}, ChunkPart{}}) {
    chunk.defined = part;
    std::vector<char> memory(2 * MiB, 'x');
    poisonOutside(chunk, memory.data());
    for (size_t at = 0; at < memory.size(); ++at)
      ASSERT_EQ(memory[at] == 'x', at >= part.begin && at < part.end) << at;
  }
}

} // namespace
