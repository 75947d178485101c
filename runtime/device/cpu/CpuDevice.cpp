//===- CpuDevice.cpp - the host processor as a device ---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/CpuDevice.h"
#include "runtime/base/Rounding.h"
#include "runtime/device/cpu/kernels/AccessSink.h"
#include "runtime/device/cpu/kernels/DeviceFunctions.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <system_error>
#include <unistd.h>

namespace dragon {

namespace {

// As on a GPU, unless smaller chunks are asked for.
constexpr size_t UsualGranularity = 2 << 20;
// cudaErrorNoKernelImageForDevice
constexpr int NoKernelImage = 209;
// Smaller copies are not worth waking other threads for.
constexpr size_t ParallelCopyBytes = 4 << 20;
constexpr size_t CopyPieceBytes = 1 << 20;

uint64_t physicalMemory() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

size_t granularityFor(const Settings &settings) {
  return std::min<size_t>(settings.chunkBytes.value_or(UsualGranularity),
                          UsualGranularity);
}

} // namespace

CpuDevice::CpuDevice(const Settings &settings)
    : Poison(settings.poison), Addresses(settings.strict),
      Pool(settings.cpuThreads), LegacyQueue(std::make_shared<QueueState>()) {}

CpuDevice::~CpuDevice() = default;

StatusOr<std::unique_ptr<Device>> CpuDevice::create(const Settings &settings) {
  keepDeviceFunctions();
  std::unique_ptr<CpuDevice> device(new CpuDevice(settings));
  const size_t granularity = granularityFor(settings);
  const uint64_t machine = physicalMemory() / granularity * granularity;
  // Without a setting the simulated device gets half of the machine, the way a
  // card would stand beside the host's memory.
  const uint64_t wanted = settings.deviceMemory.value_or(machine / 2);
  const uint64_t total =
      std::max<uint64_t>(roundUp(wanted, granularity), granularity);
  // Pinned host memory is budgeted by core; here only the machine limits it.
  const uint64_t host = std::max<uint64_t>(machine, granularity);
  DRAGON_ASSIGN(device->DeviceMemoryFile, MemoryFile::create("device", total));
  DRAGON_ASSIGN(device->HostMemoryFile, MemoryFile::create("host", host));
  const auto devices = unsigned(settings.cpuDevices.value_or(1));
  DRAGON_TRY(settings.peers.check(0, devices));
  for (unsigned i = 1; i < devices; ++i) {
    if (!settings.peers.has(i))
      continue;
    std::string name = fmt::format("simulated device {}", i);
    DRAGON_ASSIGN(auto file, MemoryFile::create(name.c_str(), total));
    device->PeerMemoryFiles.push_back(std::move(file));
    device->Caps.peers.push_back({std::move(name), fmt::format("cpu{}", i),
                                  total, 0,
                                  /*nativeAtomics=*/true});
  }
  device->Caps.name = "cpu";
  device->Caps.identity = "cpu";
  device->Caps.granularity = granularity;
  device->Caps.hostMapped = true;
  device->Caps.deviceIsHostVisible = true;
  device->Caps.strict = settings.strict;
  device->Caps.asynchronous = false;
  device->Caps.totalMemory = total;
  device->Caps.freeMemory = total;
  DRAGON_TRY(installFaultHandler());
  return StatusOr<std::unique_ptr<Device>>(std::move(device));
}

//===----------------------------------------------------------------------===//
// Addresses and physical memory
//===----------------------------------------------------------------------===//

StatusOr<uintptr_t> CpuDevice::reserveImpl(size_t bytes) {
  return Addresses.reserve(bytes, Caps.granularity);
}

Status CpuDevice::releaseImpl(uintptr_t base, size_t bytes) {
  return Addresses.release(base, bytes);
}

// Kernels reach all of the host's memory.
AddressRange CpuDevice::othersAtImpl(uintptr_t address) {
  const uintptr_t bytes = uintptr_t(sysconf(_SC_PAGESIZE));
  const uintptr_t page = address / bytes * bytes;
  unsigned char loaded = 0;
  if (AddressRange ours{};
      Addresses.findReserved(address, ours) ||
      mincore(reinterpret_cast<void *>(page), bytes, &loaded) != 0)
    return {address, address};
  return {page, page + bytes};
}

StatusOr<Physical> CpuDevice::createImpl(Place place, size_t bytes) {
  return createIn(place, 0, bytes);
}

StatusOr<Physical> CpuDevice::createOnPeerImpl(unsigned peer, size_t bytes) {
  return createIn(Place::Peer, peer, bytes);
}

StatusOr<Physical> CpuDevice::createIn(Place place, unsigned peer,
                                       size_t bytes) {
  MemoryFile &file = fileOf(place, peer);
  DRAGON_ASSIGN(uint64_t offset, file.allocate(bytes));
  if (Poison)
    std::memset(file.view(offset), PoisonByte, bytes);
  Physical physical;
  physical.place = place;
  physical.bytes = bytes;
  if (place == Place::Peer) {
    physical.peer = peer;
    physical.peerView = file.view(offset);
  } else if (place != Place::Device) {
    physical.hostView = file.view(offset);
  }
  std::lock_guard<std::mutex> guard(Lock);
  physical.id = NextId++;
  Physicals[physical.id] = PhysicalState{place, peer, offset, bytes};
  return physical;
}

Status CpuDevice::destroyImpl(const Physical &physical) {
  PhysicalState state;
  {
    std::lock_guard<std::mutex> guard(Lock);
    auto it = Physicals.find(physical.id);
    if (it == Physicals.end())
      return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                           "destroy: there is no chunk {}", physical.id);
    if (it->second.mappedAt)
      return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                           "destroy: chunk {} is still mapped at {:#x}",
                           physical.id, it->second.mappedAt);
    state = it->second;
    Physicals.erase(it);
  }
  fileOf(state.place, state.peer).free(state.offset, state.bytes);
  return {};
}

Status CpuDevice::mapImpl(uintptr_t va, const Physical &physical) {
  PhysicalState state;
  {
    std::lock_guard<std::mutex> guard(Lock);
    auto it = Physicals.find(physical.id);
    if (it == Physicals.end() || it->second.bytes != physical.bytes)
      return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                           "map: there is no chunk {} of {} bytes", physical.id,
                           physical.bytes);
    if (it->second.mappedAt)
      return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                           "map: chunk {} is mapped at {:#x} already",
                           physical.id, it->second.mappedAt);
    it->second.mappedAt = va;
    state = it->second;
  }
  MemoryFile &file = fileOf(state.place, state.peer);
  Status status = Addresses.map(va, physical, file.fd(), state.offset,
                                file.view(state.offset));
  if (!status.ok()) {
    std::lock_guard<std::mutex> guard(Lock);
    Physicals[physical.id].mappedAt = 0;
  }
  return status;
}

Status CpuDevice::unmapImpl(uintptr_t va, const Physical &physical) {
  DRAGON_TRY(Addresses.unmap(va, physical));
  std::lock_guard<std::mutex> guard(Lock);
  Physicals[physical.id].mappedAt = 0;
  return {};
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

void CpuDevice::moveBytes(char *to, const char *from, size_t bytes) {
  bool overlap = to < from + bytes && from < to + bytes;
  if (overlap || bytes < ParallelCopyBytes) {
    std::memmove(to, from, bytes);
    return;
  }
  std::atomic<size_t> next{0};
  Pool.run(bytes / CopyPieceBytes, [&] {
    for (size_t at; (at = next.fetch_add(CopyPieceBytes)) < bytes;)
      std::memcpy(to + at, from + at, std::min(CopyPieceBytes, bytes - at));
  });
}

Status CpuDevice::copyImpl(void *to, const void *from, size_t bytes, CopyKind,
                           Queue queue) {
  DRAGON_ASSIGN(auto state, findQueue("copy", queue));
  DRAGON_TRY(checkAlive());
  std::vector<AddressMap::Piece> source, target;
  DRAGON_TRY_IN(
      Addresses.resolve(reinterpret_cast<uintptr_t>(from), bytes, source),
      "source of a copy");
  DRAGON_TRY_IN(
      Addresses.resolve(reinterpret_cast<uintptr_t>(to), bytes, target),
      "destination of a copy");
  Turn turn(*this, state, state == LegacyQueue);
  auto in = source.begin();
  auto out = target.begin();
  while (bytes) {
    size_t piece = std::min(in->bytes, out->bytes);
    moveBytes(out->address, in->address, piece);
    bytes -= piece;
    auto advance = [piece](std::vector<AddressMap::Piece>::iterator &it) {
      it->address += piece;
      if ((it->bytes -= piece) == 0)
        ++it;
    };
    advance(in);
    advance(out);
  }
  return {};
}

Status CpuDevice::fillImpl(void *to, uint32_t value, unsigned width,
                           size_t count, Queue queue) {
  DRAGON_ASSIGN(auto state, findQueue("fill", queue));
  DRAGON_TRY(checkAlive());
  std::vector<AddressMap::Piece> target;
  DRAGON_TRY_IN(
      Addresses.resolve(reinterpret_cast<uintptr_t>(to), count * width, target),
      "fill");
  Turn turn(*this, state, state == LegacyQueue);
  // Chunks are multiples of the element, so no element lies across two pieces.
  for (const AddressMap::Piece &piece : target) {
    size_t elements = piece.bytes / width;
    if (width == 1)
      std::memset(piece.address, static_cast<int>(value & 0xff), elements);
    else if (width == 2)
      std::fill_n(reinterpret_cast<uint16_t *>(piece.address), elements,
                  static_cast<uint16_t>(value));
    else
      std::fill_n(reinterpret_cast<uint32_t *>(piece.address), elements, value);
  }
  return {};
}

Status CpuDevice::poisonImpl(uintptr_t va, size_t bytes, Queue queue) {
  if (!Poison)
    return {};
  return fillImpl(reinterpret_cast<void *>(va), PoisonByte, 1, bytes, queue);
}

/// Blocks that wait for each other: each has an operating system thread, and
/// none begins before all of them are there. False: there are not that many.
static bool runTogether(uint64_t blocks, const std::function<void()> &work) {
  enum { Wait, Begin, Abandon };
  std::atomic<int> state{Wait};
  std::vector<std::thread> threads;
  auto release = [&](int to) {
    state = to;
    state.notify_all();
  };
  try {
    threads.reserve(blocks - 1);
    for (uint64_t i = 1; i < blocks; ++i)
      threads.push_back(startThread([&] {
        state.wait(Wait);
        if (state == Begin)
          work();
      }));
    release(Begin);
    work();
  } catch (const std::system_error &) {
    release(Abandon);
  }
  for (std::thread &thread : threads)
    thread.join();
  return state == Begin;
}

Status CpuDevice::launchImpl(const LaunchRequest &request) {
  const dragon_cpu_kernel *kernel = request.kernel->image.cpu;
  LaunchRequest named = request;
  if (!named.kernelName)
    named.kernelName = request.kernel->image.name;
  if (!named.kernelName)
    named.kernelName = kernel && kernel->name ? kernel->name : "?";
  if (!kernel || !kernel->entry)
    return Status::native(DRAGON_ERROR_UNSUPPORTED, NoKernelImage,
                          "kernel '{}' has no code for the host processor; "
                          "compile with --dragon-targets=cuda,cpu, or run on a "
                          "machine with a GPU",
                          named.kernelName);
  if (accessSink() && !(kernel->flags & DRAGON_CPU_TRACED))
    return Status::native(DRAGON_ERROR_SETTING, NoKernelImage,
                          "kernel '{}' does not tell its accesses, which "
                          "DRAGON_CHECK, DRAGON_PAGER, DRAGON_ORACLE and "
                          "DRAGON_FOOTPRINTS need; compile with "
                          "-fdragon-trace-accesses",
                          named.kernelName);
  if (accessSink() && named.cooperative)
    return Status::native(DRAGON_ERROR_SETTING, NoKernelImage,
                          "kernel '{}': the blocks of a cooperative launch run "
                          "at the same time, and DRAGON_CHECK, DRAGON_PAGER, "
                          "DRAGON_ORACLE and DRAGON_FOOTPRINTS follow one "
                          "after another",
                          named.kernelName);
  DRAGON_ASSIGN(auto state, findQueue("launch", request.queue));
  DRAGON_TRY(checkAlive());
  Turn turn(*this, state, state == LegacyQueue);
  AddressMap::Opened opened;
  Status status = Addresses.beginLaunch(named, opened);
  if (status.ok()) {
    KernelRun run(named, *kernel, Addresses, opened, Poison);
    auto work = [&] {
      std::unique_ptr<KernelThread> thread = KernelThreads.take();
      thread->work(run);
      KernelThreads.give(std::move(thread));
    };
    if (named.cooperative && run.blocks() > 1) {
      if (!runTogether(run.blocks(), work))
        run.fail(KernelLaunchFailure,
                 fmt::format("kernel '{}': no {} threads for the blocks of a "
                             "cooperative launch",
                             named.kernelName, run.blocks()));
    } else if (accessSink())
      work(); // one block after another
    else
      Pool.run(run.blocks(), work);
    if (std::optional<std::string> what = Addresses.overrun(opened))
      run.fail(KernelIllegalAddress,
               fmt::format("kernel '{}' {}", named.kernelName, *what));
    status = run.result();
    if (AccessSink *sink = accessSink())
      sink->blocksEnd(status.ok());
    if (!status.ok()) {
      std::lock_guard<std::mutex> guard(Lock);
      if (!FailedWith) {
        FailedKernel = status.message();
        FailedWith = status.nativeCode();
      }
    }
  }
  Addresses.endLaunch(opened);
  return std::move(status).within("launch of '{}'", named.kernelName);
}

bool CpuDevice::acceptsImpl(const LaunchRequest &request) {
  const dragon_cpu_kernel *kernel = request.kernel->image.cpu;
  return kernel && kernel->entry &&
         (!accessSink() || kernel->flags & DRAGON_CPU_TRACED) &&
         findQueue("launch", request.queue).ok() && checkAlive().ok();
}

Status CpuDevice::guardHostAccessImpl(uintptr_t va, size_t bytes,
                                      bool guarded) {
  return Addresses.guard(va, bytes, guarded);
}

Status CpuDevice::setFaultHandlerImpl(FaultHandler handler, void *context) {
  Addresses.setFaultHandler(handler, context);
  return {};
}

StatusOr<DeviceMemory> CpuDevice::memoryImpl() {
  uint64_t total = DeviceMemoryFile->limit();
  return DeviceMemory{total - DeviceMemoryFile->used(), total};
}

StatusOr<DeviceMemory> CpuDevice::peerMemoryImpl(unsigned peer) {
  const MemoryFile &file = *PeerMemoryFiles[peer];
  return DeviceMemory{file.limit() - file.used(), file.limit()};
}

} // namespace dragon
