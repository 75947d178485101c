//===- EndsMeanwhileTest.cpp - a runtime that ends while it reads ---------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/support/core/ImplFixture.h"

using namespace dragon;
using namespace dragon::test;

namespace {

class EndsMeanwhileTest : public ImplFixture {};

TEST_F(EndsMeanwhileTest, readsAreUnderWay) {
  settings.hostMemory = 64 * MiB;
  ASSERT_NO_FATAL_FAILURE(startImpl(4));
  writeFile("in", numbers(4 * 2 * MiB / 4, 9));
  ASSERT_OK(impl->Maps.mapRange(Whole->base, Whole->bytes, open("in"), 0));
  ASSERT_OK(impl->Reads.start(Chunks));
}

} // namespace
