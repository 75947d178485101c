//===- StoppedTest.cpp - programs that do not run keep nobody waiting -----===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Those that are really stopped (SIGSTOP) are processes, and found after a few
// seconds; what follows from it is tested with times that a test gives.
//
//===----------------------------------------------------------------------===//

#include "runtime/share/DeviceShare.h"
#include "runtime/share/Segment.h"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace dragon;
using Time = std::chrono::steady_clock::time_point;

namespace {

class StoppedTest : public testing::Test {
protected:
  StoppedTest() {
    char name[] = "/tmp/dragon-stopped-XXXXXX";
    Folder = ::mkdtemp(name);
  }
  ~StoppedTest() override {
    for (const pid_t child : Children) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
    std::filesystem::remove_all(Folder);
  }

  std::unique_ptr<ShareSegment> open() {
    auto segment = ShareSegment::open(Folder, "device");
    EXPECT_TRUE(segment.ok()) << segment.takeStatus().message();
    return std::move(*segment);
  }
  /// A program that wants all of a device of 100, with turns that do not end.
  std::unique_ptr<DeviceShare> join() {
    DeviceShare::Terms terms;
    terms.total = 100;
    terms.turn = std::chrono::hours(1);
    auto share = std::move(*DeviceShare::join(Folder, "device", terms));
    share->wants(100);
    return share;
  }
  /// `run` in a process, until it stops.
  template <typename Run> pid_t stopped(Run run) {
    const pid_t child = ::fork();
    if (child == 0)
      ::_exit(run());
    Children.push_back(child);
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, WUNTRACED), child);
    EXPECT_TRUE(WIFSTOPPED(status)) << status;
    return child;
  }
  /// Stops the process when it is asked to, with no thread that has the lock of
  /// the books.
  struct Stops {
    std::atomic<bool> asked{false}, goesOn{false};

    void start(DeviceShare &share) {
      share.start({[] { return true; },
                   [this] {
                     if (asked.exchange(false)) {
                       ::raise(SIGSTOP);
                       goesOn = true;
                     }
                     return uint64_t(0);
                   }});
    }
    void stop() {
      for (asked = true; !goesOn;)
        ::usleep(1000);
    }
  };
  /// It goes on, and ends well.
  void endsWell(pid_t child) {
    ::kill(child, SIGCONT);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    std::erase(Children, child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }

  std::string Folder;
  std::vector<pid_t> Children;
};

Time after(int seconds) { return Time() + std::chrono::seconds(seconds); }

TEST_F(StoppedTest, WhoseBeatsDoNotChangeIsStopped) {
  auto one = open(), other = open();
  one->lookAround(after(0));
  one->lookAround(after(100));
  EXPECT_FALSE(other->own().stopped); // nobody counts its beats
  other->own().beats = 1;
  one->lookAround(after(101));
  one->lookAround(after(103));
  EXPECT_FALSE(other->own().stopped);
  one->lookAround(after(104));
  EXPECT_TRUE(other->own().stopped);
  other->lookAround(after(104));
  EXPECT_FALSE(other->own().stopped); // who looks runs
}

TEST_F(StoppedTest, WhoGetsOnIsNot) {
  auto one = open(), other = open();
  other->own().beats = 1;
  for (int second = 0; second < 20; second += 2) {
    one->lookAround(after(second));
    ++(second % 4 ? other->own().beats : other->own().steps);
  }
  EXPECT_FALSE(other->own().stopped);
}

/// Its thread waits for a call, which may be a long copy.
TEST_F(StoppedTest, WhoIsInACallHasLonger) {
  auto one = open(), other = open();
  other->own().beats = 1;
  other->own().follows = 1;
  one->lookAround(after(0));
  one->lookAround(after(29));
  EXPECT_FALSE(other->own().stopped);
  one->lookAround(after(30));
  EXPECT_TRUE(other->own().stopped);
}

/// The other one has what is left, as long as it does not run.
TEST_F(StoppedTest, TheTurnOfAStoppedProgramPassesOn) {
  auto share = join();
  const pid_t child = stopped([&] {
    auto holder = join();
    Stops stops;
    stops.start(*holder);
    if (!holder->claimNow(90) || !holder->reserve(60))
      return 1;
    holder->endCall(0);
    stops.stop();
    // It goes on as before.
    const bool goesOn = holder->claim(90, 60, [] {});
    holder->stop();
    return goesOn ? 0 : 2;
  });
  ASSERT_TRUE(share->claim(40, 600, [] {}));
  const std::vector<ShareProgram> programs = share->programs();
  ASSERT_EQ(programs.size(), 2u);
  EXPECT_TRUE(programs[1].stopped);
  ASSERT_TRUE(share->stopped());
  EXPECT_EQ(share->stopped()->pid, child);
  EXPECT_EQ(programs[1].turns, 1u);
  EXPECT_EQ(share->limit(), 40u); // what the other one does not hold
  share->endCall(0);
  share.reset();
  endsWell(child);
}

/// Whose claim waits keeps those behind it waiting only while it runs.
TEST_F(StoppedTest, NobodyWaitsForTheClaimOfAStoppedProgram) {
  auto first = join();
  ASSERT_TRUE(first->claimNow(50));
  const pid_t child = stopped([&] {
    auto second = join();
    Stops stops;
    stops.start(*second);
    const bool has = second->claim(100, 600, [&] {
      if (!stops.goesOn)
        stops.stop();
    });
    second->stop();
    return has ? 0 : 1;
  });
  first->endCall(0);
  EXPECT_TRUE(first->claim(100, 600, [] {}));
  first.reset();
  endsWell(child);
}

/// Who has the books' lock keeps all others waiting. They say who it is.
TEST_F(StoppedTest, WhoIsStoppedWithTheBooksIsNamed) {
  auto segment = open();
  const pid_t holder = stopped([&] {
    auto own = open();
    const ShareSegment::Locked locked(*own);
    ::raise(SIGSTOP);
    return 0;
  });
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t waiting = ::fork();
  if (waiting == 0) {
    ::dup2(ends[1], STDERR_FILENO);
    const ShareSegment::Locked locked(*segment);
    ::_exit(0);
  }
  Children.push_back(waiting);
  ::close(ends[1]);
  std::string said;
  for (char byte; ::read(ends[0], &byte, 1) == 1 && byte != '\n';)
    said += byte;
  ::close(ends[0]);
  EXPECT_NE(said.find("locked by process " + std::to_string(holder)),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("kill -CONT"), std::string::npos) << said;
  endsWell(holder);
  endsWell(waiting);
}

} // namespace
