//===- WriteBehind.cpp - evicted contents are written ---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/WriteBehind.h"

#include "runtime/trace/Log.h"
#include <algorithm>
#include <utility>

namespace dragon {

Status WriteBehind::start(Chunk &chunk, Removal target, Cause cause) {
  Writing writing{
      {&chunk, chunk.host.hostView, target, {}, {}}, cause, 0, nullptr};
  FileRequest request{};
  if (target == Removal::ToMemory) {
    writing.plan.slot = Store.Ordinary.allocate(chunk.used());
    if (!writing.plan.slot.bytes)
      return Status::error(DRAGON_ERROR_OUT_OF_MEMORY,
                           "no ordinary memory for evicted contents");
  }
  chunk.holds.inTransit = true; // others may need room meanwhile
  Status planned = Store.planWrite(writing.plan, request);
  chunk.holds.inTransit = false;
  DRAGON_TRY(std::move(planned));
  std::vector<FileRequest> requests;
  requests.push_back(std::move(request));
  writing.job = Store.Background->start(std::move(requests));
  writing.number = ++Begun;
  Writings.push_back(std::move(writing));
  chunk.transit.writing = &Writings.back();
  Bytes += chunk.host.bytes;
  Slabs.Pool.lend(int64_t(chunk.host.bytes));
  return {};
}

/// It is over, one way or the other.
Writing WriteBehind::takeOut(Chunk &chunk) {
  auto found = std::find_if(Writings.begin(), Writings.end(),
                            [&chunk](const Writing &other) {
                              return &other == chunk.transit.writing;
                            });
  Writing writing = std::move(*found);
  Writings.erase(found);
  chunk.transit.writing = nullptr;
  Bytes -= chunk.host.bytes;
  Slabs.Pool.lend(-int64_t(chunk.host.bytes));
  return writing;
}

void WriteBehind::giveUpHostCopy(Chunk &chunk) {
  const Physical slab = std::exchange(chunk.host, Physical());
  Slabs.list(chunk, false);
  chunk.buffer->note(chunk, ChunkEvent::LeftHost);
  // A copy of it to the device may be under way.
  Slabs.giveTransit(slab, chunk.transit.arrival);
}

Status WriteBehind::finish(Chunk &chunk) {
  if (!chunk.transit.writing)
    return {};
  Status status = Store.wait(*chunk.transit.writing->job);
  Writing writing = takeOut(chunk);
  WritePlan &plan = writing.plan;
  if (!status.ok() && plan.target == Removal::ToSink) {
    log(LogLevel::Info, "{}; its data goes to swap for now", status.message());
    plan.target = Removal::ToSwap;
    status = Store.write({&plan, 1}, writing.cause);
  } else if (status.ok()) {
    Store.commitWrite(plan, writing.cause, Store.Background->takeBusyTime());
  } else {
    Store.releaseSlot(plan.slot);
  }
  DRAGON_TRY(std::move(status));
  // Who has pinned it counts on its host copy.
  if (!Ctx.pins.has(chunk))
    giveUpHostCopy(chunk);
  return {};
}

void WriteBehind::callOff(Chunk &chunk) {
  if (!chunk.transit.writing)
    return;
  Store.callOff(*chunk.transit.writing->job);
  Writing writing = takeOut(chunk);
  Store.releaseSlot(writing.plan.slot);
  giveUpHostCopy(chunk);
}

void WriteBehind::finishDone() {
  for (auto next = Writings.begin(); next != Writings.end();) {
    const Writing &writing = *next++;
    if (Store.Background->done(*writing.job))
      finish(writing.chunk()).ignore(); // its contents are still there
  }
}

Status WriteBehind::finishFirst(uint64_t begunBefore) {
  const Writing &first = Writings.front();
  const bool isOld = first.number <= begunBefore;
  Status status = finish(first.chunk());
  return isOld ? Status() : std::move(status);
}

Status WriteBehind::finishAll() {
  Status first;
  while (any())
    if (Status status = finishFirst(); first.ok())
      first = std::move(status);
  return first;
}

void WriteBehind::finishTo(dev_t deviceId, ino_t inode, int64_t begin,
                           int64_t end) {
  for (auto next = Writings.begin(); next != Writings.end();) {
    Writing &writing = *next++;
    const Piece &piece = writing.plan.piece;
    if (piece.file && piece.file->inode() == inode &&
        piece.file->deviceId() == deviceId && piece.offset < end &&
        begin < piece.offset + int64_t(piece.end - piece.begin))
      // On failure it is not in the file, which is as good.
      finish(writing.chunk()).ignore();
  }
}

} // namespace dragon
