//===- RuntimeFixture.h - a Runtime on the cpu device -----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_UNIT_SUPPORT_CORE_RUNTIMEFIXTURE_H
#define DRAGON_TEST_UNIT_SUPPORT_CORE_RUNTIMEFIXTURE_H

#include "runtime/core/Runtime.h"
#include "runtime/device/ForwardingDevice.h"
#include "runtime/trace/Log.h"
#include "test/unit/support/launch/TestKernels.h"
#include "test/unit/support/tier/FolderFixture.h"

#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace dragon::test {

class RuntimeFixture : public FolderFixture {
protected:
  void SetUp() override {
    FolderFixture::SetUp();
    settings.wavefront = Wavefront::Off; // launches run when they are made
    ASSERT_TRUE(kernels.Good) << kernels.Error;
  }
  void TearDown() override { runtime.reset(); }

  void start() {
    auto device = makeDevice();
    ASSERT_TRUE(device);
    start(std::move(device));
  }
  void start(std::unique_ptr<Device> device) {
    auto made = Runtime::create(settings, std::move(device));
    ASSERT_TRUE(made.ok()) << made.takeStatus().message();
    runtime = std::move(*made);
  }

  /// On a device that counts what it is asked for; null: there is none.
  CountingDevice *startCounting() {
    auto device = makeDevice();
    if (!device)
      return nullptr;
    auto counting = std::make_unique<CountingDevice>(std::move(device));
    CountingDevice *counts = counting.get();
    start(std::move(counting));
    return counts;
  }

  uintptr_t allocate(size_t bytes, unsigned flags = 0,
                     bool hostAccessible = false) {
    auto base =
        runtime->buffers().allocate(bytes, {flags, hostAccessible, nullptr});
    EXPECT_TRUE(base.ok()) << base.takeStatus().message();
    return base.ok() ? *base : 0;
  }
  Status upload(uintptr_t to, const std::vector<int32_t> &data) {
    return runtime->buffers().copy(pointer(to), data.data(), data.size() * 4,
                                   nullptr, false);
  }
  std::vector<int32_t> download(uintptr_t from, size_t count) {
    std::vector<int32_t> result(count, -1);
    EXPECT_OK(runtime->buffers().copy(result.data(), pointer(from), count * 4,
                                      nullptr, false));
    return result;
  }
  uint64_t moved(Direction direction) {
    return runtime->ledger().bytes(direction);
  }

  TestKernels kernels;
  std::unique_ptr<Runtime> runtime;
};

} // namespace dragon::test

#endif // DRAGON_TEST_UNIT_SUPPORT_CORE_RUNTIMEFIXTURE_H
