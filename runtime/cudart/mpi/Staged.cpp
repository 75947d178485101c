//===- Staged.cpp - ranges of device memory in host memory, for MPI -------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/mpi/Staged.h"

#include "runtime/cudart/front/Front.h"

#include <array>
#include <bit>
#include <cuda_runtime_api.h>
#include <mutex>
#include <sys/mman.h>
#include <utility>

namespace dragon::mpi {

namespace {

/// Longer messages are copied from and to memory that is not pinned, by several
/// threads.
constexpr size_t MostPinned = size_t(16) << 20;
constexpr size_t LeastPinned = size_t(4) << 10;
/// Of the free ones, those of one size keep so much.
constexpr size_t KeptOfASize = size_t(32) << 20;
/// Times a row's bytes: rows that are closer come as one piece.
constexpr uint64_t MostBetween = 16;
constexpr size_t Sizes = std::countr_zero(MostPinned) + 1;

/// Free ones, by their sizes.
struct PinnedMessages {
  std::mutex lock;
  std::array<std::vector<char *>, Sizes> kept;
  unsigned resets = 0;

  /// With the lock. A reset has freed those from before it.
  std::vector<char *> &ofSize(size_t bytes) {
    const unsigned now = deviceResets;
    if (std::exchange(resets, now) != now)
      for (std::vector<char *> &all : kept)
        all.clear();
    return kept[std::countr_zero(bytes)];
  }
};
PinnedMessages &pinned() {
  static auto *all = new PinnedMessages;
  return *all;
}

Status asStatus(cudaError_t error, const char *what) {
  if (error == cudaSuccess)
    return {};
  return Status::error(DRAGON_ERROR_DEVICE, "{}: {}", what,
                       cudaGetErrorString(error));
}

/// It lasts until a reset: programs call MPI until they end.
StatusOr<cudaStream_t> ownStream() {
  static std::mutex lock;
  static cudaStream_t stream = nullptr;
  static unsigned resets = 0;
  std::lock_guard<std::mutex> guard(lock);
  const unsigned now = deviceResets;
  if (std::exchange(resets, now) != now)
    stream = nullptr;
  if (!stream)
    DRAGON_TRY(
        asStatus(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
                 "making a stream for MPI's messages"));
  return stream;
}

} // namespace

void StageMemory::GiveBack::operator()(char *data) const {
  if (!Pinned) {
    ::munmap(data, Bytes);
    return;
  }
  {
    std::lock_guard<std::mutex> guard(pinned().lock);
    if (Resets != deviceResets)
      return; // it is gone
    std::vector<char *> &kept = pinned().ofSize(Bytes);
    if (kept.size() < KeptOfASize / Bytes) {
      kept.push_back(data);
      return;
    }
  }
  (void)cudaFreeHost(data);
}

StatusOr<StageMemory> StageMemory::make(size_t bytes) {
  StageMemory made;
  if (bytes <= MostPinned) {
    bytes = std::max(std::bit_ceil(bytes), LeastPinned);
    void *data = nullptr;
    {
      std::lock_guard<std::mutex> guard(pinned().lock);
      if (auto &kept = pinned().ofSize(bytes); !kept.empty()) {
        data = kept.back();
        kept.pop_back();
      }
    }
    if (data || cudaMallocHost(&data, bytes) == cudaSuccess) {
      made.Data = {static_cast<char *>(data), GiveBack{bytes, true}};
      return made;
    }
    (void)cudaGetLastError(); // the other kind will do
  }
  void *data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED)
    return Status::error(DRAGON_ERROR_OUT_OF_MEMORY,
                         "no host memory to stage a message of {} bytes",
                         bytes);
  made.Data = {static_cast<char *>(data), GiveBack{bytes, false}};
  return made;
}

StatusOr<Staged> Staged::make(Word buffer, Layout layout, Access access,
                              bool exact) {
  Staged made;
  DRAGON_ASSIGN(made.Memory,
                StageMemory::make(size_t(layout.end() - layout.begin())));
  made.Buffer = buffer;
  made.Where = std::move(layout);
  // In which order rows are filled, nobody says: what is not, keeps its value.
  made.Exact = exact && made.Where.isDense();
  made.How = access == Access::Writes && exact && !made.Exact ? Access::Changes
                                                              : access;
  return made;
}

Status Staged::copy(const Run &run, bool in) const {
  DRAGON_ASSIGN(const cudaStream_t stream, ownStream());
  auto *device = reinterpret_cast<char *>(Buffer + Word(run.offset));
  char *host = Memory.data() + (run.offset - Where.begin());
  void *to = in ? host : device;
  const void *from = in ? device : host;
  const cudaMemcpyKind kind =
      in ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
  // Rows are copied one by one. To host memory what is between them may come
  // along, to the buffer it must not.
  const bool whole = in && run.pitch <= MostBetween * run.bytes;
  if (run.rows == 1 || whole)
    return asStatus(
        cudaMemcpyAsync(to, from, size_t(run.end() - run.offset), kind, stream),
        "copying a message");
  return asStatus(cudaMemcpy2DAsync(to, run.pitch, from, run.pitch, run.bytes,
                                    run.rows, kind, stream),
                  "copying a message");
}

Status Staged::copyIn() const {
  if (How == Access::Writes)
    return {};
  DRAGON_ASSIGN(const cudaStream_t stream, ownStream());
  for (const Run &run : Where.runs())
    DRAGON_TRY(copy(run, true));
  return asStatus(cudaStreamSynchronize(stream), "copying a message");
}

Status Staged::copyOut(uint64_t received) const {
  if (How == Access::Reads)
    return {};
  DRAGON_ASSIGN(const cudaStream_t stream, ownStream());
  if (Exact) {
    Run all = Where.runs()[0];
    all.bytes = std::min(all.bytes, received);
    if (!all.bytes)
      return {};
    DRAGON_TRY(copy(all, false));
  } else {
    for (const Run &run : Where.runs())
      DRAGON_TRY(copy(run, false));
  }
  return asStatus(cudaStreamSynchronize(stream), "copying a message");
}

bool mustBeStaged(Word address) {
  const Front *front = Front::existing();
  if (!front || !address)
    return false;
  if (front->runtime.buffers().find(address))
    return true;
  if (!front->gpu)
    return false;
  // Memory of others: device variables, and what libraries have allocated.
  cudaPointerAttributes known;
  return cudaPointerGetAttributes(&known, reinterpret_cast<void *>(address)) ==
             cudaSuccess &&
         (known.type == cudaMemoryTypeDevice ||
          known.type == cudaMemoryTypeManaged);
}

} // namespace dragon::mpi
