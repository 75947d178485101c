//===- SystemCalls.h - the calls of the kernel that we make -----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All that DragonDriver asks of the system goes through here, so that tests can
// stand in for a driver that no test machine has. As in C: -1 and errno say
// that a call has failed, but for adviseFile, which returns the error.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_DEVICE_DRAGON_SYSTEMCALLS_H
#define DRAGON_RUNTIME_DEVICE_DRAGON_SYSTEMCALLS_H

#include <cstddef>
#include <string>
#include <vector>

namespace dragon {

class SystemCalls {
public:
  virtual ~SystemCalls() = default;
  /// The names in a directory, without . and ..
  virtual int list(const char *path, std::vector<std::string> &names);
  virtual int readLink(const char *path, std::string &target);
  virtual int ioctl(int fd, unsigned long request, void *argument);
  virtual int adviseFile(int fd, int advice); ///< posix_fadvise, of all of it
  virtual int readAhead(int fd, size_t bytes);

  static SystemCalls &real();
};

} // namespace dragon

#endif // DRAGON_RUNTIME_DEVICE_DRAGON_SYSTEMCALLS_H
