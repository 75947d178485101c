//===- WarpTest.cpp - barriers and warp operations on fibers --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What PTX says of bar.sync, shfl.sync, vote.sync, match.sync and redux.sync,
// with exited threads, divergent lanes and threads that wait for ever.
//
//===----------------------------------------------------------------------===//

#include "test/unit/device/CpuKernels.h"

#include <bit>
#include <vector>

using namespace dragon;

namespace {

constexpr uint32_t Full = 0xffffffffu;

struct Warp : testing::Test {
  std::unique_ptr<Device> device = makeCpu(smallSettings());
  /// One block of `threads` threads, which must succeed.
  void run(uint32_t threads, ThreadBody body) {
    Status status =
        launchBody(*device, "k", true, Shape{{1, 1, 1}, {threads, 1, 1}}, body);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  std::string fails(uint32_t threads, ThreadBody body) {
    Status status =
        launchBody(*device, "k", true, Shape{{1, 1, 1}, {threads, 1, 1}}, body);
    EXPECT_EQ(status.nativeCode(), 719);
    return status.message();
  }
};

unsigned laneOf(dragon_cpu_context *ctx) { return ctx->tid[0] % 32; }

TEST_F(Warp, BarrierSeparatesPhases) {
  std::vector<int> a(100, 0), b(100, 0);
  run(100, [&](dragon_cpu_context *ctx) {
    unsigned t = ctx->tid[0];
    for (int round = 1; round <= 5; ++round) {
      a[t] = round;
      dragon_cpu_barrier(ctx, 0, 0);
      b[t] += a[99 - t];
      dragon_cpu_barrier(ctx, 0, 0);
    }
  });
  for (int sum : b)
    EXPECT_EQ(sum, 15);
}

TEST_F(Warp, BarrierReduces) {
  run(70, [&](dragon_cpu_context *ctx) {
    unsigned t = ctx->tid[0];
    EXPECT_EQ(dragon_cpu_barrier(ctx, 1, t % 7 == 0), 10u);
    EXPECT_EQ(dragon_cpu_barrier(ctx, 2, t < 70), 1u);
    EXPECT_EQ(dragon_cpu_barrier(ctx, 2, t != 69), 0u);
    EXPECT_EQ(dragon_cpu_barrier(ctx, 3, t == 69), 1u);
    EXPECT_EQ(dragon_cpu_barrier(ctx, 3, 0), 0u);
  });
}

TEST_F(Warp, ExitedThreadsDoNotTakePartInBarriers) {
  unsigned after = 0;
  run(64, [&](dragon_cpu_context *ctx) {
    if (ctx->tid[0] % 2)
      return;
    dragon_cpu_barrier(ctx, 0, 0);
    if (ctx->tid[0] == 10)
      dragon_cpu_exit_thread(ctx);
    EXPECT_EQ(dragon_cpu_barrier(ctx, 1, 1), 31u);
    ++after;
  });
  EXPECT_EQ(after, 31u);
}

TEST_F(Warp, AnExitCompletesABarrierThatOthersWaitAt) {
  // Thread 0 arrives last at its exit: all others wait by then.
  bool exited = false;
  run(33, [&](dragon_cpu_context *ctx) {
    if (ctx->tid[0] == 0) {
      dragon_cpu_yield(ctx, 0);
      exited = true;
      return;
    }
    dragon_cpu_barrier(ctx, 0, 0);
    EXPECT_TRUE(exited);
  });
}

TEST_F(Warp, BarrierInBothBranchesIsOneBarrier) {
  run(32, [&](dragon_cpu_context *ctx) {
    uint32_t count = laneOf(ctx) < 7 ? dragon_cpu_barrier(ctx, 1, 1)
                                     : dragon_cpu_barrier(ctx, 1, 0);
    EXPECT_EQ(count, 7u);
  });
}

TEST_F(Warp, NamedBarriersCountThreads) {
  // Producers (warp 0) arrive at 1 without waiting; consumers wait there.
  int produced = 0, consumed = 0;
  run(96, [&](dragon_cpu_context *ctx) {
    if (ctx->tid[0] < 32) {
      ++produced;
      dragon_cpu_named_arrive(ctx, 1, 64);
    } else if (ctx->tid[0] < 64) {
      dragon_cpu_named_barrier(ctx, 1, 64);
      EXPECT_EQ(produced, 32);
      ++consumed;
    } else {
      dragon_cpu_named_barrier(ctx, 2, 32);
    }
  });
  EXPECT_EQ(consumed, 32);
}

TEST_F(Warp, ShuffleModes) {
  run(32, [&](dragon_cpu_context *ctx) {
    uint32_t lane = laneOf(ctx), in = 9;
    auto shuffle = [&](uint32_t mode, uint32_t offset, uint32_t clamp) {
      return dragon_cpu_shuffle(ctx, mode, Full, lane * 10, offset, clamp, &in);
    };
    EXPECT_EQ(shuffle(DRAGON_SHFL_IDX, 5, 31), 50u);
    EXPECT_EQ(in, 1u);
    EXPECT_EQ(shuffle(DRAGON_SHFL_UP, 3, 0),
              lane < 3 ? lane * 10 : (lane - 3) * 10);
    EXPECT_EQ(in, lane >= 3);
    EXPECT_EQ(shuffle(DRAGON_SHFL_DOWN, 4, 31),
              lane > 27 ? lane * 10 : (lane + 4) * 10);
    EXPECT_EQ(in, lane <= 27);
    EXPECT_EQ(shuffle(DRAGON_SHFL_BFLY, 1, 31), (lane ^ 1) * 10);
    // Width 8, as __shfl_*_sync(..., 8) passes it: ((32 - 8) << 8) | 31.
    uint32_t width8 = (24 << 8) | 31;
    EXPECT_EQ(shuffle(DRAGON_SHFL_IDX, 11, width8), (lane / 8 * 8 + 3) * 10);
    EXPECT_EQ(shuffle(DRAGON_SHFL_DOWN, 2, width8),
              (lane % 8 < 6 ? lane + 2 : lane) * 10);
    EXPECT_EQ(shuffle(DRAGON_SHFL_UP, 1, 24 << 8),
              (lane % 8 ? lane - 1 : lane) * 10);
    EXPECT_EQ(
        dragon_cpu_shuffle(ctx, DRAGON_SHFL_IDX, Full, lane, 40, 31, nullptr),
        8u);
  });
}

TEST_F(Warp, ShuffleReductionOverPartOfAWarp) {
  run(40, [&](dragon_cpu_context *ctx) {
    if (ctx->tid[0] < 32)
      return; // the second warp has lanes 0 to 7
    uint32_t sum = laneOf(ctx) + 1;
    for (uint32_t offset = 4; offset; offset /= 2)
      sum += dragon_cpu_shuffle(ctx, DRAGON_SHFL_BFLY, Full, sum, offset, 31,
                                nullptr);
    EXPECT_EQ(sum, 36u);
  });
}

TEST_F(Warp, VotesCountLanesThatHaveNotExited) {
  run(32, [&](dragon_cpu_context *ctx) {
    uint32_t lane = laneOf(ctx);
    if (lane >= 30)
      return;
    uint32_t live = 0x3fffffff;
    EXPECT_EQ(dragon_cpu_vote(ctx, DRAGON_VOTE_BALLOT, Full, 1), live);
    EXPECT_EQ(dragon_cpu_vote(ctx, DRAGON_VOTE_BALLOT, Full, lane % 2),
              0xaaaaaaaau & live);
    EXPECT_EQ(dragon_cpu_vote(ctx, DRAGON_VOTE_ALL, Full, 5), 1u);
    EXPECT_EQ(dragon_cpu_vote(ctx, DRAGON_VOTE_ALL, Full, lane), 0u);
    EXPECT_EQ(dragon_cpu_vote(ctx, DRAGON_VOTE_ANY, Full, lane == 3), 1u);
    EXPECT_EQ(dragon_cpu_vote(ctx, DRAGON_VOTE_ANY, Full, 0), 0u);
    EXPECT_EQ(dragon_cpu_vote(ctx, DRAGON_VOTE_UNI, Full, 0), 1u);
    EXPECT_EQ(dragon_cpu_vote(ctx, DRAGON_VOTE_UNI, Full, lane & 1), 0u);
  });
}

TEST_F(Warp, MatchAndRedux) {
  run(32, [&](dragon_cpu_context *ctx) {
    uint32_t lane = laneOf(ctx), matched = 7;
    uint64_t wide = (uint64_t(lane % 4) << 40) + 1;
    EXPECT_EQ(dragon_cpu_match(ctx, Full, wide, 0, nullptr),
              0x11111111u << (lane % 4));
    EXPECT_EQ(dragon_cpu_match(ctx, Full, wide, 1, &matched), 0u);
    EXPECT_EQ(matched, 0u);
    EXPECT_EQ(dragon_cpu_match(ctx, Full, 3, 1, &matched), Full);
    EXPECT_EQ(matched, 1u);
    int32_t value = static_cast<int32_t>(lane) - 16;
    auto redux = [&](uint32_t op) {
      return dragon_cpu_redux(ctx, op, Full, static_cast<uint32_t>(value));
    };
    EXPECT_EQ(redux(DRAGON_REDUX_ADD), static_cast<uint32_t>(-16));
    EXPECT_EQ(redux(DRAGON_REDUX_MIN), static_cast<uint32_t>(-16));
    EXPECT_EQ(redux(DRAGON_REDUX_MAX), 15u);
    EXPECT_EQ(redux(DRAGON_REDUX_UMIN), 0u);
    EXPECT_EQ(redux(DRAGON_REDUX_UMAX), Full);
    EXPECT_EQ(redux(DRAGON_REDUX_AND), 0u);
    EXPECT_EQ(redux(DRAGON_REDUX_OR), Full);
    EXPECT_EQ(redux(DRAGON_REDUX_XOR), 0u);
  });
}

TEST_F(Warp, DivergentLanesWithTheirOwnMasks) {
  run(32, [&](dragon_cpu_context *ctx) {
    uint32_t lane = laneOf(ctx);
    uint32_t mask = lane < 20 ? 0x000fffffu : 0xfff00000u;
    // The two groups take a different number of steps.
    unsigned rounds = lane < 20 ? 3 : 7;
    for (unsigned r = 0; r < rounds; ++r)
      EXPECT_EQ(dragon_cpu_vote(ctx, DRAGON_VOTE_BALLOT, mask, 1), mask);
    dragon_cpu_warp_sync(ctx, Full);
    EXPECT_EQ(dragon_cpu_vote(ctx, DRAGON_VOTE_BALLOT, Full, 1), Full);
  });
}

TEST_F(Warp, ActivemaskIsWhoIsThere) {
  run(64, [&](dragon_cpu_context *ctx) {
    uint32_t lane = laneOf(ctx);
    EXPECT_EQ(dragon_cpu_activemask(ctx), Full);
    if (lane % 2) {
      uint32_t mask = dragon_cpu_activemask(ctx);
      EXPECT_EQ(mask, 0xaaaaaaaau);
      // The usual aggregation: the first lane of the mask speaks for all.
      uint32_t leader = static_cast<uint32_t>(std::countr_zero(mask));
      EXPECT_EQ(dragon_cpu_shuffle(ctx, DRAGON_SHFL_IDX, mask, lane, leader, 31,
                                   nullptr),
                1u);
    } else if (lane > 10) {
      EXPECT_EQ(dragon_cpu_activemask(ctx), 0x55555000u);
      return;
    }
    dragon_cpu_barrier(ctx, 0, 0);
    if (lane == 3)
      EXPECT_EQ(dragon_cpu_activemask(ctx), 8u);
  });
}

TEST_F(Warp, ActivemaskMeetsAfterABranch) {
  run(32, [&](dragon_cpu_context *ctx) {
    for (uint32_t i = 0; i < laneOf(ctx) / 8; ++i)
      EXPECT_EQ(dragon_cpu_activemask(ctx), Full << (8 * (i + 1)));
    EXPECT_EQ(dragon_cpu_activemask(ctx), Full);
  });
}

TEST_F(Warp, YieldLetsTheOthersRun) {
  // A lock that a thread of the same warp holds.
  volatile int turn = 0;
  run(8, [&](dragon_cpu_context *ctx) {
    while (turn != static_cast<int>(7 - ctx->tid[0]))
      dragon_cpu_yield(ctx, 1);
    turn = turn + 1;
  });
  EXPECT_EQ(turn, 8);
}

TEST_F(Warp, BarrierThatSomeNeverReach) {
  std::string message = fails(64, [](dragon_cpu_context *ctx) {
    if (ctx->tid[0] < 32)
      dragon_cpu_named_barrier(ctx, 1, 0);
    else
      dragon_cpu_named_barrier(ctx, 2, 0);
  });
  EXPECT_EQ(message,
            "launch of 'k': kernel 'k', block (0,0,0): its threads wait for "
            "each other for ever: 32 of 64 threads are at barrier 1, 32 of 64 "
            "threads are at barrier 2; all threads that have not exited must "
            "reach a barrier, and all lanes of a mask its operation");
}

TEST_F(Warp, ShuffleThatALaneNeverReaches) {
  std::string message = fails(32, [](dragon_cpu_context *ctx) {
    if (laneOf(ctx) == 5)
      dragon_cpu_barrier(ctx, 0, 0);
    else
      dragon_cpu_shuffle(ctx, DRAGON_SHFL_IDX, Full, 1, 0, 31, nullptr);
  });
  EXPECT_NE(message.find("1 of 32 threads are at barrier 0, lanes 0xffffffdf "
                         "of warp 0 are in a shuffle with mask 0xffffffff"),
            std::string::npos)
      << message;
}

TEST_F(Warp, MaskWithoutTheCaller) {
  std::string message = fails(
      32, [](dragon_cpu_context *ctx) { dragon_cpu_warp_sync(ctx, 0xff); });
  EXPECT_NE(message.find("thread (8,0,0): __syncwarp with mask 0x000000ff, "
                         "which lacks the calling lane 8"),
            std::string::npos)
      << message;
}

TEST_F(Warp, AFailureStopsThreadsThatWait) {
  std::string message = fails(256, [](dragon_cpu_context *ctx) {
    if (ctx->tid[0] == 255)
      dragon_cpu_trap(ctx);
    dragon_cpu_barrier(ctx, 0, 0);
  });
  EXPECT_NE(message.find("thread (255,0,0): trap"), std::string::npos);
}

TEST_F(Warp, UnsupportedConstructIsSaid) {
  Status status = launchBody(*device, "k", true, Shape{{1, 1, 1}, {4, 1, 1}},
                             [](dragon_cpu_context *ctx) {
                               dragon_cpu_unsupported(ctx, "'wgmma' in 'k'");
                             });
  EXPECT_EQ(status.nativeCode(), 801);
  EXPECT_NE(status.message().find("'wgmma' in 'k'"), std::string::npos);
}

TEST_F(Warp, StacksAreDeepAndTheirEndIsFound) {
  run(64, [](dragon_cpu_context *ctx) {
    volatile char local[500 << 10]; // CUDA allows 512 KiB
    local[0] = 1;
    local[sizeof(local) - 1] = 1;
    dragon_cpu_barrier(ctx, 0, 0);
  });
  struct Deep {
    static int down(int n, volatile char *above) {
      volatile char frame[1024];
      frame[0] = above[0];
      return n ? down(n - 1, frame) + frame[0] : 0;
    }
  };
  std::string message = fails(1, [](dragon_cpu_context *) {
    volatile char start = 1;
    Deep::down(1 << 20, &start);
  });
  EXPECT_NE(message.find("more than 589824 bytes of local memory"),
            std::string::npos)
      << message;
}

TEST_F(Warp, CurrentContextIsTheRunningThreads) {
  run(8, [](dragon_cpu_context *ctx) {
    EXPECT_EQ(dragon_cpu_current(), ctx);
    dragon_cpu_barrier(ctx, 0, 0);
    EXPECT_EQ(dragon_cpu_current(), ctx);
  });
  EXPECT_EQ(dragon_cpu_current(), nullptr);
}

} // namespace
