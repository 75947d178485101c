//===- LatePlacesFixture.h - places, and a device that is late --*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_UNIT_SUPPORT_MEMORY_LATEPLACESFIXTURE_H
#define DRAGON_TEST_UNIT_SUPPORT_MEMORY_LATEPLACESFIXTURE_H

#include "test/unit/support/device/LateDevice.h"
#include "test/unit/support/memory/PlacesFixture.h"

namespace dragon::test {

/// On a device that copies and fills when somebody waits for it, which has no
/// poison. At the end nobody has given up memory that work was queued on.
class LatePlacesFixture : public PlacesFixture {
protected:
  void SetUp() override {
    PlacesFixture::SetUp();
    settings.poison = false;
  }
  void TearDown() override {
    ASSERT_OK(parts->Time.synchronizeAll());
    EXPECT_EQ(Late->misused(), 0u);
    if (Program)
      ASSERT_OK(parts->Ctx.device->destroyQueue(Program));
    PlacesFixture::TearDown();
  }
  std::unique_ptr<Device> inFrontOf(std::unique_ptr<Device> cpu) override {
    auto late = std::make_unique<LateDevice>(std::move(cpu));
    Late = late.get();
    return late;
  }
  void makeQueue() {
    auto made = parts->Ctx.device->createQueue(Device::NonBlocking, 0);
    ASSERT_TRUE(made.ok());
    Program = *made;
  }
  std::vector<int32_t> expectedIn(const Chunk &chunk) {
    const auto first = Data.begin() + long(chunk.index * Words);
    return {first, first + long(Words)};
  }

  LateDevice *Late = nullptr;
  Queue Program = nullptr; ///< the program's
};

} // namespace dragon::test

#endif // DRAGON_TEST_UNIT_SUPPORT_MEMORY_LATEPLACESFIXTURE_H
