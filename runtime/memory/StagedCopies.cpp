//===- StagedCopies.cpp - between the host and the device by threads ------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/StagedCopies.h"

#include "runtime/base/ThreadPool.h"

#include <algorithm>
#include <cstring>

namespace dragon {

size_t StagedCopies::usefulBytes() {
  const unsigned threads = hostThreads().threads();
  return threads > 1 ? threads * BlocksPerThread * BlockBytes : 0;
}

uint64_t StagedCopies::bytesOfSlabs(size_t slab, uint64_t transit) {
  return std::min<uint64_t>(usefulBytes() + slab - 1, transit / 4) / slab *
         slab;
}

Status StagedCopies::addMemory(const Physical &slab) {
  if (!Mark) {
    DRAGON_ASSIGN(Mark, Dev.createEvent(false));
  }
  for (size_t at = 0; at + BlockBytes <= slab.bytes; at += BlockBytes) {
    DRAGON_ASSIGN(Event event, Dev.createEvent(false));
    Blocks.push_back({static_cast<char *>(slab.hostView) + at, event});
  }
  return {};
}

Status StagedCopies::follow(Queue first, Queue then) {
  DRAGON_TRY(Dev.record(Mark, first));
  return Dev.wait(then, Mark);
}

Status StagedCopies::onThreads(size_t parts,
                               const std::function<Status(Block *)> &body) {
  if (parts == 0)
    return {};
  DRAGON_TRY(follow(Order, Through));
  std::atomic<unsigned> next{0};
  std::mutex lock;
  Status first;
  const auto width = unsigned(std::min<size_t>(threads(), parts));
  hostThreads().run(width, [&] {
    const unsigned thread = next.fetch_add(1);
    Status status = body(&Blocks[thread * BlocksPerThread]);
    if (status.ok())
      return;
    Failed = true; // the others need not go on
    std::lock_guard<std::mutex> guard(lock);
    if (first.ok())
      first = std::move(status);
  });
  DRAGON_TRY(std::move(first));
  return follow(Through, Order);
}

Status StagedCopies::queue(Block &block, void *to, const void *from,
                           size_t bytes, CopyKind kind) {
  DRAGON_TRY(Dev.copy(to, from, bytes, kind, Through));
  Status recorded = Dev.record(block.event, Through);
  block.busy = recorded.ok();
  if (!recorded.ok())
    Unmarked = true;
  return recorded;
}

Status StagedCopies::waitFor(Block &block) {
  if (!block.busy)
    return {};
  DRAGON_TRY(Dev.synchronizeEvent(block.event));
  block.busy = false;
  return {};
}

Status StagedCopies::toDevice(std::span<const Range> ranges) {
  std::vector<Range> parts;
  for (const Range &range : ranges)
    for (size_t at = 0; at < range.bytes; at += BlockBytes)
      parts.push_back({range.to + at, range.from + at,
                       std::min(BlockBytes, range.bytes - at)});
  std::atomic<size_t> next{0};
  return onThreads(parts.size(), [&](Block *own) -> Status {
    size_t turn = 0;
    for (size_t i; !Failed && (i = next.fetch_add(1)) < parts.size(); ++turn) {
      const Range &part = parts[i];
      Block &block = own[turn % BlocksPerThread];
      DRAGON_TRY(waitFor(block));
      std::memcpy(block.memory, part.from, part.bytes);
      DRAGON_TRY(queue(block, reinterpret_cast<void *>(part.to), block.memory,
                       part.bytes, CopyKind::HostToDevice));
    }
    return {};
  });
}

Status StagedCopies::fromDevice(std::span<const ToHost> ranges,
                                const Meanwhile &meanwhile) {
  std::vector<ToHost> parts;
  for (const ToHost &range : ranges)
    for (size_t at = 0; at < range.bytes; at += BlockBytes)
      parts.push_back({range.to + at, range.from + at,
                       std::min(BlockBytes, range.bytes - at)});
  std::atomic<size_t> next{0}, nextMeanwhile{0};
  auto doMeanwhile = [&] {
    const size_t part = Failed ? meanwhile.parts : nextMeanwhile.fetch_add(1);
    if (part < meanwhile.parts)
      meanwhile.make(part);
    return part < meanwhile.parts;
  };
  return onThreads(parts.size() + meanwhile.parts, [&](Block *own) -> Status {
    // Which part each block has; none behind the last one.
    size_t held[BlocksPerThread];
    auto ask = [&](size_t turn) -> Status {
      const size_t i = Failed ? parts.size() : next.fetch_add(1);
      held[turn % BlocksPerThread] = i;
      if (i >= parts.size())
        return {};
      Block &block = own[turn % BlocksPerThread];
      DRAGON_TRY(waitFor(block));
      return queue(block, block.memory,
                   reinterpret_cast<const void *>(parts[i].from),
                   parts[i].bytes, CopyKind::DeviceToHost);
    };
    for (size_t turn = 0; turn + 1 < BlocksPerThread; ++turn)
      DRAGON_TRY(ask(turn));
    for (size_t turn = 0;; ++turn) {
      DRAGON_TRY(ask(turn + BlocksPerThread - 1));
      Block &block = own[turn % BlocksPerThread];
      const size_t i = held[turn % BlocksPerThread];
      if (i >= parts.size())
        break;
      doMeanwhile();
      DRAGON_TRY(waitFor(block));
      std::memcpy(parts[i].to, block.memory, parts[i].bytes);
    }
    while (doMeanwhile())
      ;
    return {};
  });
}

Status StagedCopies::finish() {
  Status first;
  auto keep = [&first](Status status) {
    if (first.ok())
      first = std::move(status);
  };
  for (Block &block : Blocks)
    keep(waitFor(block));
  if (!first.ok() || Unmarked)
    keep(Dev.synchronize(Through));
  for (Block &block : Blocks)
    Dev.destroyEvent(block.event).ignore();
  Blocks.clear();
  if (Mark)
    Dev.destroyEvent(Mark).ignore();
  Mark = nullptr;
  return first;
}

} // namespace dragon
