//===- IoRing.cpp - io_uring ----------------------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each batch has a ring of its own for its duration; rings are kept for the
// next batch. A ring has the depth that saturates a fast local disk with 1 MiB
// segments.
//
//===----------------------------------------------------------------------===//

#include "runtime/tier/Transfer.h"

#include <cerrno>
#include <cstring>
#include <liburing.h>
#include <mutex>

namespace dragon {

namespace {

constexpr unsigned Depth = 64;

struct Ring {
  io_uring ring{};
  bool open = false;
  ~Ring() {
    if (open)
      io_uring_queue_exit(&ring);
  }
};

Status openRing(Ring &ring) {
  if (int code = io_uring_queue_init(Depth, &ring.ring, 0); code < 0)
    return Status::native(DRAGON_ERROR_UNSUPPORTED, -code,
                          "io_uring is not available: {}",
                          std::strerror(-code));
  ring.open = true;
  return {};
}

class IoRing final : public IoEngine {
public:
  Status drive(Transfer &transfer) override;
  void keep(std::unique_ptr<Ring> ring) {
    std::lock_guard guard(Lock);
    Idle.push_back(std::move(ring));
  }

private:
  std::mutex Lock;
  std::vector<std::unique_ptr<Ring>> Idle;
};

Status IoRing::drive(Transfer &transfer) {
  std::unique_ptr<Ring> ring;
  {
    std::lock_guard guard(Lock);
    if (!Idle.empty()) {
      ring = std::move(Idle.back());
      Idle.pop_back();
    }
  }
  if (!ring) {
    ring = std::make_unique<Ring>();
    DRAGON_TRY(openRing(*ring));
  }
  unsigned underWay = 0;
  while (true) {
    while (underWay < Depth) {
      Segment *segment = transfer.next();
      if (!segment)
        break;
      io_uring_sqe *entry = io_uring_get_sqe(&ring->ring);
      if (segment->write)
        io_uring_prep_write(entry, segment->fd, segment->memory,
                            unsigned(segment->bytes),
                            uint64_t(segment->offset));
      else
        io_uring_prep_read(entry, segment->fd, segment->memory,
                           unsigned(segment->bytes), uint64_t(segment->offset));
      io_uring_sqe_set_data(entry, segment);
      ++underWay;
    }
    if (underWay == 0)
      break;
    // The kernel may still write to the caller's memory: the only way out of
    // here is that everything under way has come back.
    int code = io_uring_submit_and_wait(&ring->ring, 1);
    if (code < 0 && code != -EINTR && code != -EAGAIN && code != -EBUSY)
      return Status::native(DRAGON_ERROR_FILE, -code, "io_uring: {}",
                            std::strerror(-code));
    io_uring_cqe *done;
    while (io_uring_peek_cqe(&ring->ring, &done) == 0) {
      auto *segment = static_cast<Segment *>(io_uring_cqe_get_data(done));
      long result = done->res;
      io_uring_cqe_seen(&ring->ring, done);
      --underWay;
      transfer.completed(segment, result);
    }
  }
  keep(std::move(ring));
  return {};
}

} // namespace

StatusOr<std::unique_ptr<IoEngine>> createIoRing() {
  auto ring = std::make_unique<Ring>();
  DRAGON_TRY(openRing(*ring));
  auto engine = std::make_unique<IoRing>();
  engine->keep(std::move(ring));
  return std::unique_ptr<IoEngine>(std::move(engine));
}

} // namespace dragon
