//===- stencil.cu - heat in three dimensions, by several ranks ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stencil of 7 points on nx * ny * nz cells of 4 bytes, in two buffers. The
// domain is cut along z, one slab for each rank; after a step neighbours give
// each other their outermost planes, by pointers into device memory ("host":
// through host memory). Nothing is blocked, in time or in space: data that does
// not fit the device is the runtime's matter.
//
//   stencil NX NY NZ STEPS [host]
//
// prints the time a step, the bytes of all ranks' buffers, and a checksum of
// the result that is the same for any number of ranks. Source of the idea: the
// stencil of HHRT (Endo and Jin, CLUSTER'14).
//
//===----------------------------------------------------------------------===//
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <mpi.h>
#include <utility>
#include <vector>

#define CHECK(call)                                                            \
  do {                                                                         \
    if (cudaError_t error = (call)) {                                          \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__,                       \
              cudaGetErrorString(error));                                      \
      MPI_Abort(MPI_COMM_WORLD, 1);                                            \
    }                                                                          \
  } while (0)

/// The part of a rank: planes [first, first + planes) of the domain, with one
/// more in front of them and one behind.
struct Slab {
  int nx, ny, nz;
  int first, planes;

  size_t plane() const { return size_t(nx) * ny; }
  size_t bytes() const { return plane() * (planes + 2) * sizeof(float); }
};

__global__ void start(float *x, Slab s) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  const int k = blockIdx.z; // of the slab's planes + 2
  if (i >= s.nx || j >= s.ny)
    return;
  const uint32_t at = (uint32_t(i) * 73856093u) ^ (uint32_t(j) * 19349663u) ^
                      (uint32_t(s.first + k) * 83492791u);
  x[(size_t(k) * s.ny + j) * s.nx + i] = float(at % 1000u) * 0.001f;
}

/// Cells on the outside of the domain keep their values.
__global__ void step(float *to, const float *from, Slab s) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  const int k = blockIdx.z + 1;
  if (i >= s.nx || j >= s.ny)
    return;
  const size_t plane = size_t(s.nx) * s.ny;
  const size_t at = size_t(k) * plane + size_t(j) * s.nx + i;
  const int z = s.first + k - 1;
  const float middle = from[at];
  float value = middle;
  if (i > 0 && i < s.nx - 1 && j > 0 && j < s.ny - 1 && z > 0 && z < s.nz - 1)
    value = 0.4f * middle +
            0.1f * (from[at - 1] + from[at + 1] + from[at - s.nx] +
                    from[at + s.nx] + from[at - plane] + from[at + plane]);
  to[at] = value;
}

/// Sums of integers do not depend on their order.
__global__ void sum(const float *x, Slab s, unsigned long long *all) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= s.nx || j >= s.ny)
    return;
  const int k = blockIdx.z + 1;
  const size_t plane = size_t(s.nx) * s.ny;
  const size_t inPlane = size_t(j) * s.nx + i;
  const unsigned long long bits =
      __float_as_uint(x[size_t(k) * plane + inPlane]);
  const unsigned long long cell = (s.first + k - 1) * plane + inPlane;
  atomicAdd(all, bits * (2 * cell + 1));
}

/// Planes of neighbours; a rank that has none sends to MPI_PROC_NULL.
static void exchange(float *x, const Slab &s, int below, int above,
                     std::vector<float> &host) {
  const int count = int(s.plane());
  float *first = x + s.plane(), *last = x + s.plane() * s.planes;
  float *under = x, *over = x + s.plane() * (s.planes + 1);
  const size_t bytes = s.plane() * sizeof(float);
  float *sent[] = {first, last}, *received[] = {under, over};
  if (!host.empty())
    for (int i = 0; i < 2; ++i) {
      CHECK(cudaMemcpy(&host[i * s.plane()], sent[i], bytes,
                       cudaMemcpyDeviceToHost));
      sent[i] = &host[i * s.plane()];
      received[i] = &host[(2 + i) * s.plane()];
    }
  const MPI_Comm all = MPI_COMM_WORLD;
  MPI_Request requests[4];
  MPI_Irecv(received[0], count, MPI_FLOAT, below, 1, all, &requests[0]);
  MPI_Irecv(received[1], count, MPI_FLOAT, above, 2, all, &requests[1]);
  MPI_Isend(sent[0], count, MPI_FLOAT, below, 2, all, &requests[2]);
  MPI_Isend(sent[1], count, MPI_FLOAT, above, 1, all, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  if (host.empty())
    return;
  if (below != MPI_PROC_NULL)
    CHECK(cudaMemcpy(under, received[0], bytes, cudaMemcpyHostToDevice));
  if (above != MPI_PROC_NULL)
    CHECK(cudaMemcpy(over, received[1], bytes, cudaMemcpyHostToDevice));
}

static int usage() {
  fputs("usage: stencil NX NY NZ STEPS [host]\n", stderr);
  return 2;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 5 || argc > 6 || (argc == 6 && strcmp(argv[5], "host")))
    return MPI_Finalize(), usage();
  Slab s{atoi(argv[1]), atoi(argv[2]), atoi(argv[3]), 0, 0};
  const int steps = atoi(argv[4]);
  if (s.nx < 1 || s.ny < 1 || s.nz < ranks || steps < 1)
    return MPI_Finalize(), usage();
  s.first = int(int64_t(s.nz) * rank / ranks);
  s.planes = int(int64_t(s.nz) * (rank + 1) / ranks) - s.first;
  const int below = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const int above = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  float *from, *to;
  unsigned long long *partial;
  CHECK(cudaMalloc(&from, s.bytes()));
  CHECK(cudaMalloc(&to, s.bytes()));
  CHECK(cudaMalloc(&partial, sizeof *partial));
  std::vector<float> host(argc == 6 ? 4 * s.plane() : 0);
  const dim3 block(64, 4);
  const dim3 plane((s.nx + block.x - 1) / block.x,
                   (s.ny + block.y - 1) / block.y);
  const dim3 grid(plane.x, plane.y, s.planes);
  // The planes around the slab are those of the neighbours from the start.
  Slab around = s;
  around.first = s.first - 1;
  start<<<dim3(plane.x, plane.y, s.planes + 2), block>>>(from, around);
  CHECK(cudaDeviceSynchronize());
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; i < steps; ++i) {
    step<<<grid, block>>>(to, from, s);
    CHECK(cudaDeviceSynchronize());
    exchange(to, s, below, above, host);
    std::swap(from, to);
  }
  double seconds = MPI_Wtime() - begin, slowest = 0;
  MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  CHECK(cudaMemset(partial, 0, sizeof *partial));
  sum<<<grid, block>>>(from, s, partial);
  CHECK(cudaDeviceSynchronize());
  MPI_Allreduce(MPI_IN_PLACE, partial, 1, MPI_UINT64_T, MPI_SUM,
                MPI_COMM_WORLD);
  unsigned long long checksum = 0;
  CHECK(
      cudaMemcpy(&checksum, partial, sizeof checksum, cudaMemcpyDeviceToHost));
  unsigned long long bytes = 2 * s.bytes(), all = 0;
  MPI_Reduce(&bytes, &all, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("ranks %d ms %.3f bytes %llu checksum %016llx\n", ranks,
           slowest / steps * 1e3, all, checksum);
  CHECK(cudaFree(from));
  CHECK(cudaFree(to));
  CHECK(cudaFree(partial));
  MPI_Finalize();
  return 0;
}
