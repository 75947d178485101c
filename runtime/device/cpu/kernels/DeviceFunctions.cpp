//===- DeviceFunctions.cpp - what lowered kernels call --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dragon_cpu_* functions of CompilerABI.h: barriers and warp operations
// with the semantics of PTX (BlockScheduler has the meeting, here is what the
// lanes make of it), and the rest of what CUDA gives device code.
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/kernels/DeviceFunctions.h"
#include "dragon/CompilerABI.h"
#include "runtime/device/cpu/kernels/BlockScheduler.h"
#include "runtime/device/cpu/kernels/DeviceMath.h"
#include "runtime/device/cpu/kernels/DevicePrintf.h"
#include "runtime/device/cpu/kernels/KernelRun.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <sched.h>
#include <string>
#include <x86intrin.h>

#define DRAGON_EXPORT extern "C" __attribute__((visibility("default")))

using namespace dragon;

namespace dragon {
void keepDeviceFunctions() {
  // One symbol of each other file of that kind.
  [[maybe_unused]] const void *volatile kept = nullptr;
  kept = reinterpret_cast<const void *>(&dragon_cpu_math_fns);
  kept = reinterpret_cast<const void *>(&dragon_cpu_runs_on);
  kept = reinterpret_cast<const void *>(&dragon_cpu_access);
  kept = reinterpret_cast<const void *>(&dragon_cpu_texture);
  kept = reinterpret_cast<const void *>(&dragon_cpu_matrix_load);
}
} // namespace dragon

namespace {

/// Notes why the launch fails. The caller stops in a statement of its own, when
/// its strings are gone: the stack is abandoned as it is.
void noteFailure(dragon_cpu_context *ctx, int code, const std::string &what) {
  KernelThread::current()->run().failIn(*ctx, code, what);
}
[[noreturn]] void stop() { KernelThread::current()->stop(); }

BlockScheduler &schedulerOf(dragon_cpu_context *ctx, const char *what) {
  if (!ctx->block) {
    noteFailure(
        ctx, KernelLaunchFailure,
        fmt::format("{} in a kernel that was lowered without fibers", what));
    stop();
  }
  return *static_cast<BlockScheduler *>(ctx->block);
}

using Meeting = BlockScheduler::Meeting;

/// Runs `make(meeting)` when all lanes of the mask have met.
template <typename Make>
auto withMeeting(dragon_cpu_context *ctx, WarpOp op, uint32_t mask,
                 uint64_t value, Make make) {
  BlockScheduler &scheduler = schedulerOf(ctx, nameOf(op));
  Meeting &meeting = scheduler.meet(ctx, op, mask, value);
  auto result = make(meeting);
  scheduler.endMeeting(meeting);
  return result;
}

template <typename Visit> void eachLane(uint32_t lanes, Visit visit) {
  for (; lanes; lanes &= lanes - 1)
    visit(static_cast<unsigned>(std::countr_zero(lanes)));
}

} // namespace

DRAGON_EXPORT uint32_t dragon_cpu_barrier(dragon_cpu_context *ctx,
                                          uint32_t kind, uint32_t predicate) {
  BlockScheduler::Votes votes =
      schedulerOf(ctx, "a barrier").barrier(ctx, 0, 0, predicate);
  switch (kind) {
  case 1:
    return votes.count;
  case 2:
    return votes.all;
  case 3:
    return votes.any;
  default:
    return 0;
  }
}

DRAGON_EXPORT void dragon_cpu_named_barrier(dragon_cpu_context *ctx,
                                            uint32_t id, uint32_t count) {
  schedulerOf(ctx, "a barrier").barrier(ctx, id, count, 0);
}

DRAGON_EXPORT void dragon_cpu_named_arrive(dragon_cpu_context *ctx, uint32_t id,
                                           uint32_t count) {
  schedulerOf(ctx, "a barrier").arrive(ctx, id, count);
}

DRAGON_EXPORT void dragon_cpu_warp_sync(dragon_cpu_context *ctx,
                                        uint32_t mask) {
  withMeeting(ctx, WarpOp::Sync, mask, 0, [](const Meeting &) { return 0; });
}

// PTX ISA, shfl.sync. `clamp` holds the bound in bits 0-4 and the segment mask
// in bits 8-12.
DRAGON_EXPORT uint32_t dragon_cpu_shuffle(dragon_cpu_context *ctx,
                                          uint32_t mode, uint32_t mask,
                                          uint32_t value, uint32_t lane,
                                          uint32_t clamp, uint32_t *inRange) {
  return withMeeting(ctx, WarpOp::Shuffle, mask, value,
                     [&](const Meeting &meeting) {
                       int self = static_cast<int>(BlockScheduler::laneOf(ctx));
                       int segment = static_cast<int>(clamp >> 8 & 31);
                       int bound = static_cast<int>(clamp & 31);
                       int offset = static_cast<int>(lane & 31);
                       int maxLane = (self & segment) | (bound & ~segment);
                       int minLane = self & segment;
                       int source = self;
                       bool inside = false;
                       switch (mode) {
                       case DRAGON_SHFL_UP:
                         source = self - offset;
                         inside = source >= maxLane;
                         break;
                       case DRAGON_SHFL_DOWN:
                         source = self + offset;
                         inside = source <= maxLane;
                         break;
                       case DRAGON_SHFL_BFLY:
                         source = self ^ offset;
                         inside = source <= maxLane;
                         break;
                       default:
                         source = minLane | (offset & ~segment);
                         inside = source <= maxLane;
                         break;
                       }
                       if (inRange)
                         *inRange = inside;
                       // A lane that does not take part has no value: undefined
                       // in PTX.
                       if (!inside || source < 0 || source > 31 ||
                           !(meeting.present >> source & 1))
                         source = self;
                       return static_cast<uint32_t>(meeting.value[source]);
                     });
}

DRAGON_EXPORT uint32_t dragon_cpu_vote(dragon_cpu_context *ctx, uint32_t mode,
                                       uint32_t mask, uint32_t predicate) {
  return withMeeting(
      ctx, WarpOp::Vote, mask, predicate != 0, [&](const Meeting &meeting) {
        uint32_t ballot = 0;
        eachLane(meeting.present, [&](unsigned lane) {
          ballot |= static_cast<uint32_t>(meeting.value[lane]) << lane;
        });
        switch (mode) {
        case DRAGON_VOTE_ALL:
          return uint32_t(ballot == meeting.present);
        case DRAGON_VOTE_ANY:
          return uint32_t(ballot != 0);
        case DRAGON_VOTE_UNI:
          return uint32_t(ballot == 0 || ballot == meeting.present);
        default:
          return ballot;
        }
      });
}

DRAGON_EXPORT uint32_t dragon_cpu_match(dragon_cpu_context *ctx, uint32_t mask,
                                        uint64_t value, uint32_t all,
                                        uint32_t *matched) {
  return withMeeting(
      ctx, WarpOp::Match, mask, value, [&](const Meeting &meeting) {
        uint32_t equal = 0;
        eachLane(meeting.present, [&](unsigned lane) {
          equal |= uint32_t(meeting.value[lane] == value) << lane;
        });
        if (!all)
          return equal;
        bool same = equal == meeting.present;
        if (matched)
          *matched = same;
        return same ? equal : 0u;
      });
}

DRAGON_EXPORT uint32_t dragon_cpu_redux(dragon_cpu_context *ctx, uint32_t op,
                                        uint32_t mask, uint32_t value) {
  return withMeeting(
      ctx, WarpOp::Redux, mask, value, [&](const Meeting &meeting) {
        uint32_t result = 0;
        bool first = true;
        eachLane(meeting.present, [&](unsigned lane) {
          uint32_t x = static_cast<uint32_t>(meeting.value[lane]);
          int32_t a = static_cast<int32_t>(result), b = static_cast<int32_t>(x);
          if (first)
            result = x;
          else if (op == DRAGON_REDUX_ADD)
            result += x;
          else if (op == DRAGON_REDUX_MIN)
            result = static_cast<uint32_t>(std::min(a, b));
          else if (op == DRAGON_REDUX_MAX)
            result = static_cast<uint32_t>(std::max(a, b));
          else if (op == DRAGON_REDUX_UMIN)
            result = std::min(result, x);
          else if (op == DRAGON_REDUX_UMAX)
            result = std::max(result, x);
          else if (op == DRAGON_REDUX_AND)
            result &= x;
          else if (op == DRAGON_REDUX_OR)
            result |= x;
          else
            result ^= x;
          first = false;
        });
        return result;
      });
}

DRAGON_EXPORT uint32_t dragon_cpu_activemask(dragon_cpu_context *ctx) {
  if (!ctx->block)
    return 1u << BlockScheduler::laneOf(ctx);
  return static_cast<BlockScheduler *>(ctx->block)
      ->activeMask(ctx, __builtin_return_address(0));
}

DRAGON_EXPORT void dragon_cpu_yield(dragon_cpu_context *ctx, uint32_t waits) {
  bool othersRan =
      ctx->block && static_cast<BlockScheduler *>(ctx->block)->yield(ctx);
  // Whom the loop waits for is in another block then, on another processor, or
  // the host. So it may be if all others wait as well.
  constexpr unsigned MostTurns = 64;
  static thread_local unsigned turns = 0;
  if (waits && (!othersRan || ++turns % MostTurns == 0))
    sched_yield();
}

DRAGON_EXPORT int32_t dragon_cpu_vprintf(dragon_cpu_context *,
                                         const char *format,
                                         const void *arguments) {
  std::string text;
  int taken = formatDevicePrintf(text, format, arguments);
  // One call, so that the lines of threads do not mix.
  if (!text.empty() && std::fwrite(text.data(), 1, text.size(), stdout) == 0)
    return -2;
  return taken;
}

DRAGON_EXPORT void dragon_cpu_assert_fail(dragon_cpu_context *ctx,
                                          const char *message, const char *file,
                                          uint32_t line, const char *function) {
  std::fflush(stdout);
  std::fprintf(stderr,
               "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion "
               "`%s` failed.\n",
               file, line, function, ctx->ctaid[0], ctx->ctaid[1],
               ctx->ctaid[2], ctx->tid[0], ctx->tid[1], ctx->tid[2], message);
  noteFailure(
      ctx, KernelAssert,
      fmt::format("assertion `{}` failed at {}:{}", message, file, line));
  stop();
}

DRAGON_EXPORT void dragon_cpu_trap(dragon_cpu_context *ctx) {
  noteFailure(ctx, KernelLaunchFailure, "trap");
  stop();
}

DRAGON_EXPORT void dragon_cpu_unsupported(dragon_cpu_context *ctx,
                                          const char *what) {
  noteFailure(ctx, KernelUnsupported, what);
  stop();
}

DRAGON_EXPORT void dragon_cpu_exit_thread(dragon_cpu_context *ctx) {
  schedulerOf(ctx, "exit of a thread").exitThread(ctx);
}

DRAGON_EXPORT void *dragon_cpu_frame(uint32_t thread, uint64_t bytes) {
  return KernelThread::current()->frame(thread, bytes);
}

DRAGON_EXPORT dragon_cpu_context *dragon_cpu_current(void) {
  KernelThread *thread = KernelThread::current();
  return thread ? thread->runningContext : nullptr;
}

DRAGON_EXPORT void *dragon_cpu_malloc(uint64_t bytes) {
  return bytes ? std::malloc(bytes) : nullptr;
}

DRAGON_EXPORT void dragon_cpu_free(void *pointer) { std::free(pointer); }

DRAGON_EXPORT uint64_t dragon_cpu_clock(void) { return __rdtsc(); }

DRAGON_EXPORT uint64_t dragon_cpu_globaltimer(void) {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u +
         static_cast<uint64_t>(now.tv_nsec);
}
