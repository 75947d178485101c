//===- managed-selftest.cpp - the managed back end on a real GPU ----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One line per check and a summary; exits with 1 if a check failed. Shows that
// each directive reaches the driver (cudaMemRangeGetAttribute) and that results
// are right whatever becomes of discarded contents. Never has more than 256 MiB
// of managed memory (DRAGON_MANAGED_MEMORY's limit, checked here as well), and
// never more than the card has free. Needs a driver, and no CUDA toolkit.
//
// What is not specified anywhere is printed as "fact": no check.
//
//===----------------------------------------------------------------------===//

#include "../conformance/TestKernels.h"
#include "Report.h"
#include "runtime/base/Settings.h"
#include "runtime/device/cuda/CudaDriver.h"
#include "runtime/device/managed/ManagedDevice.h"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

using namespace dragon;

namespace {

constexpr size_t MiB = 1 << 20;
constexpr size_t Limit = 256 * MiB;
void fact(const char *what, const std::string &detail) {
  std::printf("fact %s: %s\n", what, detail.c_str());
}

struct Context {
  Device &device;
  TestKernels &kernels;
  const CudaDriver &cuda;
  Queue queue;
};

int attribute(Context &context, CUmem_range_attribute which,
              const AddressRange &range) {
  int value = -77;
  context.cuda
      .check(context.cuda.MemRangeGetAttribute(&value, sizeof value, which,
                                               range.begin,
                                               range.end - range.begin),
             "cuMemRangeGetAttribute")
      .ignore();
  return value;
}

void expectAttribute(Context &context, const char *what,
                     CUmem_range_attribute which, const AddressRange &range,
                     int expected) {
  const int value = attribute(context, which, range);
  report(
      what, value == expected,
      fmt::format("{}{}", value,
                  value == expected ? "" : fmt::format(", not {}", expected)));
}

Status increment(Context &context, uintptr_t va, uint32_t n, uint32_t by) {
  void *pointer = reinterpret_cast<void *>(va);
  TestLaunch launch(context.kernels.increment, {(n + 255) / 256}, 256,
                    {&pointer, &n, &by});
  launch.request.queue = context.queue;
  return context.device.launch(launch.request);
}

bool allEqual(const std::vector<uint32_t> &words, uint32_t value) {
  for (uint32_t word : words)
    if (word != value)
      return false;
  return true;
}

/// Chunks as core uses them: mapped, filled, worked on, copied out, unmapped.
void chunks(Context &context) {
  std::printf("-- chunks\n");
  Device &device = context.device;
  const size_t granule = device.caps().granularity;
  const uintptr_t base = must("reserve", device.reserve(8 * granule));
  report("aligned", base % granule == 0, fmt::format("{:#x}", base));
  const uint32_t n = uint32_t(granule / 4);
  std::vector<uint32_t> in(n), out(n);
  Physical pinned =
      must("create pinned", device.create(Place::Pinned, granule));
  for (uint32_t i = 0; i < n; ++i)
    static_cast<uint32_t *>(pinned.hostView)[i] = i * 2654435761u;
  const AddressRange mapped{base, base + 4 * granule},
      rest{base + 4 * granule, base + 8 * granule};
  std::vector<Physical> chunks;
  for (unsigned i = 0; i < 4; ++i) {
    chunks.push_back(must("create", device.create(Place::Device, granule)));
    check("map", device.map(base + i * granule, chunks[i]));
  }
  // More rounds than there are chunks: each is discarded and used again.
  for (unsigned round = 0; round < 8; ++round) {
    const unsigned i = round % 4;
    const uintptr_t va = base + i * granule;
    if (round >= 4) {
      check("unmap", device.unmap(va, chunks[i]));
      check("map again", device.map(va, chunks[i]));
    }
    check("copy in",
          device.copy(reinterpret_cast<void *>(va), pinned.hostView, granule,
                      CopyKind::HostToDevice, context.queue));
    check("kernel", increment(context, va, n, round));
    std::memset(out.data(), 0, granule);
    check("copy out",
          device.copy(out.data(), reinterpret_cast<void *>(va), granule,
                      CopyKind::DeviceToHost, context.queue));
    check("synchronize", device.synchronize(context.queue));
    uint32_t wrong = 0;
    for (uint32_t k = 0; k < n; ++k)
      wrong += out[k] != k * 2654435761u + round;
    report("values", wrong == 0, fmt::format("{} wrong", wrong));
  }
  expectAttribute(context, "what was mapped was prefetched to device 0",
                  CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, mapped, 0);
  expectAttribute(context, "what was not was not (CU_DEVICE_INVALID)",
                  CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, rest,
                  CU_DEVICE_INVALID);
  // Work in the legacy default stream, right after a map.
  check("unmap", device.unmap(base, chunks[0]));
  check("map", device.map(base, chunks[0]));
  check("fill in the default stream",
        device.fill(reinterpret_cast<void *>(base), 5, 4, n, nullptr));
  check("copy out", device.copy(out.data(), reinterpret_cast<void *>(base),
                                granule, CopyKind::DeviceToHost, nullptr));
  check("synchronize", device.synchronizeAll());
  report("values", allEqual(out, 5));
  for (unsigned i = 0; i < 4; ++i) {
    check("unmap", device.unmap(base + i * granule, chunks[i]));
    check("destroy", device.destroy(chunks[i]));
  }
  check("destroy", device.destroy(pinned));
  check("release", device.release(base, 8 * granule));
}

/// What a program of managed memory says and what the driver then knows.
void hints(Context &context) {
  std::printf("-- hints\n");
  Device &device = context.device;
  const size_t bytes = 16 * MiB;
  const uint32_t n = uint32_t(bytes / 4);
  const uintptr_t base = must("reserve", device.reserve(bytes));
  auto *words = reinterpret_cast<volatile uint32_t *>(base);
  const AddressRange all{base, base + bytes}, half{base, base + bytes / 2},
      other{base + bytes / 2, base + bytes};
  auto prefetch = [&](const AddressRange &range, Place place, bool dead) {
    check(place == Place::Device ? dead ? "discard and prefetch to the device"
                                        : "prefetch to the device"
                                 : "prefetch to the host",
          device.prefetch({&range, 1}, place, dead, context.queue));
    check("synchronize", device.synchronize(context.queue));
  };

  for (uint32_t i = 0; i < n; ++i)
    words[i] = i;
  prefetch(half, Place::Device, false);
  expectAttribute(context, "last prefetch: device 0",
                  CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, half, 0);
  expectAttribute(context, "of the other half: none",
                  CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, other,
                  CU_DEVICE_INVALID);
  check("kernel", increment(context, base, n, 3));
  check("synchronize", device.synchronize(context.queue));
  bool right = true;
  for (uint32_t i = 0; i < n; ++i)
    right &= words[i] == i + 3;
  report("the host reads what the kernel wrote", right);
  prefetch(half, Place::Host, false);
  expectAttribute(context, "last prefetch: the host",
                  CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, half,
                  CU_DEVICE_CPU);
  report("values", words[7] == 10 && words[n / 2 - 1] == n / 2 + 2);

  const CUmem_range_attribute mostly = CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
                              preferred =
                                  CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION,
                              accessed = CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY;
  check("advise read-mostly", device.advise(half, Advice::ReadMostly));
  expectAttribute(context, "read-mostly", mostly, half, 1);
  expectAttribute(context, "of the other half", mostly, other, 0);
  check("advise", device.advise(half, Advice::NotReadMostly));
  expectAttribute(context, "no more", mostly, half, 0);
  check("advise preferred: device", device.advise(all, Advice::PreferDevice));
  expectAttribute(context, "preferred location: device 0", preferred, all, 0);
  check("advise preferred: host", device.advise(half, Advice::PreferHost));
  expectAttribute(context, "preferred location: the host", preferred, half,
                  CU_DEVICE_CPU);
  check("advise", device.advise(all, Advice::PreferNone));
  expectAttribute(context, "preferred location: none", preferred, all,
                  CU_DEVICE_INVALID);
  check("advise accessed by", device.advise(all, Advice::AccessedByDevice));
  expectAttribute(context, "accessed by device 0", accessed, all, 0);
  check("advise", device.advise(all, Advice::NotAccessedByDevice));
  expectAttribute(context, "accessed by none", accessed, all,
                  CU_DEVICE_INVALID);

  std::printf("-- discard\n");
  check("fill", device.fill(reinterpret_cast<void *>(base), 0x5a5a5a5a, 4, n,
                            context.queue));
  check("discard", device.discard({&half, 1}, context.queue));
  check("synchronize", device.synchronize(context.queue));
  words[10] = 1; // a write undoes it
  report("what the host writes then stays", words[10] == 1);
  check("kernel", increment(context, base, 11, 1));
  check("synchronize", device.synchronize(context.queue));
  report("and the kernel sees it", words[10] == 2);
  report("what was not discarded is there",
         words[n / 2] == 0x5a5a5a5a && words[n - 1] == 0x5a5a5a5a);
  check("discard", device.discard({&half, 1}, context.queue));
  prefetch(half, Place::Device, false);
  check("fill", device.fill(reinterpret_cast<void *>(base), 9, 4, n / 2,
                            context.queue));
  check("kernel", increment(context, base, n / 2, 4));
  check("synchronize", device.synchronize(context.queue));
  right = true;
  for (uint32_t i = 0; i < n / 2; ++i)
    right &= words[i] == 13;
  report("discard, prefetch, overwrite: values", right);
  prefetch(half, Place::Device, true);
  check("kernel", device.fill(reinterpret_cast<void *>(base), 21, 4, n / 2,
                              context.queue));
  std::vector<uint32_t> out(n / 2);
  check("copy out",
        device.copy(out.data(), reinterpret_cast<void *>(base), bytes / 2,
                    CopyKind::DeviceToHost, context.queue));
  check("synchronize", device.synchronize(context.queue));
  report("discard and prefetch, overwrite: values", allEqual(out, 21));
  // Nobody may rely on it; the driver tells what it did.
  check("fill", device.fill(reinterpret_cast<void *>(base), 0x77, 4, n / 2,
                            context.queue));
  check("discard", device.discard({&half, 1}, context.queue));
  check("synchronize", device.synchronize(context.queue));
  uint32_t zero = 0, old = 0, else_ = 0;
  for (uint32_t i = 0; i < n / 2; ++i)
    ++(words[i] == 0x77 ? old : words[i] == 0 ? zero : else_);
  fact("words read after a discard",
       fmt::format("{} as before, {} zero, {} else", old, zero, else_));
  check("release", device.release(base, bytes));
}

void limits(Context &context) {
  std::printf("-- limits\n");
  Device &device = context.device;
  const uintptr_t most = must("reserve 192 MiB", device.reserve(192 * MiB));
  Status status = device.reserve(66 * MiB).takeStatus();
  report("66 MiB more are refused, of 256",
         status.code() == DRAGON_ERROR_OUT_OF_MEMORY, status.message());
  check("release", device.release(most, 192 * MiB));
}

double microseconds(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now() - since)
      .count();
}

/// What no document says.
void facts(Context &context) {
  std::printf("-- facts\n");
  const CudaDriver &cuda = context.cuda;
  if (!cuda.MemDiscardBatchAsync) {
    fact("discard", "not in this driver");
    return;
  }
  Device &device = context.device;
  const size_t bytes = 32 * MiB;
  const uintptr_t base = must("reserve", device.reserve(bytes));
  CUdeviceptr at = base;
  size_t size = bytes;
  auto name = [&](CUresult result) {
    const char *text = nullptr;
    cuda.GetErrorName(result, &text);
    return std::string(text ? text : "?");
  };
  fact("discard in the legacy default stream",
       name(cuda.MemDiscardBatchAsync(&at, &size, 1, 0, nullptr)));
  fact("discard in CU_STREAM_PER_THREAD",
       name(cuda.MemDiscardBatchAsync(&at, &size, 1, 0, CU_STREAM_PER_THREAD)));
  size_t odd = 12345;
  fact("discard of 12345 bytes",
       name(cuda.MemDiscardBatchAsync(&at, &odd, 1, 0,
                                      static_cast<CUstream>(context.queue))));
  CUdeviceptr two[] = {base, base + MiB};
  size_t sizes[] = {2 * MiB, 2 * MiB};
  fact("ranges of a batch that overlap",
       name(cuda.MemDiscardBatchAsync(two, sizes, 2, 0,
                                      static_cast<CUstream>(context.queue))));
  check("synchronize", device.synchronize(context.queue));
  for (bool prefetched : {false, true}) {
    uint64_t pause = 50000000;
    check("fill", device.fill(reinterpret_cast<void *>(base), 1, 4, bytes / 4,
                              context.queue));
    TestLaunch spin(context.kernels.spin, {1}, 1, {&pause});
    spin.request.queue = context.queue;
    check("a kernel of 50 ms", device.launch(spin.request));
    const AddressRange range{base, base + bytes};
    const auto begin = std::chrono::steady_clock::now();
    if (prefetched)
      device.prefetch({&range, 1}, Place::Device, true, context.queue).ignore();
    else
      device.discard({&range, 1}, context.queue).ignore();
    const double took = microseconds(begin);
    check("synchronize", device.synchronize(context.queue));
    fact(prefetched ? "the call of discard and prefetch behind a kernel"
                    : "the call of discard behind a kernel",
         fmt::format("{:.0f} us, {}", took,
                     took > 40000 ? "it waits" : "it does not wait"));
  }
  check("release", device.release(base, bytes));
}

} // namespace

int main() {
  Settings settings;
  settings.backend = "managed";
  settings.managedMemory = Limit;
  std::string notes;
  auto device = must("createDevice", createDevice(settings, notes));
  const CudaDriver &cuda = *must("driver", CudaDriver::load());
  const DeviceCaps &caps = device->caps();
  std::printf("driver CUDA %d, discard calls %s, %llu MiB of %llu MiB free\n",
              cuda.version(), cuda.MemDiscardBatchAsync ? "there" : "missing",
              static_cast<unsigned long long>(caps.freeMemory / MiB),
              static_cast<unsigned long long>(caps.totalMemory / MiB));
  if (caps.freeMemory < 2 * Limit) {
    std::printf("stopped: too little memory is free\n");
    return 1;
  }
  auto kernels = must("kernels", TestKernels::create(*device));
  Context context{*device, *kernels, cuda,
                  must("createQueue", device->createQueue(1, 0))};
  chunks(context);
  hints(context);
  limits(context);
  facts(context);
  check("destroyQueue", device->destroyQueue(context.queue));
  std::printf("%u passed, %u failed\n", passed, failed);
  return failed ? 1 : 0;
}
