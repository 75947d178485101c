//===- Fiber.cpp - stacks and the switch between them ---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/Fiber.h"
#include "runtime/base/Rounding.h"

#include <atomic>
#include <boost/context/detail/fcontext.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define DRAGON_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define DRAGON_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define DRAGON_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define DRAGON_TSAN 1
#endif
#ifdef DRAGON_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef DRAGON_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace dragon {

namespace ctx = boost::context::detail;

namespace {

long guardAllowance() {
  long limit = 65530;
  std::ifstream("/proc/sys/vm/max_map_count") >> limit;
  if (limit <= 0)
    limit = 65530;
  return limit / 8; // each guard splits one mapping into two
}

std::atomic<long> guardsLeft{guardAllowance()};

} // namespace

size_t FiberStack::guardBytes() { return 64 << 10; }

FiberStack FiberStack::allocate(size_t bytes) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t guard = guardBytes();
  bytes = roundUp(bytes, page);
  void *memory =
      mmap(nullptr, bytes + guard, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED)
    return {};
  FiberStack stack;
  stack.base = static_cast<char *>(memory) + guard;
  stack.bytes = bytes;
  if (guardsLeft.fetch_sub(1) > 0)
    stack.guarded = mprotect(memory, guard, PROT_NONE) == 0;
  if (!stack.guarded)
    guardsLeft.fetch_add(1);
  return stack;
}

void FiberStack::free(const FiberStack &stack) {
  munmap(static_cast<char *>(stack.base) - guardBytes(),
         stack.bytes + guardBytes());
  if (stack.guarded)
    guardsLeft.fetch_add(1);
}

/// The two halves of a switch, where Boost's types are known.
struct FiberEntry {
  static void run(ctx::transfer_t transfer) {
    auto *self = static_cast<Fiber *>(transfer.data);
    self->arrived(transfer.fctx);
    self->Start(self->Argument);
    std::abort(); // a fiber's function leaves, it does not return
  }
};

Fiber::~Fiber() { abandon(); }

void Fiber::prepare(const FiberStack &stack, Function function, void *argument,
                    size_t below) {
  abandon();
  Start = function;
  Argument = argument;
  StackBottom = stack.base;
  StackBytes = stack.bytes;
#ifdef DRAGON_ASAN
  // What an abandoned fiber left poisoned.
  __asan_unpoison_memory_region(stack.base, stack.bytes);
#endif
#ifdef DRAGON_TSAN
  Tsan = __tsan_create_fiber(0);
  OwnsTsan = true;
#endif
  Context = ctx::make_fcontext(static_cast<char *>(stack.top()) - below,
                               stack.bytes - below, &FiberEntry::run);
}

void Fiber::abandon() {
#ifdef DRAGON_TSAN
  if (OwnsTsan && Tsan)
    __tsan_destroy_fiber(Tsan);
#endif
  Tsan = nullptr;
  OwnsTsan = false;
  Context = nullptr;
  FakeStack = nullptr;
}

void Fiber::arrived(void *context) {
  Previous->Context = context;
#ifdef DRAGON_ASAN
  __sanitizer_finish_switch_fiber(FakeStack, &Previous->StackBottom,
                                  &Previous->StackBytes);
#endif
}

void Fiber::jump(Fiber &from, Fiber &to, bool last) {
#ifdef DRAGON_ASAN
  __sanitizer_start_switch_fiber(last ? nullptr : &from.FakeStack,
                                 to.StackBottom, to.StackBytes);
#endif
#ifdef DRAGON_TSAN
  if (!from.OwnsTsan)
    from.Tsan = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(to.Tsan, 0);
#endif
  (void)last;
  to.Previous = &from;
  ctx::transfer_t back = ctx::jump_fcontext(to.Context, &to);
  static_cast<Fiber *>(back.data)->arrived(back.fctx);
}

void Fiber::switchTo(Fiber &from, Fiber &to) { jump(from, to, false); }

void Fiber::leave(Fiber &from, Fiber &to) {
  jump(from, to, true);
  std::abort(); // nobody switches back to a fiber that left
}

} // namespace dragon
