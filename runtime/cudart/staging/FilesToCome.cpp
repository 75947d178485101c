//===- FilesToCome.cpp - files that the program is yet to make ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/staging/FilesToCome.h"

#include "runtime/cudart/staging/InputFiles.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <vector>

namespace dragon::filesToCome {

namespace {

constexpr size_t PageBytes = 4096;

/// A path as its directory, by identity, and a name there.
struct Place {
  dev_t device;
  ino_t inode;
  std::string name;

  bool operator==(const Place &) const = default;
};

struct FileToCome {
  Place place;
  std::weak_ptr<BackingFile> file;
};

struct Announced {
  std::mutex lock;
  std::vector<FileToCome> files;
};
Announced &announced() {
  static Announced *instance = new Announced;
  return *instance;
}

/// The string there, if there is one that can be a path.
std::optional<std::string> stringAt(const char *pointer) {
  std::string text;
  while (text.size() < PATH_MAX) {
    const auto address = reinterpret_cast<uintptr_t>(pointer) + text.size();
    char part[PageBytes];
    iovec to{part, PageBytes - address % PageBytes};
    // The kernel refuses what is no memory.
    iovec from{reinterpret_cast<void *>(address), to.iov_len};
    const ssize_t got = ::process_vm_readv(::getpid(), &to, 1, &from, 1, 0);
    if (got <= 0)
      return std::nullopt;
    const size_t length = ::strnlen(part, size_t(got));
    text.append(part, length);
    if (length < size_t(got))
      return text;
  }
  return std::nullopt;
}

std::string directoryOf(const std::string &path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

std::optional<Place> placeOf(const std::string &path) {
  const size_t slash = path.rfind('/');
  std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  struct stat info;
  if (name.empty() || name == "." || name == ".." ||
      ::stat(directoryOf(path).c_str(), &info) != 0)
    return std::nullopt;
  return Place{info.st_dev, info.st_ino, std::move(name)};
}

/// umask() could be asked only by changing it, for all threads.
std::optional<mode_t> currentUmask() {
  const int status = ::open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (status < 0)
    return std::nullopt;
  char text[PageBytes];
  const ssize_t got = ::read(status, text, sizeof(text) - 1);
  ::close(status);
  text[std::max<ssize_t>(got, 0)] = 0;
  const char *line = std::strstr(text, "\nUmask:");
  return line ? std::optional(mode_t(std::strtoul(line + 7, nullptr, 8)))
              : std::nullopt;
}

/// The file looks like one that fopen() makes now.
bool isAsMadeNow(const BackingFile &file) {
  struct stat info;
  const std::optional<mode_t> without = currentUmask();
  return without && ::fstat(file.fd(), &info) == 0 && info.st_nlink == 0 &&
         info.st_uid == ::geteuid() &&
         (info.st_mode & 07777) == (0666 & ~*without);
}

FILE *makeOf(const BackingFile &file, const char *path, const char *mode) {
  if (!isAsMadeNow(file))
    return nullptr;
  const std::string self = "/proc/self/fd/" + std::to_string(file.fd());
  const int fd = ::open(self.c_str(), O_WRONLY);
  FILE *made = fd >= 0 ? ::fdopen(fd, mode) : nullptr;
  if (made &&
      ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0)
    return made;
  if (made)
    ::fclose(made);
  else if (fd >= 0)
    ::close(fd);
  return nullptr;
}

} // namespace

std::shared_ptr<BackingFile> announce(const char *pointer) {
  const std::optional<std::string> path = stringAt(pointer);
  const std::optional<Place> place = path ? placeOf(*path) : std::nullopt;
  struct stat info;
  if (!place ||
      ::fstatat(AT_FDCWD, path->c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 ||
      errno != ENOENT)
    return nullptr;
  const int low =
      ::open(directoryOf(*path).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  if (low < 0)
    return nullptr;
  const int fd = duplicateDescriptor(low);
  ::close(low);
  if (fd < 0)
    return nullptr;
  auto adopted = BackingFile::adopt(fd, *path, /*writable=*/true);
  if (!adopted.ok()) {
    adopted.takeStatus().ignore();
    return nullptr;
  }
  std::shared_ptr<BackingFile> file = std::move(*adopted);
  std::lock_guard<std::mutex> guard(announced().lock);
  std::erase_if(announced().files, [&](const FileToCome &other) {
    return other.file.expired() || other.place == *place;
  });
  announced().files.push_back({*place, file});
  return file;
}

FILE *make(const char *path, const char *mode) {
  const int before = errno;
  const std::optional<Place> place = placeOf(path);
  std::shared_ptr<BackingFile> file;
  {
    std::lock_guard<std::mutex> guard(announced().lock);
    auto &files = announced().files;
    const auto found =
        std::find_if(files.begin(), files.end(), [&](const FileToCome &other) {
          return place && other.place == *place;
        });
    if (found != files.end()) {
      file = found->file.lock();
      files.erase(found);
    }
  }
  FILE *made = file ? makeOf(*file, path, mode) : nullptr;
  errno = before;
  return made;
}

} // namespace dragon::filesToCome
