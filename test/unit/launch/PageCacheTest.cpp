//===- PageCacheTest.cpp - pages that kernels fetch themselves ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels look up and store words of a buffer in host memory, with the code for
// pages that the compiler gives them.
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/PageCache.h"
#include "test/unit/support/launch/TestKernels.h"
#include "test/unit/support/memory/MemoryFixture.h"

#include <initializer_list>
#include <numeric>

using namespace dragon;
using namespace dragon::test;

namespace {

struct PagingParts : MemoryParts {
  PagingParts(Settings settings, std::unique_ptr<Device> device, Budget budget)
      : MemoryParts(std::move(settings), std::move(device), budget),
        Pages(Ctx, Time, Space, OnDevice) {}
  PageCache Pages;
};

constexpr size_t WordsOfPage = PageCache::PageBytes / 4;
/// Touches after which a page is as cheap (docs/paging.md).
constexpr unsigned BreakEven = 4;

class PageCacheTest : public PartsFixture<PagingParts> {
protected:
  /// A buffer of so many chunks of 2 MiB, all of them in host memory alone.
  void begin(size_t chunks) {
    ASSERT_TRUE(kernels.Good) << kernels.Error;
    settings.deviceMemory = 8 * MiB; // 2 of them for frames
    settings.hostMemory = 64 * MiB;
    ASSERT_NO_FATAL_FAILURE(startParts(chunks));
    write(0, numbers(chunks * Words, 5));
    for (Chunk *chunk : Chunks)
      toHost(*chunk);
    ASSERT_OK(parts->Pages.make(0));
  }
  void toHost(Chunk &chunk) {
    parts->Ctx.pins.next();
    ASSERT_OK(
        parts->Resident.bringToHost(chunk, LaunchNeed::Write, Cause::Prefetch));
    if (chunk.device.id)
      ASSERT_OK(parts->OnDevice.release(chunk));
  }

  /// A launch of one of the kernels, slice by slice.
  struct Launch {
    LaunchCall call{};
    LaunchFootprint whole;
    std::vector<PagedChunk> onHost;
    PageView view;
  };
  Status beginLaunch(Launch &launch, const char *kernel, LaunchNeed need) {
    launch.call.kernel = kernels.find(kernel);
    for (Chunk *chunk : Chunks)
      launch.whole.uses.push_back(useOfAll(*chunk, need));
    for (const ChunkUse &use : launch.whole.uses)
      if (use.chunk->host.id)
        launch.onHost.push_back(
            {&use, reinterpret_cast<uintptr_t>(use.chunk->host.hostView)});
    DRAGON_ASSIGN(launch.view,
                  parts->Pages.begin(launch.call, launch.whole, launch.onHost));
    return {};
  }
  /// One thread for each index; `words` are read or written at these. One block
  /// after the other, so that touches are counted the same each time.
  Status slice(Launch &launch, const std::vector<int32_t> &index,
               std::vector<int32_t> &words, bool isLast) {
    constexpr size_t Most = 1024;
    for (size_t at = 0; at < index.size(); at += Most)
      DRAGON_TRY(block(launch, &index[at], &words[at],
                       std::min(Most, index.size() - at)));
    return parts->Pages.endSlice(launch.call, isLast);
  }
  Status block(Launch &launch, const int32_t *index, int32_t *words,
               size_t count) {
    auto *buffer = reinterpret_cast<int32_t *>(Whole->base);
    int n = int(count);
    PageView view = launch.view;
    std::vector<void *> args = {&words, &buffer, &index, &n};
    for (void *value : view.arguments())
      args.push_back(value);
    std::vector<AddressRange> touched = addressRanges(launch.whole);
    touched.push_back(parts->Pages.range());
    LaunchRequest request{};
    const KernelHandle &copy = launch.call.kernel->paged->copy;
    request.kernel = const_cast<KernelHandle *>(&copy);
    request.kernelName = "paged";
    request.grid[0] = 1;
    request.block[0] = unsigned(n);
    request.grid[1] = request.grid[2] = 1;
    request.block[1] = request.block[2] = 1;
    request.box = {{0, 0, 0}, {1, 1, 1}};
    request.args = args.data();
    request.numArgs = uint32_t(args.size());
    request.touched = touched;
    return parts->Ctx.device->launch(request);
  }
  Status endLaunch(Launch &launch) {
    for (const ChunkUse &use : launch.whole.uses)
      if (use.mayWrite() && use.chunk->host.id)
        DRAGON_TRY(parts->Data.wroteHost(*use.chunk));
    parts->Pages.keep(launch.onHost);
    return parts->Pages.end(launch.call);
  }
  /// A whole launch, of one slice.
  void lookUp(const std::vector<int32_t> &index,
              LaunchNeed need = LaunchNeed::Read) {
    Launch launch;
    ASSERT_OK(beginLaunch(launch, "lookUp", need));
    ASSERT_NO_FATAL_FAILURE(lookUpSlice(launch, index, true));
    ASSERT_OK(endLaunch(launch));
  }
  void lookUpSlice(Launch &launch, const std::vector<int32_t> &index,
                   bool isLast = false) {
    std::vector<int32_t> words(index.size());
    ASSERT_OK(slice(launch, index, words, isLast));
    for (size_t i = 0; i < index.size(); ++i)
      ASSERT_EQ(words[i], Data[size_t(index[i])]) << index[i];
  }
  void put(const std::vector<int32_t> &index) {
    std::vector<int32_t> words(index.size());
    std::iota(words.begin(), words.end(), 1000);
    Launch launch;
    ASSERT_OK(beginLaunch(launch, "put", LaunchNeed::Write));
    ASSERT_OK(slice(launch, index, words, true));
    ASSERT_OK(endLaunch(launch));
    for (size_t i = 0; i < index.size(); ++i)
      Data[size_t(index[i])] = words[i];
  }

  /// So many look-ups of each page, one page after the other.
  static std::vector<int32_t> wordsOf(size_t first, size_t count,
                                      unsigned times) {
    std::vector<int32_t> index;
    for (size_t page = first; page < first + count; ++page)
      for (unsigned i = 0; i < times; ++i)
        index.push_back(int32_t(page * WordsOfPage + 7 * i));
    return index;
  }
  // In pages, and touches, since the last call.
  uint64_t fetched() { return sinceLast(Direction::HostToDevice, In); }
  uint64_t written() { return sinceLast(Direction::DeviceToHost, Out); }
  uint64_t direct() {
    parts->Pages.collect();
    const uint64_t now = parts->Ctx.ledger.accessed(OverLink::Paged) / 32;
    return now - std::exchange(Direct, now);
  }
  uint64_t sinceLast(Direction direction, uint64_t &before) {
    parts->Pages.collect();
    const uint64_t now = moved(direction, Cause::Paging) / PageCache::PageBytes;
    return now - std::exchange(before, now);
  }

  TestKernels kernels;
  uint64_t In = 0, Out = 0, Direct = 0;
};

TEST_F(PageCacheTest, WhatIsOnTheDeviceIsAccessedThere) {
  begin(2);
  ASSERT_OK(bringIn(*Chunks[0], LaunchNeed::Read));
  ASSERT_OK(parts->Host.release(*Chunks[0]));
  lookUp(wordsOf(0, 100, 10));
  EXPECT_EQ(fetched(), 0u);
  EXPECT_EQ(direct(), 0u);
  lookUp(wordsOf(Words / WordsOfPage, 100, 10)); // of the other chunk
  EXPECT_GT(fetched(), 0u);
}

/// The table of sources is new, and says nothing of any of them.
TEST_F(PageCacheTest, WhatIsHostMappedIsFetchedFromItsAddress) {
  begin(2);
  const AddressRange table = parts->Pages.range();
  ASSERT_OK(parts->Ctx.device->fill(pointer(table.begin), 0xff, 1,
                                    table.end - table.begin, nullptr));
  for (Chunk *chunk : Chunks)
    ASSERT_OK(parts->Mapping.map(*chunk));
  lookUp(wordsOf(0, 3, 1), LaunchNeed::Write);
  EXPECT_EQ(fetched(), 3u);
}

TEST_F(PageCacheTest, PagesThatAreReadStayInHostMemoryToTheBreakEven) {
  begin(2);
  lookUp(wordsOf(0, 1, BreakEven - 1));
  EXPECT_EQ(fetched(), 0u);
  EXPECT_EQ(direct(), BreakEven - 1);
  lookUp(wordsOf(1, 1, BreakEven + 5));
  EXPECT_EQ(fetched(), 1u);
  EXPECT_EQ(direct(), BreakEven - 1);
  // What was counted is forgotten behind the launch.
  lookUp(wordsOf(0, 1, 1));
  EXPECT_EQ(fetched(), 0u);
}

TEST_F(PageCacheTest, PagesThatMayBeWrittenAreFetchedAtOnce) {
  begin(2);
  lookUp(wordsOf(3, 2, 1), LaunchNeed::Write);
  EXPECT_EQ(fetched(), 2u);
  EXPECT_EQ(direct(), 0u);
  EXPECT_EQ(written(), 0u);
}

TEST_F(PageCacheTest, OnlyPagesThatWereWrittenAreWrittenBack) {
  begin(2);
  lookUp(wordsOf(0, 10, 1), LaunchNeed::Write);
  put({5, int32_t(WordsOfPage) * 3 + 1, int32_t(WordsOfPage) * 20});
  EXPECT_EQ(fetched(), 11u);
  EXPECT_EQ(written(), 3u);
  EXPECT_TRUE(contents() == Data);
  // They are clean then.
  lookUp(wordsOf(0, 10, 1), LaunchNeed::Write);
  EXPECT_EQ(written(), 0u);
}

TEST_F(PageCacheTest, PagesOutlastTheLaunchAndItsOwnStores) {
  begin(2);
  put({1, 2, int32_t(WordsOfPage) * 9});
  EXPECT_EQ(fetched(), 2u);
  put({3, int32_t(WordsOfPage) * 9 + 5});
  lookUp({1, 2, 3, int32_t(WordsOfPage) * 9, int32_t(WordsOfPage) * 9 + 5});
  EXPECT_EQ(fetched(), 0u);
  EXPECT_EQ(direct(), 0u);
}

TEST_F(PageCacheTest, WhatOthersChangedIsFetchedAgain) {
  begin(2);
  lookUp(wordsOf(0, 4, 1), LaunchNeed::Write);
  EXPECT_EQ(fetched(), 4u);
  write(0, numbers(3 * WordsOfPage, 77));
  for (Chunk *chunk : Chunks)
    toHost(*chunk);
  lookUp(wordsOf(0, 4, 1), LaunchNeed::Write);
  EXPECT_EQ(fetched(), 4u); // nobody knows which part of the buffer it was
  lookUp(wordsOf(0, 4, 1), LaunchNeed::Write);
  EXPECT_EQ(fetched(), 0u);
}

TEST_F(PageCacheTest, WithoutFramesPagesAreAccessedInHostMemory) {
  begin(4); // 2048 pages
  const std::vector<int32_t> all = wordsOf(0, 2048, 2);
  Launch launch;
  ASSERT_OK(beginLaunch(launch, "put", LaunchNeed::Write));
  std::vector<int32_t> words(all.size());
  std::iota(words.begin(), words.end(), 1);
  ASSERT_OK(slice(launch, all, words, false));
  for (size_t i = 0; i < all.size(); ++i)
    Data[size_t(all[i])] = words[i];
  const uint64_t frames = fetched();
  EXPECT_LT(frames, 512u);
  EXPECT_GT(frames, 400u);
  EXPECT_EQ(written(), frames);
  EXPECT_EQ(direct(), all.size() - 2 * frames);
  // All frames were free again: these pages come in, and those are there.
  ASSERT_OK(slice(launch, {0, 1}, words, true));
  Data[0] = words[0];
  Data[1] = words[1];
  ASSERT_OK(endLaunch(launch));
  EXPECT_EQ(fetched(), 1u);
  EXPECT_TRUE(contents() == Data);
}

TEST_F(PageCacheTest, FramesKeepPagesWhereTheSameOnesComeAgain) {
  begin(4);
  const std::vector<int32_t> some = wordsOf(0, 600, 1);
  Launch launch;
  ASSERT_OK(beginLaunch(launch, "lookUp", LaunchNeed::Write));
  lookUpSlice(launch, some);
  const uint64_t frames = fetched();
  lookUpSlice(launch, some); // come again: from now on they stay
  EXPECT_EQ(fetched(), frames);
  lookUpSlice(launch, some);
  lookUpSlice(launch, some, true);
  EXPECT_EQ(fetched(), 0u);
  ASSERT_OK(endLaunch(launch));
}

TEST_F(PageCacheTest, WhereMostPagesAreWantedOftenTheyAreFetchedAtOnce) {
  begin(4);
  lookUp(wordsOf(0, 400, 40));
  EXPECT_EQ(fetched(), 400u);
  const uint64_t before = direct();
  EXPECT_GE(before, 400u * (BreakEven - 1));
  lookUp(wordsOf(1000, 400, 40));
  EXPECT_EQ(fetched(), 400u);
  // But for those by which it is judged.
  EXPECT_LT(direct(), before / 4);
}

TEST_F(PageCacheTest, WhatEachSliceReadsFurtherOnIsFetchedAhead) {
  begin(4);
  Launch launch;
  ASSERT_OK(beginLaunch(launch, "lookUp", LaunchNeed::Read));
  for (size_t i = 0; i < 4; ++i) {
    const uint64_t ahead = fetched();
    if (i > 0)
      EXPECT_GT(ahead, 380u) << i;
    std::vector<int32_t> words(400 * 40);
    ASSERT_OK(slice(launch, wordsOf(i * 400, 400, 40), words, i == 3));
  }
  // The others of the last slice: those by which it is judged, and the ends.
  EXPECT_LT(fetched(), 80u);
  ASSERT_OK(endLaunch(launch));
}

TEST_F(PageCacheTest, WhatOverlapsTheSliceBeforeIsFetchedAheadAgain) {
  begin(4);
  Launch launch;
  ASSERT_OK(beginLaunch(launch, "lookUp", LaunchNeed::Read));
  lookUpSlice(launch, wordsOf(0, 400, 40));
  lookUpSlice(launch, wordsOf(300, 400, 40));
  fetched();
  lookUpSlice(launch, wordsOf(600, 400, 40), true);
  EXPECT_LT(fetched(), 80u);
  ASSERT_OK(endLaunch(launch));
}

TEST_F(PageCacheTest, WhatIsReadHereAndThereIsNotFetchedAhead) {
  begin(4);
  Launch launch;
  ASSERT_OK(beginLaunch(launch, "lookUp", LaunchNeed::Read));
  // Few touches of each page; then few of the pages.
  for (size_t i = 0; i < 2; ++i)
    lookUpSlice(launch, wordsOf(i * 400, 400, BreakEven - 1));
  std::vector<int32_t> words;
  for (size_t page = 800; page < 1600; page += 8)
    for (int32_t word : wordsOf(page, 1, 10))
      words.push_back(word);
  fetched();
  lookUpSlice(launch, words);
  const uint64_t wanted = fetched();
  EXPECT_LE(wanted, 100u);
  lookUpSlice(launch, wordsOf(0, 1, 1), true);
  EXPECT_EQ(fetched(), 0u);
  ASSERT_OK(endLaunch(launch));
}

TEST_F(PageCacheTest, WhatTheLaunchDoesNotUseIsNotFetchedAhead) {
  begin(4);
  Launch launch;
  Chunks.pop_back();
  ASSERT_OK(beginLaunch(launch, "lookUp", LaunchNeed::Read));
  const size_t pages = Chunks.size() * Words / WordsOfPage;
  lookUpSlice(launch, wordsOf(pages - 800, 400, 40));
  fetched();
  lookUpSlice(launch, wordsOf(pages - 400, 400, 40));
  EXPECT_LT(fetched(), 200u); // the next 400 are not there
  lookUpSlice(launch, wordsOf(0, 1, 1), true);
  ASSERT_OK(endLaunch(launch));
}

TEST(PageTrack, WhatComesNextIsAsFarAsTheSliceBefore) {
  auto track = [](unsigned count, unsigned first, unsigned behind,
                  unsigned before) {
    const unsigned pages = (behind - first) / PagesOfSample;
    return PageTrack{count - first, behind, pages, pages * 8, before, 0, 0, 0};
  };
  PageTrack first = track(100000, 1000, 9000, 0);
  foresee(first, 100000, BreakEven);
  EXPECT_EQ(first.Ahead, 9000u - 64);
  EXPECT_EQ(first.Ahead + first.NumAhead, 17000u + 64);
  EXPECT_EQ(first.Before, 1001u);
  EXPECT_EQ(first.Pages, 0u);
  PageTrack second = track(100000, 3000, 11000, first.Before);
  foresee(second, 100000, BreakEven);
  EXPECT_EQ(second.Ahead, 5000u - 64);
  EXPECT_EQ(second.Ahead + second.NumAhead, 13000u + 64);
  PageTrack last = track(100000, 95000, 99000, 90001);
  foresee(last, 100000, BreakEven);
  EXPECT_EQ(last.Ahead + last.NumAhead, 100000u);
  PageTrack end = track(100000, 95000, 100000, 0);
  foresee(end, 100000, BreakEven);
  EXPECT_LE(end.NumAhead, 64u);
  PageTrack back = track(100000, 1000, 9000, 5001);
  foresee(back, 100000, BreakEven);
  EXPECT_EQ(back.NumAhead, 0u);
}

TEST_F(PageCacheTest, WhereFewPagesAreWantedOftenTheyAreFetchedNoMore) {
  begin(4);
  Launch launch;
  ASSERT_OK(beginLaunch(launch, "lookUp", LaunchNeed::Read));
  lookUpSlice(launch, wordsOf(0, 400, 40));
  lookUpSlice(launch, wordsOf(400, 400, 1)); // all of them were fetched
  EXPECT_GT(fetched(), 700u);
  lookUpSlice(launch, wordsOf(800, 400, BreakEven - 1));
  EXPECT_EQ(fetched(), 0u);
  EXPECT_GE(direct(), 400u * (BreakEven - 1));
  // Some are wanted to the break-even, and no more: none was worth it.
  lookUpSlice(launch, wordsOf(1200, 400, BreakEven - 1));
  std::vector<int32_t> some = wordsOf(1200, 100, BreakEven);
  const std::vector<int32_t> others = wordsOf(1300, 300, 1);
  some.insert(some.end(), others.begin(), others.end());
  lookUpSlice(launch, some);
  EXPECT_GT(fetched(), 80u);
  lookUpSlice(launch, some, true);
  EXPECT_EQ(fetched(), 0u);
  ASSERT_OK(endLaunch(launch));
}

TEST_F(PageCacheTest, WhatIsEnoughIsKeptByKernel) {
  begin(4);
  lookUp(wordsOf(0, 400, 40));
  put({1}); // another kernel
  fetched();
  lookUp(wordsOf(600, 300, 1)); // the first one still fetches at once
  EXPECT_GT(fetched(), 250u);
  lookUp(wordsOf(1000, 300, 1)); // and has learned
  EXPECT_EQ(fetched(), 0u);
}

TEST_F(PageCacheTest, ASettingSaysWhatIsEnough) {
  settings.pageTouches = 16;
  begin(4);
  for (int round = 0; round < 2; ++round) {
    lookUp(wordsOf(size_t(round) * 400, 400, 15));
    EXPECT_EQ(fetched(), 0u);
  }
  lookUp(wordsOf(800, 400, 16));
  EXPECT_EQ(fetched(), 400u);
}

TEST_F(PageCacheTest, AfterAFailureNothingIsKept) {
  begin(2);
  put({1, int32_t(WordsOfPage) * 9});
  fetched();
  parts->Pages.forget();
  lookUp({1, int32_t(WordsOfPage) * 9}, LaunchNeed::Write);
  EXPECT_EQ(fetched(), 2u);
  EXPECT_TRUE(parts->Pages.drop());
  EXPECT_FALSE(parts->Pages.drop());
  EXPECT_TRUE(contents() == Data);
}

TEST(PageTouches, TheCheapestThresholdIsNext) {
  auto next = [](unsigned now, PageSample sample) {
    return nextEnough(now, BreakEven, sample);
  };
  // Too few to say: as it is.
  EXPECT_EQ(next(64, {7, 56, 7, 7}), 64u);
  EXPECT_EQ(nextEnough(16, 0, {100, 800, 100, 100}), 16u);
  // All wanted often; half of them, the others once.
  EXPECT_EQ(next(64, {100, 800, 100, 100}), 1u);
  EXPECT_EQ(next(BreakEven, {100, 450, 50, 50}), 1u);
  // A quarter often, the others once; none to the break-even.
  EXPECT_EQ(next(1, {100, 275, 25, 25}), BreakEven);
  EXPECT_EQ(next(64, {100, 100, 0, 0}), BreakEven);
  // Those that got there went hardly further.
  EXPECT_EQ(next(BreakEven, {100, 200, 30, 5}), BreakEven * PageReluctance);
}

} // namespace
