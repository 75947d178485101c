//===- KernelHarness.h - runs lowered kernels in a test ---------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The smallest thing that can run a module made by dragon-cpu-lower: one thread
// of the processor, blocks one after the other, fibers by ucontext, no memory
// management. Tests of the lowering use it, so that they say nothing about the
// runtime.
//
// A test is one file: its kernels for the device compiler, and under
// `#ifndef __CUDA__` a main that launches them and compares.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_KERNELHARNESS_H
#define DRAGON_TEST_KERNELHARNESS_H

#include "dragon/CompilerABI.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <ucontext.h>
#include <vector>

extern "C" const dragon_cpu_module dragon_cpu_module_0;

namespace harness {

enum class State { Ready, AtBarrier, AtWarp, Done };

struct Thread {
  ucontext_t fiber;
  State state = State::Ready;
  uint32_t index[3];
  uint32_t mask = 0;   // whom it waits for in its warp
  uint64_t posted = 0; // its operand
};

inline std::vector<Thread> threads;
inline Thread *running = nullptr;
inline ucontext_t scheduler;
inline dragon_cpu_context context;
inline dragon_cpu_entry entry;
inline void *const *arguments;
inline uint32_t barrierKind, barrierResult;

[[noreturn]] inline void fail(const char *what) {
  printf("%s\n", what);
  exit(1);
}

inline void wait(State state) {
  running->state = state;
  swapcontext(&running->fiber, &scheduler);
}

inline unsigned lane() { return (running - threads.data()) % 32; }

/// Lane `l` of the running thread's warp, or null.
inline Thread *peer(unsigned l) {
  size_t number = (running - threads.data()) / 32 * 32 + l;
  return number < threads.size() ? &threads[number] : nullptr;
}

/// The lanes of mask show `value` to each other: `look` runs when all have.
template <typename Look>
uint64_t exchange(uint32_t mask, uint64_t value, Look look) {
  running->posted = value;
  running->mask = mask;
  wait(State::AtWarp);
  uint64_t result = look();
  wait(State::AtWarp);
  return result;
}

/// Lanes of mask whose value satisfies `holds`.
template <typename Holds> uint32_t lanes(uint32_t mask, Holds holds) {
  uint32_t result = 0;
  for (unsigned l = 0; l < 32; ++l)
    if (mask >> l & 1 && peer(l) && holds(peer(l)->posted))
      result |= 1u << l;
  return result;
}

inline void runThread() {
  entry(&context, arguments);
  wait(State::Done);
}

/// Lets warps go on whose waiting lanes are complete.
inline bool releaseWarps() {
  bool released = false;
  for (size_t first = 0; first < threads.size(); first += 32)
    for (size_t t = first; t < first + 32 && t < threads.size(); ++t) {
      if (threads[t].state != State::AtWarp)
        continue;
      uint32_t mask = threads[t].mask;
      std::vector<Thread *> group;
      bool complete = true;
      for (unsigned l = 0; l < 32 && first + l < threads.size(); ++l) {
        Thread &other = threads[first + l];
        if (!(mask >> l & 1) || other.state == State::Done)
          continue;
        complete &= other.state == State::AtWarp && other.mask == mask;
        group.push_back(&other);
      }
      if (complete)
        for (Thread *member : group)
          member->state = State::Ready;
      released |= complete;
    }
  return released;
}

inline bool releaseBarrier() {
  uint32_t count = 0, all = 1, any = 0;
  for (Thread &t : threads) {
    if (t.state == State::Done)
      continue;
    if (t.state != State::AtBarrier)
      return false;
    count += t.posted != 0;
    all &= t.posted != 0;
    any |= t.posted != 0;
  }
  barrierResult = barrierKind == 1 ? count : barrierKind == 2 ? all : any;
  for (Thread &t : threads)
    if (t.state == State::AtBarrier)
      t.state = State::Ready;
  return true;
}

inline void runFibers(unsigned count) {
  static std::vector<std::vector<char>> stacks;
  while (stacks.size() < count)
    stacks.emplace_back(128 << 10);
  threads.assign(count, {});
  for (unsigned i = 0; i < count; ++i) {
    Thread &t = threads[i];
    t.index[0] = i % context.ntid[0];
    t.index[1] = i / context.ntid[0] % context.ntid[1];
    t.index[2] = i / context.ntid[0] / context.ntid[1];
    getcontext(&t.fiber);
    t.fiber.uc_stack.ss_sp = stacks[i].data();
    t.fiber.uc_stack.ss_size = stacks[i].size();
    makecontext(&t.fiber, runThread, 0);
  }
  while (true) {
    bool ran = false, alive = false;
    for (Thread &t : threads)
      if (t.state == State::Ready) {
        running = &t;
        memcpy(context.tid, t.index, sizeof t.index);
        swapcontext(&scheduler, &t.fiber);
        ran = true;
      }
    for (Thread &t : threads)
      alive |= t.state != State::Done;
    if (!alive)
      return;
    bool released = releaseWarps();
    released |= releaseBarrier();
    if (!ran && !released)
      fail("deadlock");
  }
}

struct Size {
  uint32_t x = 1, y = 1, z = 1;
};

inline const dragon_cpu_kernel &findKernel(const std::string &name) {
  for (uint32_t i = 0; i < dragon_cpu_module_0.num_kernels; ++i)
    if (name == dragon_cpu_module_0.kernels[i].name)
      return dragon_cpu_module_0.kernels[i];
  fail(("no kernel " + name).c_str());
}

/// The storage of a __device__ variable.
template <typename T> T &variable(const std::string &name) {
  for (uint64_t i = 0; i < dragon_cpu_module_0.num_variables; ++i) {
    const dragon_cpu_variable &v = dragon_cpu_module_0.variables[i];
    if (name == v.name && v.bytes == sizeof(T))
      return *static_cast<T *>(v.address);
  }
  fail(("no variable " + name).c_str());
}

/// launch("kernel", grid, block, dynamic shared bytes, arguments...)
template <typename... Args>
void launch(const char *name, Size grid, Size block, uint32_t dynamic,
            Args... args) {
  const dragon_cpu_kernel &kernel = findKernel(name);
  uint32_t fixed = (kernel.static_shared_bytes + 127) / 128 * 128;
  std::vector<char> shared(fixed + dynamic + 128);
  void *pointers[] = {&args..., nullptr};
  arguments = pointers;
  entry = kernel.entry;
  for (uint32_t z = 0; z < grid.z; ++z)
    for (uint32_t y = 0; y < grid.y; ++y)
      for (uint32_t x = 0; x < grid.x; ++x) {
        // Shared memory has no contents at first.
        memset(shared.data(), 0xcd, shared.size());
        auto begin = (reinterpret_cast<uintptr_t>(shared.data()) + 127) & -128;
        context = {{0, 0, 0},
                   {x, y, z},
                   {block.x, block.y, block.z},
                   {grid.x, grid.y, grid.z},
                   reinterpret_cast<void *>(begin),
                   fixed,
                   dynamic,
                   nullptr,
                   nullptr};
        threads.clear();
        if (kernel.flags & DRAGON_CPU_NEEDS_FIBERS)
          runFibers(block.x * block.y * block.z);
        else
          kernel.entry(&context, pointers);
      }
}

inline int failures = 0;

template <typename A, typename B>
void equal(const char *what, size_t index, A got, B want) {
  auto x = static_cast<double>(got), y = static_cast<double>(want);
  if (x == y || (std::isnan(x) && std::isnan(y)))
    return;
  if (failures++ < 20)
    printf("%s[%zu]: got %.17g, want %.17g\n", what, index, x, y);
}

inline int finish() {
  printf(failures ? "%d failures\n" : "all right\n", failures);
  return failures != 0;
}

} // namespace harness

extern "C" {
__attribute__((used)) inline uint32_t
dragon_cpu_barrier(dragon_cpu_context *, uint32_t kind, uint32_t predicate) {
  harness::barrierKind = kind;
  harness::running->posted = predicate;
  harness::wait(harness::State::AtBarrier);
  return kind == 0 ? 0 : harness::barrierResult;
}
__attribute__((used)) inline void dragon_cpu_named_barrier(dragon_cpu_context *,
                                                           uint32_t, uint32_t) {
  harness::fail("named barrier");
}
__attribute__((used)) inline void dragon_cpu_named_arrive(dragon_cpu_context *,
                                                          uint32_t, uint32_t) {
  harness::fail("named barrier");
}
__attribute__((used)) inline void dragon_cpu_warp_sync(dragon_cpu_context *,
                                                       uint32_t mask) {
  harness::exchange(mask, 0, [] { return 0; });
}
__attribute__((used)) inline uint32_t
dragon_cpu_shuffle(dragon_cpu_context *, uint32_t mode, uint32_t mask,
                   uint32_t value, uint32_t b, uint32_t c, uint32_t *inRange) {
  return harness::exchange(mask, value, [&]() -> uint32_t {
    int lane = harness::lane(), segment = c >> 8 & 31, clamp = c & 31;
    int step = b & 31;
    int last = (lane & segment) | (clamp & ~segment), first = lane & segment;
    int from = mode == DRAGON_SHFL_UP     ? lane - step
               : mode == DRAGON_SHFL_DOWN ? lane + step
               : mode == DRAGON_SHFL_BFLY ? lane ^ step
                                          : first | (step & ~segment);
    bool inside = mode == DRAGON_SHFL_UP ? from >= last : from <= last;
    if (inRange)
      *inRange = inside;
    return harness::peer(inside ? from : lane)->posted;
  });
}
__attribute__((used)) inline uint32_t dragon_cpu_vote(dragon_cpu_context *,
                                                      uint32_t mode,
                                                      uint32_t mask,
                                                      uint32_t predicate) {
  return harness::exchange(mask, predicate, [&]() -> uint32_t {
    uint32_t set = harness::lanes(mask, [](uint64_t v) { return v != 0; });
    return mode == DRAGON_VOTE_ALL   ? set == mask
           : mode == DRAGON_VOTE_ANY ? set != 0
           : mode == DRAGON_VOTE_UNI ? set == 0 || set == mask
                                     : set;
  });
}
__attribute__((used)) inline uint32_t
dragon_cpu_match(dragon_cpu_context *, uint32_t mask, uint64_t value,
                 uint32_t all, uint32_t *matched) {
  return harness::exchange(mask, value, [&]() -> uint32_t {
    uint32_t same =
        harness::lanes(mask, [&](uint64_t v) { return v == value; });
    if (!all)
      return same;
    if (matched)
      *matched = same == mask;
    return same == mask ? mask : 0;
  });
}
__attribute__((used)) inline uint32_t dragon_cpu_redux(dragon_cpu_context *,
                                                       uint32_t op,
                                                       uint32_t mask,
                                                       uint32_t value) {
  return harness::exchange(mask, value, [&]() -> uint32_t {
    bool first = true;
    uint32_t r = 0;
    harness::lanes(mask, [&](uint64_t wide) {
      auto v = static_cast<uint32_t>(wide);
      auto s = static_cast<int32_t>(v), t = static_cast<int32_t>(r);
      r = first                     ? v
          : op == DRAGON_REDUX_ADD  ? r + v
          : op == DRAGON_REDUX_MIN  ? (s < t ? v : r)
          : op == DRAGON_REDUX_MAX  ? (s > t ? v : r)
          : op == DRAGON_REDUX_UMIN ? (v < r ? v : r)
          : op == DRAGON_REDUX_UMAX ? (v > r ? v : r)
          : op == DRAGON_REDUX_AND  ? r & v
          : op == DRAGON_REDUX_OR   ? r | v
                                    : r ^ v;
      first = false;
      return false;
    });
    return r;
  });
}
__attribute__((used)) inline uint32_t
dragon_cpu_activemask(dragon_cpu_context *) {
  return 1u << harness::lane();
}
__attribute__((used)) inline void dragon_cpu_yield(dragon_cpu_context *,
                                                   uint32_t) {
  if (!harness::threads.empty())
    harness::wait(harness::State::Ready);
}
__attribute__((used)) inline int32_t
dragon_cpu_vprintf(dragon_cpu_context *, const char *, const void *) {
  return 0;
}
__attribute__((used)) inline void dragon_cpu_assert_fail(dragon_cpu_context *,
                                                         const char *message,
                                                         const char *, uint32_t,
                                                         const char *) {
  harness::fail(message);
}
__attribute__((used)) inline void dragon_cpu_trap(dragon_cpu_context *) {
  harness::fail("trap");
}
__attribute__((used)) inline void dragon_cpu_unsupported(dragon_cpu_context *,
                                                         const char *what) {
  harness::fail(what);
}
__attribute__((used)) inline void dragon_cpu_exit_thread(dragon_cpu_context *) {
  harness::wait(harness::State::Done);
}
__attribute__((used)) inline dragon_cpu_context *dragon_cpu_current(void) {
  return &harness::context;
}
__attribute__((used)) inline void *dragon_cpu_frame(uint32_t thread,
                                                   uint64_t bytes) {
  // More than is asked for between two, so that they stay where they are.
  static std::vector<char> frames(size_t(64) << 20);
  const uint64_t stride = (bytes + 127) / 64 * 64;
  auto begin = (reinterpret_cast<uintptr_t>(frames.data()) + 63) & -64;
  if ((thread + 1) * stride + 64 > frames.size())
    harness::fail("frames are larger than expected");
  return reinterpret_cast<void *>(begin + thread * stride);
}
__attribute__((used)) inline void *dragon_cpu_malloc(uint64_t bytes) {
  return malloc(bytes);
}
__attribute__((used)) inline void dragon_cpu_free(void *pointer) {
  free(pointer);
}
__attribute__((used)) inline uint64_t dragon_cpu_clock(void) { return 1; }
__attribute__((used)) inline uint64_t dragon_cpu_globaltimer(void) { return 1; }
}

#endif // DRAGON_TEST_KERNELHARNESS_H
