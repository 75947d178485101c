//===- Interposed.cpp - what the scheduler hears of -----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions that code compiled with -fsanitize=thread calls, and those of
// the pthread library that C++ programs use. On a thread that belongs to no run
// they do what they always do.
//
// Sources: LLVM's tsan_interface.h and tsan_interface_atomic.h (names and
// signatures); pthread(7).
//
//===----------------------------------------------------------------------===//

#include "test/unit/interleavings/Scheduler.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <initializer_list>

using dragon::test::Scheduler;

namespace {

template <typename Function>
Function *real(const char *name, const char *version) {
  void *found = dlvsym(RTLD_NEXT, name, version);
  return reinterpret_cast<Function *>(found ? found : dlsym(RTLD_NEXT, name));
}
#define REAL(name, version)                                                    \
  static auto *const next = real<decltype(name)>(#name, version)

bool isRecursive(const pthread_mutex_t *mutex) {
  return mutex->__data.__kind == PTHREAD_MUTEX_RECURSIVE_NP;
}

constexpr int Relaxed = 0, AcquireRelease = 4;

/// An atomic access is a point, unless nobody can tell (Scheduler.h).
void atomicPoint(int order, const volatile void *load = nullptr) {
  if (order == Relaxed || order == AcquireRelease)
    return;
  if (Scheduler *run = Scheduler::ofThisThread())
    run->point(load);
}

} // namespace

namespace dragon::test {
int startForReal(pthread_t *thread, const pthread_attr_t *attributes,
                 void *(*body)(void *), void *argument) {
  REAL(pthread_create, "GLIBC_2.34");
  return next(thread, attributes, body, argument);
}
} // namespace dragon::test

extern "C" {

//===----------------------------------------------------------------------===//
// pthreads
//===----------------------------------------------------------------------===//

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                   void *(*body)(void *), void *argument) {
  if (Scheduler *run = Scheduler::ofThisThread())
    return run->start(thread, attributes, body, argument);
  return dragon::test::startForReal(thread, attributes, body, argument);
}

int pthread_join(pthread_t thread, void **result) {
  if (Scheduler *run = Scheduler::ofThisThread())
    run->join(thread);
  REAL(pthread_join, "GLIBC_2.34");
  return next(thread, result);
}

int pthread_mutex_lock(pthread_mutex_t *mutex) {
  if (Scheduler *run = Scheduler::ofThisThread()) {
    run->lock(mutex, isRecursive(mutex));
    return 0;
  }
  REAL(pthread_mutex_lock, "GLIBC_2.2.5");
  return next(mutex);
}

int pthread_mutex_trylock(pthread_mutex_t *mutex) {
  if (Scheduler *run = Scheduler::ofThisThread())
    return run->tryLock(mutex, isRecursive(mutex)) ? 0 : EBUSY;
  REAL(pthread_mutex_trylock, "GLIBC_2.34");
  return next(mutex);
}

int pthread_mutex_unlock(pthread_mutex_t *mutex) {
  if (Scheduler *run = Scheduler::ofThisThread()) {
    run->unlock(mutex);
    return 0;
  }
  REAL(pthread_mutex_unlock, "GLIBC_2.2.5");
  return next(mutex);
}

int pthread_rwlock_rdlock(pthread_rwlock_t *lock) {
  if (Scheduler *run = Scheduler::ofThisThread()) {
    run->lockShared(lock);
    return 0;
  }
  REAL(pthread_rwlock_rdlock, "GLIBC_2.34");
  return next(lock);
}

int pthread_rwlock_wrlock(pthread_rwlock_t *lock) {
  if (Scheduler *run = Scheduler::ofThisThread()) {
    run->lock(lock, false);
    return 0;
  }
  REAL(pthread_rwlock_wrlock, "GLIBC_2.34");
  return next(lock);
}

int pthread_rwlock_unlock(pthread_rwlock_t *lock) {
  if (Scheduler *run = Scheduler::ofThisThread()) {
    run->unlock(lock);
    return 0;
  }
  REAL(pthread_rwlock_unlock, "GLIBC_2.34");
  return next(lock);
}

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
  if (Scheduler *run = Scheduler::ofThisThread()) {
    run->wait(condition, mutex, false);
    return 0;
  }
  REAL(pthread_cond_wait, "GLIBC_2.3.2");
  return next(condition, mutex);
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                           const timespec *until) {
  if (Scheduler *run = Scheduler::ofThisThread())
    return run->wait(condition, mutex, true) ? 0 : ETIMEDOUT;
  REAL(pthread_cond_timedwait, "GLIBC_2.3.2");
  return next(condition, mutex, until);
}

int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                           clockid_t clock, const timespec *until) {
  if (Scheduler *run = Scheduler::ofThisThread())
    return run->wait(condition, mutex, true) ? 0 : ETIMEDOUT;
  REAL(pthread_cond_clockwait, "GLIBC_2.34");
  return next(condition, mutex, clock, until);
}

int pthread_cond_signal(pthread_cond_t *condition) {
  if (Scheduler *run = Scheduler::ofThisThread()) {
    run->notify(condition, false);
    return 0;
  }
  REAL(pthread_cond_signal, "GLIBC_2.3.2");
  return next(condition);
}

int pthread_cond_broadcast(pthread_cond_t *condition) {
  if (Scheduler *run = Scheduler::ofThisThread()) {
    run->notify(condition, true);
    return 0;
  }
  REAL(pthread_cond_broadcast, "GLIBC_2.3.2");
  return next(condition);
}

//===----------------------------------------------------------------------===//
// What -fsanitize=thread calls: plain accesses
//===----------------------------------------------------------------------===//

void __tsan_init() {}
void *__tsan_get_current_fiber() { return nullptr; }
void *__tsan_create_fiber(unsigned) { return nullptr; }
void __tsan_destroy_fiber(void *) {}
void __tsan_switch_to_fiber(void *, unsigned) {}
void __tsan_func_entry(void *) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void **, void *) {}
void __tsan_vptr_read(void **) {}
void __tsan_read_range(void *, unsigned long) {}
void __tsan_write_range(void *, unsigned long) {}
#define PLAIN(bytes)                                                           \
  void __tsan_read##bytes(void *) {}                                           \
  void __tsan_write##bytes(void *) {}                                          \
  void __tsan_read_write##bytes(void *) {}                                     \
  void __tsan_unaligned_read##bytes(void *) {}                                 \
  void __tsan_unaligned_write##bytes(void *) {}                                \
  void __tsan_unaligned_read_write##bytes(void *) {}                           \
  void __tsan_volatile_read##bytes(void *) {}                                  \
  void __tsan_volatile_write##bytes(void *) {}
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)
void *__tsan_memcpy(void *to, const void *from, size_t bytes) {
  return std::memcpy(to, from, bytes);
}
void *__tsan_memmove(void *to, const void *from, size_t bytes) {
  return std::memmove(to, from, bytes);
}
void *__tsan_memset(void *to, int value, size_t bytes) {
  return std::memset(to, value, bytes);
}

//===----------------------------------------------------------------------===//
// What -fsanitize=thread calls: atomic accesses
//===----------------------------------------------------------------------===//

void __tsan_atomic_thread_fence(int) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void __tsan_atomic_signal_fence(int) {}

#define MODIFY(type, bits, name)                                               \
  type __tsan_atomic##bits##_##name(volatile type *at, type value,             \
                                    int order) {                               \
    atomicPoint(order);                                                        \
    return __atomic_##name(at, value, __ATOMIC_SEQ_CST);                       \
  }
#define EXCHANGE_IF(type, bits, name, weak)                                    \
  int __tsan_atomic##bits##_compare_exchange_##name(                           \
      volatile type *at, type *expected, type value, int order, int) {         \
    atomicPoint(order);                                                        \
    return __atomic_compare_exchange_n(at, expected, value, weak,              \
                                       __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);    \
  }
#define ATOMIC(type, bits)                                                     \
  type __tsan_atomic##bits##_load(const volatile type *at, int order) {        \
    atomicPoint(order, at);                                                    \
    return __atomic_load_n(at, __ATOMIC_SEQ_CST);                              \
  }                                                                            \
  void __tsan_atomic##bits##_store(volatile type *at, type value, int order) { \
    atomicPoint(order);                                                        \
    __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                             \
  }                                                                            \
  type __tsan_atomic##bits##_exchange(volatile type *at, type value,           \
                                      int order) {                             \
    atomicPoint(order);                                                        \
    return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);                   \
  }                                                                            \
  MODIFY(type, bits, fetch_add)                                                \
  MODIFY(type, bits, fetch_sub)                                                \
  MODIFY(type, bits, fetch_and)                                                \
  MODIFY(type, bits, fetch_or)                                                 \
  MODIFY(type, bits, fetch_xor)                                                \
  MODIFY(type, bits, fetch_nand)                                               \
  EXCHANGE_IF(type, bits, strong, false)                                       \
  EXCHANGE_IF(type, bits, weak, true)                                          \
  type __tsan_atomic##bits##_compare_exchange_val(                             \
      volatile type *at, type expected, type value, int order, int) {          \
    atomicPoint(order);                                                        \
    __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_SEQ_CST, \
                                __ATOMIC_SEQ_CST);                             \
    return expected;                                                           \
  }
ATOMIC(uint8_t, 8)
ATOMIC(uint16_t, 16)
ATOMIC(uint32_t, 32)
ATOMIC(uint64_t, 64)

} // extern "C"
