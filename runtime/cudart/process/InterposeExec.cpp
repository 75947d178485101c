//===- InterposeExec.cpp - SIGSEGV in the programs that a program starts --===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// exec keeps which signals are ignored and blocked: those that the program has
// asked for, not what ProgramSignals.h has made of them.
//
// Sources: execve(2), exec(3), signal(7).
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/process/LibcCalls.h"
#include "runtime/device/ProgramSignals.h"

#include <alloca.h>
#include <cstdarg>

using namespace dragon;

extern "C" {

int execve(const char *path, char *const arguments[],
           char *const environment[]) noexcept {
  ProgramSignals::ForExec asAsked(true);
  return DRAGON_REAL(execve)(path, arguments, environment);
}

int execv(const char *path, char *const arguments[]) noexcept {
  ProgramSignals::ForExec asAsked(true);
  return DRAGON_REAL(execv)(path, arguments);
}

int execvp(const char *file, char *const arguments[]) noexcept {
  ProgramSignals::ForExec asAsked(true);
  return DRAGON_REAL(execvp)(file, arguments);
}

int execvpe(const char *file, char *const arguments[],
            char *const environment[]) noexcept {
  ProgramSignals::ForExec asAsked(true);
  return DRAGON_REAL(execvpe)(file, arguments, environment);
}

int fexecve(int fd, char *const arguments[],
            char *const environment[]) noexcept {
  ProgramSignals::ForExec asAsked(true);
  return DRAGON_REAL(fexecve)(fd, arguments, environment);
}

int execveat(int directory, const char *path, char *const arguments[],
             char *const environment[], int flags) noexcept {
  ProgramSignals::ForExec asAsked(true);
  return DRAGON_REAL(execveat)(directory, path, arguments, environment, flags);
}

// The arguments up to the null pointer, as an array `list` that lasts as long
// as the function; `rest` is behind them then. No malloc: a child made by vfork
// shares it.
#define DRAGON_LIST(first, list, rest)                                         \
  va_list rest;                                                                \
  va_start(rest, first);                                                       \
  size_t count = 1;                                                            \
  while (va_arg(rest, const char *))                                           \
    ++count;                                                                   \
  va_end(rest);                                                                \
  char **list = static_cast<char **>(alloca((count + 1) * sizeof(char *)));    \
  list[0] = const_cast<char *>(first);                                         \
  va_start(rest, first);                                                       \
  for (size_t i = 1; i <= count; ++i)                                          \
    list[i] = va_arg(rest, char *);

int execl(const char *path, const char *first, ...) noexcept {
  DRAGON_LIST(first, list, rest)
  va_end(rest);
  return ::execv(path, list);
}

int execlp(const char *file, const char *first, ...) noexcept {
  DRAGON_LIST(first, list, rest)
  va_end(rest);
  return ::execvp(file, list);
}

int execle(const char *path, const char *first, ...) noexcept {
  DRAGON_LIST(first, list, rest)
  char *const *environment = va_arg(rest, char *const *);
  va_end(rest);
  return ::execve(path, list, environment);
}

} // extern "C"
