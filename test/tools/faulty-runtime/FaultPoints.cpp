//===- FaultPoints.cpp - which call of the runtime fails ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The log is written by system calls of its own: a line is in the file when the
// call that it names is made, so that the log of a program that dies is whole.
//
//===----------------------------------------------------------------------===//

#include "FaultPoints.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/syscall.h>
#include <unistd.h>

namespace dragon::test {

namespace {

uint64_t numberIn(const char *variable, uint64_t otherwise) {
  const char *text = std::getenv(variable);
  return text && *text ? std::strtoull(text, nullptr, 10) : otherwise;
}

struct Plan {
  std::string calls;
  uint64_t at = numberIn("FAULT_AT", 0);
  uint64_t count = numberIn("FAULT_FOR", 1);
  bool kill = numberIn("FAULT_KILL", 0);
  int log = -1;
  std::atomic<uint64_t> made{0};

  Plan() {
    if (const char *text = std::getenv("FAULT_CALLS"))
      calls = text;
    if (const char *path = std::getenv("FAULT_LOG"))
      log = int(::syscall(SYS_openat, AT_FDCWD, path,
                          O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  }

  bool isMeant(std::string_view word) const {
    for (std::string_view rest = calls; !rest.empty();) {
      const size_t comma = rest.find(',');
      if (rest.substr(0, comma) == word)
        return true;
      rest.remove_prefix(comma == rest.npos ? rest.size() : comma + 1);
    }
    return false;
  }
};

// Never destroyed: the runtime makes calls until the process is gone.
Plan &plan() {
  static auto *instance = new Plan;
  return *instance;
}

} // namespace

bool fails(const char *group, const char *name) {
  Plan &p = plan();
  if (!p.isMeant(group) && !p.isMeant(name))
    return false;
  const uint64_t number = ++p.made;
  const bool failing =
      p.at && number >= p.at && (p.count == 0 || number - p.at < p.count);
  if (p.log >= 0 && (failing || !p.at)) {
    const int before = errno;
    char line[128];
    const int length = std::snprintf(line, sizeof line, "%llu %s %s\n",
                                     (unsigned long long)number, group, name);
    (void)!::syscall(SYS_write, p.log, line, size_t(length));
    errno = before;
  }
  if (failing && p.kill)
    ::kill(::getpid(), SIGKILL);
  return failing;
}

} // namespace dragon::test
