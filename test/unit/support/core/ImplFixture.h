//===- ImplFixture.h - tests of a runtime's parts ---------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts of a runtime, without its front, and one buffer.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_UNIT_SUPPORT_CORE_IMPLFIXTURE_H
#define DRAGON_TEST_UNIT_SUPPORT_CORE_IMPLFIXTURE_H

#include "runtime/core/RuntimeImpl.h"
#include "test/unit/support/core/RuntimeFixture.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace dragon::test {

class ImplFixture : public RuntimeFixture {
protected:
  /// With a buffer of so many chunks of 2 MiB.
  void startImpl(size_t chunks) {
    std::string notes;
    auto cpu = createDevice(settings, notes);
    ASSERT_TRUE(cpu.ok());
    std::unique_ptr<Device> device = inFrontOf(std::move(*cpu));
    auto budget = chooseBudget(settings, device->caps(), 1024 * MiB);
    ASSERT_TRUE(budget.ok());
    impl = std::make_unique<RuntimeImpl>(settings, std::move(device), *budget,
                                         nullptr);
    ASSERT_OK(impl->start());
    auto made = impl->Alloc.makeBuffer(chunks * 2 * MiB, {});
    ASSERT_TRUE(made.ok());
    Whole = *made;
    impl->Space.Allocations.insert(
        {Whole->base, Whole->bytes, 0, false, "whole", Whole});
    for (Chunk &chunk : Whole->chunks)
      Chunks.push_back(&chunk);
  }
  void TearDown() override {
    impl.reset();
    RuntimeFixture::TearDown();
  }

  uintptr_t buffer(size_t bytes = 2 * MiB) {
    RuntimeImpl::Guard guard(*impl);
    auto made = impl->Alloc.allocate(bytes, {});
    EXPECT_TRUE(made.ok());
    return made.ok() ? *made : 0;
  }

  /// The device of the test, given the cpu device.
  virtual std::unique_ptr<Device> inFrontOf(std::unique_ptr<Device> cpu) {
    return cpu;
  }

  std::unique_ptr<RuntimeImpl> impl;
  Buffer *Whole = nullptr;
  std::vector<Chunk *> Chunks;
};

} // namespace dragon::test

#endif // DRAGON_TEST_UNIT_SUPPORT_CORE_IMPLFIXTURE_H
