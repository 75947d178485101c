// A ring of ranks exchanges halos: by host pointers, and by pointers into device memory that MPI itself cannot use. Each way of
// sending gives the same, also where the buffers are far larger than device memory, and after a reset of the device.
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build-mpi %s
// RUN: for name in $MPI_IMPLEMENTATIONS; do %plain %mpirun $name -n 4 ./program.$name || exit 1; done
// RUN: for name in $MPI_IMPLEMENTATIONS; do %tight %mpirun $name -n 4 ./program.$name || exit 1; done
// RUN: rm -rf %t.dir
#include "e2e.h"
#include <mpi.h>

// A slab of Planes planes with one more at each end, in two buffers of 9 MiB: with 8 MiB of device memory a rank has less than half of them.
constexpr int Width = 256, Plane = Width * Width, Planes = 34;

__global__ void fill(uint32_t *x, int rank) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < Plane * (Planes + 2))
    x[i] = (i * 2654435761u) ^ (rank << 8);
}

__global__ void step(uint32_t *to, const uint32_t *from) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < Plane * Planes)
    to[i + Plane] = from[i] * 3 + from[i + Plane] * 5 + from[i + 2 * Plane] * 7;
}

enum Way {
  Host,
  Sendrecv,
  Blocking,
  NonBlocking,
  Tests,
  Persistent,
  Some,
  Any
};

struct Ring {
  int rank, ranks, up, down;
};

/// The planes that a neighbour has: the first and the last of `x`; `by` itself is on the host for Host.
static void exchange(const Ring &ring, uint32_t *x, Way way) {
  uint32_t *first = x + Plane, *last = x + Plane * Planes, *below = x,
           *above = x + Plane * (Planes + 1);
  MPI_Request requests[4];
  MPI_Status statuses[4];
  switch (way) {
  case Host: {
    std::vector<uint32_t> h(4 * Plane);
    CHECK(cudaMemcpy(h.data(), first, Plane * 4, cudaMemcpyDeviceToHost));
    CHECK(
        cudaMemcpy(h.data() + Plane, last, Plane * 4, cudaMemcpyDeviceToHost));
    MPI_Sendrecv(h.data(), Plane, MPI_UINT32_T, ring.down, 1,
                 h.data() + 3 * Plane, Plane, MPI_UINT32_T, ring.up, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(h.data() + Plane, Plane, MPI_UINT32_T, ring.up, 2,
                 h.data() + 2 * Plane, Plane, MPI_UINT32_T, ring.down, 2,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(cudaMemcpy(below, h.data() + 2 * Plane, Plane * 4,
                     cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(above, h.data() + 3 * Plane, Plane * 4,
                     cudaMemcpyHostToDevice));
    return;
  }
  case Sendrecv:
    MPI_Sendrecv(first, Plane, MPI_UINT32_T, ring.down, 1, above, Plane,
                 MPI_UINT32_T, ring.up, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(last, Plane, MPI_UINT32_T, ring.up, 2, below, Plane,
                 MPI_UINT32_T, ring.down, 2, MPI_COMM_WORLD, statuses);
    return;
  case Blocking:
    if (ring.rank % 2) {
      MPI_Send(first, Plane, MPI_UINT32_T, ring.down, 1, MPI_COMM_WORLD);
      MPI_Recv(above, Plane, MPI_UINT32_T, ring.up, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
      MPI_Ssend(last, Plane, MPI_UINT32_T, ring.up, 2, MPI_COMM_WORLD);
      MPI_Recv(below, Plane, MPI_UINT32_T, ring.down, 2, MPI_COMM_WORLD,
               statuses);
    } else {
      // A longer buffer than the message: what is behind stays.
      MPI_Recv(above, Plane, MPI_UINT32_T, ring.up, 1, MPI_COMM_WORLD,
               statuses);
      MPI_Send(first, Plane, MPI_UINT32_T, ring.down, 1, MPI_COMM_WORLD);
      MPI_Recv(below, Plane * 3, MPI_UINT32_T, ring.down, 2, MPI_COMM_WORLD,
               statuses);
      int got;
      MPI_Get_count(statuses, MPI_UINT32_T, &got);
      REQUIRE(got == Plane);
      MPI_Send(last, Plane, MPI_UINT32_T, ring.up, 2, MPI_COMM_WORLD);
    }
    return;
  default:
    break;
  }
  if (way == Persistent) {
    MPI_Recv_init(above, Plane * 4, MPI_BYTE, ring.up, 1, MPI_COMM_WORLD,
                  &requests[0]);
    MPI_Recv_init(below, Plane * 4, MPI_BYTE, ring.down, 2, MPI_COMM_WORLD,
                  &requests[1]);
    MPI_Send_init(first, Plane * 4, MPI_BYTE, ring.down, 1, MPI_COMM_WORLD,
                  &requests[2]);
    MPI_Send_init(last, Plane * 4, MPI_BYTE, ring.up, 2, MPI_COMM_WORLD,
                  &requests[3]);
    for (int round = 0; round < 2; ++round) {
      MPI_Start(&requests[0]);
      MPI_Startall(3, requests + 1);
      MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    }
    for (MPI_Request &one : requests)
      MPI_Request_free(&one);
    return;
  }
  MPI_Irecv(above, Plane, MPI_UINT32_T, ring.up, 1, MPI_COMM_WORLD,
            &requests[0]);
  MPI_Irecv(below, Plane, MPI_UINT32_T, ring.down, 2, MPI_COMM_WORLD,
            &requests[1]);
  MPI_Isend(first, Plane, MPI_UINT32_T, ring.down, 1, MPI_COMM_WORLD,
            &requests[2]);
  MPI_Isend(last, Plane, MPI_UINT32_T, ring.up, 2, MPI_COMM_WORLD,
            &requests[3]);
  int done = 0, index, some, indices[4];
  if (way == NonBlocking) {
    MPI_Waitall(4, requests, statuses);
    int got;
    MPI_Get_count(&statuses[1], MPI_UINT32_T, &got);
    REQUIRE(statuses[1].MPI_SOURCE == ring.down && statuses[1].MPI_TAG == 2 &&
            got == Plane);
  } else if (way == Tests) {
    while (!done)
      MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE);
    for (done = 0; !done;)
      MPI_Testall(3, requests + 1, &done, MPI_STATUSES_IGNORE);
  } else if (way == Some) {
    for (; done < 2; done += some)
      MPI_Waitsome(2, requests, &some, indices, statuses);
    for (; done < 4; done += some)
      MPI_Testsome(2, requests + 2, &some, indices, MPI_STATUSES_IGNORE);
  } else {
    for (; done < 3; ++done)
      MPI_Waitany(4, requests, &index, MPI_STATUS_IGNORE);
    for (done = 0; !done;)
      MPI_Testany(4, requests, &index, &done, statuses);
  }
  for (MPI_Request &one : requests)
    REQUIRE(one == MPI_REQUEST_NULL);
}

static std::vector<uint32_t> run(const Ring &ring, uint32_t *a, uint32_t *b,
                                 Way way) {
  constexpr int All = Plane * (Planes + 2);
  fill<<<All / 256, 256>>>(a, ring.rank);
  fill<<<All / 256, 256>>>(b, ring.rank + 100);
  for (int i = 0; i < 3; ++i) {
    CHECK(cudaDeviceSynchronize());
    exchange(ring, a, way);
    step<<<Plane * Planes / 256, 256>>>(b, a);
    std::swap(a, b);
  }
  std::vector<uint32_t> h(All);
  CHECK(cudaMemcpy(h.data(), a, All * 4, cudaMemcpyDeviceToHost));
  return h;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  Ring ring;
  MPI_Comm_rank(MPI_COMM_WORLD, &ring.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ring.ranks);
  ring.up = (ring.rank + 1) % ring.ranks;
  ring.down = (ring.rank + ring.ranks - 1) % ring.ranks;
  uint32_t *a, *b;
  CHECK(cudaMalloc(&a, Plane * (Planes + 2) * 4));
  CHECK(cudaMalloc(&b, Plane * (Planes + 2) * 4));
  const std::vector<uint32_t> expected = run(ring, a, b, Host);
  for (Way way :
       {Sendrecv, Blocking, NonBlocking, Tests, Persistent, Some, Any})
    if (run(ring, a, b, way) != expected) {
      printf("rank %d: other results by way %d\n", ring.rank, way);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  // Managed memory, whose chunks the other process cannot read where they are.
  uint32_t *m, *n;
  CHECK(cudaMallocManaged(&m, Plane * (Planes + 2) * 4));
  CHECK(cudaMallocManaged(&n, Plane * (Planes + 2) * 4));
  REQUIRE(run(ring, m, n, NonBlocking) == expected);
  REQUIRE(run(ring, m, n, Sendrecv) == expected);
  // A reset takes what messages were staged by as well.
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(cudaDeviceReset());
  CHECK(cudaMalloc(&a, Plane * (Planes + 2) * 4));
  CHECK(cudaMalloc(&b, Plane * (Planes + 2) * 4));
  for (Way way : {NonBlocking, Persistent})
    REQUIRE(run(ring, a, b, way) == expected);
  MPI_Finalize();
  return 0;
}
