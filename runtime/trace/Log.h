//===- Log.h - notes on stderr ----------------------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two kinds of lines, both with the prefix "dragon: ". A notice is for every
// user (printed unless DRAGON_QUIET=1); the log is for whoever asked for it
// (DRAGON_LOG=1, or debug for more). Each line is one write, so lines of
// several threads do not mix. Thread-safe.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_TRACE_LOG_H
#define DRAGON_RUNTIME_TRACE_LOG_H

#include <atomic>
#include <fmt/format.h>
#include <string>
#include <utility>

namespace dragon {

enum class LogLevel : int { Silent = 0, Info = 1, Debug = 2 };

namespace detail {
extern std::atomic<int> logLevel;
extern std::atomic<bool> noticesOn;
void printLine(const std::string &line);
/// Whole, and if it cannot all be written, what can.
void writeToStderr(const std::string &text);
} // namespace detail

void setLogLevel(LogLevel level);
void setNotices(bool on);

/// A line of a terminal that is rewritten, below what else is printed there.
/// Nothing if the terminal would keep its writer waiting.
void showStatusLine(const std::string &line);
/// There is none any more.
void eraseStatusLine();

inline bool logging(LogLevel level) {
  return detail::logLevel.load(std::memory_order_relaxed) >= int(level);
}

template <typename... Args>
void log(LogLevel level, fmt::format_string<Args...> format, Args &&...args) {
  if (logging(level))
    detail::printLine(fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
void notice(fmt::format_string<Args...> format, Args &&...args) {
  if (detail::noticesOn.load(std::memory_order_relaxed))
    detail::printLine(fmt::format(format, std::forward<Args>(args)...));
}

} // namespace dragon

#endif // DRAGON_RUNTIME_TRACE_LOG_H
