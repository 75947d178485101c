//===- IoRing.cpp - io_uring ----------------------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each batch has a ring of its own for its duration; rings are kept for the
// next batch. A ring has the depth that saturates a fast local disk with 1 MiB
// segments. Those of memory that is used again and again find its pages pinned
// (RingMemory.h). Rings are locked memory as well: where the limit leaves no
// room for another one, a batch waits for one of those that there are.
//
//===----------------------------------------------------------------------===//

#include "runtime/tier/RingMemory.h"
#include "runtime/tier/Transfer.h"
#include "runtime/trace/Log.h"

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <liburing.h>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_set>
#include <utility>

namespace dragon {

namespace {

constexpr unsigned Depth = 64;

struct Ring {
  io_uring ring{};
  bool open = false;
  std::unique_ptr<RingMemory> memory; ///< null before it is open
  ~Ring() {
    memory.reset();
    if (open)
      io_uring_queue_exit(&ring);
  }
};

Status openRing(Ring &ring, KnownMemory &known, IoFaults *faults = nullptr) {
  int code = faults ? faults->opening() : 0;
  if (code == 0)
    code = io_uring_queue_init(Depth, &ring.ring, 0);
  if (code < 0)
    return Status::native(DRAGON_ERROR_UNSUPPORTED, -code,
                          "io_uring is not available: {}",
                          std::strerror(-code));
  ring.open = true;
  ring.memory = std::make_unique<RingMemory>(known, ring.ring);
  return {};
}

void prepare(io_uring_sqe *entry, TransferPart &segment, int slot) {
  const auto bytes = unsigned(segment.bytes);
  const auto offset = uint64_t(segment.offset);
  segment.registered = slot != RingMemory::Plain;
  if (segment.registered && segment.write)
    io_uring_prep_write_fixed(entry, segment.fd, segment.memory, bytes, offset,
                              slot);
  else if (segment.registered)
    io_uring_prep_read_fixed(entry, segment.fd, segment.memory, bytes, offset,
                             slot);
  else if (segment.write)
    io_uring_prep_write(entry, segment.fd, segment.memory, bytes, offset);
  else
    io_uring_prep_read(entry, segment.fd, segment.memory, bytes, offset);
  io_uring_sqe_set_data(entry, &segment);
}

class IoRing final : public IoEngine {
public:
  explicit IoRing(IoFaults *faults) : Faults(faults), Known(faults) {}
  /// The first ring; without it there is no use in others.
  Status open();
  Status drive(Transfer &transfer) override;
  void remember(void *memory, size_t bytes) override {
    Known.add(memory, bytes);
  }
  void forget(void *memory) override { Known.remove(memory); }

private:
  StatusOr<std::unique_ptr<Ring>> take();
  /// Null: it has failed, and is no more.
  void give(std::unique_ptr<Ring> ring);
  /// `left`: if it fails, the segments that nobody works on.
  Status drive(Transfer &transfer, Ring &ring,
               std::vector<TransferPart *> &left);

  IoFaults *const Faults;
  KnownMemory Known;
  std::mutex Lock;
  std::condition_variable Given;
  std::vector<std::unique_ptr<Ring>> Idle;
  unsigned NumRings = 0;
};

Status IoRing::open() {
  auto ring = std::make_unique<Ring>();
  DRAGON_TRY(openRing(*ring, Known));
  ++NumRings;
  give(std::move(ring));
  return {};
}

StatusOr<std::unique_ptr<Ring>> IoRing::take() {
  std::unique_lock guard(Lock);
  if (Idle.empty()) {
    guard.unlock();
    auto ring = std::make_unique<Ring>();
    Status opened = openRing(*ring, Known, Faults);
    guard.lock();
    if (opened.ok()) {
      ++NumRings;
      return ring;
    }
    Given.wait(guard, [this] { return !Idle.empty() || !NumRings; });
    if (Idle.empty())
      return opened;
  }
  std::unique_ptr<Ring> ring = std::move(Idle.back());
  Idle.pop_back();
  return ring;
}

void IoRing::give(std::unique_ptr<Ring> ring) {
  std::lock_guard guard(Lock);
  if (ring)
    Idle.push_back(std::move(ring));
  else
    --NumRings;
  Given.notify_all();
}

Status IoRing::drive(Transfer &transfer) {
  std::vector<TransferPart *> left;
  auto ring = take();
  Status failed;
  if (ring.ok()) {
    failed = drive(transfer, **ring, left);
    if (!failed.ok())
      ring->reset();
    give(std::move(*ring));
  } else {
    failed = ring.takeStatus();
  }
  if (failed.ok())
    return {};
  log(LogLevel::Info, "{}; the rest is read and written without it",
      failed.message());
  for (TransferPart *segment : left)
    transfer.completed(segment, perform(*segment));
  while (TransferPart *segment = transfer.next())
    transfer.completed(segment, perform(*segment));
  return {};
}

/// Gives the transfer what has come back.
static void takeBack(io_uring &ring, Transfer &transfer,
                     std::unordered_set<TransferPart *> &underWay) {
  io_uring_cqe *done;
  while (io_uring_peek_cqe(&ring, &done) == 0) {
    auto *segment = static_cast<TransferPart *>(io_uring_cqe_get_data(done));
    const long result = done->res;
    io_uring_cqe_seen(&ring, done);
    underWay.erase(segment);
    transfer.completed(segment, result);
  }
}

Status IoRing::drive(Transfer &transfer, Ring &ring,
                     std::vector<TransferPart *> &left) {
  std::vector<std::optional<int>> slots(transfer.requests().size());
  std::unordered_set<TransferPart *> underWay;
  while (true) {
    while (underWay.size() < Depth) {
      TransferPart *segment = transfer.next();
      if (!segment)
        break;
      std::optional<int> &slot = slots[segment->request];
      if (!slot) {
        const FileRequest &request = transfer.requests()[segment->request];
        slot = ring.memory->slotFor(request.memory, request.bytes);
      }
      prepare(io_uring_get_sqe(&ring.ring), *segment, *slot);
      underWay.insert(segment);
    }
    if (underWay.empty())
      return {};
    const int code = io_uring_submit_and_wait(&ring.ring, 1);
    if (code < 0 && code != -EINTR && code != -EAGAIN && code != -EBUSY) {
      while (underWay.size() > io_uring_sq_ready(&ring.ring)) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        takeBack(ring.ring, transfer, underWay);
      }
      left.assign(underWay.begin(), underWay.end());
      return Status::native(DRAGON_ERROR_FILE, -code, "io_uring: {}",
                            std::strerror(-code));
    }
    takeBack(ring.ring, transfer, underWay);
  }
}

} // namespace

StatusOr<std::unique_ptr<IoEngine>> createIoRing(IoFaults *faults) {
  auto engine = std::make_unique<IoRing>(faults);
  DRAGON_TRY(engine->open());
  return std::unique_ptr<IoEngine>(std::move(engine));
}

} // namespace dragon
