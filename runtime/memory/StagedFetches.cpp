//===- StagedFetches.cpp - to the device while the caller goes on ---------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/StagedFetches.h"

#include "runtime/base/ThreadPool.h"

#include <algorithm>
#include <system_error>

namespace dragon {

Status StagedFetches::addMemory(const Physical &slab) {
  constexpr size_t OfThread = BlocksPerThread * BlockBytes;
  for (size_t at = 0; at + OfThread <= slab.bytes; at += OfThread) {
    Blocks own;
    for (unsigned i = 0; i < BlocksPerThread; ++i) {
      own[i].memory = static_cast<char *>(slab.hostView) + at + i * BlockBytes;
      auto event = Dev.createEvent(false);
      if (!event.ok()) {
        while (i-- > 0)
          Dev.destroyEvent(own[i].event).ignore();
        return event.takeStatus();
      }
      own[i].event = *event;
    }
    Blocks &kept = Memory.emplace_back(own);
    try {
      Threads.push_back(startThread([this, &kept] { work(kept); }));
    } catch (const std::system_error &) {
      return {}; // those that there are do the work
    }
  }
  return {};
}

uint64_t StagedFetches::start(std::span<const Range> ranges) {
  std::lock_guard<std::mutex> guard(Lock);
  Batch &batch = Open.emplace_back(Batch{++Last, 0, {}});
  for (const Range &range : ranges) {
    for (size_t at = 0, bytes; at < range.bytes; at += bytes) {
      const size_t left = range.bytes - at;
      const size_t pinned = From.pinnedBytes(range.from + at, left);
      bytes = pinned ? std::min(pinned, HeldBytes) : std::min(BlockBytes, left);
      Parts.push_back(
          {{range.to + at, range.from + at, bytes}, &batch, pinned > 0});
      ++batch.left;
    }
  }
  if (batch.left == 0 && Open.size() == 1) {
    Open.pop_back();
    Queued = Last;
  }
  Wake.notify_all();
  return Last;
}

Status StagedFetches::waitFor(Block &block) {
  if (block.unmarked) {
    DRAGON_TRY(Dev.synchronize(Through));
    block.unmarked = block.busy = false;
  }
  if (!block.busy)
    return {};
  DRAGON_TRY(Dev.synchronizeEvent(block.event));
  block.busy = false;
  return {};
}

Status StagedFetches::mark(Block &block) {
  Status recorded = Dev.record(block.event, Through);
  block.busy = recorded.ok();
  block.unmarked = !recorded.ok();
  return recorded;
}

Status StagedFetches::copyByBlock(Block &block, const Range &part) {
  DRAGON_TRY(waitFor(block));
  From.read(block.memory, part.from, part.bytes);
  DRAGON_TRY(Dev.copy(reinterpret_cast<void *>(part.to), block.memory,
                      part.bytes, CopyKind::HostToDevice, Through));
  return mark(block);
}

Status StagedFetches::copy(Blocks &own, const Part &part, Block *&holds) {
  const Range &range = part.range;
  if (part.isPinned) {
    Block &block = own.next();
    DRAGON_TRY(waitFor(block));
    if (From.hold(range.from, range.bytes)) {
      holds = &block;
      DRAGON_TRY(Dev.copy(reinterpret_cast<void *>(range.to),
                          reinterpret_cast<const void *>(range.from),
                          range.bytes, CopyKind::HostToDevice, Through));
      return mark(block);
    }
  }
  for (size_t at = 0; at < range.bytes; at += BlockBytes)
    DRAGON_TRY(
        copyByBlock(own.next(), {range.to + at, range.from + at,
                                 std::min(BlockBytes, range.bytes - at)}));
  return {};
}

void StagedFetches::letGo(Block &block, const Range &part) {
  if (!waitFor(block).ok())
    Dev.synchronize(Through).ignore(); // who comes next is told
  From.letGo(part.from, part.bytes);
}

void StagedFetches::work(Blocks &own) {
  std::unique_lock<std::mutex> guard(Lock);
  while (true) {
    Wake.wait(guard, [this] { return Stopping || !Parts.empty(); });
    if (Parts.empty())
      return;
    const Part part = Parts.front();
    Parts.pop_front();
    Block *holds = nullptr;
    if (part.batch->status.ok()) { // else the others need not come
      guard.unlock();
      Status status = copy(own, part, holds);
      guard.lock();
      if (part.batch->status.ok())
        part.batch->status = std::move(status);
    }
    if (--part.batch->left == 0) {
      for (; !Open.empty() && Open.front().left == 0; Open.pop_front()) {
        Queued = Open.front().number;
        if (!Open.front().status.ok())
          Failures.emplace(Queued, std::move(Open.front().status));
      }
      Done.notify_all();
    }
    if (holds) {
      guard.unlock();
      letGo(*holds, part.range);
      guard.lock();
    }
  }
}

bool StagedFetches::isQueued(uint64_t batch) {
  std::lock_guard<std::mutex> guard(Lock);
  return Queued >= batch;
}

Status StagedFetches::finish(uint64_t batch) {
  std::unique_lock<std::mutex> guard(Lock);
  Done.wait(guard, [this, batch] { return Queued >= batch; });
  auto failed = Failures.find(batch);
  if (failed == Failures.end())
    return {};
  Status status = std::move(failed->second);
  Failures.erase(failed);
  return status;
}

Status StagedFetches::stop() {
  Status first;
  auto keep = [&first](Status status) {
    if (first.ok())
      first = std::move(status);
  };
  {
    std::lock_guard<std::mutex> guard(Lock);
    Stopping = true; // when there is nothing to do any more
  }
  Wake.notify_all();
  for (std::thread &thread : Threads)
    thread.join();
  Threads.clear();
  for (auto &[number, failure] : Failures)
    keep(std::move(failure));
  Failures.clear();
  for (Blocks &own : Memory)
    for (Block &block : own) {
      Status status = waitFor(block);
      if (!status.ok()) // nothing may use the memory
        Dev.synchronize(Through).ignore();
      keep(std::move(status));
      Dev.destroyEvent(block.event).ignore();
    }
  Memory.clear();
  Stopping = false;
  return first;
}

} // namespace dragon
