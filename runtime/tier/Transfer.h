//===- Transfer.h - requests cut into system calls --------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A batch of file requests as the segments that are given to the kernel. Here,
// and only here, is what both ways of doing I/O need: where O_DIRECT is
// possible, what a short transfer, EINTR or end of file means, which error code
// a failure becomes, and how much of a request is done from its start.
//
// A request is cut at the alignment of O_DIRECT: head and tail go through the
// page cache, the middle does not, in pieces small enough to have many under
// way. Where memory and file offset are not aligned to each other all of it
// goes through the page cache. What is in the page cache already is read from
// there, where the kernel tells (cachestat, Linux 6.5): it is quicker than any
// disk, and to read around changed pages would write them first.
//
// Not thread-safe: the caller serialises next() and completed().
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_TIER_TRANSFER_H
#define DRAGON_RUNTIME_TIER_TRANSFER_H

#include "runtime/base/Settings.h"
#include "runtime/tier/FileTier.h"

#include <deque>
#include <vector>

namespace dragon {

/// One read or write as the kernel sees it.
struct TransferPart {
  size_t request; ///< index of its request
  char *memory;
  size_t bytes;
  int64_t offset;
  bool direct;
  bool write;
  int fd;
  bool registered = false; ///< io_uring has its memory's pages (RingMemory.h)
};

/// Looks at every result before it counts; for tests (FaultyFile).
class IoFaults {
public:
  virtual ~IoFaults() = default;
  /// `result`: bytes, or minus an errno. Returns what to believe instead.
  virtual long filter(const TransferPart &segment, long result) = 0;
  /// Memory is to be registered; not 0: the kernel refuses, minus an errno.
  virtual int registering() { return 0; }
  /// The same when another ring is to be opened.
  virtual int opening() { return 0; }
};

class Transfer {
public:
  static constexpr size_t Alignment = 4096;
  static constexpr size_t SegmentBytes = 1 << 20;

  Transfer(std::span<FileRequest> requests, DirectIo directIo, Ledger &ledger,
           IoFaults *faults);

  std::span<const FileRequest> requests() const { return Requests; }
  /// The next segment to hand to the kernel; null if all that is left is under
  /// way, or nothing is left. Stays valid until it is completed.
  TransferPart *next();
  /// `result`: bytes, or minus an errno.
  void completed(TransferPart *segment, long result);
  bool finished() const { return Waiting.empty() && UnderWay == 0; }
  /// All that waits is read from the page cache, or at least through it, and it
  /// is more than one segment: copies, that several processors make sooner.
  bool isCopying() const;
  /// Reports to each request's done(); the first failure.
  Status finish();

private:
  struct Progress {
    Status failure;
    std::vector<std::pair<size_t, size_t>> done; ///< ranges, from its start
  };
  void cut(size_t request);
  void queue(size_t request, size_t from, size_t to, bool direct);
  void fail(size_t request, Status status);
  Status describe(const TransferPart &segment, int code) const;
  Status endOfFile(const TransferPart &segment) const;

  std::span<FileRequest> Requests;
  DirectIo Direct;
  Ledger &Bytes;
  IoFaults *Faults;
  std::vector<Progress> Parts;
  std::deque<TransferPart> Waiting;
  std::deque<TransferPart> Issued; ///< slots of those under way
  std::vector<TransferPart *> FreeSlots;
  size_t UnderWay = 0;
};

/// Keeps batches moving. Both are FileTiers without the checks.
class IoEngine {
public:
  virtual ~IoEngine() = default;
  /// Returns when the transfer is finished. Thread-safe.
  virtual Status drive(Transfer &transfer) = 0;
  /// As those of FileTier.
  virtual void remember(void *, size_t) {}
  virtual void forget(void *) {}
};

/// By pread or pwrite: bytes, or minus an errno.
long perform(const TransferPart &segment);

/// io_uring. An error if the kernel, or a sandbox, refuses it.
StatusOr<std::unique_ptr<IoEngine>> createIoRing(IoFaults *faults);
/// pread and pwrite on several threads; none is started before the first
/// transfer.
std::unique_ptr<IoEngine> createThreadedIo();

/// FileTier::create with faults.
StatusOr<std::unique_ptr<FileTier>>
createFileTier(const Settings &settings, Ledger &ledger, IoFaults *faults);

} // namespace dragon

#endif // DRAGON_RUNTIME_TIER_TRANSFER_H
