//===- Fiber.h - stacks and the switch between them -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fiber is a stack and a place in the code: Boost.Context's fcontext with
// what the sanitizers need to follow it. Unlike boost::context::fiber a fiber
// switches to any other, and one that is abandoned in the middle costs nothing:
// kernels have no destructors to run.
//
// Threads: a fiber stays on the thread that prepared it.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_DEVICE_FIBER_H
#define DRAGON_RUNTIME_DEVICE_FIBER_H

#include <cstddef>
#include <cstdint>

namespace dragon {

/// A stack of its own mapping, with a guard below where the process can have
/// one more mapping (see FiberStack::allocate).
struct FiberStack {
  void *base = nullptr; ///< lowest usable address
  size_t bytes = 0;
  bool guarded = false;

  void *top() const { return static_cast<char *>(base) + bytes; }
  bool contains(uintptr_t address) const {
    return address >= reinterpret_cast<uintptr_t>(base) &&
           address < reinterpret_cast<uintptr_t>(base) + bytes;
  }
  /// Memory is committed when touched. base is null on failure. Guard pages
  /// split mappings, and a process has a limited number of those
  /// (vm.max_map_count): at most a quarter of them is spent on guards.
  static FiberStack allocate(size_t bytes);
  static void free(const FiberStack &stack);
  /// Size of the guard: more than a page, for frames that step over one.
  static size_t guardBytes();
};

class Fiber {
public:
  using Function = void (*)(void *argument); ///< never returns: it leaves

  /// Default: the stack that the thread is running on already.
  Fiber() = default;
  ~Fiber();
  Fiber(const Fiber &) = delete;
  Fiber &operator=(const Fiber &) = delete;

  /// The first switch to this fiber calls function(argument) on the stack,
  /// starting `below` bytes under its top (a multiple of 64).
  void prepare(const FiberStack &stack, Function function, void *argument,
               size_t below = 0);
  /// Saves the running fiber in `from` and runs `to`; returns when somebody
  /// switches back.
  static void switchTo(Fiber &from, Fiber &to);
  /// As switchTo, but `from` is never run again: its stack may be used anew.
  [[noreturn]] static void leave(Fiber &from, Fiber &to);
  /// Forgets a fiber that is not running and will not be run again.
  void abandon();

private:
  static void jump(Fiber &from, Fiber &to, bool last);
  void arrived(void *previousContext);
  friend struct FiberEntry;

  void *Context = nullptr;   // fcontext_t of a fiber that is not running
  Fiber *Previous = nullptr; // who switched here last
  Function Start = nullptr;
  void *Argument = nullptr;
  const void *StackBottom = nullptr; // for AddressSanitizer
  size_t StackBytes = 0;
  void *FakeStack = nullptr;
  void *Tsan = nullptr;
  bool OwnsTsan = false;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_DEVICE_FIBER_H
