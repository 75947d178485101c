//===- WriteBehind.cpp - writes of evicted contents that run meanwhile ----===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where host memory is full, too, what is evicted goes to its place in an
// output file or to swap. That takes far longer than a copy, so nobody waits:
// the chunk has its contents in a host slab (its own, or the one that they left
// the device in), from where they are written in the background, several chunks
// at a time. Until that is done the host copy is the chunk's contents, valid
// and dirty, as if nobody had begun to write it:
//
//   read, or fetched     from the host copy, without the disk
//   changed, discarded   the write is of no use: called off, or waited for
//   written              the storage is valid, the slab goes to the next taker
//   the write fails      the host copy stays; whoever needs its memory tries
//                        again, and is told if that fails as well
//
// The slabs are lent of the memory that is kept free for transit, half of it at
// most: so there is room for others from the moment when a write begins.
//
//===----------------------------------------------------------------------===//

#include "runtime/core/WriteBehind.h"

#include "runtime/trace/Log.h"

#include <algorithm>
#include <utility>

namespace dragon {

uint64_t Runtime::Impl::mostWriting() const { return Limits.transitBytes / 2; }

Status Runtime::Impl::startWriting(Chunk &chunk, Removal target, Cause cause) {
  Writing writing{
      {&chunk, chunk.host.hostView, target, {}, {}}, cause, 0, nullptr};
  FileRequest request{};
  chunk.leaving = true; // others may need room meanwhile
  Status planned = planWrite(writing.plan, request);
  chunk.leaving = false;
  DRAGON_TRY(std::move(planned));
  std::vector<FileRequest> requests;
  requests.push_back(std::move(request));
  writing.job = Background->start(std::move(requests));
  writing.number = ++WritingsBegun;
  Writings.push_back(std::move(writing));
  chunk.writing = &Writings.back();
  WritingBytes += chunk.host.bytes;
  HostPool.lend(int64_t(chunk.host.bytes));
  return {};
}

/// It is over, one way or the other.
Writing Runtime::Impl::takeWriting(Chunk &chunk) {
  auto found = std::find_if(
      Writings.begin(), Writings.end(),
      [&chunk](const Writing &other) { return &other == chunk.writing; });
  Writing writing = std::move(*found);
  Writings.erase(found);
  chunk.writing = nullptr;
  WritingBytes -= chunk.host.bytes;
  HostPool.lend(-int64_t(chunk.host.bytes));
  return writing;
}

void Runtime::Impl::giveUpHostCopy(Chunk &chunk) {
  const Physical slab = std::exchange(chunk.host, Physical());
  listHost(chunk, false);
  chunk.buffer->setValid(chunk, chunk.deviceValid, false, chunk.storageValid);
  // A copy of it to the device may be under way.
  giveTransit(slab, chunk.arrival);
}

Status Runtime::Impl::finishWriting(Chunk &chunk) {
  if (!chunk.writing)
    return {};
  Status status = Background->wait(*chunk.writing->job);
  Writing writing = takeWriting(chunk);
  WritePlan &plan = writing.plan;
  if (!status.ok() && plan.target == Removal::ToSink) {
    log(LogLevel::Info, "{}; its data goes to swap for now", status.message());
    plan.target = Removal::ToSwap;
    status = writeToStorage({&plan, 1}, writing.cause);
  } else if (status.ok()) {
    commitWrite(plan, writing.cause, Background->takeBusyTime());
  } else {
    Swap->release(plan.slot);
  }
  DRAGON_TRY(std::move(status));
  // Who has pinned it counts on its host copy.
  if (chunk.pinned != Round)
    giveUpHostCopy(chunk);
  return {};
}

void Runtime::Impl::callOffWriting(Chunk &chunk) {
  if (!chunk.writing)
    return;
  Background->callOff(*chunk.writing->job);
  Writing writing = takeWriting(chunk);
  if (writing.plan.target == Removal::ToSwap)
    Swap->release(writing.plan.slot);
  giveUpHostCopy(chunk);
}

void Runtime::Impl::finishDoneWritings() {
  for (auto next = Writings.begin(); next != Writings.end();) {
    const Writing &writing = *next++;
    if (Background->done(*writing.job))
      finishWriting(writing.chunk()).ignore(); // its contents are still there
  }
}

Status Runtime::Impl::finishFirstWriting(uint64_t begunBefore) {
  const Writing &first = Writings.front();
  const bool isOld = first.number <= begunBefore;
  Status status = finishWriting(first.chunk());
  return isOld ? Status() : std::move(status);
}

Status Runtime::Impl::finishAllWritings() {
  Status first;
  while (!Writings.empty())
    if (Status status = finishFirstWriting(); first.ok())
      first = std::move(status);
  return first;
}

void Runtime::Impl::finishWritingsTo(dev_t deviceId, ino_t inode, int64_t begin,
                                     int64_t end) {
  for (auto next = Writings.begin(); next != Writings.end();) {
    Writing &writing = *next++;
    const Piece &piece = writing.plan.piece;
    if (piece.file && piece.file->inode() == inode &&
        piece.file->deviceId() == deviceId && piece.offset < end &&
        begin < piece.offset + int64_t(piece.end - piece.begin))
      // On failure it is not in the file, which is as good.
      finishWriting(writing.chunk()).ignore();
  }
}

} // namespace dragon
