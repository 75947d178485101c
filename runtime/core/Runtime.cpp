//===- Runtime.cpp - creation, and the public calls -----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/ThreadPool.h"
#include "runtime/core/HostRanges.h"
#include "runtime/core/ReadAhead.h"
#include "runtime/core/RuntimeImpl.h"
#include "runtime/core/WriteBehind.h"
#include "runtime/trace/Bytes.h"
#include "runtime/trace/Log.h"
#include "runtime/trace/Trace.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace dragon {

namespace {
thread_local unsigned guards = 0;
} // namespace

Runtime::Impl::Guard::Guard(const Impl &impl)
    : HeldOff(guards == 0 && HostRanges::any()), Locked(impl) {
  ++guards;
  Locked.Lock.lock();
}
Runtime::Impl::Guard::~Guard() {
  Locked.Lock.unlock();
  --guards;
}
bool Runtime::Impl::lockedByThisThread() { return guards != 0; }

Runtime::Impl::Impl(Settings settings, std::unique_ptr<Device> device,
                    Budget budget)
    : Config(std::move(settings)), Dev(std::move(device)), Limits(budget),
      DevicePool(
          "device", budget.deviceBytes, Place::Device,
          [this](size_t bytes, Place place) {
            return Dev->create(place, bytes);
          },
          [this](const Physical &slab) { return Dev->destroy(slab); }),
      HostPool(
          "host", budget.hostBytes, Place::Pinned,
          [this](size_t bytes, Place place) {
            return createOnHost(bytes, place);
          },
          [this](const Physical &slab) { return destroyOnHost(slab); },
          {budget.aheadBytes, hostThreads().threads()}),
      Work(*Dev), Fetches(*Dev), Departures(*Dev), AtATime(*Dev, Work) {}

/// What files are read into and written from.
StatusOr<Physical> Runtime::Impl::createOnHost(size_t bytes, Place place) {
  auto slab = Dev->create(place, bytes);
  if (slab.ok() && slab->hostView)
    Files->remember(slab->hostView, slab->bytes);
  return slab;
}

Status Runtime::Impl::destroyOnHost(const Physical &slab) {
  if (slab.hostView)
    Files->forget(slab.hostView);
  return Dev->destroy(slab);
}

Status Runtime::Impl::start() {
  setNotices(!Config.quiet);
  setLogLevel(Config.log.empty()      ? LogLevel::Silent
              : Config.log == "debug" ? LogLevel::Debug
                                      : LogLevel::Info);
  if (!Config.trace.empty() && !startTrace(Config.trace))
    return Status::error(DRAGON_ERROR_SETTING,
                         "DRAGON_TRACE='{}': the file cannot be opened: {}",
                         Config.trace, std::strerror(errno));
  DRAGON_ASSIGN(Files, FileTier::create(Config, Bytes));
  Background = std::make_unique<BackgroundIo>(*Files, Limits.chunkBytes);
  DRAGON_ASSIGN(CopyIn, Dev->createQueue(Device::NonBlocking, 0));
  DRAGON_ASSIGN(CopyOut, Dev->createQueue(Device::NonBlocking, 0));
  DRAGON_TRY(Dev->setFaultHandler(&Impl::onFault, this));
  log(LogLevel::Info,
      "{} device, {} of device memory, {} of host memory, chunks of {}",
      Dev->caps().name, formatBytes(Limits.deviceBytes),
      formatBytes(Limits.hostBytes), formatBytes(Limits.chunkBytes));
  return {};
}

Runtime::Impl::~Impl() {
  if (Dev->caps().asynchronous)
    Dev->synchronizeAll().ignore();
  Dev->setFaultHandler(nullptr, nullptr).ignore();
  for (const InTransit &entry : Transit)
    HostPool.give(entry.slab);
  dropCounters();
  while (!Buffers.empty())
    destroyBuffer(*Buffers.front()).ignore();
  if (CopyIn)
    Dev->destroyQueue(CopyIn).ignore();
  if (CopyOut)
    Dev->destroyQueue(CopyOut).ignore();
}

StatusOr<std::unique_ptr<Runtime>>
Runtime::create(Settings settings, std::unique_ptr<Device> device) {
  return create(std::move(settings), std::move(device), nullptr);
}

StatusOr<std::unique_ptr<Runtime>>
Runtime::create(Settings settings, std::unique_ptr<Device> device,
                std::unique_ptr<Observer> observer) {
  DRAGON_ASSIGN(Budget budget,
                chooseBudget(settings, device->caps(), availableHostMemory()));
  auto impl =
      std::make_unique<Impl>(std::move(settings), std::move(device), budget);
  impl->Watcher = std::move(observer);
  DRAGON_TRY(impl->start());
  return std::unique_ptr<Runtime>(new Runtime(std::move(impl)));
}

Runtime::Runtime(std::unique_ptr<Impl> impl) : State(std::move(impl)) {}
Runtime::~Runtime() = default;

Device &Runtime::device() { return *State->Dev; }
Ledger &Runtime::ledger() { return State->Bytes; }
const Settings &Runtime::settings() const { return State->Config; }

StatusOr<uintptr_t> Runtime::allocate(size_t bytes,
                                      const AllocateOptions &options) {
  Impl::Guard guard(*State);
  DRAGON_TRY(State->ready());
  StatusOr<uintptr_t> base = State->allocate(bytes, options);
  if (State->Watcher && base.ok())
    State->Watcher->allocated({{*base, *base + bytes},
                               State->Allocations.find(*base)->name,
                               options.flags,
                               options.hostAccessible,
                               options.why});
  return base;
}

std::optional<BufferInfo> Runtime::find(uintptr_t address) const {
  Impl::Guard guard(*State);
  const Allocation *found = State->Allocations.find(address);
  if (!found)
    return std::nullopt;
  return BufferInfo{found->base,           found->bytes,
                    found->flags,          found->name,
                    found->hostAccessible, found->buffer->driverMoved};
}

StatusOr<DeviceMemory> Runtime::memoryForProgram() {
  Impl::Guard guard(*State);
  DRAGON_TRY(State->ready());
  uint64_t swap = 0;
  if (auto file = State->swapFile(); file.ok())
    swap = (*file)->available();
  // What lives in swap now is no longer available, and counts as used.
  uint64_t capacity = State->DevicePool.budget() +
                      (State->Limits.hostBytes - State->Limits.transitBytes);
  uint64_t live = State->LiveBytes;
  DeviceMemory memory;
  memory.free = (capacity > live ? capacity - live : 0) + swap;
  memory.total = live + memory.free;
  return memory;
}

MemoryInUse Runtime::memoryInUse() const {
  Impl::Guard guard(*State);
  uint64_t swap = 0;
  for (const std::unique_ptr<Buffer> &buffer : State->Buffers)
    for (const Chunk &chunk : buffer->chunks)
      swap += chunk.slot.bytes;
  return {State->DevicePool.used(), State->HostPool.used(), swap};
}

void Runtime::setBeforeWrite(BeforeWrite listener, void *context,
                             const std::atomic<bool> *wanted) {
  Impl::Guard guard(*State);
  State->Listener = listener;
  State->ListenerContext = context;
  State->ListenerWanted = wanted;
}

Runtime::BeforeWrite Runtime::Impl::listener() const {
  return ListenerWanted && !ListenerWanted->load(std::memory_order_acquire)
             ? nullptr
             : Listener;
}

/// Tells the listener, without the lock, that a range is about to change.
static void tellListener(Runtime::Impl &impl, uintptr_t begin, uintptr_t end) {
  Runtime::BeforeWrite listener;
  void *context;
  {
    Runtime::Impl::Guard guard(impl);
    listener = impl.listener();
    context = impl.ListenerContext;
  }
  if (listener)
    listener(context, begin, end);
}

Status Runtime::free(uintptr_t base) {
  uintptr_t end = base;
  {
    Impl::Guard guard(*State);
    if (const Allocation *found = State->Allocations.find(base))
      end = found->end();
  }
  tellListener(*State, base, end);
  Impl::Guard guard(*State);
  DRAGON_TRY(State->ready());
  Status status = State->free(base);
  if (State->Watcher && end > base && !State->Allocations.find(base))
    State->Watcher->freed({base, end});
  return status;
}

/// Says to who watches what the host has copied to the buffer. Where the host
/// has the buffer mapped, it may change that without a fault.
static void tellCopiedIn(Observer &watcher, Buffer &buffer, AddressRange range,
                         const char *contents) {
  for (uintptr_t at = range.begin; at < range.end;) {
    const bool mapped = buffer.chunkAt(at).hostMapped;
    uintptr_t end = at;
    while (end < range.end && buffer.chunkAt(end).hostMapped == mapped)
      end = buffer.chunkAt(end).va() + buffer.chunkAt(end).bytes();
    end = std::min(end, range.end);
    watcher.hostWrote({at, end}, HostAccess::Copy,
                      mapped ? nullptr : contents + (at - range.begin));
    at = end;
  }
}

Status Runtime::copy(void *to, const void *from, size_t bytes, Queue queue,
                     bool async, bool pageable, bool mayBePinned) {
  if (bytes == 0)
    return {};
  mayBePinned |= !pageable;
  uintptr_t toAddress = reinterpret_cast<uintptr_t>(to);
  uintptr_t fromAddress = reinterpret_cast<uintptr_t>(from);
  tellListener(*State, toAddress, toAddress + bytes);
  bool wait = !async;
  {
    Impl::Guard guard(*State);
    DRAGON_TRY(State->ready());
    Impl &impl = *State;
    Allocation *target = impl.Allocations.find(toAddress);
    Allocation *source = impl.Allocations.find(fromAddress);
    if (target && toAddress + bytes > target->end())
      return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                           "copy of {} to {:#x}: buffer '{}' ends after {}",
                           formatBytes(bytes), toAddress, target->name,
                           formatBytes(target->end() - toAddress));
    if (source && fromAddress + bytes > source->end())
      return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                           "copy of {} from {:#x}: buffer '{}' ends after {}",
                           formatBytes(bytes), fromAddress, source->name,
                           formatBytes(source->end() - fromAddress));
    if (target)
      DRAGON_TRY(Impl::checkWritable(*target->buffer, "copy"));
    if (target && source) {
      DRAGON_TRY(impl.copyBetween(*target->buffer, toAddress, *source->buffer,
                                  fromAddress, bytes, queue));
      wait = false; // the host's memory is not involved
      if (impl.Watcher)
        impl.Watcher->copied(toAddress, fromAddress, bytes);
    } else if (target) {
      DRAGON_TRY(impl.copyToBuffer(*target->buffer, toAddress,
                                   static_cast<const char *>(from), bytes,
                                   queue, pageable, mayBePinned));
      if (impl.Watcher)
        tellCopiedIn(*impl.Watcher, *target->buffer,
                     {toAddress, toAddress + bytes},
                     static_cast<const char *>(from));
    } else if (source) {
      DRAGON_TRY(impl.copyFromBuffer(*source->buffer, static_cast<char *>(to),
                                     fromAddress, bytes, queue, pageable,
                                     mayBePinned));
      if (impl.Watcher)
        impl.Watcher->hostRead({fromAddress, fromAddress + bytes},
                               HostAccess::Copy, to);
    } else {
      DRAGON_TRY(impl.Dev->copy(to, from, bytes, CopyKind::HostToHost, queue));
    }
  }
  return wait && State->Dev->caps().asynchronous
             ? State->Dev->synchronize(queue)
             : Status();
}

Status Runtime::fill(void *to, uint32_t value, unsigned width, size_t count,
                     Queue queue) {
  uintptr_t address = reinterpret_cast<uintptr_t>(to);
  size_t bytes = count * width;
  if (bytes == 0)
    return {};
  tellListener(*State, address, address + bytes);
  Impl::Guard guard(*State);
  DRAGON_TRY(State->ready());
  Allocation *target = State->Allocations.find(address);
  if (!target)
    return State->Dev->fill(to, value, width, count, queue);
  if (address + bytes > target->end())
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "fill of {} at {:#x}: buffer '{}' ends after {}",
                         formatBytes(bytes), address, target->name,
                         formatBytes(target->end() - address));
  DRAGON_TRY(Impl::checkWritable(*target->buffer, "fill"));
  if (State->Watcher)
    State->Watcher->filled({address, address + bytes}, value, width);
  return State->fillBuffer(*target->buffer, address, value, width, count,
                           queue);
}

Status Runtime::clear(uintptr_t base, size_t bytes) {
  DRAGON_TRY(fill(reinterpret_cast<void *>(base), 0, 1, bytes, nullptr));
  if (!State->Dev->caps().migrates)
    return {}; // who looks at it waits
  Impl::Guard guard(*State);
  return State->synchronizeAll();
}

StatusOr<Allocation *> Runtime::Impl::rangeOf(uintptr_t address, size_t bytes,
                                              const char *call) {
  Allocation *found = Allocations.find(address);
  if (!found)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "{}: {:#x} is in no buffer", call, address);
  if (bytes > found->end() - address)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "{}: {} at {:#x} reach beyond the end of buffer '{}'",
                         call, formatBytes(bytes), address, found->name);
  return found;
}

Status Runtime::mapFileRange(uintptr_t address, size_t bytes,
                             const std::shared_ptr<BackingFile> &file,
                             int64_t fileOffset) {
  if (bytes == 0)
    return {};
  tellListener(*State, address, address + bytes);
  Impl::Guard guard(*State);
  DRAGON_TRY(State->ready());
  DRAGON_TRY(State->mapFileRange(address, bytes, file, fileOffset));
  if (State->Watcher)
    State->Watcher->hostWrote({address, address + bytes}, HostAccess::File,
                              nullptr);
  return {};
}

bool Runtime::hasSinks() const {
  return State->AnySinks.load(std::memory_order_relaxed);
}

Status Runtime::setSink(uintptr_t address, size_t bytes,
                        std::shared_ptr<BackingFile> file, int64_t fileOffset,
                        const dragon_reason *why) {
  if (bytes == 0)
    return {};
  Impl::Guard guard(*State);
  DRAGON_TRY(State->ready());
  return State->setSink(address, bytes, std::move(file), fileOffset, false,
                        why);
}

Status Runtime::writeToFile(uintptr_t address, size_t bytes,
                            std::shared_ptr<BackingFile> file,
                            int64_t fileOffset, size_t &written) {
  written = 0;
  if (bytes == 0)
    return {};
  Impl::Guard guard(*State);
  DRAGON_TRY(State->ready());
  return State->writeToFile(address, bytes, std::move(file), fileOffset,
                            written);
}

Status Runtime::detachFile(dev_t deviceId, ino_t inode) {
  Impl::Guard guard(*State);
  if (State->Closed)
    return {}; // what the buffers hold of it has no reader any more
  for (std::unique_ptr<Buffer> &buffer : State->Buffers)
    DRAGON_TRY(State->abandonSinks(*buffer, [&](const Sink &sink) {
      return !sink.permanent && sink.file->deviceId() == deviceId &&
             sink.file->inode() == inode;
    }));
  return State->detach(deviceId, inode, 0, INT64_MAX, nullptr, 0);
}

Status Runtime::discard(uintptr_t address, size_t bytes, Queue queue,
                        bool eager, const dragon_reason *why) {
  if (bytes == 0)
    return {};
  tellListener(*State, address, address + bytes);
  Impl::Guard guard(*State);
  DRAGON_TRY(State->usable());
  Impl &impl = *State;
  std::vector<WaitingLaunch> &waiting = impl.Waiting.launches;
  if (!waiting.empty() && waiting.back().queue() == queue) {
    DRAGON_TRY(impl.rangeOf(address, bytes, "discard").takeStatus());
    waiting.back().addLastUse({address, bytes, eager, why});
    return {};
  }
  DRAGON_TRY(impl.ready());
  DRAGON_TRY(impl.discard(address, bytes, queue, eager));
  if (impl.Watcher)
    impl.Watcher->discarded(
        {{address, address + bytes}, impl.LaunchNumber, why});
  return {};
}

bool Runtime::isWatched() const { return State->Watcher != nullptr; }

void Runtime::noteHostCode(const ObservedHostCode &code) {
  Impl::Guard guard(*State);
  if (State->Watcher)
    State->Watcher->touchesElided(code);
}

Status Runtime::prefetch(uintptr_t address, size_t bytes, Queue queue) {
  if (bytes == 0)
    return {};
  Impl::Guard guard(*State);
  DRAGON_TRY(State->usable());
  Impl &impl = *State;
  DRAGON_ASSIGN(Allocation * found, impl.rangeOf(address, bytes, "prefetch"));
  if (impl.Watcher)
    impl.Watcher->prefetched({address, address + bytes});
  if (found->buffer->driverMoved)
    return impl.prefetchDriverMoved(*found->buffer, {address, address + bytes},
                                    Place::Device, queue);
  if (!impl.Waiting.launches.empty())
    return {}; // a hint; those that wait bring what they need
  return impl.prefetch(*found->buffer, address, bytes, queue);
}

Status Runtime::Impl::prefetch(Buffer &buffer, uintptr_t address, size_t bytes,
                               Queue queue) {
  // A hint: only what fits beside all else that is needed.
  uint64_t room = DevicePool.budget() - DevicePool.used();
  for (const Chunk *chunk : OnDevice)
    if (!chunk->deviceValid && !chunk->held && !chunk->buffer->kept &&
        chunk->buffer != &buffer)
      room += chunk->bytes();
  std::vector<Want> wants;
  uint64_t need = 0;
  for (uintptr_t at = address; at < address + bytes;) {
    Chunk &chunk = buffer.chunkAt(at);
    if (!chunk.device.id) {
      if (need + chunk.bytes() > room)
        break;
      need += chunk.bytes();
    }
    wants.push_back({&chunk, LaunchNeed::Read});
    at = chunk.va() + chunk.bytes();
  }
  ++Clock;
  ++Round;
  return bringIn(wants, queue, Cause::Prefetch);
}

Status Runtime::prefetchToHost(uintptr_t address, size_t bytes, Queue queue) {
  if (bytes == 0)
    return {};
  Impl::Guard guard(*State);
  DRAGON_TRY(State->usable());
  DRAGON_ASSIGN(Allocation * found, State->rangeOf(address, bytes, "prefetch"));
  return found->buffer->driverMoved
             ? State->prefetchDriverMoved(*found->buffer,
                                          {address, address + bytes},
                                          Place::Host, queue)
             : Status();
}

Status Runtime::advise(uintptr_t address, size_t bytes, dragon_advice advice) {
  if (advice < DRAGON_ADVISE_READ_MOSTLY || advice > DRAGON_ADVISE_NORMAL)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT, "advice {} is unknown",
                         int(advice));
  Impl::Guard guard(*State);
  DRAGON_TRY(State->ready());
  DRAGON_ASSIGN(Allocation * found, State->rangeOf(address, bytes, "advise"));
  found->buffer->advice = advice;
  return found->buffer->driverMoved
             ? State->adviseDriver({address, address + bytes}, advice)
             : Status();
}

Status Runtime::sync(uintptr_t base) {
  Impl::Guard guard(*State);
  DRAGON_TRY(State->ready());
  Allocation *found = State->Allocations.find(base);
  if (!found || found->base != base)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "sync: {:#x} is not the start of a map", base);
  if (found->buffer->driverFile && (found->buffer->flags & D_WRITE))
    return Status::error(DRAGON_ERROR_UNSUPPORTED,
                         "sync of file '{}': the driver writes it when it is "
                         "unmapped; DRAGON_BACKEND=managed can sync",
                         found->buffer->driverFile->path());
  return State->sync(*found->buffer);
}

Status Runtime::quiesce(bool last) {
  Impl::Guard guard(*State);
  DRAGON_TRY(State->ready());
  Status status = State->quiesce();
  if (last)
    State->Dev->finishTimeline();
  State->Closed = last;
  return status;
}

Status Runtime::runWaiting() {
  State->Waiting.interrupted = true;
  if (!State->Waiting.any)
    return {};
  Impl::Guard guard(*State);
  return State->ready();
}

Status Runtime::destroyQueue(Queue queue) {
  Impl::Guard guard(*State);
  DRAGON_TRY(State->ready());
  State->Work.queueEnds(queue);
  return State->Dev->destroyQueue(queue);
}

int Runtime::verdict() {
  Impl::Guard guard(*State);
  return State->Watcher ? State->Watcher->verdict() : 0;
}

Status Runtime::shutdown() {
  Impl::Guard guard(*State);
  return State->shutdown();
}

} // namespace dragon
