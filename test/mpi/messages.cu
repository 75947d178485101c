// Collective calls, datatypes with gaps, packing, files and messages shorter than their buffers: with buffers on the device each
// gives what it gives with host memory, and changes no other byte.
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build-mpi %s
// RUN: for name in $MPI_IMPLEMENTATIONS; do %plain %mpirun $name -n 4 ./program.$name || exit 1; done
// RUN: for name in $MPI_IMPLEMENTATIONS; do %tight %mpirun $name -n 4 ./program.$name || exit 1; done
// RUN: rm -rf %t.dir
#include "e2e.h"
#include <functional>
#include <mpi.h>

constexpr int N = 40000; // of each rank
static int rank, ranks;

struct Buffers {
  int *from, *to; ///< 4 N each
};
using Case = std::function<void(Buffers)>;

static std::vector<int> start(int seed) {
  std::vector<int> values(4 * N);
  for (int i = 0; i < 4 * N; ++i)
    values[i] = (i * 7 + rank * 1000 + seed) % 100003;
  return values;
}

/// The same on the host and on the device.
static void compare(const char *name, const Buffers &device, const Case &body) {
  std::vector<int> from = start(1), to = start(2), gotFrom(4 * N), gotTo(4 * N);
  CHECK(cudaMemcpy(device.from, from.data(), 16 * N, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(device.to, to.data(), 16 * N, cudaMemcpyHostToDevice));
  body({from.data(), to.data()});
  MPI_Barrier(MPI_COMM_WORLD);
  body(device);
  CHECK(
      cudaMemcpy(gotFrom.data(), device.from, 16 * N, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(gotTo.data(), device.to, 16 * N, cudaMemcpyDeviceToHost));
  if (gotFrom == from && gotTo == to)
    return;
  printf("rank %d: %s: other results\n", rank, name);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void wait(MPI_Request &request) {
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void collectives(const Buffers &d) {
  const MPI_Comm all = MPI_COMM_WORLD;
  const int counts[] = {N / 2, 0, N / 4, 17}, places[] = {5, 0, N, 3 * N};
  compare("Bcast", d, [&](Buffers b) { MPI_Bcast(b.to, N, MPI_INT, 2, all); });
  compare("Reduce", d, [&](Buffers b) {
    MPI_Reduce(b.from, b.to, N, MPI_INT, MPI_SUM, 1, all);
  });
  // By another root MPICH 4.0.2 crashes, on host memory as well.
  compare("Reduce in place", d, [&](Buffers b) {
    MPI_Reduce(rank == 0 ? MPI_IN_PLACE : b.to, b.to, N, MPI_INT, MPI_SUM, 0,
               all);
  });
  compare("Allreduce", d, [&](Buffers b) {
    MPI_Allreduce(b.from, b.to, N, MPI_INT, MPI_MAX, all);
  });
  compare("Allreduce in place", d, [&](Buffers b) {
    MPI_Allreduce(MPI_IN_PLACE, b.to, N, MPI_INT, MPI_SUM, all);
  });
  compare("Scan", d,
          [&](Buffers b) { MPI_Scan(b.from, b.to, N, MPI_INT, MPI_SUM, all); });
  compare("Exscan", d, [&](Buffers b) {
    MPI_Exscan(b.from, b.to, N, MPI_INT, MPI_SUM, all);
    if (rank == 0 && b.to == d.to) // undefined there
      CHECK(cudaMemset(b.to, 0, 4 * N));
    else if (rank == 0)
      memset(b.to, 0, 4 * N);
  });
  compare("Gather", d, [&](Buffers b) {
    MPI_Gather(b.from, N, MPI_INT, b.to, N, MPI_INT, 3, all);
  });
  compare("Gatherv", d, [&](Buffers b) {
    MPI_Gatherv(b.from, counts[rank], MPI_INT, b.to, counts, places, MPI_INT, 0,
                all);
  });
  compare("Scatter", d, [&](Buffers b) {
    MPI_Scatter(b.from, N, MPI_INT, b.to, N, MPI_INT, 3, all);
  });
  compare("Scatterv", d, [&](Buffers b) {
    MPI_Scatterv(b.from, counts, places, MPI_INT, b.to, counts[rank], MPI_INT,
                 1, all);
  });
  compare("Allgather", d, [&](Buffers b) {
    MPI_Allgather(b.from, N, MPI_INT, b.to, N, MPI_INT, all);
  });
  compare("Allgather in place", d, [&](Buffers b) {
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, b.to, N, MPI_INT, all);
  });
  compare("Allgatherv", d, [&](Buffers b) {
    MPI_Allgatherv(b.from, counts[rank], MPI_INT, b.to, counts, places, MPI_INT,
                   all);
  });
  compare("Alltoall", d, [&](Buffers b) {
    MPI_Alltoall(b.from, N, MPI_INT, b.to, N, MPI_INT, all);
  });
  const int same[] = {10, 20, 30, 40}, apart[] = {0, N, 2 * N, 3 * N},
            own[] = {same[rank], same[rank], same[rank], same[rank]};
  compare("Alltoallv", d, [&](Buffers b) {
    MPI_Alltoallv(b.from, same, apart, MPI_INT, b.to, own, apart, MPI_INT, all);
  });
  compare("Alltoallw", d, [&](Buffers b) {
    const MPI_Datatype types[] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
    MPI_Alltoallw(b.from, same, apart, types, b.to, own, apart, types, all);
  });
  compare("Reduce_scatter", d, [&](Buffers b) {
    MPI_Reduce_scatter(b.from, b.to, same, MPI_INT, MPI_SUM, all);
  });
  compare("Reduce_scatter_block", d, [&](Buffers b) {
    MPI_Reduce_scatter_block(b.from, b.to, N, MPI_INT, MPI_SUM, all);
  });
  compare("Iallreduce", d, [&](Buffers b) {
    MPI_Request request;
    MPI_Iallreduce(b.from, b.to, N, MPI_INT, MPI_SUM, all, &request);
    wait(request);
  });
  compare("Ibcast", d, [&](Buffers b) {
    MPI_Request request;
    MPI_Ibcast(b.to, N, MPI_INT, 0, all, &request);
    wait(request);
  });
  compare("Ialltoall", d, [&](Buffers b) {
    MPI_Request request;
    MPI_Ialltoall(b.from, N, MPI_INT, b.to, N, MPI_INT, all, &request);
    wait(request);
  });
}

static void datatypes(const Buffers &d) {
  const MPI_Comm all = MPI_COMM_WORLD;
  const int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
  // Columns of a matrix of 200 by 800: each message changes its own column only, in whatever order they come.
  for (
      int round = 0; round < 2;
      ++round) { // the handle of a type that is freed may come again for another
    MPI_Datatype column, block;
    MPI_Type_vector(200, 1 + round, 800, MPI_INT, &column);
    MPI_Type_commit(&column);
    compare("columns", d, [&](Buffers b) {
      MPI_Request requests[4];
      MPI_Irecv(b.to, 1, column, last, 1, all, &requests[0]);
      MPI_Irecv(b.to + 700, 1, column, last, 2, all, &requests[1]);
      MPI_Isend(b.from + 3, 1, column, next, 1, all, &requests[2]);
      MPI_Isend(b.from + 5, 1, column, next, 2, all, &requests[3]);
      MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    });
    const int sizes[] = {20, 80, 100}, part[] = {3, 20, 10 + round},
              at[] = {7, 9, 50};
    MPI_Type_create_subarray(3, sizes, part, at, MPI_ORDER_C, MPI_INT, &block);
    MPI_Type_commit(&block);
    compare("subarray", d, [&](Buffers b) {
      MPI_Sendrecv(b.from, 1, block, next, 1, b.to, 1, block, last, 1, all,
                   MPI_STATUS_IGNORE);
    });
    compare("Bcast of a subarray", d,
            [&](Buffers b) { MPI_Bcast(b.to, 1, block, 1, all); });
    compare("Pack", d, [&](Buffers b) {
      int position = 12;
      MPI_Pack(b.from, 1, block, b.to, 4 * N, &position, all);
      REQUIRE(position == 12 + 4 * 3 * 20 * (10 + round));
      position = 12;
      MPI_Unpack(b.to, 4 * N, &position, b.from + 1, 1, block, all);
    });
    MPI_Type_free(&column);
    MPI_Type_free(&block);
  }
  // A structure with a hole, elements that are nearer than they are long, and negative places.
  MPI_Datatype hole, near;
  const int lengths[] = {1, 2}, places[] = {-4, 1};
  MPI_Type_indexed(2, lengths, places, MPI_INT, &hole);
  MPI_Type_create_resized(hole, 0, 24, &near);
  MPI_Type_commit(&near);
  compare("indexed", d, [&](Buffers b) {
    MPI_Sendrecv(b.from + 10, 1000, near, next, 1, b.to + 10, 1000, near, last,
                 1, all, MPI_STATUS_IGNORE);
  });
  compare("fewer than there is room for", d, [&](Buffers b) {
    MPI_Status status;
    MPI_Sendrecv(b.from + 10, 7, near, next, 1, b.to + 10, 1000, near, last, 1,
                 all, &status);
    int got;
    MPI_Get_count(&status, near, &got);
    REQUIRE(got == 7);
    MPI_Request request;
    MPI_Irecv(b.to, 2 * N, MPI_INT, last, 2, all, &request);
    MPI_Send(b.from, 11, MPI_INT, next, 2, all);
    wait(request);
    MPI_Sendrecv_replace(b.from, N, MPI_INT, next, 3, last, 3, all, &status);
    MPI_Recv(b.to, N, MPI_INT, MPI_PROC_NULL, 4, all, MPI_STATUS_IGNORE);
  });
  // MPI_BOTTOM.
  compare("addresses", d, [&](Buffers b) {
    MPI_Datatype from, to;
    const int length = 500;
    MPI_Aint address = (MPI_Aint)b.from;
    MPI_Type_create_hindexed(1, &length, &address, MPI_INT, &from);
    address = (MPI_Aint)b.to;
    MPI_Type_create_hindexed(1, &length, &address, MPI_INT, &to);
    MPI_Type_commit(&from);
    MPI_Type_commit(&to);
    MPI_Sendrecv(MPI_BOTTOM, 1, from, next, 1, MPI_BOTTOM, 1, to, last, 1, all,
                 MPI_STATUS_IGNORE);
    MPI_Type_free(&from);
    MPI_Type_free(&to);
  });
}

static void others(const Buffers &d) {
  const MPI_Comm all = MPI_COMM_WORLD;
  const int next = (rank + 1) % ranks;
  compare("Mprobe", d, [&](Buffers b) {
    MPI_Message message;
    MPI_Request request;
    MPI_Status status;
    for (int i = 0; i < 2; ++i) {
      MPI_Isend(b.from + i * N, N, MPI_INT, next, 1, all, &request);
      MPI_Mprobe(MPI_ANY_SOURCE, 1, all, &message, &status);
      if (i == 0) {
        MPI_Mrecv(b.to, 2 * N, MPI_INT, &message, &status);
      } else {
        MPI_Request receive;
        MPI_Imrecv(b.to + N, 2 * N, MPI_INT, &message, &receive);
        wait(receive);
      }
      wait(request);
    }
  });
  compare("a send that nobody waits for", d, [&](Buffers b) {
    MPI_Request request;
    MPI_Isend(b.from, N, MPI_INT, next, 1, all, &request);
    MPI_Request_free(&request);
    MPI_Recv(b.to, N, MPI_INT, MPI_ANY_SOURCE, 1, all, MPI_STATUS_IGNORE);
  });
  compare("a receive that is cancelled", d, [&](Buffers b) {
    MPI_Request request;
    MPI_Irecv(b.to, N, MPI_INT, next, 99, all, &request);
    MPI_Cancel(&request);
    wait(request);
  });
  compare("File", d, [&](Buffers b) {
    MPI_File file;
    const std::string name = "file." + std::to_string(rank);
    MPI_File_open(MPI_COMM_SELF, name.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR,
                  MPI_INFO_NULL, &file);
    MPI_File_write(file, b.from, N, MPI_INT, MPI_STATUS_IGNORE);
    MPI_Status status;
    MPI_File_read_at(file, N * 2, b.to + 1, N, MPI_INT,
                     &status); // half of it is there
    int got;
    MPI_Get_count(&status, MPI_INT, &got);
    REQUIRE(got == N / 2);
    MPI_File_close(&file);
  });
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  REQUIRE(ranks == 4);
  Buffers d;
  char *pushed; // as large as the device's memory for the tight run
  CHECK(cudaMalloc(&pushed, 8 << 20));
  CHECK(cudaMalloc(&d.from, 16 * N));
  CHECK(cudaMalloc(&d.to, 16 * N));
  for (int round = 0; round < 2; ++round) {
    collectives(d);
    CHECK(cudaMemset(pushed, round, 8 << 20));
    datatypes(d);
    others(d);
  }
  MPI_Finalize();
  return 0;
}
