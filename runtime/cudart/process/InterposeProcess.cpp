//===- InterposeProcess.cpp - who makes a child ---------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A child may change the files that the program has read, and nobody in this
// process hears of it. So what is in inputs alone is saved before there is a
// child (StagingChildren::saveInputs), and where that fails there is none: the
// call fails with ENOSPC or EIO. Where nothing is deferred, a call costs one
// load.
//
// The C library's posix_spawn, popen and system clone the process without
// fork's handlers, hence one entry each. vfork shares its caller's stack frame
// with the child: ours does its work, then jumps, and has no frame by the time
// that there are two processes. exec needs nothing: what the program has
// written is in its files, and what it has read dies with its memory.
//
// Sources: fork(2), vfork(2), clone(2), posix_spawn(3), popen(3), system(3).
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/front/Front.h"
#include "runtime/cudart/process/LibcCalls.h"
#include "runtime/cudart/process/StartAhead.h"
#include "runtime/cudart/staging/Staging.h"
#include "runtime/device/ProgramSignals.h"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <sched.h>
#include <spawn.h>
#include <unistd.h>
#include <utility>

using namespace dragon;

namespace {

/// False, with errno: there must be no child. Else errno is left alone.
bool readyForChild() {
  int before = errno;
  Status status = staging().children.saveInputs();
  if (status.ok()) {
    errno = before;
    return true;
  }
  const bool full = status.code() == DRAGON_ERROR_NO_SPACE;
  report(std::move(status).within("no child process"));
  errno = full ? ENOSPC : EIO;
  return false;
}

} // namespace

extern "C" {

pid_t fork() noexcept { return readyForChild() ? DRAGON_REAL(fork)() : -1; }

int clone(int (*body)(void *), void *stack, int flags, void *argument,
          ...) noexcept {
  va_list rest;
  va_start(rest, argument);
  void *parentId = va_arg(rest, void *);
  void *threadStorage = va_arg(rest, void *);
  void *childId = va_arg(rest, void *);
  va_end(rest);
  return readyForChild() ? DRAGON_REAL(clone)(body, stack, flags, argument,
                                              parentId, threadStorage, childId)
                         : -1;
}

// These return the error, and leave errno alone. The child has the mask that
// the program asked for; a signal cannot be ignored for its sake, because this
// process goes on.
#define DRAGON_SPAWN(name)                                                     \
  int name(pid_t *pid, const char *file,                                       \
           const posix_spawn_file_actions_t *actions,                          \
           const posix_spawnattr_t *attributes, char *const arguments[],       \
           char *const environment[]) {                                        \
    int before = errno;                                                        \
    if (!readyForChild())                                                      \
      return std::exchange(errno, before);                                     \
    ProgramSignals::ForExec asAsked(/*actions=*/false);                        \
    return DRAGON_REAL(name)(pid, file, actions, attributes, arguments,        \
                             environment);                                     \
  }
DRAGON_SPAWN(posix_spawn)
DRAGON_SPAWN(posix_spawnp)

FILE *popen(const char *command, const char *mode) {
  return readyForChild() ? DRAGON_REAL(popen)(command, mode) : nullptr;
}

// Without a command it only asks whether there is a shell.
int system(const char *command) {
  return readyForChild() ? DRAGON_REAL(system)(command) : -1;
}

/// Where vfork goes on; null: it fails.
[[gnu::visibility("hidden"), gnu::used]] void *dragonBeforeVfork();
void *dragonBeforeVfork() {
  return readyForChild() ? reinterpret_cast<void *>(DRAGON_REAL(vfork))
                         : nullptr;
}

} // extern "C"

#ifndef __x86_64__
#error "vfork is written for x86-64"
#endif
asm(R"(
        .text
        .globl  vfork
        .type   vfork, @function
vfork:
        .cfi_startproc
        .hidden dragonVfork
        .set    dragonVfork, vfork
        endbr64
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        call    dragonBeforeVfork
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        testq   %rax, %rax
        je      1f
        jmp     *%rax
1:      movl    $-1, %eax
        ret
        .cfi_endproc
        .size   vfork, .-vfork
)");

// By their own names they may be the C library's, if the program has loaded
// this library itself.
extern "C" {
[[gnu::visibility("hidden"), gnu::alias("fork")]] pid_t dragonFork() noexcept;
[[gnu::visibility("hidden"), gnu::alias("clone")]] int
dragonClone(int (*body)(void *), void *stack, int flags, void *argument,
            ...) noexcept;
[[gnu::visibility("hidden")]] pid_t dragonVfork() noexcept;
}

std::span<const dragon::LedCall> dragon::processCalls() {
  static const LedCall Calls[] = {
      {"fork", reinterpret_cast<void *>(dragonFork)},
      {"vfork", reinterpret_cast<void *>(dragonVfork)},
      {"clone", reinterpret_cast<void *>(dragonClone)}};
  return Calls;
}
