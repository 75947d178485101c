//===- RuntimeLaunches.h - launches of kernels ------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of the runtime that takes launches, and what the program queues
// besides.
//
// Thread-safe. A call with a queue takes effect in that queue's order. Where
// chunks must move (out of core), a call may block until earlier work on them
// ended.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CORE_RUNTIMELAUNCHES_H
#define DRAGON_RUNTIME_CORE_RUNTIMELAUNCHES_H

#include "runtime/base/Status.h"
#include "runtime/launch/LaunchCall.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace dragon {

struct RuntimeImpl;

class RuntimeLaunches {
public:
  explicit RuntimeLaunches(RuntimeImpl &impl) : State(impl) {}

  /// A launch may be kept back, to run together with those that follow. Every
  /// other call that could tell the difference runs it first.
  Status launch(const LaunchCall &call);
  /// Runs what was kept back: for calls that go to the device without asking
  /// this class.
  Status runWaiting();
  /// The program destroys its queue. What is in it still runs; another queue
  /// may get the same handle, and is not ordered behind it.
  Status destroyQueue(Queue queue);
  /// How many bytes from the beginning of the buffer at `address` the launch
  /// would overwrite before any read, in whole chunks; SIZE_MAX if all. 0 if no
  /// data is moving.
  size_t overwritten(const LaunchCall &call, uintptr_t address) const;
  /// Data is moving, and such a launch would read nothing below the pointer
  /// that lies at `field` in its argument, wherever that points.
  bool readsUpwards(const LaunchCall &call, uint32_t argument,
                    uint32_t field) const;

  /// A listener hears of changes to a buffer before they happen: launches that
  /// may write it, copies into it, fills, frees. Used for deferred copies out
  /// of it (staging elision). Called without the runtime's lock.
  using BeforeWrite = void (*)(void *context, uintptr_t begin, uintptr_t end);
  /// Not asked while `wanted` is false, if it is given.
  void setBeforeWrite(BeforeWrite listener, void *context,
                      const std::atomic<bool> *wanted = nullptr);

private:
  RuntimeImpl &State;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_CORE_RUNTIMELAUNCHES_H
