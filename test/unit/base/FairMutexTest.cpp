//===- FairMutexTest.cpp - the lock goes round in order -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tests wait until a thread stands in the queue, by the mutex's own count,
// and never for a time: the order that they then expect is the only one.
//
//===----------------------------------------------------------------------===//

#include "runtime/base/FairMutex.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <thread>
#include <vector>

using namespace dragon;
using testing::ElementsAre;

namespace {

void waitUntilQueued(const FairMutex &mutex, unsigned threads) {
  while (mutex.queued() < threads)
    std::this_thread::yield();
}

TEST(FairMutexTest, WhoTakesItAgainComesAfterWhoWaits) {
  FairMutex mutex;
  std::vector<int> order;
  for (int round = 0; round < 100; ++round) {
    order.clear();
    mutex.lock();
    std::thread other([&] {
      std::lock_guard<FairMutex> guard(mutex);
      order.push_back(1);
    });
    waitUntilQueued(mutex, 2);
    order.push_back(0);
    mutex.unlock();
    mutex.lock();
    order.push_back(2);
    mutex.unlock();
    other.join();
    ASSERT_THAT(order, ElementsAre(0, 1, 2));
  }
}

// More threads than there are condition variables.
TEST(FairMutexTest, ManyGetItInTheOrderOfTheirCalls) {
  constexpr int Threads = 40;
  FairMutex mutex;
  std::vector<int> order;
  std::vector<std::thread> threads;
  threads.reserve(Threads);
  mutex.lock();
  for (int t = 0; t < Threads; ++t) {
    threads.emplace_back([&, t] {
      std::lock_guard<FairMutex> guard(mutex);
      order.push_back(t);
    });
    waitUntilQueued(mutex, t + 2);
  }
  mutex.unlock();
  for (std::thread &thread : threads)
    thread.join();
  std::vector<int> expected(Threads);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
  EXPECT_EQ(mutex.queued(), 0u);
}

// A loop of calls does not keep another thread's loop out: once both stand in
// the queue, neither has the lock twice in a row while the other wants it.
TEST(FairMutexTest, WhoOnlyTriesWaitsForNobody) {
  FairMutex mutex;
  ASSERT_TRUE(mutex.try_lock());
  EXPECT_FALSE(mutex.try_lock());
  std::thread other([&] { std::lock_guard<FairMutex> guard(mutex); });
  waitUntilQueued(mutex, 2);
  EXPECT_FALSE(mutex.try_lock());
  mutex.unlock();
  other.join();
  EXPECT_TRUE(mutex.try_lock());
  mutex.unlock();
}

TEST(FairMutexTest, LoopsTakeTurns) {
  constexpr int Threads = 2, Times = 1000;
  FairMutex mutex;
  std::vector<int> order;
  std::vector<std::thread> threads;
  threads.reserve(Threads);
  mutex.lock();
  for (int t = 0; t < Threads; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < Times; ++i) {
        mutex.lock();
        // Holds it until the other has come back for it, if it will.
        order.push_back(t);
        if (order.size() < size_t(2 * Times - 1))
          waitUntilQueued(mutex, 2);
        mutex.unlock();
      }
    });
  waitUntilQueued(mutex, 3);
  mutex.unlock();
  for (std::thread &thread : threads)
    thread.join();
  ASSERT_EQ(order.size(), size_t(2 * Times));
  for (size_t i = 1; i < order.size(); ++i)
    ASSERT_NE(order[i - 1], order[i]) << i;
}

TEST(FairMutexTest, OneAtATime) {
  constexpr int Threads = 4, Times = 5000;
  FairMutex mutex;
  long count = 0;
  std::vector<std::thread> threads;
  threads.reserve(Threads);
  for (int t = 0; t < Threads; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < Times; ++i) {
        std::lock_guard<FairMutex> guard(mutex);
        count = count + 1;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(count, long(Threads) * Times);
}

} // namespace
