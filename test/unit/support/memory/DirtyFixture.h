//===- DirtyFixture.h - contents that eviction has to write -----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_UNIT_SUPPORT_MEMORY_DIRTYFIXTURE_H
#define DRAGON_TEST_UNIT_SUPPORT_MEMORY_DIRTYFIXTURE_H

#include "test/unit/support/memory/MemoryFixture.h"
#include "test/unit/support/tier/Gate.h"

#include <memory>

namespace dragon::test {

/// Parts with dirty contents on the device: 4 chunks of it, of 8 MiB of device
/// memory. Others have host memory.
template <typename Parts> class DirtyFixture : public PartsFixture<Parts> {
protected:
  using Base = PartsFixture<Parts>;
  using Base::Chunks, Base::Words, Base::parts, Base::settings;
  static constexpr size_t Count = 4;

  void start(uint64_t hostMemory) {
    settings.hostMemory = hostMemory;
    settings.deviceMemory = Count * 2 * MiB;
    ASSERT_NO_FATAL_FAILURE(this->startParts(Count));
    parts->Store.Background.reset();
    auto files = createFileTier(settings, parts->Ctx.ledger, &gate);
    ASSERT_TRUE(files.ok());
    parts->Store.Files = std::move(*files);
    parts->Store.Background =
        std::make_unique<BackgroundIo>(*parts->Store.Files, 2 * MiB);
    parts->Time.Tracking = true;
    this->write(0, Base::numbers(Count * Words, 9));
    for (const Chunk *chunk : Chunks)
      ASSERT_TRUE(chunk->copies.device);
    this->fillHost();
  }
  void TearDown() override {
    gate.setOpen(true);
    Base::TearDown();
  }
  uint64_t swapped() { return this->moved(Direction::HostToSwap); }

  Gate gate;
};

} // namespace dragon::test

#endif // DRAGON_TEST_UNIT_SUPPORT_MEMORY_DIRTYFIXTURE_H
