//===- IdleFetchTest.cpp - fetches while the program is busy --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/IdleFetch.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

using namespace dragon;

namespace {

/// A program, and so many chunks that could be fetched.
struct IdleFetchTest : testing::Test {
  std::atomic<uint64_t> Calls = 0;
  std::atomic<int> Left = 0, Steps = 0;
  std::atomic<bool> Locked = false, InCall = false;
  IdleFetch Idle{[this] { return InCall ? ++Calls : Calls.load(); },
                 [this](bool &more) {
                   if (Locked)
                     return false;
                   ++Steps;
                   if (Left > 0)
                     --Left;
                   more = Left > 0;
                   return true;
                 }};

  template <typename Condition> static bool becomes(Condition condition) {
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!condition() && std::chrono::steady_clock::now() < end)
      std::this_thread::yield();
    return condition();
  }
  /// It has seen that there is nothing to do, and waits.
  bool ends() {
    return becomes([this] {
      const int before = Steps;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      return Left == 0 && Steps == before;
    });
  }
};

TEST_F(IdleFetchTest, AllThatCanBeFetchedIsFetched) {
  Left = 10;
  Idle.goOn();
  EXPECT_TRUE(becomes([this] { return Left == 0; }));
  EXPECT_TRUE(ends());
  // And again, when there is more.
  Left = 3;
  Idle.goOn();
  EXPECT_TRUE(becomes([this] { return Left == 0; }));
}

TEST_F(IdleFetchTest, NothingIsFetchedWhileTheProgramMakesCalls) {
  InCall = true;
  Left = 5;
  Idle.goOn();
  EXPECT_TRUE(becomes([this] { return Calls > 20; }));
  EXPECT_EQ(Steps, 0);
  InCall = false;
  EXPECT_TRUE(becomes([this] { return Left == 0; }));
}

TEST_F(IdleFetchTest, WhoHasTheLockIsNotWaitedFor) {
  Locked = true;
  Left = 5;
  Idle.goOn();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(Left, 5);
  Locked = false;
  EXPECT_TRUE(becomes([this] { return Left == 0; }));
}

TEST_F(IdleFetchTest, ItEndsWhereverItIs) {
  Idle.stop(); // before there is a thread
  Left = 5;
  Idle.goOn();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(Left, 5);
  Idle.stop();
}

} // namespace
