//===- CannotRunTest.cpp - why a launch does not fit ----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/CannotRun.h"
#include "test/unit/support/base/Expect.h"
#include "test/unit/support/launch/CallFixture.h"

#include <gmock/gmock.h>

using namespace dragon;
using namespace dragon::test;
using testing::HasSubstr;
using testing::Not;

namespace {

class CannotRunTest : public CallFixture {
protected:
  std::string messageOf(const LaunchCall &call, uint64_t smallest = 0) {
    const Status status =
        cannotRun(call, Caps, {96 * MiB, smallest, 64 * MiB, 8 * MiB});
    EXPECT_EQ(status.code(), DRAGON_ERROR_OUT_OF_MEMORY);
    return status.message();
  }
  DeviceCaps Caps{};
};

TEST_F(CannotRunTest, WhatIsMissingIsTold) {
  const Call call = make("add", 1);
  EXPECT_EQ(messageOf(call.call, 80 * MiB),
            "kernel 'add' may touch 96 MiB at once: 64 MiB fit in device "
            "memory; its smallest slice touches 80 MiB; raise "
            "DRAGON_DEVICE_MEMORY");
}

TEST_F(CannotRunTest, HostMemoryCountsWhereItCanBeMapped) {
  const Call call = make("add", 1);
  EXPECT_THAT(messageOf(call.call), Not(HasSubstr("DRAGON_HOST_MEMORY")));
  Caps.hostMapped = true;
  EXPECT_THAT(messageOf(call.call),
              HasSubstr("64 MiB fit in device memory and 8 MiB in mapped host "
                        "memory; "));
  EXPECT_THAT(messageOf(call.call),
              HasSubstr("raise DRAGON_DEVICE_MEMORY or DRAGON_HOST_MEMORY"));
}

TEST_F(CannotRunTest, WhyThereAreNoSlicesIsTold) {
  Call call = make("gather", 1);
  EXPECT_THAT(messageOf(call.call),
              HasSubstr("cannot be sliced: blocks depend on each other;"));
  // The smallest slice is what would have to fit.
  EXPECT_THAT(messageOf(call.call, MiB), HasSubstr("slice touches 1 MiB"));
  call.call.cooperative = true;
  EXPECT_THAT(messageOf(call.call), HasSubstr("cooperative launch, which"));
  KernelInfo unknown = *call.call.kernel;
  unknown.record = nullptr;
  call.call.kernel = &unknown;
  call.call.cooperative = false;
  EXPECT_THAT(messageOf(call.call),
              HasSubstr("sliced: what it accesses is not known;"));
}

TEST_F(CannotRunTest, StrictDevicesNeedMore) {
  const Call call = make("add", 1);
  EXPECT_THAT(messageOf(call.call), Not(HasSubstr("DRAGON_STRICT")));
  Caps.strict = true;
  EXPECT_THAT(messageOf(call.call), HasSubstr("or leave out DRAGON_STRICT"));
}

} // namespace
