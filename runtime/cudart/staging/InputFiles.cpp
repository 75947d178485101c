//===- InputFiles.cpp - files whose contents are read late ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/staging/InputFiles.h"

#include <atomic>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <fstream>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace dragon {

namespace {

/// Which files may be held, for interposed calls that must not wait for
/// StagingBuffers' lock (it is held during I/O).
struct Held {
  std::atomic<size_t> count{0};
  std::mutex lock;
  std::set<std::pair<dev_t, ino_t>> files;
};
Held &held() {
  static Held *instance = new Held;
  return *instance;
}

/// Another descriptor of this process can write the file.
bool hasWritableDescriptor(dev_t device, ino_t inode) {
  DIR *directory = ::opendir("/proc/self/fd");
  if (!directory)
    return true; // nobody can tell
  bool found = false;
  while (const dirent *entry = ::readdir(directory)) {
    char *end;
    long fd = std::strtol(entry->d_name, &end, 10);
    if (*end || end == entry->d_name || fd == ::dirfd(directory))
      continue;
    struct stat info;
    if (::fstat(int(fd), &info) != 0 || info.st_ino != inode ||
        info.st_dev != device)
      continue;
    int flags = ::fcntl(int(fd), F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) != O_RDONLY) {
      found = true;
      break;
    }
  }
  ::closedir(directory);
  return found;
}

/// A shared mapping can. Lines of /proc/self/maps are
/// "begin-end rw-s offset device inode path"; the device is not compared, for
/// some file systems show another one there than stat does.
bool hasWritableMapping(ino_t inode) {
  std::ifstream maps("/proc/self/maps");
  if (!maps)
    return true;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream fields(line);
    std::string range, permissions, offset, device;
    ino_t number = 0;
    if (fields >> range >> permissions >> offset >> device >> number &&
        number == inode && permissions.size() >= 4 && permissions[1] == 'w' &&
        permissions[3] == 's')
      return true;
  }
  return false;
}

} // namespace

int duplicateDescriptor(int fd) {
  constexpr int FirstNumber = 512;
  int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, FirstNumber);
  return copy >= 0 ? copy : ::fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

std::string pathOfDescriptor(int fd) {
  char link[64], path[PATH_MAX];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = ::readlink(link, path, sizeof path);
  return length > 0 ? std::string(path, size_t(length)) : std::string(link);
}

bool InputFiles::mayHoldAny() {
  return held().count.load(std::memory_order_acquire) != 0;
}

bool InputFiles::mayHold(dev_t device, ino_t inode) {
  if (!mayHoldAny())
    return false;
  std::lock_guard<std::mutex> guard(held().lock);
  return held().files.count({device, inode}) != 0;
}

void InputFiles::forget(dev_t device, ino_t inode) {
  Inputs.erase({device, inode});
  std::lock_guard<std::mutex> guard(held().lock);
  held().files.erase({device, inode});
  held().count = held().files.size();
}

std::vector<std::shared_ptr<BackingFile>> InputFiles::inputs() const {
  std::vector<std::shared_ptr<BackingFile>> alive;
  for (const auto &[key, entry] : Inputs)
    if (std::shared_ptr<BackingFile> file = entry.lock())
      alive.push_back(std::move(file));
  return alive;
}

void InputFiles::lockForFork() { held().lock.lock(); }
void InputFiles::unlockAfterFork() { held().lock.unlock(); }

void InputFiles::dropDead() {
  for (auto it = Inputs.begin(); it != Inputs.end();) {
    Key key = it->first;
    bool dead = it->second.expired();
    ++it;
    if (dead)
      forget(key.first, key.second);
  }
  for (auto it = Outputs.begin(); it != Outputs.end();)
    it = it->second.expired() ? Outputs.erase(it) : std::next(it);
}

std::shared_ptr<BackingFile> InputFiles::input(int fd) {
  struct stat info;
  int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || (flags & O_ACCMODE) != O_RDONLY || ::fstat(fd, &info) != 0 ||
      !S_ISREG(info.st_mode))
    return nullptr;
  Key key{info.st_dev, info.st_ino};
  if (auto known = Inputs.find(key); known != Inputs.end())
    if (auto file = known->second.lock(); file && file->checkUnchanged().ok())
      return file;
  dropDead();
  // Watched before it is inspected: who opens it in between is one or the
  // other.
  {
    std::lock_guard<std::mutex> guard(held().lock);
    held().files.insert(key);
    held().count = held().files.size();
  }
  std::shared_ptr<BackingFile> file;
  if (!hasWritableDescriptor(info.st_dev, info.st_ino) &&
      !hasWritableMapping(info.st_ino)) {
    int own = duplicateDescriptor(fd);
    if (own >= 0) {
      auto adopted = BackingFile::adopt(own, pathOfDescriptor(fd), false);
      if (adopted.ok())
        file = *adopted;
    }
  }
  if (file)
    Inputs[key] = file;
  else
    forget(info.st_dev, info.st_ino);
  return file;
}

std::shared_ptr<BackingFile> InputFiles::output(int fd) {
  struct stat info;
  int flags = ::fcntl(fd, F_GETFL);
  // Appending writes find their own place; synchronous ones last longer than
  // the copies in between would show.
  if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY ||
      (flags & (O_APPEND | O_SYNC | O_DSYNC)) || ::fstat(fd, &info) != 0 ||
      !S_ISREG(info.st_mode))
    return nullptr;
  Key key{info.st_dev, info.st_ino};
  if (auto known = Outputs.find(key); known != Outputs.end())
    if (auto file = known->second.lock())
      return file;
  dropDead();
  int own = duplicateDescriptor(fd);
  if (own < 0)
    return nullptr;
  auto adopted = BackingFile::adopt(own, pathOfDescriptor(fd), true);
  if (!adopted.ok())
    return nullptr;
  Outputs[key] = *adopted;
  return *adopted;
}

} // namespace dragon
