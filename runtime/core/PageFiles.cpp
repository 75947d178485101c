//===- PageFiles.cpp - what the page of a run is made of ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/PageFiles.h"

#include "runtime/trace/Trace.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace dragon {

/// A file without a name in the folder, for reading and writing; -1 with errno.
static int unnamedFile(const std::string &folder) {
  const int file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  // Some file systems have no such files.
  if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
    return file;
  std::string path = folder + "/dragon-report-XXXXXX";
  const int named = ::mkostemp(path.data(), O_CLOEXEC);
  if (named >= 0)
    ::unlink(path.c_str());
  return named;
}

bool PageFiles::openTrace(const Settings &settings) {
  if (!settings.trace.empty()) {
    trace = ::open(settings.trace.c_str(), O_RDONLY | O_CLOEXEC);
    return trace >= 0;
  }
  trace = unnamedFile(settings.swapDirs.front());
  if (trace >= 0 && startTrace(fmt::format("/proc/self/fd/{}", trace)))
    return true;
  const int code = errno;
  if (trace >= 0)
    ::close(trace);
  trace = -1;
  errno = code;
  return false;
}

bool PageFiles::keepStats(const Settings &settings, const std::string &json) {
  stats = unnamedFile(settings.swapDirs.front());
  if (stats < 0)
    return false;
  const int code = writeText(stats, json);
  if (code) {
    ::close(stats);
    stats = -1;
    errno = code;
  }
  return code == 0;
}

int writeText(int file, const std::string &text) {
  for (size_t done = 0; done < text.size();) {
    ssize_t wrote = ::write(file, text.data() + done, text.size() - done);
    if (wrote < 0 && errno != EINTR)
      return errno;
    done += size_t(std::max<ssize_t>(wrote, 0));
  }
  return 0;
}

} // namespace dragon
