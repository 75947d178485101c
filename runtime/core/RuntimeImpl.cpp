//===- RuntimeImpl.cpp - how the parts of the Runtime are wired -----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/RuntimeImpl.h"

#include "runtime/base/HostRanges.h"
#include "runtime/tier/ProtectedMemory.h"
#include "runtime/trace/Bytes.h"
#include "runtime/trace/Log.h"
#include "runtime/trace/Trace.h"

#include <cerrno>
#include <cstring>

namespace dragon {

namespace {
thread_local unsigned guards = 0;
} // namespace

RuntimeImpl::Guard::Guard(const RuntimeImpl &impl)
    : HeldOff(guards == 0 && HostRanges::any()), Locked(impl) {
  ++guards;
  Locked.Ctx.lock.lock();
}
RuntimeImpl::Guard::~Guard() {
  Locked.Ctx.lock.unlock();
  --guards;
}

RuntimeImpl::TryGuard::TryGuard(const RuntimeImpl &impl) : Locked(impl) {
  // A fault in what is done with the lock is not to wait for it.
  ++guards;
  Has = Locked.Ctx.lock.try_lock();
}
RuntimeImpl::TryGuard::~TryGuard() {
  if (Has)
    Locked.Ctx.lock.unlock();
  --guards;
}

RuntimeImpl::StateGuard::StateGuard(const RuntimeImpl &impl)
    : HeldOff(guards == 0 && HostRanges::any()), Locked(impl) {
  ++guards;
  Locked.Ctx.lock.lockState();
}
RuntimeImpl::StateGuard::~StateGuard() {
  Locked.Ctx.lock.unlockState();
  --guards;
}

bool RuntimeImpl::lockedByThisThread() { return guards != 0; }

RuntimeImpl::RuntimeImpl(Settings settings, std::unique_ptr<Device> device,
                         Budget budget, std::unique_ptr<Observer> watcher,
                         Shares shares)
    : Ctx{std::move(settings), std::move(device), budget, std::move(watcher)},
      Time(*Ctx.device), Next(Ctx, Time), Store(Ctx), Slabs(Ctx, Time, Store),
      Reads(Ctx, Slabs, Store), Writes(Ctx, Slabs, Store),
      Host(Ctx, Time, Slabs, Reads, Writes, Next),
      Data(Time, Store, Writes, Host),
      OnDevice(Ctx, Time, Space, Slabs, Writes, Host, Next), Pinned(Ctx),
      Resident(Ctx, Time, Space, Slabs, Store, Reads, Writes, Host, Data,
               OnDevice, Pinned),
      Ahead(Ctx, Time, Space, OnDevice, Resident, Next), Driver(Ctx, Space),
      Discarded(Ctx, Time, Space, Store, Data, OnDevice, Driver),
      Mapping(Ctx, Time, Slabs, Writes, Host, OnDevice),
      Moves(Ctx, Time, Space, Slabs, Store, Data, OnDevice, Resident, Next),
      Copied(Time, Data),
      Alloc(Ctx, Time, Space, Slabs, Reads, Host, Data, OnDevice, Driver),
      Faults(Ctx, Space, Data, Slabs, Host, Resident, Mapping),
      Announced(Space, Slabs, Store, Writes, Host, Data),
      Maps(Ctx, Time, Space, Store, Host, Data, Resident, Driver, Announced),
      Program(Ctx, Space, OnDevice, Slabs, Reads, Writes, Data, Resident, Maps,
              Announced, Pinned),
      Out(Ctx, Time, Space, Slabs, Store, Writes, Host, Data, Announced),
      Ends(Ctx, Space, Discarded), Hints(Ctx, Time, Space),
      Submit(Ctx, Space, Slabs, Hints),
      Counting(Ctx, Time, Space, Slabs, Host, OnDevice, Submit),
      Pages(Ctx, Time, Space, OnDevice), Between(Ctx, Time, OnDevice),
      Plans(Ctx, Space, Slabs, OnDevice, Mapping, Next, Counting, Pages,
            Between),
      Pipeline(Ctx, Time, Reads, OnDevice, Resident),
      Slices(Ctx, Time, Data, OnDevice, Resident, Discarded, Submit, Pipeline,
             Between),
      Mapped(Ctx, Time, Slabs, Host, Data, OnDevice, Resident, Mapping, Submit,
             Counting, Pages, Pinned, Plans, Slices),
      FromStorage(Ctx, Time, Slabs, Host, Store, Data, OnDevice, Resident,
                  Submit, Counting, Pages, Plans, Between),
      Single(Ctx, Time, Space, Slabs, Data, OnDevice, Next, Ends, Submit, Pages,
             Plans, Slices, Mapped, FromStorage),
      Waves(Ctx, OnDevice, Resident, Next, Ends, Plans, Slices, Single),
      Indices(Ctx, Time, Space, Data, Copied, OnDevice, Moves, Ahead),
      Computed(Time, Space, Data),
      Launches(Ctx, Time, Space, Data, OnDevice, Next, Ends, Hints, Counting,
               Plans, Single, Waves, Ahead, Indices, Computed),
      Library(Ctx, Time, Space, Data, OnDevice, Resident, Next, Ahead, Computed,
              Copied),
      Tells(Ctx, OnDevice.Pool, Slabs),
      Idle([this] { return Ahead.runs(); },
           [this](bool &more) { return fetchAhead(more); }) {
  Ahead.setOnTheWay([this] { Idle.goOn(); });
  Ctx.share = std::move(shares.device);
  Ctx.hostShare = std::move(shares.host);
  Space.Allocations.setOthers([device = Ctx.device.get()](uintptr_t address) {
    return device->othersAt(address);
  });
  Store.setDetach([this](const BackingFile &file, int64_t begin, int64_t end,
                         const Buffer *except, int64_t exceptDelta) {
    return Announced.detach(file, begin, end, except, exceptDelta);
  });
  Alloc.setEndSinks([this](Buffer &buffer) {
    return Announced.abandon(buffer, [](const Sink &) { return true; });
  });
}

Status RuntimeImpl::start() {
  setNotices(!Ctx.config.quiet);
  setLogLevel(Ctx.config.log.empty()      ? LogLevel::Silent
              : Ctx.config.log == "debug" ? LogLevel::Debug
                                          : LogLevel::Info);
  DRAGON_TRY(startTracing());
  DRAGON_TRY(Store.start());
  // Beside what buffers have there.
  constexpr uint64_t ShareOfSaved = 4;
  if (!Ctx.config.swapDirs.empty())
    ProtectedMemory::get().setRoom(Ctx.limits.hostBytes / ShareOfSaved,
                                   Ctx.config.swapDirs.front());
  DRAGON_ASSIGN(Ctx.copyIn, Ctx.device->createQueue(Device::NonBlocking, 0));
  DRAGON_ASSIGN(Ctx.copyOut, Ctx.device->createQueue(Device::NonBlocking, 0));
  DRAGON_TRY(Ctx.device->setFaultHandler(&RuntimeImpl::onFault, this));
  log(LogLevel::Info,
      "{} device, {} of device memory, {} of host memory, chunks of {}",
      Ctx.caps().name, formatBytes(Ctx.limits.deviceBytes),
      formatBytes(Ctx.limits.hostBytes), formatBytes(Ctx.limits.chunkBytes));
  Slabs.Peers.start([this](unsigned peer) { return followPeer(peer); });
  Tells.start();
  startSharing();
  return {};
}

void RuntimeImpl::startSharing() {
  // What slices of two or three buffers take, with the next ones on their way.
  constexpr uint64_t LeastChunks = 8;
  const uint64_t least = LeastChunks * Ctx.limits.chunkBytes;
  if (Ctx.share) {
    Ctx.lock.setAtEnd([this] { OnDevice.endCall(); });
    Ctx.share->needs(least);
    Ctx.share->start({[this] { return followShare(); },
                      [this] { return activity(); },
                      [this] { return secondsPerByte(); }});
  }
  if (Ctx.hostShare) {
    Slabs.startSharing(least);
    // It never yields: what leaves host memory goes to files, and takes longer
    // than most pauses.
    Ctx.hostShare->start({[this] { return followHostShare(); },
                          [beats = uint64_t(0)]() mutable { return ++beats; }});
  }
}

void RuntimeImpl::stopThreads() {
  Idle.stop();
  for (DeviceShare *share : {Ctx.share.get(), Ctx.hostShare.get()})
    if (share)
      share->stop();
}

Status RuntimeImpl::startTracing() {
  const Settings &config = Ctx.config;
  if (!config.trace.empty() && !startTrace(config.trace))
    return Status::error(DRAGON_ERROR_SETTING,
                         "DRAGON_TRACE='{}': the file cannot be opened: {}",
                         config.trace, std::strerror(errno));
  // A run without its page is better than none.
  if (!config.report.empty() && !Page.openTrace(config))
    detail::printLine(
        fmt::format("DRAGON_REPORT: no trace, cannot make a file in '{}': {}; "
                    "set TMPDIR to a folder that can be written",
                    config.swapDirs.front(), std::strerror(errno)));
  return {};
}

uint64_t RuntimeImpl::activity() {
  // A call in progress uses the device, and whoever asks has more to do than to
  // wait for its end: the memory of dead programs is to be divided.
  if (!Ctx.lock.tryLockState())
    return UINT64_MAX - ++WaitsSeen;
  // Who waits for the device uses it.
  WaitsSeen += Ctx.device->isWaitedFor();
  const uint64_t seen = Ctx.launches + WaitsSeen;
  Ctx.lock.unlockState();
  return seen;
}

double RuntimeImpl::secondsPerByte() {
  const CopyRates rates = Ctx.device->knownCopyRates();
  return rates.toDevice > 0 && rates.toHost > 0
             ? 1 / rates.toDevice + 1 / rates.toHost
             : 0;
}

bool RuntimeImpl::fetchAhead(bool &more) {
  const TryGuard guard(*this);
  if (guard && usable().ok())
    Ahead.step(more);
  return bool(guard);
}

bool RuntimeImpl::followShare() {
  Guard guard(*this);
  return Closed || !usable().ok() || OnDevice.follow(Ctx.share->limit());
}

bool RuntimeImpl::followHostShare() {
  Guard guard(*this);
  if (Closed || !usable().ok())
    return true;
  Ctx.pins.next(); // what the last call pinned may leave as well
  return Host.follow();
}

bool RuntimeImpl::followPeer(unsigned peer) {
  Guard guard(*this);
  Ctx.pins.next(); // what the last call pinned may leave as well
  return Closed || !usable().ok() ||
         Host.leavePeer(peer, Slabs.Peers.limit(peer));
}

RuntimeImpl::~RuntimeImpl() {
  Slabs.Peers.stop();
  stopThreads();
  if (Ctx.caps().asynchronous)
    Ctx.device->synchronizeAll().ignore();
  Ctx.device->setFaultHandler(nullptr, nullptr).ignore();
  OnDevice.dropScratch();
  while (!Space.Buffers.empty())
    Alloc.destroyBuffer(*Space.Buffers.front()).ignore();
  for (Queue queue : {Ctx.copyIn, Ctx.copyOut})
    if (queue)
      Ctx.device->destroyQueue(queue).ignore();
}

bool RuntimeImpl::onFault(void *context, uintptr_t address, bool) {
  auto &impl = *static_cast<RuntimeImpl *>(context);
  // A fault of our own while the lock is held, or of a signal's handler while
  // it is waited for: nothing can be moved now.
  if (lockedByThisThread())
    return false;
  Status status;
  {
    Guard guard(impl);
    if (impl.Closed)
      return false;
    Allocation *found = impl.Space.Allocations.find(address);
    if (!found || !found->hostAccessible)
      return false;
    status = impl.Faults.access(address);
  }
  if (!status.ok()) {
    detail::printLine(
        fmt::format("host access to {:#x}: {}", address, status.message()));
    return false;
  }
  return true;
}

Status RuntimeImpl::usable() const {
  return Closed ? Status::error(DRAGON_ERROR_NO_DEVICE, "the process is ending")
                : Status();
}

Status RuntimeImpl::ready() {
  DRAGON_TRY(usable());
  Waves.interrupt();
  if (Waves.any())
    DRAGON_TRY(Waves.runAll());
  return Program.settleSaved();
}

void RuntimeImpl::unpin(uintptr_t begin, uintptr_t end) {
  if (!Pinned.mayHold(begin, end))
    return;
  Guard guard(*this);
  Pinned.drop(begin, end);
}

StatusOr<Allocation *> RuntimeImpl::allocationAt(uintptr_t base,
                                                 const char *call) {
  Allocation *found = Space.Allocations.find(base);
  if (!found || found->base != base)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "{}: {:#x} is not the start of a {}", call, base,
                         call == std::string_view("free") ? "buffer" : "map");
  return found;
}

Status RuntimeImpl::free(uintptr_t base, QueueOrder order) {
  DRAGON_ASSIGN(const Allocation *found, allocationAt(base, "free"));
  const unsigned flags = found->buffer->flags;
  // What the driver writes it has written when the range is gone.
  const std::shared_ptr<BackingFile> driverFile =
      flags & D_WRITE ? found->buffer->driverFile : nullptr;
  Status first;
  if ((flags & D_WRITE) && !(flags & D_VOLATILE))
    first = Out.sync(*found->buffer);
  Status freed = Alloc.free(*found, order);
  Program.releaseKept();
  if (driverFile && freed.ok()) {
    const RuntimeLock::WaitForFiles waits(Ctx.lock);
    freed = driverFile->syncData();
  }
  return first.ok() ? std::move(freed) : std::move(first);
}

RuntimeLaunches::BeforeWrite RuntimeImpl::listener() const {
  return ListenerWanted && !ListenerWanted->load(std::memory_order_acquire)
             ? nullptr
             : Listener;
}

void RuntimeImpl::tellListener(std::span<const AddressRange> ranges) {
  RuntimeLaunches::BeforeWrite tell;
  void *context;
  {
    StateGuard guard(*this);
    tell = listener();
    context = ListenerContext;
  }
  if (tell)
    for (const AddressRange &range : ranges)
      tell(context, range.begin, range.end);
}

} // namespace dragon
