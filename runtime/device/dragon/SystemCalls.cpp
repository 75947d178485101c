//===- SystemCalls.cpp - the calls of the kernel that we make -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/dragon/SystemCalls.h"

#include <cerrno>
#include <climits>
#include <dirent.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace dragon {

SystemCalls &SystemCalls::real() {
  static SystemCalls calls;
  return calls;
}

int SystemCalls::list(const char *path, std::vector<std::string> &names) {
  DIR *directory = ::opendir(path);
  if (!directory)
    return -1;
  for (;;) {
    errno = 0;
    const dirent *entry = ::readdir(directory); // NOLINT: nobody else has it
    if (!entry)
      break;
    const std::string name = entry->d_name;
    if (name != "." && name != "..")
      names.push_back(name);
  }
  const int error = errno;
  ::closedir(directory);
  errno = error;
  return error ? -1 : 0;
}

int SystemCalls::readLink(const char *path, std::string &target) {
  char text[PATH_MAX];
  const ssize_t bytes = ::readlink(path, text, sizeof text);
  if (bytes < 0)
    return -1;
  target.assign(text, size_t(bytes));
  return 0;
}

int SystemCalls::ioctl(int fd, unsigned long request, void *argument) {
  return ::ioctl(fd, request, argument);
}

int SystemCalls::adviseFile(int fd, int advice) {
  return ::posix_fadvise(fd, 0, 0, advice);
}

int SystemCalls::readAhead(int fd, size_t bytes) {
  return int(::readahead(fd, 0, bytes));
}

} // namespace dragon
