//===- Log.cpp - notes on stderr ------------------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/Log.h"

#include <unistd.h>

namespace dragon {

namespace detail {

std::atomic<int> logLevel{int(LogLevel::Silent)};
std::atomic<bool> noticesOn{true};

void printLine(const std::string &line) {
  std::string text = "dragon: " + line + "\n";
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

} // namespace detail

void setLogLevel(LogLevel level) { detail::logLevel.store(int(level)); }
void setNotices(bool on) { detail::noticesOn.store(on); }

} // namespace dragon
