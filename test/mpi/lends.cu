// A rank that waits in MPI_Recv gives its memory to those that compute, and says so; it has the right results when it goes on.
// The ranks want four times the memory that there is.
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build-mpi %s
// RUN: for name in $MPI_IMPLEMENTATIONS; do %plain %lends %mpirun $name ./program.$name || exit 1; done
// RUN: rm -rf %t.dir
#include "e2e.h"
#include <mpi.h>
#include <unistd.h>

// 16 MiB in two buffers.
constexpr int N = 2 << 20;

__global__ void fill(uint32_t *x, uint32_t seed) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N)
    x[i] = i * 2654435761u + seed;
}

__global__ void mix(uint32_t *to, const uint32_t *from, uint32_t round) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N)
    to[i] = to[i] * 5 + (from[i] ^ round);
}

static uint32_t *a, *b;

static void rounds(int from, int to) {
  for (int round = from; round < to; ++round) {
    mix<<<N / 256, 256>>>(a, b, round);
    mix<<<N / 256, 256>>>(b, a, round);
    CHECK(cudaDeviceSynchronize());
  }
}

/// Of what a rank that is alone computes.
static std::vector<uint32_t> expected(int rank, int rounds) {
  std::vector<uint32_t> x(N), y(N);
  for (int i = 0; i < N; ++i) {
    x[i] = i * 2654435761u + rank;
    y[i] = i * 2654435761u + rank + 1;
    for (int round = 0; round < rounds; ++round) {
      x[i] = x[i] * 5 + (y[i] ^ round);
      y[i] = y[i] * 5 + (x[i] ^ round);
    }
  }
  return y;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, word = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank != 0) // rank 0 has the memory first
    MPI_Recv(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(cudaMalloc(&a, N * sizeof(uint32_t)));
  CHECK(cudaMalloc(&b, N * sizeof(uint32_t)));
  fill<<<N / 256, 256>>>(a, rank);
  fill<<<N / 256, 256>>>(b, rank + 1);
  rounds(0, 2);
  if (rank == 0) {
    printf("%d holds\n", getpid());
    fflush(stdout);
    for (int other = 1; other < ranks; ++other)
      MPI_Send(&word, 1, MPI_INT, other, 1, MPI_COMM_WORLD);
    // Rank 1 says when somebody has seen who has what.
    MPI_Recv(b + 7, 1, MPI_UINT32_T, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    // What goes on with a fill, and not with a launch, has memory as well.
    std::vector<uint32_t> kept(N);
    CHECK(cudaMemcpy(kept.data(), a, N * sizeof(uint32_t),
                     cudaMemcpyDeviceToHost));
    CHECK(cudaMemset(a, 0, N * sizeof(uint32_t)));
    CHECK(cudaMemcpy(a, kept.data(), N * sizeof(uint32_t),
                     cudaMemcpyHostToDevice));
  } else if (rank == 1) {
    // Works until it has been seen.
    for (int round = 2; access("seen", F_OK) != 0; ++round)
      rounds(round, round + 1);
    fill<<<N / 256, 256>>>(a, rank);
    fill<<<N / 256, 256>>>(b, rank + 1);
    rounds(0, 2);
    const uint32_t last = expected(0, 2)[7];
    MPI_Send(&last, 1, MPI_UINT32_T, 0, 2, MPI_COMM_WORLD);
  }
  rounds(2, 4);
  std::vector<uint32_t> h(N);
  CHECK(cudaMemcpy(h.data(), b, N * sizeof(uint32_t), cudaMemcpyDeviceToHost));
  REQUIRE(h == expected(rank, 4));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0)
    puts("right");
  MPI_Finalize();
  return 0;
}
