//===- Report.h - the lines of the programs here ----------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One line per check; who includes this prints the counts in the end.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_GPU_REPORT_H
#define DRAGON_TEST_GPU_REPORT_H

#include "runtime/base/Status.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

namespace dragon {

inline unsigned passed = 0, failed = 0;

inline void report(const char *what, bool good,
                   const std::string &detail = "") {
  std::printf("%s %s%s%s\n", good ? "ok  " : "FAIL", what,
              detail.empty() ? "" : ": ", detail.c_str());
  std::fflush(stdout);
  ++(good ? passed : failed);
}
inline bool check(const char *what, Status status) {
  report(what, status.ok(), status.message());
  return status.ok();
}
/// The value, or an end with the message: nothing after it would make sense.
template <typename T> T must(const char *what, StatusOr<T> value) {
  if (!value.ok()) {
    report(what, false, value.takeStatus().message());
    std::printf("stopped: %u passed, %u failed\n", passed, failed);
    std::exit(1);
  }
  return std::move(*value);
}

} // namespace dragon

#endif // DRAGON_TEST_GPU_REPORT_H
