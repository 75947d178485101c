//===- PerThread.h - objects of a thread that may be used last --*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_BASE_PERTHREAD_H
#define DRAGON_RUNTIME_BASE_PERTHREAD_H

namespace dragon {

/// One T for each thread and Tag, made when it is first asked for and deleted
/// when its thread ends. The destructors of a program's global objects run
/// after the main thread's own thread_local objects are gone, and may launch
/// kernels: then there is a new one, which is never deleted.
template <typename T, typename Tag> class PerThread {
public:
  static T &get() {
    if (!Value)
      make();
    return *Value;
  }
  /// Null if it was never asked for.
  static T *find() { return Value; }

private:
  struct Owner {
    ~Owner() {
      delete Value;
      Value = nullptr;
    }
  };

  static void make() {
    Value = new T();
    static thread_local Owner owner;
    (void)&owner; // from here on it is deleted with the thread
  }

  // Without a constructor or destructor: there at all times. Launches ask for
  // it, so it lies where one instruction reaches it.
  __attribute__((
      tls_model("initial-exec"))) static inline thread_local T *Value = nullptr;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_BASE_PERTHREAD_H
