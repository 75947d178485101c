//===- slabs.cu - what it costs to make pinned host memory ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime keeps evicted contents in pinned host memory, in slabs of a
// chunk's size, and has to make these while the program already waits for them.
// Measured, by the number of threads and the size of a slab, in GiB/s:
//
//   pages      new pages of the process: written to, one in each page, or
//              asked of the kernel (MADV_POPULATE_WRITE); with and without
//              transparent huge pages
//   register   cudaHostRegister of pages that are there; of pages that are not
//   pinned     all of it, as the runtime does: pages, then cudaHostRegister
//   region     the same in few large pieces, each by one call: what a slab
//              would be cut from
//   alloc      cudaHostAlloc
//   numa       cuMemCreate of host memory, mapped once (kernels can be given
//              it at other addresses)
//   give back  of registered memory
//
// And what a program's own calls cost meanwhile: a copy of 64 KiB is queued
// while threads make slabs; its mean and longest time, in microseconds.
//
//   nvcc -O2 -std=c++17 -o slabs slabs.cu && ./slabs [MIB] [MAX-THREADS]
//
// MIB (default: 2048) is made for each figure, and given back.
//
//===----------------------------------------------------------------------===//
#include "../Check.h"
#include "DriverCalls.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <functional>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace {

const size_t MiB = size_t{1} << 20;
const size_t HugePage = 2 * MiB;

double now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

// Seconds that `body(i)` takes for all i < count on `threads` threads.
double onThreads(unsigned threads, size_t count,
                 const std::function<void(size_t)> &body) {
  std::atomic<size_t> next{0};
  double begin = now();
  std::vector<std::thread> others;
  for (unsigned t = 0; t < threads; ++t)
    others.emplace_back([&] {
      CHECK(cudaSetDevice(0));
      for (size_t i; (i = next.fetch_add(1)) < count;)
        body(i);
    });
  for (std::thread &other : others)
    other.join();
  return now() - begin;
}

// -- Pages of the process ----------------------------------------------------

enum class Pages { Absent, Written, Populated };

struct Area {
  void *mapped = nullptr;
  size_t room = 0;
  char *begin = nullptr;
};

Area mapArea(size_t bytes, bool huge) {
  Area area;
  area.room = bytes + HugePage;
  area.mapped = mmap(nullptr, area.room, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (area.mapped == MAP_FAILED) {
    std::perror("mmap");
    std::exit(1);
  }
  area.begin =
      (char *)(((uintptr_t)area.mapped + HugePage - 1) / HugePage * HugePage);
  madvise(area.begin, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  return area;
}

void unmapArea(const Area &area) { munmap(area.mapped, area.room); }

bool CanPopulate = true;

void makePages(char *begin, size_t bytes, Pages how) {
  if (how == Pages::Populated &&
      madvise(begin, bytes, MADV_POPULATE_WRITE) == 0)
    return;
  if (how == Pages::Populated)
    CanPopulate = false;
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  if (how != Pages::Absent)
    for (size_t at = 0; at < bytes; at += page)
      *(volatile char *)(begin + at) = 0;
}

void registerArea(const Area &area, size_t bytes) {
  CHECK(cudaHostRegister(area.begin, bytes, cudaHostRegisterPortable));
}

// -- Host memory of the driver -----------------------------------------------

struct Numa : MemoryCalls {
  CUmemAllocationProp prop{};
  CUmemAccessDesc access[2]{};

  Numa() {
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
    access[0].location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access[1].location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
    for (CUmemAccessDesc &desc : access)
      desc.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  }
};

struct NumaSlab {
  CUmemGenericAllocationHandle handle = 0;
  CUdeviceptr at = 0;
};

bool makeNuma(const Numa &numa, size_t bytes, NumaSlab &slab) {
  if (numa.create(&slab.handle, bytes, &numa.prop, 0) != CUDA_SUCCESS)
    return false;
  return numa.reserve(&slab.at, bytes, HugePage, 0, 0) == CUDA_SUCCESS &&
         numa.map(slab.at, bytes, 0, slab.handle, 0) == CUDA_SUCCESS &&
         numa.setAccess(slab.at, bytes, numa.access, 2) == CUDA_SUCCESS;
}

void freeNuma(const Numa &numa, size_t bytes, const NumaSlab &slab) {
  if (slab.at) {
    numa.unmap(slab.at, bytes);
    numa.free(slab.at, bytes);
  }
  if (slab.handle)
    numa.release(slab.handle);
}

// -- The table ---------------------------------------------------------------

struct Table {
  size_t bytes; ///< of each figure
  std::vector<unsigned> threads;

  void head() const {
    std::printf("%-44s %6s", "GiB/s", "MiB");
    for (unsigned count : threads)
      std::printf(" %5u thr", count);
    std::printf("\n");
  }
  /// prepare(), then body(i) for each slab, then giveBack(): only the body
  /// counts; it may be any part of the work.
  void row(const char *name, size_t slab,
           const std::function<void(size_t)> &prepare,
           const std::function<void(size_t)> &body,
           const std::function<void(size_t)> &giveBack) const {
    std::printf("%-44s %6zu", name, slab / MiB);
    const size_t count = std::max<size_t>(bytes / slab, 1);
    for (unsigned width : threads) {
      onThreads(threads.back(), count, prepare);
      double seconds = onThreads(width, count, body);
      std::printf(" %9.2f", (double)(count * slab) / seconds / (1 << 30));
      std::fflush(stdout);
      onThreads(threads.back(), count, giveBack);
    }
    std::printf("\n");
  }
};

void nothing(size_t) {}

void measurePages(const Table &table, size_t slab) {
  std::vector<Area> areas(table.bytes / slab + 1);
  struct {
    const char *name;
    bool huge;
    Pages how;
  } const kinds[] = {{"pages, written, huge", true, Pages::Written},
                     {"pages, populated, huge", true, Pages::Populated},
                     {"pages, written, small", false, Pages::Written},
                     {"pages, populated, small", false, Pages::Populated}};
  for (const auto &kind : kinds)
    table.row(
        kind.name, slab, nothing,
        [&](size_t i) {
          areas[i] = mapArea(slab, kind.huge);
          makePages(areas[i].begin, slab, kind.how);
        },
        [&](size_t i) { unmapArea(areas[i]); });
}

void measureRegister(const Table &table, size_t slab) {
  std::vector<Area> areas(table.bytes / slab + 1);
  auto unregister = [&](size_t i) {
    CHECK(cudaHostUnregister(areas[i].begin));
    unmapArea(areas[i]);
  };
  for (bool huge : {true, false})
    table.row(
        huge ? "register, huge pages that are there"
             : "register, small pages that are there",
        slab,
        [&](size_t i) {
          areas[i] = mapArea(slab, huge);
          makePages(areas[i].begin, slab, Pages::Written);
        },
        [&](size_t i) { registerArea(areas[i], slab); }, unregister);
  struct {
    const char *name;
    bool huge;
    Pages how;
  } const kinds[] = {
      {"register, pages that are not there, huge", true, Pages::Absent},
      {"pinned: pages written, huge, register", true, Pages::Written},
      {"pinned: pages populated, huge, register", true, Pages::Populated},
      {"pinned: pages populated, small, register", false, Pages::Populated}};
  for (const auto &kind : kinds)
    table.row(
        kind.name, slab, nothing,
        [&](size_t i) {
          areas[i] = mapArea(slab, kind.huge);
          makePages(areas[i].begin, slab, kind.how);
          registerArea(areas[i], slab);
        },
        unregister);
  table.row(
      "give back: unregister, unmap", slab,
      [&](size_t i) {
        areas[i] = mapArea(slab, true);
        makePages(areas[i].begin, slab, Pages::Written);
        registerArea(areas[i], slab);
      },
      unregister, nothing);
}

// Pages of large pieces by several threads, a call for each piece.
void measureRegions(const Table &table, size_t region) {
  const size_t count = std::max<size_t>(table.bytes / region, 1);
  std::printf("%-44s %6zu", "region: pages written, huge, register",
              region / MiB);
  for (unsigned width : table.threads) {
    std::vector<Area> areas(count);
    double begin = now();
    for (Area &area : areas) {
      area = mapArea(region, true);
      onThreads(width, region / HugePage, [&](size_t i) {
        makePages(area.begin + i * HugePage, HugePage, Pages::Written);
      });
      registerArea(area, region);
    }
    double seconds = now() - begin;
    std::printf(" %9.2f", (double)(count * region) / seconds / (1 << 30));
    std::fflush(stdout);
    for (const Area &area : areas) {
      CHECK(cudaHostUnregister(area.begin));
      unmapArea(area);
    }
  }
  std::printf("\n");
}

void measureDriver(const Table &table, size_t slab) {
  std::vector<void *> memory(table.bytes / slab + 1);
  table.row(
      "alloc: cudaHostAlloc", slab, nothing,
      [&](size_t i) {
        CHECK(cudaHostAlloc(&memory[i], slab, cudaHostAllocPortable));
      },
      [&](size_t i) { CHECK(cudaFreeHost(memory[i])); });
  const Numa numa;
  NumaSlab probe;
  const bool works = makeNuma(numa, slab, probe);
  freeNuma(numa, slab, probe);
  if (!works) {
    std::printf("%-44s %6zu  the driver does not make it\n",
                "numa: cuMemCreate, mapped", slab / MiB);
    return;
  }
  std::vector<NumaSlab> slabs(memory.size());
  table.row(
      "numa: cuMemCreate, mapped", slab, nothing,
      [&](size_t i) {
        if (!makeNuma(numa, slab, slabs[i])) {
          std::fprintf(stderr, "cuMemCreate fails\n");
          std::exit(1);
        }
      },
      [&](size_t i) { freeNuma(numa, slab, slabs[i]); });
}

// What a queued copy of pinned memory costs its caller meanwhile.
void measureCalls(const Table &table, size_t slab) {
  const size_t bytes = 64 << 10;
  void *host, *device;
  CHECK(cudaHostAlloc(&host, bytes, cudaHostAllocDefault));
  CHECK(cudaMalloc(&device, bytes));
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  std::printf("%-44s %6zu", "us to queue a copy meanwhile, mean/longest",
              slab / MiB);
  std::vector<unsigned> widths = {0};
  widths.insert(widths.end(), table.threads.begin(), table.threads.end());
  for (unsigned width : widths) {
    std::vector<Area> areas(table.bytes / slab + 1);
    std::atomic<bool> ended{false};
    auto make = [&] {
      onThreads(width, table.bytes / slab, [&](size_t i) {
        areas[i] = mapArea(slab, true);
        makePages(areas[i].begin, slab, Pages::Written);
        registerArea(areas[i], slab);
      });
      ended = true;
    };
    std::thread maker;
    if (width)
      maker = std::thread(make);
    double sum = 0, longest = 0;
    size_t calls = 0;
    for (double end = now() + 0.2; width ? !ended : now() < end; ++calls) {
      double begin = now();
      CHECK(
          cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream));
      double seconds = now() - begin;
      sum += seconds;
      longest = std::max(longest, seconds);
      CHECK(cudaStreamSynchronize(stream));
    }
    if (width)
      maker.join();
    std::printf("  %u thr: %.1f/%.0f", width,
                sum / (double)std::max<size_t>(calls, 1) * 1e6, longest * 1e6);
    std::fflush(stdout);
    for (const Area &area : areas)
      if (area.begin) {
        CHECK(cudaHostUnregister(area.begin));
        unmapArea(area);
      }
  }
  std::printf("\n");
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFree(device));
  CHECK(cudaFreeHost(host));
}

} // namespace

int main(int argc, char **argv) {
  Table table;
  table.bytes =
      (argc > 1 ? (size_t)std::max(64, std::atoi(argv[1])) : 2048) * MiB;
  const unsigned most =
      argc > 2 ? (unsigned)std::max(1, std::atoi(argv[2])) : 8;
  for (unsigned width = 1; width <= most; width *= 2)
    table.threads.push_back(width);
  CHECK(cudaSetDevice(0));
  CHECK(cudaFree(nullptr));
  char thp[128] = "?";
  if (FILE *file =
          std::fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r")) {
    if (!std::fgets(thp, sizeof(thp), file))
      std::strcpy(thp, "?");
    std::fclose(file);
    thp[std::strcspn(thp, "\n")] = 0;
  }
  std::printf("%u processors, transparent huge pages: %s\n",
              std::thread::hardware_concurrency(), thp);
  // The machine may give memory out only as it is used: all of it is used once
  // before anything is measured.
  {
    Area area = mapArea(table.bytes, true);
    onThreads(most, table.bytes / HugePage, [&](size_t i) {
      makePages(area.begin + i * HugePage, HugePage, Pages::Written);
    });
    unmapArea(area);
  }
  table.head();
  for (size_t slab : {2 * MiB, 8 * MiB, 32 * MiB}) {
    measurePages(table, slab);
    measureRegister(table, slab);
    measureDriver(table, slab);
  }
  for (size_t region : {128 * MiB, 512 * MiB})
    measureRegions(table, region);
  for (size_t slab : {2 * MiB, 16 * MiB})
    measureCalls(table, slab);
  if (!CanPopulate)
    std::printf(
        "the kernel knows no MADV_POPULATE_WRITE: pages were written\n");
  return 0;
}
