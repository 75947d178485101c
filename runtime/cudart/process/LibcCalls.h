//===- LibcCalls.h - the C library's functions behind ours ------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// DRAGON_REAL(read)(fd, memory, bytes) is the C library's read. All are looked
// up when this library is loaded, because dlsym is none of the functions that a
// signal's handler may call; constructors that run before look up their own.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_PROCESS_LIBCCALLS_H
#define DRAGON_RUNTIME_CUDART_PROCESS_LIBCCALLS_H

// Inline twins of what is defined here would be in the way.
#undef _FORTIFY_SOURCE
// Old calls have fronts as well.
#pragma clang diagnostic ignored "-Wdeprecated-declarations"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

// What _FORTIFY_SOURCE makes of the others: the last size is the memory's.
extern "C" {
ssize_t __read_chk(int fd, void *memory, size_t bytes, size_t room);
ssize_t __pread_chk(int fd, void *memory, size_t bytes, off_t offset,
                    size_t room);
ssize_t __pread64_chk(int fd, void *memory, size_t bytes, off64_t offset,
                      size_t room);
ssize_t __readlink_chk(const char *path, char *memory, size_t bytes,
                       size_t room) noexcept;
ssize_t __readlinkat_chk(int directory, const char *path, char *memory,
                         size_t bytes, size_t room) noexcept;
char *__getcwd_chk(char *memory, size_t bytes, size_t room) noexcept;
size_t __fread_chk(void *memory, size_t room, size_t size, size_t count,
                   FILE *file);
size_t __fread_unlocked_chk(void *memory, size_t room, size_t size,
                            size_t count, FILE *file);
ssize_t __recv_chk(int fd, void *memory, size_t bytes, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *memory, size_t bytes, size_t room,
                       int flags, sockaddr *from, socklen_t *fromBytes);
sighandler_t bsd_signal(int signal, sighandler_t handler) noexcept;
int __ppoll_chk(pollfd *fds, nfds_t count, const timespec *timeout,
                const sigset_t *mask, size_t room);
}

namespace dragon::libc {

/// The next function of the name behind ours that does not lead back here;
/// null: there is none.
void *find(const char *name);

template <typename Function>
Function *get(std::atomic<void *> &place, const char *name) {
  void *known = place.load(std::memory_order_relaxed);
  if (!known)
    place.store(known = find(name), std::memory_order_relaxed);
  return reinterpret_cast<Function *>(known);
}

#define DRAGON_LIBC(name) extern std::atomic<void *> name##Behind;
#include "runtime/cudart/process/LibcCalls.def"

} // namespace dragon::libc

#define DRAGON_REAL(name)                                                      \
  (dragon::libc::get<decltype(::name)>(dragon::libc::name##Behind, #name))

#endif // DRAGON_RUNTIME_CUDART_PROCESS_LIBCCALLS_H
