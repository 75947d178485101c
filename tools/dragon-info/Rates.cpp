//===- Rates.cpp - the rates of the link and of disks ---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Measured by the runtime's own means: pinned copies of its devices, and its
// file tier on files of the kind that swap has. Each rate is that of the second
// of two rounds: the first one makes the memory, or the file's space.
//
//===----------------------------------------------------------------------===//

#include "runtime/base/Ledger.h"
#include "runtime/device/cuda/CudaDriver.h"
#include "runtime/tier/FileTier.h"
#include "tools/dragon-info/Machine.h"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <linux/magic.h>
#include <map>
#include <sys/statfs.h>
#include <unistd.h>

namespace dragon::info {

namespace {

using Clock = std::chrono::steady_clock;

double rateSince(Clock::time_point Begin, uint64_t Bytes) {
  const double Seconds =
      std::chrono::duration<double>(Clock::now() - Begin).count();
  return Seconds > 0 ? double(Bytes) / Seconds : 0;
}

constexpr uint64_t Piece = uint64_t(16) << 20;

std::string nameOfFileSystem(long Magic) {
  static const std::map<long, const char *> Names = {
      {EXT4_SUPER_MAGIC, "ext2/3/4"},
      {XFS_SUPER_MAGIC, "xfs"},
      {BTRFS_SUPER_MAGIC, "btrfs"},
      {TMPFS_MAGIC, "tmpfs"},
      {OVERLAYFS_SUPER_MAGIC, "overlayfs"},
      {NFS_SUPER_MAGIC, "nfs"},
      {0x0bd00bd0, "lustre"},
      {0x2fc12fc1, "zfs"},
      {FUSE_SUPER_MAGIC, "fuse"}};
  auto It = Names.find(Magic);
  return It == Names.end() ? fmt::format("file system {:#x}", Magic)
                           : It->second;
}

/// A file that goes with the process, as swap is.
StatusOr<std::shared_ptr<BackingFile>> makeFile(const std::string &Directory) {
  int Fd = ::open(Directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  std::string Path = Directory + "/dragon-info-XXXXXX";
  if (Fd < 0 && (Fd = ::mkostemp(Path.data(), O_CLOEXEC)) >= 0)
    ::unlink(Path.c_str());
  if (Fd < 0)
    return Status::error(DRAGON_ERROR_FILE, "cannot make a file: {}",
                         std::strerror(errno));
  return BackingFile::adopt(Fd, Directory, /*writable=*/true);
}

Status measureDisk(const Settings &Set, BackingFile &File, uint64_t Bytes,
                   Disk &Result) {
  Ledger Moved;
  DRAGON_ASSIGN(std::unique_ptr<FileTier> Tier, FileTier::create(Set, Moved));
  std::unique_ptr<void, void (*)(void *)> Memory(
      std::aligned_alloc(4096, Bytes), std::free);
  if (!Memory)
    return Status::error(DRAGON_ERROR_OUT_OF_MEMORY, "no memory");
  std::memset(Memory.get(), 0x5a, Bytes);
  auto All = [&](bool Write) {
    std::vector<FileRequest> Requests;
    for (uint64_t At = 0; At < Bytes; At += Piece)
      Requests.push_back({&File,
                          static_cast<char *>(Memory.get()) + At,
                          size_t(std::min(Piece, Bytes - At)),
                          int64_t(At),
                          Write,
                          {}});
    return Tier->run(Requests);
  };
  for (int Round = 0; Round < 2; ++Round) {
    const Clock::time_point Begin = Clock::now();
    DRAGON_TRY(All(/*Write=*/true));
    DRAGON_TRY(File.syncData());
    Result.Write = rateSince(Begin, Bytes);
  }
  for (int Round = 0; Round < 2; ++Round) {
    ::posix_fadvise(File.fd(), 0, 0, POSIX_FADV_DONTNEED);
    const Clock::time_point Begin = Clock::now();
    DRAGON_TRY(All(/*Write=*/false));
    Result.Read = rateSince(Begin, Bytes);
  }
  return {};
}

/// A buffer of the device and one of pinned memory, or of a peer, which it
/// gives back.
class Pair {
public:
  explicit Pair(Device &Dev) : Dev(Dev) {}
  Pair(const Pair &) = delete;
  Pair &operator=(const Pair &) = delete;
  ~Pair() {
    if (Work)
      Dev.destroyQueue(Work).ignore();
    if (Mapped)
      Dev.unmap(Base, OnDevice).ignore();
    if (OnDevice.id)
      Dev.destroy(OnDevice).ignore();
    if (Other.id)
      Dev.destroy(Other).ignore();
    if (Base)
      Dev.release(Base, Bytes).ignore();
  }
  Status make(size_t Size, std::optional<unsigned> Peer) {
    Bytes = Size;
    DRAGON_ASSIGN(Base, Dev.reserve(Bytes));
    DRAGON_ASSIGN(OnDevice, Dev.create(Place::Device, Bytes));
    DRAGON_TRY(Dev.map(Base, OnDevice));
    Mapped = true;
    DRAGON_ASSIGN(Other, Peer ? Dev.createOnPeer(*Peer, Bytes)
                              : Dev.create(Place::Pinned, Bytes));
    DRAGON_ASSIGN(Work, Dev.createQueue(CU_STREAM_NON_BLOCKING, 0));
    return {};
  }
  Status copy(bool In) {
    void *There = reinterpret_cast<void *>(Base);
    if (Other.place == Place::Peer)
      return In ? Dev.copy(There, Other.peerView, Bytes,
                           CopyKind::DeviceToDevice, Work)
                : Dev.copy(Other.peerView, There, Bytes,
                           CopyKind::DeviceToDevice, Work);
    return In ? Dev.copy(There, Other.hostView, Bytes, CopyKind::HostToDevice,
                         Work)
              : Dev.copy(Other.hostView, There, Bytes, CopyKind::DeviceToHost,
                         Work);
  }
  Status wait() { return Dev.synchronize(Work); }

private:
  Device &Dev;
  size_t Bytes = 0;
  uintptr_t Base = 0;
  Physical OnDevice, Other;
  bool Mapped = false;
  Queue Work = nullptr;
};

Status measureCopies(Device &Dev, size_t Bytes, std::optional<unsigned> Peer,
                     LinkRates &Result) {
  Pair In(Dev), Out(Dev);
  DRAGON_TRY(In.make(Bytes, Peer));
  DRAGON_TRY(Out.make(Bytes, Peer));
  auto Copies = [&](bool Inwards, bool Outwards, double &Rate) -> Status {
    constexpr int Count = 8;
    for (int Round = 0; Round < 2; ++Round) {
      const Clock::time_point Begin = Clock::now();
      for (int I = 0; I < Count; ++I) {
        if (Inwards)
          DRAGON_TRY(In.copy(true));
        if (Outwards)
          DRAGON_TRY(Out.copy(false));
      }
      DRAGON_TRY(In.wait());
      DRAGON_TRY(Out.wait());
      Rate = rateSince(Begin, Count * Bytes * (Inwards + Outwards));
    }
    return {};
  };
  DRAGON_TRY(Copies(true, false, Result.ToDevice));
  DRAGON_TRY(Copies(false, true, Result.FromDevice));
  return Copies(true, true, Result.BothWays);
}

} // namespace

LinkRates measureLink(Device &Dev, uint64_t Bytes,
                      std::optional<unsigned> Peer) {
  LinkRates Result;
  if (!Dev.caps().hasLink) {
    Result.WhyNot = fmt::format("back end '{}' has no link", Dev.caps().name);
    return Result;
  }
  // A quarter of it is in each of the four buffers.
  const size_t Unit = Dev.caps().granularity;
  const size_t Each = std::max<size_t>(Unit, Bytes / 4 / Unit * Unit);
  if (Status Failed = measureCopies(Dev, Each, Peer, Result); !Failed.ok())
    Result.WhyNot = Failed.message();
  return Result;
}

Disk findDisk(const std::string &Path, const Settings &Set, uint64_t Bytes) {
  Disk Result;
  Result.Path = Path;
  struct statfs Info{};
  if (::statfs(Path.c_str(), &Info) != 0) {
    Result.Error = std::strerror(errno);
    return Result;
  }
  Result.FileSystem = nameOfFileSystem(long(Info.f_type));
  Result.Free = uint64_t(Info.f_bavail) * uint64_t(Info.f_bsize);
  auto File = makeFile(Path);
  if (!File.ok()) {
    Result.Error = File.takeStatus().message();
    return Result;
  }
  Result.Direct = (*File)->directFd() >= 0;
  if (Bytes > Result.Free / 4)
    Result.Error = Bytes ? "no room to measure its rates" : "";
  else if (Bytes)
    if (Status Failed = measureDisk(Set, **File, Bytes, Result); !Failed.ok())
      Result.Error = Failed.message();
  return Result;
}

} // namespace dragon::info
