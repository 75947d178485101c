//===- costs.cpp - what discard and prefetch cost, and vmm's calls --------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Times the driver's calls on managed memory of 2, 8, 32 and 128 MiB, and what
// the vmm back end does in their place, in one run; prints a JSON line each:
// microseconds until the call returns, and until its work is done. One buffer
// at a time, 128 MiB at most.
//
//===----------------------------------------------------------------------===//

#include "runtime/base/Settings.h"
#include "runtime/device/cuda/CudaDevice.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

using namespace dragon;

namespace {

constexpr size_t MiB = 1 << 20;
constexpr size_t Sizes[] = {2 * MiB, 8 * MiB, 32 * MiB, 128 * MiB};
constexpr unsigned Rounds = 21;

[[noreturn]] void stop(const Status &status) {
  std::fprintf(stderr, "error: %s\n", status.message().c_str());
  std::exit(1);
}
void must(Status status) {
  if (!status.ok())
    stop(status);
}
template <typename T> T must(StatusOr<T> value) {
  if (!value.ok())
    stop(value.takeStatus());
  return std::move(*value);
}

double now() {
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}
double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void measure(const char *side, const char *what, size_t bytes,
             const std::function<void()> &prepare,
             const std::function<void()> &call,
             const std::function<void()> &wait) {
  std::vector<double> calls, done;
  for (unsigned round = 0; round < Rounds; ++round) {
    prepare();
    const double begin = now();
    call();
    calls.push_back(now() - begin);
    wait();
    done.push_back(now() - begin);
  }
  std::printf("{\"side\": \"%s\", \"what\": \"%s\", \"mib\": %zu, \"call_us\": "
              "%.2f, \"done_us\": %.2f}\n",
              side, what, bytes / MiB, median(calls), median(done));
  std::fflush(stdout);
}

void managed(const CudaDriver &cuda, CUdevice device, size_t bytes) {
  size_t free = 0, total = 0;
  must(cuda.check(cuda.MemGetInfo(&free, &total), "cuMemGetInfo"));
  if (free < 2 * bytes)
    stop(Status::error(DRAGON_ERROR_OUT_OF_MEMORY, "the card is in use"));
  CUstream stream;
  must(cuda.check(
      cuda.StreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0),
      "cuStreamCreateWithPriority"));
  CUdeviceptr memory = 0;
  must(cuda.check(cuda.MemAllocManaged(&memory, bytes, CU_MEM_ATTACH_GLOBAL),
                  "cuMemAllocManaged"));
  CUmemLocation toDevice{}, toHost{};
  toDevice.type = CU_MEM_LOCATION_TYPE_DEVICE;
  toDevice.id = device;
  toHost.type = CU_MEM_LOCATION_TYPE_HOST;
  size_t first = 0;
  auto wait = [&] {
    must(cuda.check(cuda.StreamSynchronize(stream), "cuStreamSynchronize"));
  };
  auto prefetch = [&](CUmemLocation location) {
    must(cuda.check(cuda.MemPrefetchBatchAsync(&memory, &bytes, 1, &location,
                                               &first, 1, 0, stream),
                    "cuMemPrefetchBatchAsync"));
  };
  auto discard = [&] {
    must(cuda.check(cuda.MemDiscardBatchAsync(&memory, &bytes, 1, 0, stream),
                    "cuMemDiscardBatchAsync"));
  };
  auto discardAndPrefetch = [&] {
    must(cuda.check(cuda.MemDiscardAndPrefetchBatchAsync(
                        &memory, &bytes, 1, &toDevice, &first, 1, 0, stream),
                    "cuMemDiscardAndPrefetchBatchAsync"));
  };
  auto onDevice = [&] {
    prefetch(toDevice);
    must(cuda.check(cuda.MemsetD8Async(memory, 7, bytes, stream),
                    "cuMemsetD8Async"));
    wait();
  };
  auto onHost = [&] {
    onDevice();
    prefetch(toHost);
    wait();
  };
  auto dead = [&] {
    onDevice();
    discard();
    wait();
  };
  const char *side = "managed";
  measure(side, "discard", bytes, onDevice, discard, wait);
  measure(side, "discard, on the host", bytes, onHost, discard, wait);
  measure(side, "discard+prefetch", bytes, onDevice, discardAndPrefetch, wait);
  measure(side, "discard+prefetch, was discarded", bytes, dead,
          discardAndPrefetch, wait);
  measure(side, "discard+prefetch, from host", bytes, onHost,
          discardAndPrefetch, wait);
  measure(
      side, "prefetch, was discarded", bytes, dead, [&] { prefetch(toDevice); },
      wait);
  measure(
      side, "prefetch, is there", bytes, onDevice, [&] { prefetch(toDevice); },
      wait);
  measure(
      side, "prefetch, from host", bytes, onHost, [&] { prefetch(toDevice); },
      wait);
  measure(
      side, "prefetch to host", bytes, onDevice, [&] { prefetch(toHost); },
      wait);
  measure(
      side, "discard, prefetch to host", bytes, dead, [&] { prefetch(toHost); },
      wait);
  std::vector<CUdeviceptr> begins;
  std::vector<size_t> sizes;
  for (size_t at = 0; at < bytes; at += 2 * MiB) {
    begins.push_back(memory + at);
    sizes.push_back(2 * MiB);
  }
  measure(
      side, "discard, ranges of 2 MiB", bytes, onDevice,
      [&] {
        must(cuda.check(cuda.MemDiscardBatchAsync(begins.data(), sizes.data(),
                                                  begins.size(), 0, stream),
                        "cuMemDiscardBatchAsync"));
      },
      wait);
  must(cuda.check(cuda.MemFree(memory), "cuMemFree"));
  must(cuda.check(cuda.StreamDestroy(stream), "cuStreamDestroy"));
}

void vmm(Device &device, size_t bytes) {
  const char *side = "vmm";
  const uintptr_t va = must(device.reserve(bytes));
  Physical chunk = must(device.create(Place::Device, bytes));
  Physical pinned = must(device.create(Place::Pinned, bytes));
  Queue queue = must(device.createQueue(CU_STREAM_NON_BLOCKING, 0));
  auto nothing = [] {};
  auto map = [&] { must(device.map(va, chunk)); };
  auto unmap = [&] { must(device.unmap(va, chunk)); };
  auto wait = [&] { must(device.synchronize(queue)); };
  map();
  measure(side, "unmap", bytes, nothing, [&] { unmap(); }, map);
  measure(side, "map", bytes, unmap, map, nothing);
  measure(
      side, "copy to device", bytes, nothing,
      [&] {
        must(device.copy(reinterpret_cast<void *>(va), pinned.hostView, bytes,
                         CopyKind::HostToDevice, queue));
      },
      wait);
  measure(
      side, "copy to host", bytes, nothing,
      [&] {
        must(device.copy(pinned.hostView, reinterpret_cast<void *>(va), bytes,
                         CopyKind::DeviceToHost, queue));
      },
      wait);
  unmap();
  must(device.destroyQueue(queue));
  must(device.destroy(chunk));
  must(device.destroy(pinned));
  must(device.release(va, bytes));
}

} // namespace

int main() {
  const CudaDriver &cuda = *must(CudaDriver::load());
  if (!cuda.MemDiscardBatchAsync)
    stop(Status::error(DRAGON_ERROR_UNSUPPORTED,
                       "the driver has no discard (CUDA 13.0)"));
  const CudaContext context = must(CudaContext::retain(cuda));
  CudaContextScope scope(cuda, context.context);
  char name[128] = "";
  cuda.DeviceGetName(name, sizeof name, context.device);
  std::printf("{\"device\": \"%s\", \"cuda\": %d}\n", name, cuda.version());
  for (size_t bytes : Sizes)
    managed(cuda, context.device, bytes);
  Settings settings;
  settings.backend = "vmm";
  std::string notes;
  auto device = must(createDevice(settings, notes));
  for (size_t bytes : Sizes)
    vmm(*device, bytes);
  return 0;
}
