//===- Log.cpp - notes on stderr ------------------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/Log.h"

#include <poll.h>
#include <unistd.h>

namespace dragon {

namespace detail {

std::atomic<int> logLevel{int(LogLevel::Silent)};
std::atomic<bool> noticesOn{true};

static std::atomic<bool> statusShown{false};
static constexpr const char *EraseLine = "\r\033[K";

void writeToStderr(const std::string &text) {
  const char *at = text.data();
  size_t left = text.size();
  while (left) {
    ssize_t n = ::write(STDERR_FILENO, at, left);
    if (n <= 0)
      return; // nobody listens
    at += n;
    left -= size_t(n);
  }
}

void printLine(const std::string &line) {
  const char *erase = statusShown.exchange(false) ? EraseLine : "";
  writeToStderr(fmt::format("{}dragon: {}\n", erase, line));
}

} // namespace detail

void showStatusLine(const std::string &line) {
  pollfd out{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&out, 1, 0) != 1 || !(out.revents & POLLOUT))
    return; // it was stopped, by Ctrl-S for example
  detail::statusShown = true;
  detail::writeToStderr(detail::EraseLine + line);
}

void eraseStatusLine() {
  if (detail::statusShown.exchange(false))
    detail::writeToStderr(detail::EraseLine);
}

void setLogLevel(LogLevel level) { detail::logLevel.store(int(level)); }
void setNotices(bool on) { detail::noticesOn.store(on); }

} // namespace dragon
