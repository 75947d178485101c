//===- Transfer.cpp - requests cut into system calls ----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/tier/Transfer.h"

#include "runtime/base/Ledger.h"
#include "runtime/trace/Bytes.h"
#include "runtime/trace/Log.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace dragon {

namespace {

/// Pages that are written one by one: the cache makes long writes of them, and
/// most are read again from there.
constexpr size_t SmallWriteBytes = 16 << 10;

/// All of the range is in the page cache. False also where nobody can tell.
bool isCached(const BackingFile &file, int64_t offset, size_t bytes) {
  static std::atomic<bool> answers{true};
  if (!answers.load(std::memory_order_relaxed))
    return false;
  // As in linux/mman.h of 6.5; the number is the same everywhere.
  constexpr long CacheStat = 451;
  struct Range {
    uint64_t offset, bytes;
  } range{uint64_t(offset), bytes};
  struct Pages {
    uint64_t cached, dirty, inWriteback, evicted, recentlyEvicted;
  } pages{};
  if (::syscall(CacheStat, file.fd(), &range, &pages, 0) != 0) {
    if (errno == ENOSYS)
      answers = false;
    return false;
  }
  static const auto PageBytes = uint64_t(::sysconf(_SC_PAGESIZE));
  return pages.cached * PageBytes >= bytes;
}

} // namespace

Transfer::Transfer(std::span<FileRequest> requests, DirectIo directIo,
                   Ledger &ledger, IoFaults *faults)
    : Requests(requests), Direct(directIo), Bytes(ledger), Faults(faults),
      Parts(requests.size()) {
  for (size_t i = 0; i < requests.size(); ++i)
    cut(i);
}

void Transfer::cut(size_t index) {
  const FileRequest &request = Requests[index];
  uint64_t memory = reinterpret_cast<uintptr_t>(request.memory);
  uint64_t offset = uint64_t(request.offset);
  bool aligned = (memory - offset) % Alignment == 0;
  const bool small = request.write && request.bytes <= SmallWriteBytes;
  bool wanted = Direct != DirectIo::Off && request.bytes >= Alignment &&
                !(small && Direct == DirectIo::Auto);
  size_t head = request.bytes, tail = request.bytes;
  if (wanted && aligned && request.file->directFd() >= 0) {
    head = size_t((Alignment - offset % Alignment) % Alignment);
    head = std::min(head, request.bytes);
    tail = head + (request.bytes - head) / Alignment * Alignment;
  } else if (wanted && aligned) {
    if (Direct == DirectIo::On) {
      fail(index, Status::error(DRAGON_ERROR_FILE,
                                "file '{}': its file system refuses O_DIRECT "
                                "(DRAGON_DIRECT_IO=auto would do without)",
                                request.file->path()));
      return;
    }
    Bytes.count(Counter::BufferedFallbacks);
  }
  // Small head and tail are issued first: they are the slowest to come back.
  if (head < request.bytes) {
    queue(index, 0, head, false);
    queue(index, tail, request.bytes, false);
    queue(index, head, tail, true);
  } else {
    queue(index, 0, request.bytes, false);
  }
}

void Transfer::queue(size_t index, size_t from, size_t to, bool direct) {
  const FileRequest &request = Requests[index];
  while (from < to) {
    size_t bytes = std::min(SegmentBytes, to - from);
    const int64_t offset = request.offset + int64_t(from);
    const bool around =
        direct && !(!request.write && Direct == DirectIo::Auto &&
                    isCached(*request.file, offset, bytes));
    Waiting.push_back({index, static_cast<char *>(request.memory) + from, bytes,
                       offset, around, request.write,
                       around ? request.file->directFd() : request.file->fd()});
    from += bytes;
  }
}

bool Transfer::isCopying() const {
  return Waiting.size() > 1 &&
         std::ranges::none_of(Waiting, [](const TransferPart &segment) {
           return segment.direct || segment.write;
         });
}

TransferPart *Transfer::next() {
  if (Waiting.empty())
    return nullptr;
  TransferPart *slot;
  if (FreeSlots.empty()) {
    slot = &Issued.emplace_back();
  } else {
    slot = FreeSlots.back();
    FreeSlots.pop_back();
  }
  *slot = Waiting.front();
  Waiting.pop_front();
  ++UnderWay;
  return slot;
}

void Transfer::completed(TransferPart *slot, long result) {
  TransferPart segment = *slot;
  FreeSlots.push_back(slot);
  --UnderWay;
  if (Faults)
    result = Faults->filter(segment, result);
  if (!Parts[segment.request].failure.ok())
    return;
  // io_uring cancels what it finds no worker for, as while signals come.
  if (result == -ECANCELED)
    result = perform(segment);
  if (result == -EINTR || result == -EAGAIN) {
    Waiting.push_front(segment);
    return;
  }
  if (result == -EINVAL && segment.direct && Direct == DirectIo::Auto) {
    segment.direct = false;
    segment.fd = Requests[segment.request].file->fd();
    Bytes.count(Counter::BufferedFallbacks);
    log(LogLevel::Info, "file '{}': O_DIRECT refused, goes through the cache",
        Requests[segment.request].file->path());
    Waiting.push_front(segment);
    return;
  }
  if (result < 0)
    return fail(segment.request, describe(segment, int(-result)));
  if (result == 0)
    return fail(segment.request,
                segment.write ? describe(segment, EIO) : endOfFile(segment));
  size_t done = std::min(size_t(result), segment.bytes);
  size_t begin = size_t(segment.memory -
                        static_cast<char *>(Requests[segment.request].memory));
  Parts[segment.request].done.emplace_back(begin, begin + done);
  if (done == segment.bytes)
    return;
  // Short: the rest again, through the cache where it is no longer aligned.
  segment.memory += done;
  segment.offset += int64_t(done);
  segment.bytes -= done;
  if (segment.direct && done % Alignment) {
    segment.direct = false;
    segment.fd = Requests[segment.request].file->fd();
  }
  Waiting.push_front(segment);
}

void Transfer::fail(size_t request, Status status) {
  if (Parts[request].failure.ok())
    Parts[request].failure = std::move(status);
  // What has not been issued would be in vain.
  std::erase_if(Waiting, [request](const TransferPart &segment) {
    return segment.request == request;
  });
}

Status Transfer::describe(const TransferPart &segment, int code) const {
  const std::string &path = Requests[segment.request].file->path();
  bool full = code == ENOSPC || code == EDQUOT || code == EFBIG;
  return Status::native(full ? DRAGON_ERROR_NO_SPACE : DRAGON_ERROR_FILE, code,
                        "file '{}': cannot {} {} at offset {}: {}", path,
                        segment.write ? "write" : "read",
                        formatBytes(segment.bytes), segment.offset,
                        std::strerror(code));
}

Status Transfer::endOfFile(const TransferPart &segment) const {
  const FileRequest &request = Requests[segment.request];
  uint64_t size = 0;
  if (auto now = request.file->size(); now.ok())
    size = *now;
  return Status::error(DRAGON_ERROR_FILE_CHANGED,
                       "file '{}': became shorter while it was mapped: it "
                       "ends at {}, data up to {} is needed",
                       request.file->path(), size,
                       uint64_t(request.offset) + request.bytes);
}

Status Transfer::finish() {
  Status first;
  for (size_t i = 0; i < Requests.size(); ++i) {
    Progress &part = Parts[i];
    std::sort(part.done.begin(), part.done.end());
    size_t prefix = 0;
    for (auto [begin, end] : part.done)
      if (begin <= prefix)
        prefix = std::max(prefix, end);
    if (Requests[i].done)
      Requests[i].done(part.failure, prefix);
    if (first.ok() && !part.failure.ok())
      first = std::move(part.failure);
  }
  return first;
}

} // namespace dragon
