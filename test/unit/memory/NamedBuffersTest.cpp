//===- NamedBuffersTest.cpp - buffers in the trace and in the log ---------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What moves is named after the program's buffers.
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/Log.h"
#include "runtime/trace/Trace.h"
#include "test/unit/support/memory/MemoryFixture.h"

#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <unistd.h>

using namespace dragon;
using namespace dragon::test;
using testing::HasSubstr;
using testing::Not;

namespace {

class NamedBuffersTest : public MemoryFixture {
protected:
  void SetUp() override {
    MemoryFixture::SetUp();
    settings.deviceMemory = 8 * MiB;
    settings.strict = false; // which has no arenas
    startParts(2);
    First = allocateNamed(2 * MiB, "first");
    Second = allocateNamed(2 * MiB, "second");
    ASSERT_TRUE(startTrace(Path));
  }
  uintptr_t allocateNamed(size_t bytes, const char *name) {
    const dragon_source where{name, "a.cu", 1, 1};
    AllocateOptions options;
    options.where = &where;
    return allocate(bytes, options);
  }
  void write(uintptr_t to) {
    const std::vector<char> data(2 * MiB, 'a');
    parts->Ctx.pins.next();
    ASSERT_OK(parts->Moves.toBuffer(bufferAt(to), to, data.data(), data.size(),
                                    nullptr, {/*pageable=*/true}));
  }
  std::vector<Chunk *> chunksOf(std::initializer_list<uintptr_t> buffers) {
    std::vector<Chunk *> chunks;
    for (uintptr_t base : buffers)
      chunks.push_back(&bufferAt(base).chunks.front());
    return chunks;
  }
  Status evictThose(std::initializer_list<uintptr_t> buffers) {
    parts->Ctx.pins.next();
    return parts->OnDevice.evict(chunksOf(buffers), Cause::Eviction);
  }
  /// By the zone's name: what zones of that name worked on.
  std::map<std::string, std::set<std::string>> zones() {
    parts->Ctx.device->finishTimeline();
    EXPECT_TRUE(stopTrace());
    const auto root = nlohmann::json::parse(std::ifstream(Path));
    std::remove(Path.c_str());
    std::map<std::string, std::set<std::string>> found;
    for (const auto &event : root["traceEvents"]) {
      if (event["ph"] != "X")
        continue;
      const auto &about = event["args"];
      EXPECT_NE(about.value("bytes", uint64_t(1)), 0u) << event;
      found[event["name"]].insert(about.value("on", ""));
    }
    return found;
  }

  using Names = std::set<std::string>;
  const std::string Path =
      testing::TempDir() + "named" + std::to_string(::getpid()) + ".json";
  uintptr_t First = 0, Second = 0;
};

TEST_F(NamedBuffersTest, ZonesOfOneBufferNameIt) {
  write(First);
  ASSERT_OK(evictThose({First}));
  ASSERT_OK(bringIn(*chunksOf({First}).front(), LaunchNeed::Read));
  auto found = zones();
  EXPECT_EQ(found["copy in"], Names{"first"});
  EXPECT_EQ(found["evict"], Names{"first"});
  EXPECT_EQ(found["bring in"], Names{"first"});
  EXPECT_EQ(found["to the device"], Names{"first"});
  EXPECT_EQ(found["from the device"], Names{"first"});
}

TEST_F(NamedBuffersTest, ZonesOfSeveralNameEach) {
  write(First);
  write(Second);
  ASSERT_OK(evictThose({First, Second}));
  auto found = zones();
  EXPECT_EQ(found["evict"], Names{"first, second"});
  EXPECT_EQ(found["from the device"], (Names{"first", "second"}));
}

TEST_F(NamedBuffersTest, SmallAllocationsAreCalledSo) {
  const uintptr_t small = allocateNamed(64, "tiny");
  ASSERT_TRUE(bufferAt(small).arena);
  int value = 1;
  ASSERT_OK(parts->Moves.toBuffer(bufferAt(small), small,
                                  reinterpret_cast<const char *>(&value), 4,
                                  nullptr, {/*pageable=*/true}));
  EXPECT_EQ(zones()["copy in"], Names{"small buffers"});
}

TEST_F(NamedBuffersTest, ABufferWithoutANameIsWhereItIs) {
  const uintptr_t other = allocate(2 * MiB);
  write(other);
  const std::string label = fmt::format("buffer at {:#x}", other);
  EXPECT_EQ(zones()["copy in"], Names{label});
}

TEST_F(NamedBuffersTest, AnAddressIsNamedAfterWhoHasItNow) {
  parts->Ctx.device->setLabel({First, First + MiB}, "sooner");
  EXPECT_EQ(parts->Ctx.device->labelAt(First), "sooner");
  ASSERT_OK(freeAt(First));
  ASSERT_OK(parts->Alloc.trim());
  EXPECT_EQ(parts->Ctx.device->labelAt(First), "");
  EXPECT_EQ(parts->Ctx.device->labelAt(Second + MiB), "second");
  EXPECT_EQ(parts->Ctx.device->labelAt(Second - 1), "");
  zones();
}

TEST_F(NamedBuffersTest, TheLogNamesThem) {
  zones();
  write(First);
  const LogLevel before = LogLevel(detail::logLevel.load());
  setLogLevel(LogLevel::Debug);
  testing::internal::CaptureStderr();
  ASSERT_OK(evictThose({First}));
  ASSERT_OK(bringIn(*chunksOf({First}).front(), LaunchNeed::Read));
  setLogLevel(before);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("evicts chunk 0 of 'first': copied out"));
  EXPECT_THAT(said, HasSubstr("brings chunk 0 of 'first' from host memory"));
  EXPECT_THAT(said, Not(HasSubstr("0x")));
}

TEST(TraceNamesTest, OfManyThereAreTheFirstFew) {
  std::vector<std::string> names;
  for (const char *name : {"a", "b", "a", "c", "d", "e", "b", "f"})
    detail::addName(names, name);
  EXPECT_EQ(names, (std::vector<std::string>{"a", "b", "c", "d", "others"}));
}

} // namespace
