//===- mapping.cu - what it costs the host to map device memory -----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime unmaps a chunk of device memory when its contents leave, and maps
// one when contents come. Measured, in microseconds for each chunk, by its size
// and by how many neighbours change together: cuMemMap (a call for each),
// cuMemSetAccess and cuMemUnmap by a call for each and by one for all. Without
// other work, beside kernels, and beside copies to the device and from it,
// which is where the runtime does it; "split": those in pieces of 2 MiB.
//
//   nvcc -O2 -std=c++17 -o mapping mapping.cu && ./mapping
//
// Less than 1 GiB of device memory is used.
//
//===----------------------------------------------------------------------===//
#include "../Check.h"
#include "DriverCalls.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#include <vector>

namespace {

const size_t MiB = size_t{1} << 20;
const unsigned Most = 8;
const int Rounds = 31;

struct Memory : MemoryCalls {
  CUmemAllocationProp prop{};
  CUmemAccessDesc access{};

  Memory() {
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.location = prop.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  }
};

void must(CUresult result, const char *call) {
  if (result == CUDA_SUCCESS)
    return;
  std::fprintf(stderr, "%s: error %d of the driver\n", call, int(result));
  std::exit(1);
}

struct Phase {
  std::vector<double> each; ///< microseconds a chunk
  template <typename Work> void time(unsigned chunks, Work work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    each.push_back(std::chrono::duration<double, std::micro>(
                       std::chrono::steady_clock::now() - begin)
                       .count() /
                   chunks);
  }
  double median() {
    std::sort(each.begin(), each.end());
    return each[each.size() / 2];
  }
  double longest() { return each.back(); }
};

__global__ void spin(long long cycles, int *data) {
  const long long begin = clock64();
  while (clock64() - begin < cycles)
    ;
  if (!cycles)
    *data = 0;
}

enum class Beside { Nothing, Kernels, In, Out, InSplit, OutSplit };

/// Keeps the device busy for as long as it takes to measure a round.
class Load {
public:
  explicit Load(Beside what) : What(what) {
    if (What == Beside::Nothing)
      return;
    CHECK(cudaStreamCreateWithFlags(&Stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&Device, Bytes));
    CHECK(cudaMallocHost(&Host, Bytes));
  }
  ~Load() {
    if (What == Beside::Nothing)
      return;
    CHECK(cudaStreamSynchronize(Stream));
    CHECK(cudaFree(Device));
    CHECK(cudaFreeHost(Host));
    CHECK(cudaStreamDestroy(Stream));
  }
  void queue() {
    if (What == Beside::Kernels)
      spin<<<1, 32, 0, Stream>>>(10 * 1000 * 1000, (int *)Device);
    if (What < Beside::In)
      return;
    const bool in = What == Beside::In || What == Beside::InSplit;
    const size_t piece = What >= Beside::InSplit ? 2 * MiB : 16 * MiB;
    for (size_t at = 0; at < 6 * Bytes; at += piece) {
      void *device = (char *)Device + at % Bytes,
           *host = (char *)Host + at % Bytes;
      CHECK(cudaMemcpyAsync(
          in ? device : host, in ? host : device, piece,
          in ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, Stream));
    }
  }
  void wait() {
    if (Stream)
      CHECK(cudaStreamSynchronize(Stream));
  }

private:
  static constexpr size_t Bytes = 64 * MiB;
  Beside What;
  cudaStream_t Stream = nullptr;
  void *Device = nullptr, *Host = nullptr;
};

void row(const Memory &memory, size_t bytes, unsigned chunks, Load &load,
         const char *beside) {
  CUdeviceptr base = 0;
  must(memory.reserve(&base, chunks * bytes, 2 * MiB, 0, 0),
       "cuMemAddressReserve");
  std::vector<CUmemGenericAllocationHandle> handles(chunks);
  for (CUmemGenericAllocationHandle &handle : handles)
    must(memory.create(&handle, bytes, &memory.prop, 0), "cuMemCreate");
  auto mapAll = [&] {
    for (unsigned i = 0; i < chunks; ++i)
      must(memory.map(base + i * bytes, bytes, 0, handles[i], 0), "cuMemMap");
  };
  auto setAccess = [&](CUdeviceptr at, size_t size) {
    must(memory.setAccess(at, size, &memory.access, 1), "cuMemSetAccess");
  };
  auto unmap = [&](CUdeviceptr at, size_t size) {
    must(memory.unmap(at, size), "cuMemUnmap");
  };
  Phase map, accessEach, accessOnce, unmapEach, unmapOnce;
  for (int round = 0; round < Rounds; ++round) {
    load.queue();
    map.time(chunks, mapAll);
    accessEach.time(chunks, [&] {
      for (unsigned i = 0; i < chunks; ++i)
        setAccess(base + i * bytes, bytes);
    });
    unmapEach.time(chunks, [&] {
      for (unsigned i = 0; i < chunks; ++i)
        unmap(base + i * bytes, bytes);
    });
    load.wait();
    load.queue();
    mapAll();
    accessOnce.time(chunks, [&] { setAccess(base, chunks * bytes); });
    unmapOnce.time(chunks, [&] { unmap(base, chunks * bytes); });
    load.wait();
  }
  std::printf("%3zu MiB  %u  %-9s %6.1f  %6.1f %6.1f  %6.1f %6.1f  %7.1f\n",
              bytes / MiB, chunks, beside, map.median(), accessEach.median(),
              accessOnce.median(), unmapEach.median(), unmapOnce.median(),
              accessOnce.longest());
  for (CUmemGenericAllocationHandle handle : handles)
    must(memory.release(handle), "cuMemRelease");
  must(memory.free(base, chunks * bytes), "cuMemAddressFree");
}

} // namespace

int main() {
  CHECK(cudaFree(nullptr));
  const Memory memory;
  std::printf(
      "microseconds a chunk, medians of %d; access once: the longest\n"
      "chunk    n  beside       map  access:each once  unmap:each once  "
      "longest\n",
      Rounds);
  const char *const names[] = {"nothing", "kernels",  "in",
                               "out",     "in split", "out split"};
  for (Beside what : {Beside::Nothing, Beside::Kernels, Beside::In, Beside::Out,
                      Beside::InSplit, Beside::OutSplit}) {
    Load load(what);
    for (size_t mib : {2, 8, 16})
      for (unsigned chunks = 1; chunks <= Most; chunks *= 2)
        row(memory, mib * MiB, chunks, load, names[int(what)]);
  }
}
