//===- SavedFile.cpp - inputs that somebody may change --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bytes that are still to be read from an input go to a file of our own, at the
// same offsets, and this file takes the input's place under the numbers of its
// descriptors: whoever refers to the BackingFile, chunks in storage and staging
// buffers alike, goes on as if nothing had happened. The copy has holes where
// no range is. File systems that share blocks (XFS, Btrfs) copy nothing.
//
//===----------------------------------------------------------------------===//

#include "runtime/base/Descriptor.h"
#include "runtime/base/Intervals.h"
#include "runtime/tier/FileTier.h"
#include "runtime/trace/Bytes.h"
#include "runtime/trace/Log.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dragon {

namespace {

/// Where copy_file_range refuses: between some file systems.
ssize_t copyByHand(int from, int to, off_t at, size_t bytes) {
  static constexpr size_t Step = 1 << 20;
  std::vector<char> buffer(std::min(bytes, Step));
  ssize_t got = ::pread(from, buffer.data(), buffer.size(), at);
  for (ssize_t done = 0; done < got;) {
    ssize_t wrote =
        ::pwrite(to, buffer.data() + done, size_t(got - done), at + done);
    if (wrote < 0 && errno != EINTR)
      return -1;
    done += std::max<ssize_t>(wrote, 0);
  }
  return got;
}

/// 0, or what errno says; ENODATA: the file ends before the range does.
int copyRange(int from, int to, FileRange range) {
  bool byHand = false;
  for (off_t at = range.begin; at < range.end;) {
    off_t in = at, out = at;
    const auto bytes = size_t(range.end - at);
    ssize_t done = byHand ? copyByHand(from, to, at, bytes)
                          : ::copy_file_range(from, &in, to, &out, bytes, 0);
    if (done > 0) {
      at += done;
      continue;
    }
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0 && (byHand || errno == ENOSPC || errno == EDQUOT))
      return errno;
    if (byHand)
      return ENODATA;
    byHand = true;
  }
  return 0;
}

Status cannotSave(const std::string &path, const std::string &directory,
                  int code) {
  dragon_error kind = code == ENOSPC || code == EDQUOT ? DRAGON_ERROR_NO_SPACE
                                                       : DRAGON_ERROR_FILE;
  return Status::native(kind, code,
                        "file '{}': what was read from it cannot be saved in "
                        "'{}': {}; set DRAGON_SWAP_DIR to a directory with "
                        "room, or DRAGON_ELIDE=0",
                        path, directory, std::strerror(code));
}

} // namespace

bool BackingFile::mayBeChanged() const {
  if (Memory)
    return false; // a child has a copy of its own
  struct stat info;
  if (::fstat(Fd, &info) != 0 || info.st_uid == ::geteuid())
    return true;
  const std::string path = fmt::format("/proc/self/fd/{}", Fd);
  return ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0 ||
         (errno != EACCES && errno != EROFS);
}

Status BackingFile::save(const std::vector<FileRange> &ranges,
                         const std::vector<std::string> &directories) {
  if (Saved || ranges.empty())
    return {};
  DRAGON_TRY(checkUnchanged());
  IntervalSet<int64_t> read;
  for (const FileRange &range : ranges)
    read += HalfOpen<int64_t>(range.begin, range.end);
  Status first;
  for (const std::string &directory : directories) {
    auto opened = openUnnamed(directory);
    if (!opened.ok()) {
      if (Status status = opened.takeStatus(); first.ok())
        first = std::move(status);
      continue;
    }
    const Descriptor copy(*opened);
    int code = ::ftruncate(copy.get(), off_t(SizeAtOpen)) == 0 ? 0 : errno;
    for (const auto &range : read)
      if (code == 0)
        code = copyRange(Fd, copy.get(), {range.lower(), range.upper()});
    DRAGON_TRY(checkUnchanged());
    struct stat info;
    if (code == 0 && ::fstat(copy.get(), &info) != 0)
      code = errno;
    if (code == 0 && ::dup3(copy.get(), Fd, O_CLOEXEC) < 0)
      code = errno;
    if (code != 0) {
      if (first.ok())
        first = cannotSave(Path, directory, code);
      continue;
    }
    // From here on it is the copy's; whether past the cache or through it, the
    // contents are the same.
    Saved.store(true, std::memory_order_release);
    DeviceId = info.st_dev;
    Inode = info.st_ino;
    log(LogLevel::Info,
        "file '{}': {} that were read saved in '{}': others may change it now",
        Path, formatBytes(uint64_t(boost::icl::length(read))), directory);
    if (DirectFd < 0)
      return {};
    const Descriptor direct(
        ::open(fmt::format("/proc/self/fd/{}", copy.get()).c_str(),
               O_RDONLY | O_DIRECT | O_CLOEXEC));
    if (::dup3(direct.valid() ? direct.get() : copy.get(), DirectFd,
               O_CLOEXEC) >= 0)
      return {};
    ::close(DirectFd);
    DirectFd = -1;
    return {};
  }
  return first;
}

} // namespace dragon
