//===- DeviceShareTest.cpp - programs that divide a device's memory -------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each DeviceShare is a program of its own to the others, also within one
// process; programs that die are processes.
//
//===----------------------------------------------------------------------===//

#include "runtime/share/DeviceShare.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace dragon;
using Room = DeviceShare::Room;

namespace {

class DeviceShareTest : public testing::Test {
protected:
  DeviceShareTest() {
    char name[] = "/tmp/dragon-share-XXXXXX";
    Folder = ::mkdtemp(name);
  }
  ~DeviceShareTest() override { std::filesystem::remove_all(Folder); }

  std::unique_ptr<DeviceShare> join(uint64_t total = 100, uint64_t weight = 1,
                                    std::chrono::nanoseconds turn = {}) {
    DeviceShare::Terms terms;
    terms.weight = weight;
    terms.total = total;
    terms.turn = turn;
    auto share = DeviceShare::join(Folder, "device", terms);
    EXPECT_TRUE(share.ok()) << share.takeStatus().message();
    return share.ok() ? std::move(*share) : nullptr;
  }
  /// Follows its limit by what it holds.
  static void followAll(DeviceShare &share, std::atomic<uint64_t> &held,
                        std::atomic<uint64_t> &activity) {
    share.start({[&] {
                   while (held > share.limit()) {
                     share.release(1);
                     --held;
                   }
                   return true;
                 },
                 [&] { return activity.load(); }});
  }

  std::string Folder;
};

TEST_F(DeviceShareTest, TogetherNeverMoreThanThereIs) {
  auto first = join(), second = join();
  EXPECT_TRUE(first->reserve(60));
  EXPECT_FALSE(second->reserve(41));
  EXPECT_TRUE(second->reserve(40));
  EXPECT_EQ(first->mostHeld(), 100u);
  first->release(60);
  EXPECT_TRUE(second->reserve(60));
  EXPECT_EQ(second->mostHeld(), 100u);
}

/// Somebody who is not in the books has it.
TEST_F(DeviceShareTest, WhatTheDriverRefusesIsNotThere) {
  auto first = join();
  ASSERT_TRUE(first->reserve(60));
  ASSERT_TRUE(first->reserve(20));
  first->refused(20);
  EXPECT_EQ(first->total(), 60u);
  EXPECT_EQ(first->limit(), 60u);
  EXPECT_FALSE(first->reserve(1));
  first->release(10);
  EXPECT_TRUE(first->reserve(10));
}

TEST_F(DeviceShareTest, WhatIsFreeLessAReserve) {
  DeviceShare::Terms terms;
  terms.free = 1000;
  terms.reserve = 100;
  auto first = std::move(*DeviceShare::join(Folder, "device", terms));
  EXPECT_EQ(first->total(), 900u);
  ASSERT_TRUE(first->reserve(500));
  // For the second less is free, and it counts what the first holds.
  terms.free = 450;
  terms.most = 300;
  auto second = std::move(*DeviceShare::join(Folder, "device", terms));
  EXPECT_EQ(second->total(), 850u);
  EXPECT_EQ(second->most(), 300u);
  second.reset();
  // Who says how much it takes may have the reserve, but no more than there is.
  terms.most = 5000;
  auto third = std::move(*DeviceShare::join(Folder, "device", terms));
  EXPECT_EQ(third->total(), 950u);
  EXPECT_EQ(third->most(), 950u);
}

TEST_F(DeviceShareTest, LimitsFollowWhatIsWanted) {
  auto first = join();
  EXPECT_EQ(first->limit(), 100u);
  first->wants(90);
  auto second = join(100, 2);
  EXPECT_GE(first->limit(), 90u);
  second->wants(90);
  EXPECT_EQ(first->limit(), 33u);
  EXPECT_EQ(second->limit(), 66u);
  first->yields();
  EXPECT_EQ(second->limit(), 90u);
  first->goesOn();
  EXPECT_EQ(second->limit(), 66u);
  second.reset();
  EXPECT_EQ(first->limit(), 100u);
}

/// It holds what nobody wants, and less as soon as somebody wants anything.
TEST_F(DeviceShareTest, WhoTakesWhatIsSpareHasNoClaim) {
  DeviceShare::Terms terms;
  terms.total = 100;
  terms.most = 90;
  terms.spareBeside = 40;
  auto spare = std::move(*DeviceShare::join(Folder, "device", terms));
  EXPECT_EQ(spare->limit(), 0u);
  EXPECT_EQ(spare->wants(95), 90u);
  ASSERT_TRUE(spare->reserve(90));
  std::atomic<uint64_t> held{90}, activity{0};
  auto program = join();
  EXPECT_EQ(spare->limit(), 90u);
  followAll(*spare, held, activity);
  program->wants(10);
  EXPECT_EQ(spare->limit(), 40u);
  while (held != 40)
    ::usleep(1000);
  program->yields(); // and comes first all the same
  program->wants(100);
  EXPECT_EQ(spare->limit(), 0u);
  EXPECT_EQ(program->waitForRoom(100, 60), Room::There);
  EXPECT_TRUE(program->reserve(100));
  program.reset();
  EXPECT_EQ(spare->limit(), 90u);
  spare->stop();
}

/// Its own limit does not raise what all may have together.
TEST_F(DeviceShareTest, WhoTakesWhatIsSpareLeavesTheReserve) {
  DeviceShare::Terms terms;
  terms.free = 1000;
  terms.reserve = 100;
  terms.most = 5000;
  terms.spareBeside = 5000;
  auto spare = std::move(*DeviceShare::join(Folder, "device", terms));
  EXPECT_EQ(spare->total(), 900u);
}

TEST_F(DeviceShareTest, WhoMayHaveMoreWaitsForWhoOwesIt) {
  auto first = join(), second = join();
  std::atomic<uint64_t> held{100}, activity{0};
  ASSERT_TRUE(first->reserve(100));
  first->wants(100);
  followAll(*first, held, activity);
  second->wants(100);
  EXPECT_EQ(second->waitForRoom(50, 60), Room::There);
  EXPECT_TRUE(second->reserve(50));
  // More is not its to have, and nobody owes anything.
  EXPECT_EQ(second->waitForRoom(1, 60), Room::NotMine);
  first->stop();
}

void never() { FAIL() << "nothing to give back"; }

TEST_F(DeviceShareTest, ClaimsHaveRoomBesideEachOther) {
  auto first = join(), second = join();
  first->wants(100);
  second->wants(100);
  EXPECT_TRUE(first->claim(70, 60, never));
  EXPECT_EQ(first->limit(), 70u);
  EXPECT_EQ(second->limit(), 30u);
  EXPECT_TRUE(second->claimNow(30));
  EXPECT_FALSE(second->claimNow(31));
  EXPECT_EQ(second->claimed(), 30u);
  first->endCall(0);
  EXPECT_EQ(first->limit(), 50u);
  EXPECT_TRUE(second->claimNow(100));
  EXPECT_EQ(second->limit(), 100u);
  second->lowerClaim(40);
  EXPECT_TRUE(first->claimNow(60));
}

/// Two that hold a part and want more would wait for each other.
TEST_F(DeviceShareTest, WhoWaitsForAClaimHasNone) {
  auto first = join(), second = join();
  ASSERT_TRUE(first->claimNow(50));
  ASSERT_TRUE(second->claimNow(50));
  std::thread other([&] {
    EXPECT_TRUE(second->claim(80, 60, [] {}));
    second->endCall(0);
  });
  EXPECT_TRUE(first->claim(80, 60, [] {}));
  first->endCall(0);
  other.join();
}

/// In the order in which they ask: small claims do not keep a large one waiting
/// for ever.
TEST_F(DeviceShareTest, WhoAskedFirstComesFirst) {
  auto first = join(), second = join(), third = join();
  ASSERT_TRUE(first->claimNow(50));
  std::atomic<bool> waits{false};
  std::thread other(
      [&] { EXPECT_TRUE(second->claim(80, 60, [&] { waits = true; })); });
  while (!waits)
    ::usleep(1000);
  EXPECT_FALSE(third->claimNow(10));
  first->endCall(0);
  other.join();
  EXPECT_TRUE(third->claimNow(10));
}

TEST_F(DeviceShareTest, WhatStaysForEverIsNotWaitedFor) {
  auto first = join(), second = join();
  ASSERT_TRUE(first->claimNow(50));
  first->endCall(30);
  EXPECT_EQ(first->stays(), 30u);
  first->wants(30);
  first->yields();
  second->wants(100);
  EXPECT_EQ(second->limit(), 70u);
  EXPECT_FALSE(second->claim(71, 60, never));
  EXPECT_TRUE(second->claim(70, 60, never));
}

/// A stopped one, too, for so long.
TEST_F(DeviceShareTest, TheClaimsOfTheDeadAreFree) {
  auto first = join();
  const pid_t child = ::fork();
  if (child == 0) {
    auto second = join();
    ::_exit(!second->claimNow(70) || ::raise(SIGSTOP));
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(status));
  EXPECT_FALSE(first->claim(50, 0, [] {}));
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(first->claim(100, 60, [] {}));
}

TEST_F(DeviceShareTest, WhoDoesNothingYields) {
  auto first = join(), second = join();
  std::atomic<uint64_t> held{100}, activity{0};
  ASSERT_TRUE(first->reserve(100));
  first->wants(100);
  second->wants(100);
  followAll(*first, held, activity);
  while (second->limit() != 100)
    ::usleep(1000);
  ++activity;
  while (second->limit() != 50)
    ::usleep(1000);
  first->stop();
}

/// Its turn would last an hour.
TEST_F(DeviceShareTest, WhoDoesNothingInItsTurnGivesItAway) {
  constexpr std::chrono::hours Turn(1);
  auto first = join(100, 1, Turn), second = join(100, 1, Turn);
  first->wants(70);
  second->wants(70);
  std::atomic<uint64_t> activity{0}, looks{0};
  std::atomic<bool> works{true};
  ASSERT_TRUE(first->claimNow(70));
  first->endCall(0);
  first->start({[] { return true; },
                [&] {
                  ++looks;
                  return works ? ++activity : activity.load();
                },
                [] { return 1e-4; }});
  std::atomic<bool> has{false};
  std::thread other([&] {
    EXPECT_TRUE(second->claim(70, 600, [] {}));
    has = true;
    second->endCall(0);
  });
  // Often enough that it would have been seen to pause.
  for (const uint64_t before = looks; looks < before + 50;)
    ::usleep(1000);
  EXPECT_FALSE(has);
  EXPECT_TRUE(second->losesTurn());
  EXPECT_EQ(second->turns(), 0u);
  works = false;
  other.join();
  EXPECT_TRUE(first->isYielding());
  EXPECT_EQ(first->turns(), 1u);
  first->stop();
}

TEST_F(DeviceShareTest, TheDeadHoldNothing) {
  auto first = join();
  const pid_t child = ::fork();
  if (child == 0) {
    auto second = join();
    second->wants(100);
    if (second->reserve(70))
      ::raise(SIGKILL);
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(first->programs().size(), 1u);
  EXPECT_TRUE(first->reserve(100));
  EXPECT_EQ(first->limit(), 100u);
}

/// A child of a program has its descriptors, not its place.
TEST_F(DeviceShareTest, AChildDoesNotKeepItsParentAlive) {
  auto first = join();
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    auto second = join();
    if (!second->reserve(70))
      ::_exit(1);
    if (::fork() == 0) {
      ::close(ends[1]);
      char byte;
      ::_exit(::read(ends[0], &byte, 1) < 0); // lives until the test closes it
    }
    ::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(parent, &status, 0), parent);
  ASSERT_TRUE(WIFSIGNALED(status));
  // As soon as the child has run for the first time.
  while (first->programs().size() != 1)
    ::usleep(1000);
  ::close(ends[0]);
  ::close(ends[1]);
}

/// One that dies with the lock of the books leaves them usable.
TEST_F(DeviceShareTest, KilledAtAnyPoint) {
  auto first = join();
  for (int round = 0; round < 40; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      auto other = join();
      for (uint64_t i = 0;; ++i) {
        other->wants(i % 100);
        if (other->reserve(i % 7))
          other->release(i % 7);
      }
    }
    ::usleep(unsigned(500 + round * 97));
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(first->programs().size(), 1u);
    ASSERT_TRUE(first->reserve(100));
    first->release(100);
  }
}

TEST_F(DeviceShareTest, OldBooksAreBegunAnew) {
  {
    auto first = join();
    first->wants(10);
    ASSERT_TRUE(first->reserve(10));
  }
  auto next = join(50);
  EXPECT_EQ(next->total(), 50u);
  EXPECT_EQ(next->mostHeld(), 0u);
  EXPECT_EQ(next->programs().size(), 1u);
}

TEST_F(DeviceShareTest, AFolderThatIsNotThere) {
  auto share = DeviceShare::join(Folder + "/none", "device", {});
  ASSERT_FALSE(share.ok());
  EXPECT_NE(share.takeStatus().message().find("cannot be opened"),
            std::string::npos);
}

} // namespace
