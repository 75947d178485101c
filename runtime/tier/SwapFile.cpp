//===- SwapFile.cpp - swap in unlinked files ------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One unlinked file per swap directory. Slots are taken from the directories in
// turn, so that several disks work at once; freed slots keep their disk space
// and are used again for slots of the same size.
//
//===----------------------------------------------------------------------===//

#include "runtime/tier/FileTier.h"

#include "runtime/base/LargestFile.h"
#include "runtime/trace/Bytes.h"
#include "runtime/trace/Log.h"
#include "runtime/trace/Trace.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace dragon {

namespace {

constexpr size_t SlotAlignment = 4096;

struct Stripe {
  std::string directory;
  std::shared_ptr<BackingFile> file;
  int64_t end = 0;
};

uint64_t freeSpace(int fd) {
  struct statvfs info;
  if (::fstatvfs(fd, &info) != 0)
    return 0;
  return uint64_t(info.f_bavail) * info.f_frsize;
}

} // namespace

StatusOr<int> openUnnamed(const std::string &directory) {
  int fd = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0)
    return fd;
  if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
    return Status::native(DRAGON_ERROR_FILE, errno,
                          "swap directory '{}': {}; set DRAGON_SWAP_DIR to a "
                          "directory with room for swapped data",
                          directory, std::strerror(errno));
  std::string name = directory + "/dragon-swap-XXXXXX";
  fd = ::mkostemp(name.data(), O_CLOEXEC); // mode 0600
  if (fd < 0)
    return Status::native(DRAGON_ERROR_FILE, errno,
                          "swap directory '{}': cannot create a file: {}; set "
                          "DRAGON_SWAP_DIR to a directory with room for "
                          "swapped data",
                          directory, std::strerror(errno));
  ::unlink(name.c_str());
  return fd;
}

namespace {

class StripedSwap final : public SwapFile {
public:
  Status open(const std::vector<std::string> &directories);
  StatusOr<Slot> allocate(size_t bytes) override;
  void release(const Slot &slot) override;
  uint64_t available() const override;

private:
  mutable std::mutex Lock;
  std::vector<Stripe> Stripes;
  size_t Next = 0;
  std::multimap<size_t, Slot> Free;
  uint64_t InUse = 0;

  // With the lock held.
  StatusOr<Slot> take(size_t bytes);
};

Status StripedSwap::open(const std::vector<std::string> &directories) {
  for (const std::string &directory : directories) {
    DRAGON_ASSIGN(int fd, openUnnamed(directory));
    DRAGON_ASSIGN(std::shared_ptr<BackingFile> file,
                  BackingFile::adopt(fd, directory + "/(dragon swap)", true));
    Stripes.push_back({directory, std::move(file)});
  }
  if (Stripes.empty())
    return Status::error(DRAGON_ERROR_SETTING,
                         "no swap directory; set DRAGON_SWAP_DIR");
  return {};
}

StatusOr<SwapFile::Slot> StripedSwap::allocate(size_t bytes) {
  std::lock_guard guard(Lock);
  DRAGON_ASSIGN(const Slot slot, take((bytes + SlotAlignment - 1) /
                                      SlotAlignment * SlotAlignment));
  InUse += slot.bytes;
  traceHeld(TracedMemory::Swap, InUse);
  return slot;
}

StatusOr<SwapFile::Slot> StripedSwap::take(size_t bytes) {
  if (auto found = Free.find(bytes); found != Free.end()) {
    Slot slot = found->second;
    Free.erase(found);
    return slot;
  }
  int code = 0;
  bool limited = false;
  for (size_t tries = 0; tries < Stripes.size(); ++tries) {
    Stripe &stripe = Stripes[Next];
    Next = (Next + 1) % Stripes.size();
    if (uint64_t(stripe.end) + bytes > largestFile()) {
      code = EFBIG;
      limited = true;
      continue;
    }
    int result;
    do
      result =
          ::fallocate(stripe.file->fd(), 0, off_t(stripe.end), off_t(bytes));
    while (result != 0 && errno == EINTR);
    // Where space cannot be reserved, a full disk shows when writing.
    if (result != 0 && errno == EOPNOTSUPP &&
        freeSpace(stripe.file->fd()) >= bytes)
      result = ::ftruncate(stripe.file->fd(), off_t(stripe.end) + off_t(bytes));
    if (result != 0) {
      code = errno;
      continue;
    }
    Slot slot{stripe.file.get(), stripe.end, bytes};
    stripe.end += int64_t(bytes);
    return slot;
  }
  // A larger slot that is free serves as well.
  if (auto found = Free.lower_bound(bytes); found != Free.end()) {
    Slot slot = found->second;
    Free.erase(found);
    return slot;
  }
  uint64_t left = 0;
  std::string names;
  for (const Stripe &stripe : Stripes) {
    left += freeSpace(stripe.file->fd());
    names += (names.empty() ? "'" : ", '") + stripe.directory + "'";
  }
  if (limited)
    return Status::native(DRAGON_ERROR_NO_SPACE, code,
                          "swap in {}: files may have {} (ulimit -f); raise "
                          "that limit, or name more directories in "
                          "DRAGON_SWAP_DIR",
                          names, formatBytes(largestFile()));
  return Status::native(DRAGON_ERROR_NO_SPACE, code,
                        "swap in {}: no space left (need {}, have {}); set "
                        "DRAGON_SWAP_DIR to directories with more room",
                        names, formatBytes(bytes), formatBytes(left));
}

void StripedSwap::release(const Slot &slot) {
  std::lock_guard guard(Lock);
  Free.emplace(slot.bytes, slot);
  InUse -= slot.bytes;
  traceHeld(TracedMemory::Swap, InUse);
}

uint64_t StripedSwap::available() const {
  std::lock_guard guard(Lock);
  uint64_t bytes = 0;
  std::map<dev_t, bool> seen; // directories of one file system share its space
  for (const Stripe &stripe : Stripes)
    if (!seen[stripe.file->deviceId()]) {
      seen[stripe.file->deviceId()] = true;
      bytes += freeSpace(stripe.file->fd());
    }
  for (const auto &[size, slot] : Free)
    bytes += size;
  return bytes;
}

} // namespace

StatusOr<std::unique_ptr<SwapFile>> SwapFile::create(const Settings &settings) {
  auto swap = std::make_unique<StripedSwap>();
  DRAGON_TRY(swap->open(settings.swapDirs));
  return std::unique_ptr<SwapFile>(std::move(swap));
}

} // namespace dragon
