//===- DriverMovedTest.cpp - buffers that the driver moves by itself ------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/DriverMoved.h"
#include "runtime/device/ForwardingDevice.h"
#include "test/unit/support/memory/MemoryFixture.h"

#include <optional>

using namespace dragon;
using namespace dragon::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// A driver that does nothing of what it is told, and remembers it.
class HintedDevice final : public ForwardingDevice {
public:
  struct Hint {
    AddressRange range;
    Place place; ///< None: a discard
    bool operator==(const Hint &) const = default;
  };
  explicit HintedDevice(std::unique_ptr<Device> inner)
      : ForwardingDevice(std::move(inner)) {
    Caps.migrates = Caps.mapsFiles = true;
  }
  void mapsFiles(bool does) { Caps.mapsFiles = does; }

  std::vector<Hint> Hints;
  std::vector<Advice> Advised;
  std::optional<DriverFile> Mapped;
  std::optional<unsigned> Remapped;
  std::optional<dragon_error> Refusal;

private:
  Status before(DeviceCall) override { return {}; }
  Status discardImpl(std::span<const AddressRange> ranges, Queue) override {
    for (const AddressRange &range : ranges)
      Hints.push_back({range, Place::None});
    return {};
  }
  Status prefetchImpl(std::span<const AddressRange> ranges, Place place,
                      bool dead, Queue) override {
    EXPECT_FALSE(dead);
    for (const AddressRange &range : ranges)
      Hints.push_back({range, place});
    return {};
  }
  Status adviseImpl(const AddressRange &, Advice advice) override {
    Advised.push_back(advice);
    return {};
  }
  Status mapFileImpl(const DriverFile &file) override {
    if (Refusal)
      return Status::error(*Refusal, "refused");
    Mapped = file;
    return {};
  }
  Status remapFileImpl(uintptr_t, unsigned flags) override {
    Remapped = flags;
    return {};
  }
};

/// The buffer is the driver's, of three chunks of which the last is used in
/// part.
class DriverMovedTest : public MemoryFixture {
protected:
  void SetUp() override {
    MemoryFixture::SetUp();
    ASSERT_NO_FATAL_FAILURE(startParts(1));
    AllocateOptions options;
    options.flags = D_READ | D_WRITE;
    options.hostAccessible = true;
    auto made = parts->Alloc.makeBuffer(5 * MiB, options);
    ASSERT_TRUE(made.ok());
    Moved = *made;
    Hinted->Advised.clear();
  }
  std::unique_ptr<Device> inFrontOf(std::unique_ptr<Device> cpu) override {
    auto made = std::make_unique<HintedDevice>(std::move(cpu));
    Hinted = made.get();
    return made;
  }
  DriverMoved &driver() { return parts->Driver; }
  std::vector<bool> away() const {
    std::vector<bool> result;
    for (const Chunk &chunk : Moved->chunks)
      result.push_back(chunk.away);
    EXPECT_EQ(Moved->numAway,
              size_t(std::count(result.begin(), result.end(), true)));
    return result;
  }
  AddressRange range(uint64_t begin, uint64_t end) const {
    return {Moved->base + begin, Moved->base + end};
  }
  StatusOr<bool> mapFile(int64_t offset = 0, unsigned flags = D_READ) {
    In = FolderFixture::open("in", true);
    return driver().mapFile(*Moved, In, offset, flags);
  }

  HintedDevice *Hinted = nullptr;
  Buffer *Moved = nullptr;
  std::shared_ptr<BackingFile> In;
};

TEST_F(DriverMovedTest, InTheBooksItIsOnTheDeviceAndStays) {
  EXPECT_TRUE(Moved->driverMoved && Moved->kept);
  EXPECT_TRUE(Moved->allDeviceOnly());
  EXPECT_EQ(parts->Space.NumDriverMoved, 1u);
  EXPECT_EQ(parts->OnDevice.Pool.used(), 2 * MiB); // the other one's
  for (const Chunk &chunk : Moved->chunks) {
    EXPECT_NE(chunk.device.id, 0u);
    EXPECT_EQ(chunk.defined, chunk.whole());
  }
  // Nobody has touched it there yet.
  EXPECT_THAT(away(), ElementsAre(true, true, true));
  DriverMoved::setAway(Moved->chunks[1], true);
  EXPECT_EQ(Moved->numAway, 3u);
}

TEST_F(DriverMovedTest, WhatIsPrefetchedIsThere) {
  ASSERT_OK(driver().prefetch(*Moved, range(0, 3 * MiB), Place::Device, {}));
  EXPECT_THAT(away(), ElementsAre(false, true, true)); // half of the second
  ASSERT_OK(
      driver().prefetch(*Moved, range(2 * MiB, 5 * MiB), Place::Device, {}));
  EXPECT_THAT(away(), ElementsAre(false, false, false));
  // Of what goes to the host a part is enough.
  ASSERT_OK(
      driver().prefetch(*Moved, range(MiB, 2 * MiB + 4), Place::Host, {}));
  EXPECT_THAT(away(), ElementsAre(true, true, false));
  EXPECT_THAT(
      Hinted->Hints,
      ElementsAre(HintedDevice::Hint{range(0, 3 * MiB), Place::Device},
                  HintedDevice::Hint{range(2 * MiB, 5 * MiB), Place::Device},
                  HintedDevice::Hint{range(MiB, 2 * MiB + 4), Place::Host}));
}

TEST_F(DriverMovedTest, WhatIsDiscardedIsAway) {
  ASSERT_OK(driver().prefetch(*Moved, range(0, 5 * MiB), Place::Device, {}));
  ASSERT_OK(driver().discard(*Moved, range(3 * MiB, 5 * MiB), {}));
  EXPECT_THAT(away(), ElementsAre(false, true, true));
  ASSERT_EQ(Hinted->Hints.size(), 2u);
  EXPECT_EQ(Hinted->Hints[1],
            (HintedDevice::Hint{range(3 * MiB, 5 * MiB), Place::None}));
}

TEST_F(DriverMovedTest, AdviceIsTheDrivers) {
  const struct {
    dragon_advice advice;
    std::vector<Advice> told;
  } cases[] = {
      {DRAGON_ADVISE_READ_MOSTLY, {Advice::ReadMostly}},
      {DRAGON_ADVISE_KEEP_DEVICE, {Advice::PreferDevice}},
      {DRAGON_ADVISE_KEEP_HOST, {Advice::PreferHost, Advice::AccessedByDevice}},
      {DRAGON_ADVISE_NORMAL,
       {Advice::NotReadMostly, Advice::PreferNone,
        Advice::NotAccessedByDevice}}};
  for (const auto &one : cases) {
    Hinted->Advised.clear();
    ASSERT_OK(driver().advise(range(0, MiB), one.advice));
    EXPECT_EQ(Hinted->Advised, one.told);
  }
}

TEST_F(DriverMovedTest, ADriverThatMapsFilesHasThem) {
  writeFile("in", numbers(1000, 3));
  auto mapped = mapFile(0, D_READ | D_WRITE);
  ASSERT_TRUE(mapped.ok() && *mapped);
  ASSERT_TRUE(Hinted->Mapped);
  EXPECT_EQ(Hinted->Mapped->descriptor, In->fd());
  EXPECT_EQ(Hinted->Mapped->base, Moved->base);
  EXPECT_EQ(Hinted->Mapped->bytes, 5 * MiB);
  EXPECT_EQ(Hinted->Mapped->flags, unsigned(D_READ | D_WRITE));
  EXPECT_EQ(Moved->driverFile, In);
  EXPECT_THAT(away(), ElementsAre(false, false, false)); // by faults alone
  EXPECT_TRUE(readFile("in") == numbers(1000, 3));
}

TEST_F(DriverMovedTest, AMapThatIsNotReadBeginsAsZeros) {
  writeFile("in", numbers(1000, 3));
  auto mapped = mapFile(0, D_WRITE);
  ASSERT_TRUE(mapped.ok() && *mapped);
  EXPECT_TRUE(readFile("in") == std::vector<int32_t>(1000, 0));
  writeFile("in", {}); // of an empty one there is nothing to clear
  mapped = mapFile(0, D_WRITE);
  EXPECT_TRUE(mapped.ok() && *mapped);
}

TEST_F(DriverMovedTest, WhatTheDriverCannotMapIsTheRuntimes) {
  writeFile("in", numbers(1000, 3));
  auto expectNot = [&](StatusOr<bool> mapped) {
    ASSERT_TRUE(mapped.ok());
    EXPECT_FALSE(*mapped);
    EXPECT_FALSE(Moved->driverFile);
    EXPECT_THAT(away(), ElementsAre(true, true, true));
  };
  expectNot(mapFile(/*offset=*/4096));
  Hinted->Refusal = DRAGON_ERROR_UNSUPPORTED;
  expectNot(mapFile());
  Hinted->mapsFiles(false);
  Hinted->Refusal.reset();
  expectNot(mapFile());
  EXPECT_FALSE(Hinted->Mapped);
  // A failure is one.
  Hinted->mapsFiles(true);
  Hinted->Refusal = DRAGON_ERROR_DEVICE;
  const Status status = mapFile().takeStatus();
  EXPECT_EQ(status.code(), DRAGON_ERROR_DEVICE);
  EXPECT_THAT(status.message(), HasSubstr("map of file '" + path("in")));
  EXPECT_FALSE(Moved->driverFile);
}

TEST_F(DriverMovedTest, FlagsOfAMapChangeAsFarAsTheDriverCan) {
  writeFile("in", numbers(1000, 3));
  ASSERT_TRUE(mapFile().ok());
  Moved->flags = D_READ;
  for (unsigned flags : {D_READ | D_VOLATILE, D_READ | D_WRITE}) {
    const Status status = driver().remapFile(*Moved, flags);
    EXPECT_EQ(status.code(), DRAGON_ERROR_UNSUPPORTED);
    EXPECT_THAT(status.message(), HasSubstr("remap of file '" + path("in")));
  }
  EXPECT_FALSE(Hinted->Remapped);
  Moved->flags = D_READ | D_WRITE;
  // What it has written is read back, and what it has not, written.
  ASSERT_OK(driver().remapFile(*Moved, MapHostBuffer));
  EXPECT_EQ(Hinted->Remapped, D_READ | D_WRITE | MapHostBuffer);
  EXPECT_EQ(Moved->flags, unsigned(D_READ | D_WRITE));
}

TEST_F(DriverMovedTest, WhatTheDriverWouldLoseIsRefused) {
  Moved->flags = D_READ;
  EXPECT_FALSE(DriverMoved::isReadOnly(*Moved)); // there is no file
  EXPECT_OK(DriverMoved::checkWritable(*Moved, "fill"));
  writeFile("in", numbers(1000, 3));
  ASSERT_TRUE(mapFile().ok());
  EXPECT_TRUE(DriverMoved::isReadOnly(*Moved));
  const Status status = DriverMoved::checkWritable(*Moved, "fill");
  EXPECT_EQ(status.code(), DRAGON_ERROR_UNSUPPORTED);
  EXPECT_THAT(status.message(),
              HasSubstr("fill: it may write to the map of '" + path("in")));
  Moved->flags = D_READ | D_WRITE;
  EXPECT_OK(DriverMoved::checkWritable(*Moved, "fill"));
}

} // namespace
