//===- BlockScheduler.h - the threads of a block, on fibers -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the blocks of kernels with barriers or warp operations: every CUDA
// thread is a fiber, one runs at a time, and it runs until it waits for others
// or ends. What CUDA and PTX say of these operations:
//
//   barrier       Complete when all threads of the block that have not exited
//                 have arrived (or `count` of them, for bar.sync a, count),
//                 wherever in the code they are. An exit may complete it.
//   *_sync        Complete when all lanes of the mask that have not exited have
//                 arrived at an operation of the same kind with the same mask.
//                 Lanes outside of the mask go on; several masks of one warp
//                 may be under way at a time.
//   activemask    Lanes that arrive at the same place in the code before their
//                 warp can do nothing else form the answer: what converged
//                 hardware would say. Of several places the first in the code
//                 goes on, so that lanes meet again after a branch. Any answer
//                 is legal; this one is the same every time.
//
// Example: 64 threads, the first 32 return at once, the others meet at
// __syncthreads: after the 32nd exit the barrier expects 32, and the last of
// the others completes it.
//
// When no fiber can go on and some have not exited, they wait for each other
// for ever. That is an error that names the kernel, the block and who waits
// where; a GPU would hang.
//
// Threads: one scheduler belongs to one operating system thread.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_DEVICE_CPU_KERNELS_BLOCKSCHEDULER_H
#define DRAGON_RUNTIME_DEVICE_CPU_KERNELS_BLOCKSCHEDULER_H

#include "dragon/CompilerABI.h"
#include "runtime/device/Fiber.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace dragon {

class KernelThread;

/// The kinds of operation at which the lanes of a mask meet.
enum class WarpOp : uint8_t { Sync, Shuffle, Vote, Match, Redux, Matrix };
const char *nameOf(WarpOp op);

class BlockScheduler {
public:
  static constexpr unsigned MaxThreads = 1024;
  static constexpr unsigned WarpSize = 32;
  static constexpr unsigned MaxBarriers = 16;

  explicit BlockScheduler(KernelThread &owner);
  ~BlockScheduler();

  /// Runs blocks of the owner's launch until there are none.
  void runBlocks();

  // -- Called on the fiber of a thread of the block.
  struct Votes {
    uint32_t count;
    uint32_t all;
    uint32_t any;
  };
  Votes barrier(dragon_cpu_context *ctx, uint32_t id, uint32_t count,
                uint32_t predicate);
  /// bar.arrive: counts as arrived and goes on.
  void arrive(dragon_cpu_context *ctx, uint32_t id, uint32_t count);
  /// The lanes' values once all have arrived; valid until endMeeting.
  struct Meeting {
    uint32_t mask;
    uint32_t present; ///< lanes that took part
    uint64_t value[WarpSize];
    WarpOp op;
    uint32_t readers;
    Meeting *next;
  };
  Meeting &meet(dragon_cpu_context *ctx, WarpOp op, uint32_t mask,
                uint64_t value);
  void endMeeting(Meeting &meeting);
  uint32_t activeMask(dragon_cpu_context *ctx, const void *site);
  /// Lets the other ready threads run; false: there are none.
  bool yield(dragon_cpu_context *ctx);
  [[noreturn]] void exitThread(dragon_cpu_context *ctx);
  static unsigned laneOf(const dragon_cpu_context *ctx);

private:
  enum class Wait : uint8_t { Ready, Barrier, Meeting, ActiveMask, Exited };
  struct StackSlot {
    FiberStack stack;
    size_t below; // where fibers start: tops must not share cache sets
  };
  struct Thread {
    dragon_cpu_context context;
    Fiber fiber;
    StackSlot *stack = nullptr; // null: not started
    uint16_t index = 0;
    Wait wait = Wait::Ready;
    uint32_t mask = 0;          // activemask's answer
    const void *site = nullptr; // where activemask was asked
    Votes votes{};
    Thread *nextWaiting = nullptr;
  };
  struct Warp {
    uint32_t live = 0;     // lanes that have not exited
    uint32_t asking = 0;   // lanes waiting for activemask
    unsigned runnable = 0; // threads running or ready
    Meeting *meetings = nullptr;
  };
  struct Barrier {
    uint32_t arrived = 0;
    uint32_t count = 0; // 0: all
    Votes votes{};
    Thread *waiting = nullptr;
  };

  static Thread *threadOf(dragon_cpu_context *ctx) {
    return static_cast<Thread *>(ctx->thread);
  }
  void startBlock(const uint32_t ctaid[3]);
  void cleanUp();
  Thread *popReady();
  void makeReady(Thread &thread);
  void block(Thread &thread, Wait wait);
  void switchFrom(Thread &thread);
  void run(Thread &thread, Fiber &from);
  void settle(Warp &warp);
  Barrier &arriveAt(dragon_cpu_context *ctx, uint32_t id, uint32_t count,
                    uint32_t predicate);
  void completeIfFull(Barrier &barrier);
  void completeIfFull(Warp &warp, Meeting &meeting, Thread *last);
  StackSlot *takeStack();
  /// The caller stops afterwards, in a statement of its own: what lives on the
  /// stack then is never destroyed.
  void noteFailure(const dragon_cpu_context *ctx, const std::string &what);
  std::string describeDeadlock() const;
  static void threadMain(void *argument);

  KernelThread &Owner;
  std::unique_ptr<Thread[]> Threads; // MaxThreads
  unsigned NumThreads = 0;
  unsigned Live = 0;
  Warp Warps[MaxThreads / WarpSize];
  Barrier Barriers[MaxBarriers];
  uint16_t Ready[MaxThreads]; // ring
  unsigned ReadyHead = 0, ReadyCount = 0;
  std::vector<std::unique_ptr<Meeting>> AllMeetings;
  Meeting *FreeMeetings = nullptr;
  std::vector<std::unique_ptr<StackSlot>> AllStacks;
  std::vector<StackSlot *> FreeStacks;
  StackSlot *Departed = nullptr; // of the fiber that just left
};

} // namespace dragon

#endif // DRAGON_RUNTIME_DEVICE_CPU_KERNELS_BLOCKSCHEDULER_H
