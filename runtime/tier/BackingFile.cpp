//===- BackingFile.cpp - open files whose ranges back chunks --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/tier/FileTier.h"

#include "runtime/base/LargestFile.h"
#include "runtime/trace/Bytes.h"
#include "runtime/trace/Log.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <sys/stat.h>
#include <unistd.h>

namespace dragon {

namespace {

Status failed(const std::string &path, const char *what) {
  int code = errno;
  dragon_error kind = code == ENOSPC || code == EDQUOT ? DRAGON_ERROR_NO_SPACE
                                                       : DRAGON_ERROR_FILE;
  return Status::native(kind, code, "file '{}': {}: {}", path, what,
                        std::strerror(code));
}

/// A new open file description for what `fd` refers to, also if its name is
/// gone. -1 where that is not allowed.
int reopen(int fd, int flags) {
  return ::open(fmt::format("/proc/self/fd/{}", fd).c_str(), flags | O_CLOEXEC);
}

} // namespace

/// Size and modification time as last seen, or as our own last write left them.
/// What differs from that is somebody else's change.
struct BackingFile::Watch {
  std::mutex lock;
  unsigned ownWrites = 0; ///< under way
  bool seen = false;
  off_t size = 0;
  timespec modified{};
  uint64_t changes = 0;

  struct Table {
    std::mutex lock;
    std::map<std::pair<dev_t, ino_t>, std::weak_ptr<Watch>> all;
    std::vector<std::shared_ptr<Watch>> lockedForFork;
  };
  static Table &table() {
    static auto *theTable = new Table;
    return *theTable;
  }

  static std::shared_ptr<Watch> of(dev_t device, ino_t inode) {
    Table &watches = table();
    std::lock_guard<std::mutex> guard(watches.lock);
    std::erase_if(watches.all,
                  [](const auto &entry) { return entry.second.expired(); });
    std::weak_ptr<Watch> &entry = watches.all[{device, inode}];
    std::shared_ptr<Watch> watch = entry.lock();
    if (!watch)
      entry = watch = std::make_shared<Watch>();
    return watch;
  }

  /// Counts a change if there is one; false if the file cannot be looked at.
  bool look(int fd) {
    if (ownWrites)
      return true;
    struct stat info;
    if (::fstat(fd, &info) != 0)
      return false;
    bool same = size == info.st_size &&
                modified.tv_sec == info.st_mtim.tv_sec &&
                modified.tv_nsec == info.st_mtim.tv_nsec;
    if (seen && !same)
      ++changes;
    seen = true;
    size = info.st_size;
    modified = info.st_mtim;
    return true;
  }
};

void BackingFile::lockForFork() {
  Watch::Table &watches = Watch::table();
  watches.lock.lock();
  for (auto &[file, entry] : watches.all)
    if (std::shared_ptr<Watch> watch = entry.lock()) {
      watch->lock.lock();
      watches.lockedForFork.push_back(std::move(watch));
    }
}

void BackingFile::unlockAfterFork() {
  Watch::Table &watches = Watch::table();
  for (const std::shared_ptr<Watch> &watch : watches.lockedForFork)
    watch->lock.unlock();
  watches.lockedForFork.clear();
  watches.lock.unlock();
}

BackingFile::OwnWrite::OwnWrite(const BackingFile &file) : File(file) {
  std::lock_guard<std::mutex> guard(File.Watched->lock);
  File.Watched->look(File.Fd);
  ++File.Watched->ownWrites;
}

BackingFile::OwnWrite::~OwnWrite() {
  std::lock_guard<std::mutex> guard(File.Watched->lock);
  if (--File.Watched->ownWrites)
    return;
  File.Watched->seen = false; // what it looks like now is our doing
  File.Watched->look(File.Fd);
}

StatusOr<std::shared_ptr<BackingFile>>
BackingFile::adopt(int fd, std::string path, bool writable) {
  std::shared_ptr<BackingFile> file(new BackingFile);
  file->Fd = fd;
  file->Path = std::move(path);
  file->Writable = writable;
  struct stat info;
  if (::fstat(fd, &info) != 0)
    return failed(file->Path, "cannot stat");
  if (!S_ISREG(info.st_mode))
    return Status::error(DRAGON_ERROR_UNSUPPORTED,
                         "file '{}': not a regular file", file->Path);
  file->DeviceId = info.st_dev;
  file->Inode = info.st_ino;
  file->SizeAtOpen = uint64_t(info.st_size);
  file->Watched = Watch::of(info.st_dev, info.st_ino);
  {
    std::lock_guard<std::mutex> guard(file->Watched->lock);
    file->Watched->look(fd);
    file->ChangesAtOpen = file->Watched->changes;
  }

  int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0)
    return failed(file->Path, "cannot read its flags");
  // pwrite on an O_APPEND descriptor ignores the offset, and what went to a
  // write-only file could not be read back: both want a descriptor of our own.
  int access = flags & O_ACCMODE;
  if (writable && ((flags & O_APPEND) || access == O_WRONLY)) {
    int own = reopen(fd, O_RDWR);
    if (own >= 0) {
      ::close(fd);
      file->Fd = own;
      access = O_RDWR;
    } else if (flags & O_APPEND) {
      return failed(file->Path, "open for appending, and cannot be reopened");
    }
  }
  file->Readable = access != O_WRONLY;
  file->DirectFd = reopen(file->Fd, access | O_DIRECT);
  return file;
}

StatusOr<std::shared_ptr<BackingFile>>
BackingFile::open(const std::string &path, bool writable, bool create) {
  int flags = O_CLOEXEC | (writable ? O_RDWR : O_RDONLY);
  if (create)
    flags |= O_CREAT;
  int fd = ::open(path.c_str(), flags, 0666);
  if (fd < 0)
    return failed(path, "cannot open");
  return adopt(fd, path, writable);
}

const std::shared_ptr<BackingFile> &BackingFile::programMemory() {
  // What is no file has no device and no inode: those of none.
  static const auto *memory = [] {
    std::shared_ptr<BackingFile> made(new BackingFile);
    made->Memory = true;
    made->Path = "the program's memory";
    made->DeviceId = ~dev_t(0);
    made->Inode = ~ino_t(0);
    return new std::shared_ptr<BackingFile>(std::move(made));
  }();
  return *memory;
}

BackingFile::~BackingFile() {
  if (DirectFd >= 0)
    ::close(DirectFd);
  if (Fd >= 0)
    ::close(Fd);
}

Status BackingFile::checkUnchanged() const {
  if (Memory || Writable || Saved.load(std::memory_order_acquire))
    return {};
  std::lock_guard<std::mutex> guard(Watched->lock);
  if (!Watched->look(Fd))
    return failed(Path, "cannot stat");
  if (Watched->changes == ChangesAtOpen)
    return {};
  if (uint64_t(Watched->size) != SizeAtOpen)
    return Status::error(DRAGON_ERROR_FILE_CHANGED,
                         "file '{}': changed while it was mapped: it had {} "
                         "and has {}",
                         Path, formatBytes(SizeAtOpen),
                         formatBytes(uint64_t(Watched->size)));
  return Status::error(DRAGON_ERROR_FILE_CHANGED,
                       "file '{}': was written to while it was mapped", Path);
}

StatusOr<uint64_t> BackingFile::size() const {
  if (Memory)
    return uint64_t(INT64_MAX);
  struct stat info;
  if (::fstat(Fd, &info) != 0)
    return failed(Path, "cannot stat");
  return uint64_t(info.st_size);
}

Status BackingFile::truncate(uint64_t bytes) {
  OwnWrite write(*this);
  if (::ftruncate(Fd, off_t(bytes)) != 0)
    return failed(Path, "cannot set its size");
  return {};
}

bool BackingFile::extend(uint64_t end) {
  struct stat info;
  // To reach the limit of a file's size is a signal: that is for the writes.
  if (DirectFd < 0 || ::fstat(Fd, &info) != 0 ||
      uint64_t(info.st_size) >= end || largestFile() < end)
    return false;
  OwnWrite write(*this);
  if (::fallocate(Fd, 0, info.st_size, off_t(end) - info.st_size) == 0)
    return true;
  // A full disk may have been reached half way.
  if (struct stat now; ::fstat(Fd, &now) == 0 && now.st_size > info.st_size)
    if (::ftruncate(Fd, info.st_size) != 0)
      log(LogLevel::Info, "{}", failed(Path, "cannot set its size").message());
  return false;
}

Status BackingFile::punchHole(int64_t offset, uint64_t bytes) {
  OwnWrite write(*this);
  if (::fallocate(Fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset,
                  off_t(bytes)) == 0)
    return {};
  // Not every file system has holes; zeros take space, but read the same.
  constexpr size_t Step = 64 << 10;
  static const char Zeros[Step] = {};
  while (bytes) {
    ssize_t done =
        ::pwrite(Fd, Zeros, size_t(std::min<uint64_t>(bytes, Step)), offset);
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0)
      return failed(Path, "cannot clear a part of it");
    offset += done;
    bytes -= uint64_t(done);
  }
  return {};
}

Status BackingFile::syncData() {
  if (::fdatasync(Fd) != 0)
    return failed(Path, "fdatasync");
  return {};
}

} // namespace dragon
