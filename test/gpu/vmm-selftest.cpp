//===- vmm-selftest.cpp - every Device call on a real GPU -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One line per check, a table of times, and a summary; exits with 1 if a check
// failed. Uses less than 1 GiB of device memory and plain cuMemCreate memory
// only. Needs a driver, and no CUDA toolkit:
//
//   vmm-selftest [--no-times]
//
// What it is to find out of a new machine or driver: that a host access to
// reserved addresses faults and can be repaired, that host chunks are seen by
// both sides, what mapping costs and whether it waits for running kernels.
//
//===----------------------------------------------------------------------===//

#include "../conformance/TestKernels.h"
#include "Report.h"
#include "runtime/base/Settings.h"
#include "runtime/device/cuda/CudaDriver.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

using namespace dragon;

namespace {

constexpr size_t MiB = 1 << 20;
void checkFails(const char *what, Status status) {
  report(what, !status.ok(), status.ok() ? "no error" : status.message());
}

struct Context {
  Device &device;
  TestKernels &kernels;
  size_t chunk; ///< one granule
};

/// A range of `count` chunks with nothing mapped.
struct Range {
  Range(Context &context, unsigned count)
      : context(context), bytes(count * context.chunk),
        base(must("reserve", context.device.reserve(bytes))) {}
  ~Range() { check("release", context.device.release(base, bytes)); }
  uint32_t *words() const { return reinterpret_cast<uint32_t *>(base); }
  uintptr_t at(unsigned index) const { return base + index * context.chunk; }
  Context &context;
  size_t bytes;
  uintptr_t base;
};

/// The device's fault handler of these checks: maps `physical` at `va`.
struct Repair {
  Device *device;
  uintptr_t va;
  Physical physical;
  std::atomic<int> faults{0};
  std::atomic<bool> sawWrite{false};
  std::atomic<uintptr_t> sawAddress{0};
  static bool handle(void *self, uintptr_t address, bool write) {
    auto &repair = *static_cast<Repair *>(self);
    ++repair.faults;
    repair.sawWrite = write;
    repair.sawAddress = address;
    Status status = repair.device->map(repair.va, repair.physical);
    if (!status.ok())
      std::printf("     in the fault handler: %s\n", status.message().c_str());
    return status.ok();
  }
};

void showMapping(uintptr_t address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx", &begin, &end) == 2 &&
        address >= begin && address < end) {
      std::printf("     in /proc/self/maps: %s\n", line.c_str());
      return;
    }
  }
  std::printf("     not in /proc/self/maps\n");
}

void incrementOn(Context &context, uintptr_t va, uint32_t n, uint32_t by,
                 const char *what) {
  void *pointer = reinterpret_cast<void *>(va);
  TestLaunch launch(context.kernels.increment, {(n + 255) / 256}, 256,
                    {&pointer, &n, &by});
  check(what, context.device.launch(launch.request));
}

void deviceMemory(Context &context) {
  std::printf("-- device memory\n");
  Device &device = context.device;
  Range range(context, 2);
  std::vector<Physical> chunks;
  for (unsigned i = 0; i < 2; ++i) {
    chunks.push_back(must("create device chunk",
                          device.create(Place::Device, context.chunk)));
    check("map device chunk", device.map(range.at(i), chunks[i]));
  }
  checkFails("a second chunk at the same address",
             device.map(range.at(0), chunks[1]));
  uint32_t n = static_cast<uint32_t>(range.bytes / 4);
  std::vector<uint32_t> in(n), out(n);
  for (uint32_t i = 0; i < n; ++i)
    in[i] = i * 2654435761u;
  check("copy pageable to device, across chunks",
        device.copy(range.words(), in.data(), range.bytes,
                    CopyKind::HostToDevice, nullptr));
  incrementOn(context, range.base, n, 5, "launch over two chunks");
  check("copy back", device.copy(out.data(), range.words(), range.bytes,
                                 CopyKind::DeviceToHost, nullptr));
  check("synchronize", device.synchronize(nullptr));
  uint32_t wrong = 0;
  for (uint32_t i = 0; i < n; ++i)
    wrong += out[i] != in[i] + 5;
  report("values", wrong == 0, std::to_string(wrong) + " wrong");
  incrementOn(context, range.base, n, 1, "launch before a copy that waits");
  out.assign(n, 0);
  check("copy back, and wait",
        device.copyAndWait(out.data(), range.words(), range.bytes,
                           CopyKind::DeviceToHost, nullptr));
  wrong = 0;
  for (uint32_t i = 0; i < n; ++i)
    wrong += out[i] != in[i] + 6;
  report("values", wrong == 0, std::to_string(wrong) + " wrong");

  uint32_t patterns[3] = {0xab, 0xbeef, 0xdeadbeef};
  unsigned widths[3] = {1, 2, 4};
  for (unsigned k = 0; k < 3; ++k) {
    check("fill", device.fill(range.words(), patterns[k], widths[k],
                              range.bytes / widths[k], nullptr));
    check("copy back", device.copy(out.data(), range.words(), range.bytes,
                                   CopyKind::DeviceToHost, nullptr));
    check("synchronizeAll", device.synchronizeAll());
    uint32_t expect = patterns[k];
    if (widths[k] == 1)
      expect *= 0x01010101u;
    if (widths[k] == 2)
      expect *= 0x00010001u;
    report("filled values",
           std::all_of(out.begin(), out.end(),
                       [&](uint32_t v) { return v == expect; }));
  }
  check("copy device to device",
        device.copy(reinterpret_cast<void *>(range.at(1)), range.words(),
                    context.chunk, CopyKind::DeviceToDevice, nullptr));

  // Contents stay with the physical chunk, not with the address.
  check("synchronizeAll", device.synchronizeAll());
  uint32_t marks[2] = {11, 22};
  for (unsigned i = 0; i < 2; ++i)
    check("mark", device.copy(reinterpret_cast<void *>(range.at(i)), &marks[i],
                              4, CopyKind::HostToDevice, nullptr));
  check("synchronizeAll", device.synchronizeAll());
  for (unsigned i = 0; i < 2; ++i)
    check("unmap", device.unmap(range.at(i), chunks[i]));
  checkFails("copy from where nothing is mapped",
             device.copy(out.data(), range.words(), 4, CopyKind::DeviceToHost,
                         nullptr));
  for (unsigned i = 0; i < 2; ++i)
    check("map the other way round", device.map(range.at(i), chunks[1 - i]));
  check("copy", device.copy(out.data(), range.words(), 4,
                            CopyKind::DeviceToHost, nullptr));
  check("synchronizeAll", device.synchronizeAll());
  report("contents moved with the chunk", out[0] == 22);
  for (unsigned i = 0; i < 2; ++i) {
    check("unmap", device.unmap(range.at(i), chunks[1 - i]));
    check("destroy", device.destroy(chunks[i]));
  }
}

void hostMemory(Context &context) {
  std::printf("-- host memory\n");
  Device &device = context.device;
  Physical host =
      must("create host chunk", device.create(Place::Host, context.chunk));
  auto *view = static_cast<uint32_t *>(host.hostView);
  report("it has a hostView", view != nullptr);
  for (uint32_t i = 0; i < context.chunk / 4; ++i)
    view[i] = i;
  report("the host writes and reads it", view[1000] == 1000);
  Physical onDevice =
      must("create device chunk", device.create(Place::Device, context.chunk));
  Range range(context, 2);
  check("map device chunk", device.map(range.at(0), onDevice));
  check("copy host chunk to device",
        device.copy(range.words(), view, context.chunk, CopyKind::HostToDevice,
                    nullptr));
  incrementOn(context, range.base, 1024, 7, "launch");
  std::memset(view, 0, context.chunk);
  check("copy device to host chunk",
        device.copy(view, range.words(), context.chunk, CopyKind::DeviceToHost,
                    nullptr));
  check("synchronizeAll", device.synchronizeAll());
  report("values", view[1000] == 1007 && view[1024] == 1024);
  if (device.caps().hostMapped) {
    check("map host chunk", device.map(range.at(1), host));
    auto *mapped = reinterpret_cast<uint32_t *>(range.at(1));
    report("the host reads it at its address", mapped[1000] == 1007);
    mapped[1001] = 77;
    report("and sees writes in its hostView", view[1001] == 77);
    incrementOn(context, range.at(1), 2048, 1, "launch over host chunk");
    check("synchronizeAll", device.synchronizeAll());
    report("kernel's writes seen by the host",
           mapped[1000] == 1008 && view[1001] == 78);
    check("copy across device and host chunk",
          device.copy(reinterpret_cast<void *>(range.at(0) + 4096),
                      reinterpret_cast<void *>(range.at(1) - 4096), 8192,
                      CopyKind::DeviceToDevice, nullptr));
    check("synchronizeAll", device.synchronizeAll());
    std::vector<uint32_t> back(2048);
    check("copy out",
          device.copy(back.data(), reinterpret_cast<void *>(range.at(0) + 4096),
                      8192, CopyKind::DeviceToHost, nullptr));
    check("synchronizeAll", device.synchronizeAll());
    report("values across the border",
           back[1024 + 1000] == mapped[1000] && back[1024] == mapped[0]);
    check("unmap host chunk", device.unmap(range.at(1), host));
    report("contents stay", view[1001] == 78);
  }
  check("unmap", device.unmap(range.at(0), onDevice));
  check("destroy", device.destroy(onDevice));
  check("destroy", device.destroy(host));
}

void hostFaults(Context &context) {
  std::printf("-- host access to what the host cannot see\n");
  Device &device = context.device;
  if (!device.caps().hostMapped) {
    std::printf("     no host-mapped chunks here: nothing to repair with\n");
    return;
  }
  Range range(context, 1);
  showMapping(range.base);
  Physical host =
      must("create host chunk", device.create(Place::Host, context.chunk));
  std::memset(host.hostView, 0x11, context.chunk);
  Repair repair;
  repair.device = &device;
  repair.va = range.base;
  repair.physical = host;
  check("setFaultHandler", device.setFaultHandler(Repair::handle, &repair));
  auto *words = const_cast<volatile uint32_t *>(range.words());
  uint32_t value = words[5];
  report("read of an empty chunk repaired",
         value == 0x11111111u && repair.faults == 1);
  report("told as a read", !repair.sawWrite);
  report("told with the address", repair.sawAddress == range.base + 20);
  showMapping(range.base);
  check("unmap", device.unmap(range.base, host));
  showMapping(range.base);
  words[6] = 3;
  report("write repaired after unmap", repair.faults == 2);
  report("told as a write", repair.sawWrite);
  report("the write arrived", static_cast<uint32_t *>(host.hostView)[6] == 3);
  check("unmap", device.unmap(range.base, host));

  // A device chunk: the handler takes its contents to the host.
  Physical onDevice =
      must("create device chunk", device.create(Place::Device, context.chunk));
  check("map device chunk", device.map(range.base, onDevice));
  showMapping(range.base);
  check("fill",
        device.fill(range.words(), 0x22222222, 4, context.chunk / 4, nullptr));
  check("synchronizeAll", device.synchronizeAll());
  struct Fetch {
    Device *device;
    uintptr_t va;
    Physical from, to;
    std::atomic<int> faults{0};
    static bool handle(void *self, uintptr_t, bool) {
      auto &f = *static_cast<Fetch *>(self);
      ++f.faults;
      return f.device
                 ->copy(f.to.hostView, reinterpret_cast<void *>(f.va),
                        f.from.bytes, CopyKind::DeviceToHost, nullptr)
                 .ok() &&
             f.device->synchronizeAll().ok() &&
             f.device->unmap(f.va, f.from).ok() &&
             f.device->map(f.va, f.to).ok();
    }
  } fetch{&device, range.base, onDevice, host, {}};
  check("setFaultHandler", device.setFaultHandler(Fetch::handle, &fetch));
  value = words[100];
  report("read of a device chunk fetched it",
         value == 0x22222222u && fetch.faults == 1);
  check("setFaultHandler", device.setFaultHandler(nullptr, nullptr));
  check("unmap", device.unmap(range.base, host));
  check("destroy", device.destroy(onDevice));
  check("destroy", device.destroy(host));
}

void launches(Context &context) {
  std::printf("-- launches, queues, events\n");
  Device &device = context.device;
  Range range(context, 1);
  Physical chunk = must("create", device.create(Place::Device, context.chunk));
  check("map", device.map(range.base, chunk));
  check("fill", device.fill(range.words(), 0, 4, context.chunk / 4, nullptr));
  void *pointer = range.words();
  // A 6 x 5 grid in three slices.
  uint32_t cuts[4] = {0, 2, 3, 5};
  for (unsigned s = 0; s < 3; ++s) {
    TestLaunch launch(context.kernels.stamp, {6, 5}, 32, {&pointer});
    launch.request.box.Lo[1] = cuts[s];
    launch.request.box.Hi[1] = cuts[s + 1];
    check("launch of a slice", device.launch(launch.request));
  }
  std::vector<uint32_t> out(31);
  check("copy back", device.copy(out.data(), pointer, 31 * 4,
                                 CopyKind::DeviceToHost, nullptr));
  check("synchronize", device.synchronize(nullptr));
  report(
      "every block ran once and saw the whole grid",
      std::all_of(out.begin(), out.begin() + 30,
                  [](uint32_t v) { return v == 6 * 65536 + 5 * 256 + 32; }) &&
          out[30] == 0);
  uint64_t nothing = 0;
  {
    TestLaunch launch(context.kernels.spin, {1}, 1, {&nothing});
    launch.request.cooperative = true;
    check("cooperative launch", device.launch(launch.request));
    TestLaunch slice(context.kernels.spin, {4}, 1, {&nothing});
    slice.request.box.Hi[0] = 2;
    checkFails("a slice of a kernel without clone",
               device.launch(slice.request));
  }
  Queue a = must("createQueue", device.createQueue(1, 0));
  Queue b = must("createQueue", device.createQueue(1, 0));
  Event start = must("createEvent", device.createEvent(true));
  Event end = must("createEvent", device.createEvent(true));
  uint64_t pause = 50000000;
  check("record", device.record(start, a));
  TestLaunch spin(context.kernels.spin, {1}, 1, {&pause});
  spin.request.queue = a;
  check("launch", device.launch(spin.request));
  report("query says busy", !must("query", device.query(a)));
  check("record", device.record(end, a));
  report("queryEvent says no", !must("queryEvent", device.queryEvent(end)));
  check("wait", device.wait(b, end));
  report("the waiting queue is busy", !must("query", device.query(b)));
  check("synchronize", device.synchronize(b));
  report("so the event is done", must("queryEvent", device.queryEvent(end)));
  check("synchronizeEvent", device.synchronizeEvent(end));
  float milliseconds = must("elapsed", device.elapsedMilliseconds(start, end));
  report("50 ms took", milliseconds >= 49 && milliseconds < 1000,
         fmt::format("{:.2f} ms", milliseconds));
  std::thread([&] {
    incrementOn(context, range.base, 16, 1, "launch from another thread");
    check("synchronize there", device.synchronizeAll());
  }).join();
  check("destroyEvent", device.destroyEvent(start));
  check("destroyEvent", device.destroyEvent(end));
  check("destroyQueue", device.destroyQueue(a));
  check("destroyQueue", device.destroyQueue(b));
  DeviceMemory memory = must("memory", device.memory());
  report(
      "memory", memory.free > 0 && memory.free <= memory.total,
      fmt::format("{} of {} MiB free", memory.free / MiB, memory.total / MiB));
  check("unmap", device.unmap(range.base, chunk));
  check("destroy", device.destroy(chunk));
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

using Clock = std::chrono::steady_clock;
double microseconds(const std::function<void()> &what) {
  auto begin = Clock::now();
  what();
  return std::chrono::duration<double, std::micro>(Clock::now() - begin)
      .count();
}
double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void row(const char *what, double value, const char *unit) {
  std::printf("  %-52s %10.2f %s\n", what, value, unit);
}

/// The driver's own calls, apart: map, set access, unmap, for both kinds.
void mappingTimes(Context &context, size_t bytes) {
  const CudaDriver &cuda = *must("driver", CudaDriver::load());
  int numa = 0;
  if (cuda.DeviceGetAttribute(&numa, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, 0) !=
          CUDA_SUCCESS ||
      numa < 0)
    numa = 0;
  std::printf("chunks of %zu MiB (NUMA node %d), median of 16:\n", bytes / MiB,
              numa);
  for (bool host : {false, true}) {
    if (host && !context.device.caps().hostMapped)
      continue;
    CUmemAllocationProp prop{};
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type =
        host ? CU_MEM_LOCATION_TYPE_HOST_NUMA : CU_MEM_LOCATION_TYPE_DEVICE;
    prop.location.id = host ? numa : 0;
    CUmemAccessDesc access[2]{};
    access[0].location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access[0].flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    access[1].location = prop.location;
    access[1].flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    std::vector<double> create, map, set, unmap, release;
    CUdeviceptr va = 0;
    double reserve = microseconds(
        [&] { cuda.MemAddressReserve(&va, bytes, 2 * MiB, 0, 0); });
    CUresult result = CUDA_SUCCESS;
    auto note = [&result](CUresult r) {
      if (r != CUDA_SUCCESS)
        result = r;
    };
    for (int i = 0; i < 16; ++i) {
      CUmemGenericAllocationHandle handle = 0;
      create.push_back(microseconds(
          [&] { note(cuda.MemCreate(&handle, bytes, &prop, 0)); }));
      map.push_back(
          microseconds([&] { note(cuda.MemMap(va, bytes, 0, handle, 0)); }));
      set.push_back(microseconds(
          [&] { note(cuda.MemSetAccess(va, bytes, access, host ? 2 : 1)); }));
      unmap.push_back(microseconds([&] { note(cuda.MemUnmap(va, bytes)); }));
      release.push_back(microseconds([&] { note(cuda.MemRelease(handle)); }));
    }
    cuda.MemAddressFree(va, bytes);
    check(host ? "host chunk calls" : "device chunk calls",
          cuda.check(result, "timed calls"));
    row(host ? "host: reserve" : "device: reserve", reserve, "us");
    row("  create", median(create), "us");
    row("  map", median(map), "us");
    row(host ? "  set access, device and host" : "  set access", median(set),
        "us");
    row("  unmap", median(unmap), "us");
    row("  release", median(release), "us");
  }
}

void copyTimes(Context &context, size_t bytes) {
  Device &device = context.device;
  constexpr unsigned count = 8;
  std::vector<Physical> host, card;
  size_t rangeBytes = bytes * count;
  uintptr_t base = must("reserve", device.reserve(rangeBytes));
  for (unsigned i = 0; i < count; ++i) {
    host.push_back(must("create", device.create(Place::Host, bytes)));
    std::memset(host[i].hostView, 1, bytes);
    card.push_back(must("create", device.create(Place::Device, bytes)));
    device.map(base + i * bytes, card[i]).ignore();
  }
  Queue queue = must("createQueue", device.createQueue(1, 0));
  for (bool in : {true, false}) {
    std::vector<double> times;
    for (int round = 0; round < 5; ++round)
      times.push_back(microseconds([&] {
        for (unsigned i = 0; i < count; ++i) {
          void *va = reinterpret_cast<void *>(base + i * bytes);
          Status status = in ? device.copy(va, host[i].hostView, bytes,
                                           CopyKind::HostToDevice, queue)
                             : device.copy(host[i].hostView, va, bytes,
                                           CopyKind::DeviceToHost, queue);
          if (!status.ok())
            report("copy", false, status.message());
        }
        device.synchronize(queue).ignore();
      }));
    row(fmt::format("{} copies of {} MiB, {}", count, bytes / MiB,
                    in ? "host chunk to device" : "device to host chunk")
            .c_str(),
        static_cast<double>(rangeBytes) / median(times) / 1000, "GB/s");
  }
  auto sum = [&](const char *what) {
    void *pointer = reinterpret_cast<void *>(base), *out = pointer;
    uint32_t n = static_cast<uint32_t>(rangeBytes / 16);
    std::vector<double> times;
    for (int round = 0; round < 5; ++round)
      times.push_back(microseconds([&] {
        TestLaunch launch(context.kernels.sum, {1024}, 256,
                          {&pointer, &n, &out});
        launch.request.queue = queue;
        Status status = device.launch(launch.request);
        if (!status.ok())
          report("sum", false, status.message());
        device.synchronize(queue).ignore();
      }));
    row(what, static_cast<double>(rangeBytes) / median(times) / 1000, "GB/s");
  };
  sum("kernel reading device chunks");
  for (unsigned i = 0; i < count; ++i)
    device.unmap(base + i * bytes, card[i]).ignore();
  if (device.caps().hostMapped) {
    for (unsigned i = 0; i < count; ++i)
      check("map", device.map(base + i * bytes, host[i]));
    sum("kernel reading host chunks");
    auto *words = reinterpret_cast<volatile uint64_t *>(base);
    uint64_t total = 0;
    double time = microseconds([&] {
      for (size_t i = 0; i < rangeBytes / 8; ++i)
        total += words[i];
    });
    row("one host thread reading host chunks",
        static_cast<double>(rangeBytes) / time / 1000, "GB/s");
    for (unsigned i = 0; i < count; ++i)
      device.unmap(base + i * bytes, host[i]).ignore();
  }
  device.destroyQueue(queue).ignore();
  for (unsigned i = 0; i < count; ++i) {
    device.destroy(host[i]).ignore();
    device.destroy(card[i]).ignore();
  }
  device.release(base, rangeBytes).ignore();
}

/// Do map and unmap wait for a kernel that runs elsewhere?
void mappingUnderLoad(Context &context) {
  Device &device = context.device;
  uint64_t pause = 200000000;
  Queue queue = must("createQueue", device.createQueue(1, 0));
  uintptr_t base = must("reserve", device.reserve(2 * context.chunk));
  struct {
    const char *name;
    Place place;
  } kinds[] = {{"device", Place::Device}, {"host", Place::Host}};
  for (auto &kind : kinds) {
    if (kind.place == Place::Host && !device.caps().hostMapped)
      continue;
    Physical chunk = must("create", device.create(kind.place, context.chunk));
    TestLaunch spin(context.kernels.spin, {1}, 1, {&pause});
    spin.request.queue = queue;
    check("launch of 200 ms", device.launch(spin.request));
    double mapTime =
        microseconds([&] { check("map", device.map(base, chunk)); });
    double unmapTime =
        microseconds([&] { check("unmap", device.unmap(base, chunk)); });
    bool busy = !must("query", device.query(queue));
    row(fmt::format("map of a {} chunk while a kernel runs", kind.name).c_str(),
        mapTime, "us");
    row(fmt::format("unmap of a {} chunk while a kernel runs", kind.name)
            .c_str(),
        unmapTime, "us");
    report("the kernel was still running", busy);
    device.synchronize(queue).ignore();
    device.destroy(chunk).ignore();
  }
  device.destroyQueue(queue).ignore();
  device.release(base, 2 * context.chunk).ignore();
}

void faultTime(Context &context) {
  Device &device = context.device;
  if (!device.caps().hostMapped)
    return;
  uintptr_t base = must("reserve", device.reserve(context.chunk));
  Repair repair;
  repair.device = &device;
  repair.va = base;
  repair.physical = must("create", device.create(Place::Host, context.chunk));
  device.setFaultHandler(Repair::handle, &repair).ignore();
  std::vector<double> times;
  for (int i = 0; i < 16; ++i) {
    times.push_back(microseconds(
        [&] { *reinterpret_cast<volatile uint32_t *>(base) = 1; }));
    device.unmap(base, repair.physical).ignore();
  }
  row("host access that faults and maps a host chunk", median(times), "us");
  device.setFaultHandler(nullptr, nullptr).ignore();
  device.destroy(repair.physical).ignore();
  device.release(base, context.chunk).ignore();
}

} // namespace

int main(int argc, char **argv) {
  bool times = argc < 2 || std::strcmp(argv[1], "--no-times") != 0;
  Settings settings;
  settings.backend = "vmm";
  std::string notes;
  auto device = must("createDevice", createDevice(settings, notes));
  const DeviceCaps &caps = device->caps();
  const CudaDriver &cuda = *must("driver", CudaDriver::load());
  std::printf("driver CUDA %d, granularity %zu KiB, hostMapped %d, %llu MiB of "
              "%llu MiB free\n",
              cuda.version(), caps.granularity / 1024, caps.hostMapped,
              static_cast<unsigned long long>(caps.freeMemory / MiB),
              static_cast<unsigned long long>(caps.totalMemory / MiB));
  report("host chunks can be mapped", caps.hostMapped);
  auto kernels = must("kernels", TestKernels::create(*device));
  Context context{*device, *kernels, caps.granularity};
  deviceMemory(context);
  hostMemory(context);
  hostFaults(context);
  launches(context);
  if (times) {
    std::printf("-- times\n");
    for (size_t mib : {2, 8, 32})
      mappingTimes(context, mib * MiB);
    for (size_t mib : {2, 16})
      copyTimes(context, mib * MiB);
    mappingUnderLoad(context);
    faultTime(context);
  }
  std::printf("%u passed, %u failed\n", passed, failed);
  return failed ? 1 : 0;
}
