//===- FileTier.h - files as a tier: ranges read and written -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A BackingFile is an open file whose ranges back chunks: an input (clean
// copies are dropped and read again), an output (a sink), or swap. Reads and
// writes go by io_uring with O_DIRECT for the aligned middle, buffered for
// head and tail; where O_DIRECT or io_uring is refused, by pread and pwrite,
// with one note and a counter. Short transfers, EINTR and EOF are handled in
// one place; a file that became shorter than what was mapped is
// DRAGON_ERROR_FILE_CHANGED.
//
// The program's own memory can back chunks as well: a BackingFile that is no
// file.
//
// Memory: callers own it until the batch is complete; 4096-byte alignment of
// memory makes O_DIRECT possible, other memory works.
// Threads: all calls from any thread; a Batch is used by one thread.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_TIER_FILETIER_H
#define DRAGON_RUNTIME_TIER_FILETIER_H

#include "runtime/base/Settings.h"
#include "runtime/base/Status.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <sys/types.h>

namespace dragon {

class Ledger;

/// Bytes [begin, end) of a file.
struct FileRange {
  int64_t begin;
  int64_t end;
};

/// A file without a name and with mode 0600, for data that nobody else is to
/// see and that is gone with its last descriptor.
StatusOr<int> openUnnamed(const std::string &directory);

class BackingFile {
public:
  /// Takes over `fd` (open for what is needed; kept open until destruction).
  /// `path` is for messages. Remembers size and modification time.
  static StatusOr<std::shared_ptr<BackingFile>> adopt(int fd, std::string path,
                                                      bool writable);
  /// Opens by path.
  static StatusOr<std::shared_ptr<BackingFile>>
  open(const std::string &path, bool writable, bool create);
  /// All of the program's memory, each byte at the offset that is its address.
  /// It has no descriptor, and does not tell when it changes: that is for who
  /// lets it back a chunk.
  static const std::shared_ptr<BackingFile> &programMemory();
  ~BackingFile();

  bool isMemory() const { return Memory; }
  const std::string &path() const { return Path; }
  int fd() const { return Fd; }
  dev_t deviceId() const { return DeviceId; }
  ino_t inode() const { return Inode; }
  /// Nobody but this runtime has written to the file since adoption, as far as
  /// its size and modification time tell (read-only files).
  Status checkUnchanged() const;
  /// These bytes stay what they are, whatever happens to the file: they are
  /// copied (shared, where the file system can) to a file without a name in one
  /// of the directories, which takes the place of this one. What is in no range
  /// is lost. No request for the file is under way. The cost: the space there,
  /// and a copy.
  Status save(const std::vector<FileRange> &ranges,
              const std::vector<std::string> &directories);
  /// Somebody with the rights of this process can change the file. Who cannot
  /// write it, and does not own it, can not.
  bool mayBeChanged() const;
  /// Over a fork, so that the child finds no lock taken for ever.
  static void lockForFork();
  static void unlockAfterFork();
  StatusOr<uint64_t> size() const;
  Status truncate(uint64_t bytes);
  /// Space for all bytes up to `end`, if the file system can reserve it: writes
  /// that go past the cache then need no order among them, which those that
  /// extend a file do. True: the file ends at `end` now. Else it is unchanged.
  bool extend(uint64_t end);
  /// The range reads as zeros from now on; the size stays.
  Status punchHole(int64_t offset, uint64_t bytes);
  Status syncData();
  /// A second descriptor with O_DIRECT, or -1 if the file system refuses.
  int directFd() const { return DirectFd; }
  /// What was written can be read back (a file opened for writing only, and
  /// not reopenable, cannot).
  bool readable() const { return Readable; }

  /// A write of our own, while it lives: not taken for somebody else's by
  /// checkUnchanged() of any BackingFile of the same file.
  class OwnWrite {
  public:
    explicit OwnWrite(const BackingFile &file);
    ~OwnWrite();
    OwnWrite(const OwnWrite &) = delete;
    OwnWrite &operator=(const OwnWrite &) = delete;

  private:
    const BackingFile &File;
  };

private:
  friend class FileTier;
  struct Watch; ///< what is known of the file; one for each inode
  BackingFile() = default;
  int Fd = -1;
  int DirectFd = -1;
  bool Writable = false;
  bool Readable = true;
  bool Memory = false;            ///< the program's
  std::atomic<bool> Saved{false}; ///< a copy of our own
  std::string Path;
  dev_t DeviceId = 0;
  ino_t Inode = 0;
  uint64_t SizeAtOpen = 0;
  std::shared_ptr<Watch> Watched;
  uint64_t ChangesAtOpen = 0; ///< by others
};

/// One request: `bytes` at `offset` of the file, from or to `memory`.
struct FileRequest {
  BackingFile *file;
  void *memory;
  size_t bytes;
  int64_t offset;
  bool write;
  /// Called on completion, on the thread that waits, in any order; may be
  /// empty. On failure `transferred` says how many bytes from the start are
  /// done.
  std::function<void(const Status &, size_t transferred)> done;
};

class FileTier {
public:
  static StatusOr<std::unique_ptr<FileTier>> create(const Settings &settings,
                                                    Ledger &ledger);
  virtual ~FileTier() = default;

  /// Submits the requests, keeps several in flight, and returns when all are
  /// complete; the first failure is returned, the others still complete.
  virtual Status run(std::span<FileRequest> requests) = 0;

  /// Memory that many requests will use: io_uring may keep its pages pinned
  /// (RingMemory.h). Other memory works.
  virtual void remember(void *memory, size_t bytes) = 0;
  /// Before what was remembered is freed; no request uses it.
  virtual void forget(void *memory) = 0;

  Status read(BackingFile &file, void *memory, size_t bytes, int64_t offset);
  Status write(BackingFile &file, const void *memory, size_t bytes,
               int64_t offset);
};

/// Swap: unlinked files (O_TMPFILE, mode 0600, or created and unlinked at once)
/// in the swap directories, striped by slot. Slots are chunk sized.
class SwapFile {
public:
  static StatusOr<std::unique_ptr<SwapFile>> create(const Settings &settings);
  virtual ~SwapFile() = default;
  struct Slot {
    BackingFile *file = nullptr;
    int64_t offset = 0;
    size_t bytes = 0;
  };
  /// Reserves space (fallocate where the file system can), so that a full disk
  /// is an error here: DRAGON_ERROR_NO_SPACE with directory, need and free.
  virtual StatusOr<Slot> allocate(size_t bytes) = 0;
  virtual void release(const Slot &slot) = 0;
  /// Bytes that could still be allocated.
  virtual uint64_t available() const = 0;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_TIER_FILETIER_H
