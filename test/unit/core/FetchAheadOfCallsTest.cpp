//===- FetchAheadOfCallsTest.cpp - while a library call is under way ------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A library function queues its work without the runtime's lock. Meanwhile
// another thread may fetch what comes next: not what the function is about to
// overwrite, whose contents in host memory are the ones before.
//
//===----------------------------------------------------------------------===//

#include "test/unit/support/core/ImplFixture.h"
#include "test/unit/support/device/LateDevice.h"

using namespace dragon;
using namespace dragon::test;

namespace {

class FetchAheadOfCallsTest : public ImplFixture {
protected:
  static constexpr size_t Inputs = 12;
  static constexpr size_t ChunkBytes = 2 * MiB;

  void SetUp() override {
    RuntimeFixture::SetUp();
    settings.poison = settings.strict = false;
    settings.deviceMemory = 16 * MiB;
    settings.hostMemory = 64 * MiB;
    startImpl(Inputs);
    Little = buffer(4096);
  }
  std::unique_ptr<Device> inFrontOf(std::unique_ptr<Device> cpu) override {
    auto late = std::make_unique<LateDevice>(std::move(cpu));
    Watched = late.get();
    return late;
  }

  LibraryHold begin(const char *function, uintptr_t address, LaunchNeed need) {
    RuntimeImpl::Guard guard(*impl);
    LibraryHold hold;
    EXPECT_OK(impl->Library.begin(
        {function, {{address, ChunkBytes, need}}, Queue(nullptr)}, hold));
    return hold;
  }
  void end(const LibraryHold &hold) {
    RuntimeImpl::Guard guard(*impl);
    EXPECT_OK(impl->Library.end(hold));
  }
  void waitForAll() {
    RuntimeImpl::Guard guard(*impl);
    EXPECT_OK(impl->Time.synchronizeAll());
  }
  /// A call by itself, whose work is done before the next one.
  void use(uintptr_t address) {
    end(begin("read", address, LaunchNeed::Read));
    waitForAll();
  }

  /// To host memory, with what it holds.
  void leave(Chunk &chunk) {
    RuntimeImpl::Guard guard(*impl);
    impl->Ctx.pins.next();
    Chunk *leaving[] = {&chunk};
    if (chunk.device.id)
      EXPECT_OK(impl->OnDevice.evict(leaving, Cause::Eviction));
  }

  LateDevice *Watched = nullptr;
  uintptr_t Little = 0;
};

TEST_F(FetchAheadOfCallsTest, WhatACallOverwritesIsNotFetched) {
  Whole->byData = true;
  Chunk &result = *Chunks[0];
  for (uint32_t round = 1; round <= 6; ++round) {
    const LibraryHold hold =
        begin("overwrite", result.va(), LaunchNeed::Overwrite);
    // Another thread's; what it fetches ahead is for the calls behind.
    end(begin("of another thread", Little, LaunchNeed::Read));
    ASSERT_OK(impl->Ctx.device->fill(pointer(result.va()), round, 4,
                                     ChunkBytes / 4, nullptr));
    end(hold);
    use(result.va());
    int32_t word = 0;
    ASSERT_OK(impl->Ctx.device->copy(&word, pointer(result.va()), sizeof word,
                                     CopyKind::DeviceToHost, nullptr));
    waitForAll();
    ASSERT_EQ(word, int32_t(round));
    for (size_t i = 1; i < Inputs; ++i)
      use(Chunks[i]->va());
    leave(result);
    EXPECT_TRUE(result.copies.host);
  }
  EXPECT_EQ(Watched->misused(), 0u);
}

} // namespace
