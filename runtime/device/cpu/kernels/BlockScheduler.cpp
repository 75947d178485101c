//===- BlockScheduler.cpp - the threads of a block, on fibers -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/kernels/BlockScheduler.h"
#include "runtime/device/cpu/kernels/KernelRun.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace dragon {

namespace {
// CUDA allows a thread 512 KiB of local memory; committed when touched.
constexpr size_t ThreadStackBytes = 576 << 10;
} // namespace

const char *nameOf(WarpOp op) {
  switch (op) {
  case WarpOp::Sync:
    return "__syncwarp";
  case WarpOp::Shuffle:
    return "a shuffle";
  case WarpOp::Vote:
    return "a vote";
  case WarpOp::Match:
    return "a match";
  case WarpOp::Redux:
    return "a reduction";
  case WarpOp::Matrix:
    return "a product of matrices";
  }
  return "?";
}

BlockScheduler::BlockScheduler(KernelThread &owner)
    : Owner(owner), Threads(new Thread[MaxThreads]) {}

BlockScheduler::~BlockScheduler() {
  for (const auto &slot : AllStacks)
    FiberStack::free(slot->stack);
}

void BlockScheduler::runBlocks() {
  KernelRun &launch = Owner.run();
  uint32_t ctaid[3];
  while (launch.nextBlock(ctaid)) {
    startBlock(ctaid);
    // Returns when no fiber is ready, or when the launch failed.
    if (Thread *first = popReady())
      run(*first, Owner.native);
    Owner.runningStack = nullptr;
    Owner.runningFiber = nullptr;
    Owner.runningContext = nullptr;
    if (Live && !launch.failed())
      launch.fail(KernelLaunchFailure, describeDeadlock());
    cleanUp();
  }
}

void BlockScheduler::startBlock(const uint32_t ctaid[3]) {
  KernelRun &launch = Owner.run();
  if (launch.poisonShared())
    std::memset(Owner.shared, 0xA5,
                launch.staticBytes() + launch.request().dynamicSharedBytes);
  const uint32_t *block = launch.request().block;
  NumThreads = block[0] * block[1] * block[2];
  Live = NumThreads;
  ReadyHead = 0;
  ReadyCount = 0;
  for (Barrier &barrier : Barriers)
    barrier = Barrier();
  for (unsigned w = 0; w < MaxThreads / WarpSize; ++w)
    Warps[w] = Warp();
  unsigned index = 0;
  for (uint32_t z = 0; z < block[2]; ++z)
    for (uint32_t y = 0; y < block[1]; ++y)
      for (uint32_t x = 0; x < block[0]; ++x, ++index) {
        Thread &thread = Threads[index];
        Owner.initialise(thread.context, ctaid);
        thread.context.tid[0] = x;
        thread.context.tid[1] = y;
        thread.context.tid[2] = z;
        thread.context.block = this;
        thread.context.thread = &thread;
        thread.index = static_cast<uint16_t>(index);
        thread.wait = Wait::Ready;
        thread.stack = nullptr;
        Warps[index / WarpSize].live |= 1u << (index % WarpSize);
        makeReady(thread);
      }
}

/// Threads of a block that failed are abandoned where they are.
void BlockScheduler::cleanUp() {
  if (Departed)
    FreeStacks.push_back(Departed);
  Departed = nullptr;
  if (!Live)
    return;
  for (unsigned i = 0; i < NumThreads; ++i) {
    Thread &thread = Threads[i];
    if (thread.wait != Wait::Exited && thread.stack) {
      thread.fiber.abandon();
      FreeStacks.push_back(thread.stack);
    }
  }
  // Meetings that will not take place.
  FreeMeetings = nullptr;
  for (const auto &meeting : AllMeetings) {
    meeting->next = FreeMeetings;
    FreeMeetings = meeting.get();
  }
}

BlockScheduler::StackSlot *BlockScheduler::takeStack() {
  if (!FreeStacks.empty()) {
    StackSlot *slot = FreeStacks.back();
    FreeStacks.pop_back();
    return slot;
  }
  FiberStack stack = FiberStack::allocate(ThreadStackBytes);
  if (!stack.base)
    return nullptr;
  auto slot = std::make_unique<StackSlot>();
  slot->stack = stack;
  slot->below = AllStacks.size() % 61 * 192;
  AllStacks.push_back(std::move(slot));
  return AllStacks.back().get();
}

BlockScheduler::Thread *BlockScheduler::popReady() {
  if (!ReadyCount)
    return nullptr;
  Thread &thread = Threads[Ready[ReadyHead]];
  ReadyHead = (ReadyHead + 1) % MaxThreads;
  --ReadyCount;
  return &thread;
}

void BlockScheduler::makeReady(Thread &thread) {
  thread.wait = Wait::Ready;
  Ready[(ReadyHead + ReadyCount) % MaxThreads] = thread.index;
  ++ReadyCount;
  ++Warps[thread.index / WarpSize].runnable;
}

/// Switches from the running fiber to a ready thread.
void BlockScheduler::run(Thread &thread, Fiber &from) {
  if (!thread.stack) {
    thread.stack = takeStack();
    if (!thread.stack) {
      Owner.run().fail(KernelLaunchFailure,
                       fmt::format("kernel '{}': no memory for the stacks of "
                                   "{} threads",
                                   Owner.run().name(), NumThreads));
      if (&from != &Owner.native)
        Owner.stop();
      return;
    }
    thread.fiber.prepare(thread.stack->stack, threadMain, &thread,
                         thread.stack->below);
  }
  Owner.runningStack = &thread.stack->stack;
  Owner.runningFiber = &thread.fiber;
  Owner.runningContext = &thread.context;
  if (&from == &thread.fiber)
    return; // it waited for nobody but itself
  Fiber::switchTo(from, thread.fiber);
  if (Departed) {
    FreeStacks.push_back(Departed);
    Departed = nullptr;
  }
}

void BlockScheduler::threadMain(void *argument) {
  auto &thread = *static_cast<Thread *>(argument);
  auto &scheduler = *static_cast<BlockScheduler *>(thread.context.block);
  if (scheduler.Departed) {
    scheduler.FreeStacks.push_back(scheduler.Departed);
    scheduler.Departed = nullptr;
  }
  KernelRun &launch = scheduler.Owner.run();
  launch.kernel().entry(&thread.context, launch.request().args);
  scheduler.exitThread(&thread.context);
}

/// Gives the processor away; returns when `thread` runs again.
void BlockScheduler::switchFrom(Thread &thread) {
  if (Owner.run().failed())
    Owner.stop();
  Thread *next = popReady();
  if (!next)
    Owner.stop(); // a deadlock: runBlocks() says so
  run(*next, thread.fiber);
}

void BlockScheduler::block(Thread &thread, Wait wait) {
  thread.wait = wait;
  Warp &warp = Warps[thread.index / WarpSize];
  --warp.runnable;
  settle(warp);
  switchFrom(thread);
}

/// Answers activemask when the warp can do nothing else: where its lanes wait
/// in several places, at the first in the code. A branch comes before what
/// follows it, so those who took it catch up with those who did not.
void BlockScheduler::settle(Warp &warp) {
  if (warp.runnable || !warp.asking)
    return;
  unsigned first = static_cast<unsigned>(&warp - Warps) * WarpSize;
  const void *site = nullptr;
  uint32_t group = 0;
  for (unsigned lane = 0; lane < WarpSize; ++lane) {
    if (!(warp.asking >> lane & 1))
      continue;
    const void *at = Threads[first + lane].site;
    if (!group || std::less<>()(at, site)) {
      site = at;
      group = 0;
    }
    if (at == site)
      group |= 1u << lane;
  }
  warp.asking &= ~group;
  for (unsigned lane = 0; lane < WarpSize; ++lane)
    if (group >> lane & 1) {
      Threads[first + lane].mask = group;
      makeReady(Threads[first + lane]);
    }
}

unsigned BlockScheduler::laneOf(const dragon_cpu_context *ctx) {
  return (ctx->tid[0] +
          ctx->ntid[0] * (ctx->tid[1] + ctx->ntid[1] * ctx->tid[2])) %
         WarpSize;
}

void BlockScheduler::noteFailure(const dragon_cpu_context *ctx,
                                 const std::string &what) {
  Owner.run().failIn(*ctx, KernelLaunchFailure, what);
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

void BlockScheduler::completeIfFull(Barrier &barrier) {
  uint32_t expected = barrier.count ? barrier.count : Live;
  if (!barrier.arrived || barrier.arrived < expected)
    return;
  // In order of arrival, so that the next phase runs like this one.
  Thread *reversed = nullptr;
  for (Thread *waiting = barrier.waiting; waiting;) {
    Thread *next = waiting->nextWaiting;
    waiting->nextWaiting = reversed;
    reversed = waiting;
    waiting = next;
  }
  for (; reversed; reversed = reversed->nextWaiting) {
    reversed->votes = barrier.votes;
    makeReady(*reversed);
  }
  barrier = Barrier();
}

BlockScheduler::Barrier &BlockScheduler::arriveAt(dragon_cpu_context *ctx,
                                                  uint32_t id, uint32_t count,
                                                  uint32_t predicate) {
  if (id >= MaxBarriers) {
    noteFailure(ctx, fmt::format("barrier {} does not exist (0 to {} do)", id,
                                 MaxBarriers - 1));
    Owner.stop();
  }
  Barrier &barrier = Barriers[id];
  if (barrier.arrived && barrier.count != count) {
    noteFailure(
        ctx, fmt::format("barrier {} is used with {} threads by some and {} by "
                         "others",
                         id, barrier.count, count));
    Owner.stop();
  }
  if (!barrier.arrived)
    barrier.votes.all = 1;
  barrier.count = count;
  ++barrier.arrived;
  barrier.votes.count += predicate != 0;
  barrier.votes.any |= predicate != 0;
  barrier.votes.all &= predicate != 0;
  return barrier;
}

void BlockScheduler::arrive(dragon_cpu_context *ctx, uint32_t id,
                            uint32_t count) {
  completeIfFull(arriveAt(ctx, id, count, 0));
}

BlockScheduler::Votes BlockScheduler::barrier(dragon_cpu_context *ctx,
                                              uint32_t id, uint32_t count,
                                              uint32_t predicate) {
  Thread &thread = *threadOf(ctx);
  Barrier &barrier = arriveAt(ctx, id, count, predicate);
  thread.nextWaiting = barrier.waiting;
  barrier.waiting = &thread;
  // The last one takes its place in the queue like the others.
  thread.wait = Wait::Barrier;
  --Warps[thread.index / WarpSize].runnable;
  completeIfFull(barrier);
  settle(Warps[thread.index / WarpSize]);
  switchFrom(thread);
  return thread.votes;
}

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

/// `last`: the thread that runs and need not be woken.
void BlockScheduler::completeIfFull(Warp &warp, Meeting &meeting,
                                    Thread *last) {
  if (meeting.mask & warp.live & ~meeting.present)
    return;
  for (Meeting **link = &warp.meetings; *link; link = &(*link)->next)
    if (*link == &meeting) {
      *link = meeting.next;
      break;
    }
  unsigned first = static_cast<unsigned>(&warp - Warps) * WarpSize;
  for (unsigned lane = 0; lane < WarpSize; ++lane) {
    if (!(meeting.present >> lane & 1))
      continue;
    ++meeting.readers;
    if (&Threads[first + lane] != last)
      makeReady(Threads[first + lane]);
  }
}

BlockScheduler::Meeting &BlockScheduler::meet(dragon_cpu_context *ctx,
                                              WarpOp op, uint32_t mask,
                                              uint64_t value) {
  Thread &thread = *threadOf(ctx);
  unsigned lane = thread.index % WarpSize;
  Warp &warp = Warps[thread.index / WarpSize];
  if (!(mask >> lane & 1)) {
    noteFailure(
        ctx,
        fmt::format("{} with mask {:#010x}, which lacks the calling lane {}",
                    nameOf(op), mask, lane));
    Owner.stop();
  }
  Meeting *meeting = warp.meetings;
  while (meeting && (meeting->op != op || meeting->mask != mask))
    meeting = meeting->next;
  if (!meeting) {
    if (!FreeMeetings) {
      AllMeetings.push_back(std::make_unique<Meeting>());
      FreeMeetings = AllMeetings.back().get();
      FreeMeetings->next = nullptr;
    }
    meeting = FreeMeetings;
    FreeMeetings = meeting->next;
    meeting->mask = mask;
    meeting->op = op;
    meeting->present = 0;
    meeting->readers = 0;
    meeting->next = warp.meetings;
    warp.meetings = meeting;
  }
  meeting->present |= 1u << lane;
  meeting->value[lane] = value;
  if ((mask & warp.live & ~meeting->present) == 0) {
    completeIfFull(warp, *meeting, &thread);
  } else {
    block(thread, Wait::Meeting);
  }
  return *meeting;
}

void BlockScheduler::endMeeting(Meeting &meeting) {
  if (--meeting.readers)
    return;
  meeting.next = FreeMeetings;
  FreeMeetings = &meeting;
}

uint32_t BlockScheduler::activeMask(dragon_cpu_context *ctx, const void *site) {
  Thread &thread = *threadOf(ctx);
  thread.site = site;
  Warps[thread.index / WarpSize].asking |= 1u << (thread.index % WarpSize);
  block(thread, Wait::ActiveMask);
  return thread.mask;
}

bool BlockScheduler::yield(dragon_cpu_context *ctx) {
  Thread &thread = *threadOf(ctx);
  if (!ReadyCount && !Owner.run().failed())
    return false;
  --Warps[thread.index / WarpSize].runnable;
  makeReady(thread);
  switchFrom(thread);
  return true;
}

void BlockScheduler::exitThread(dragon_cpu_context *ctx) {
  Thread &thread = *threadOf(ctx);
  Warp &warp = Warps[thread.index / WarpSize];
  thread.wait = Wait::Exited;
  warp.live &= ~(1u << (thread.index % WarpSize));
  --warp.runnable;
  --Live;
  for (Meeting *meeting = warp.meetings; meeting;) {
    Meeting *next = meeting->next;
    completeIfFull(warp, *meeting, nullptr);
    meeting = next;
  }
  for (Barrier &barrier : Barriers)
    if (barrier.arrived && !barrier.count)
      completeIfFull(barrier);
  settle(warp);
  Departed = thread.stack;
  Thread *next = Owner.run().failed() ? nullptr : popReady();
  if (!next)
    Owner.stop();
  if (!next->stack) {
    next->stack = takeStack();
    if (!next->stack) {
      noteFailure(ctx, fmt::format("no memory for the stacks of {} threads",
                                   NumThreads));
      Owner.stop();
    }
    next->fiber.prepare(next->stack->stack, threadMain, next,
                        next->stack->below);
  }
  Owner.runningStack = &next->stack->stack;
  Owner.runningFiber = &next->fiber;
  Owner.runningContext = &next->context;
  Fiber::leave(thread.fiber, next->fiber);
}

//===----------------------------------------------------------------------===//
// Threads that wait for ever
//===----------------------------------------------------------------------===//

std::string BlockScheduler::describeDeadlock() const {
  const dragon_cpu_context *ctx = nullptr;
  std::string waits;
  auto add = [&](const std::string &what) {
    if (!waits.empty())
      waits += ", ";
    waits += what;
  };
  for (unsigned id = 0; id < MaxBarriers; ++id) {
    const Barrier &barrier = Barriers[id];
    if (barrier.arrived)
      add(fmt::format("{} of {} threads are at barrier {}", barrier.arrived,
                      barrier.count ? barrier.count : Live, id));
  }
  for (unsigned i = 0; i < NumThreads && !ctx; ++i)
    if (Threads[i].wait != Wait::Exited)
      ctx = &Threads[i].context;
  for (unsigned w = 0; w < MaxThreads / WarpSize; ++w)
    for (const Meeting *meeting = Warps[w].meetings; meeting;
         meeting = meeting->next)
      add(fmt::format("lanes {:#010x} of warp {} are in {} with mask {:#010x}",
                      meeting->present, w, nameOf(meeting->op), meeting->mask));
  return fmt::format(
      "kernel '{}', block ({},{},{}): its threads wait for each other for "
      "ever: {}; all threads that have not exited must reach a barrier, and "
      "all lanes of a mask its operation",
      Owner.run().name(), ctx->ctaid[0], ctx->ctaid[1], ctx->ctaid[2], waits);
}

} // namespace dragon
