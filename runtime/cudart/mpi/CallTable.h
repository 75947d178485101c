//===- CallTable.h - what calls of MPI do to their buffers ------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One line a call: how many parameters it has, which of them is what, and which
// bytes it reads and writes. From a line Calls.cpp makes the function that
// stands in front of MPI's.
//
// Source: the MPI standard 3.1, "Language Independent Specification" of each.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_MPI_CALLTABLE_H
#define DRAGON_RUNTIME_CUDART_MPI_CALLTABLE_H

#include "runtime/cudart/mpi/Staged.h"

#include <cstdint>

namespace dragon::mpi {

constexpr int8_t NoParameter = -1;

/// How many elements a buffer has for a call.
enum class Extent : uint8_t {
  Once,    ///< count
  Ranks,   ///< count for each rank
  Varying, ///< counts[rank] at displacements[rank], in elements
  ByType,  ///< the same in bytes, with types[rank]
  Sum,     ///< all of counts[rank]
  Own,     ///< counts[own rank]
  Bytes    ///< count bytes
};
/// Which ranks' buffer it is.
enum class At : uint8_t { All, Root, Others };

/// The numbers are parameters', from 0.
struct Operand {
  Access access = Access::None;
  int8_t buffer = NoParameter, count = NoParameter, type = NoParameter;
  Extent extent = Extent::Once;
  At at = At::All;
  int8_t displacements = NoParameter;

  constexpr Operand ranks(At which = At::All) const {
    return with(Extent::Ranks, which);
  }
  constexpr Operand with(Extent how, At which = At::All) const {
    Operand other = *this;
    other.extent = how;
    other.at = which;
    return other;
  }
  constexpr Operand varying(int8_t from, At which = At::All,
                            Extent how = Extent::Varying) const {
    Operand other = with(how, which);
    other.displacements = from;
    return other;
  }
};

constexpr Operand reads(int8_t buffer, int8_t count, int8_t type) {
  return {Access::Reads, buffer, count, type};
}
constexpr Operand writes(int8_t buffer, int8_t count, int8_t type) {
  return {Access::Writes, buffer, count, type};
}
constexpr Operand changes(int8_t buffer, int8_t count, int8_t type) {
  return {Access::Changes, buffer, count, type};
}

enum class Kind : uint8_t {
  Blocks,    ///< it may wait
  Begins,    ///< its last parameter is a request
  Persistent ///< the same, of a request that is started later
};

struct Call {
  const char *name;
  Kind kind;
  uint8_t parameters;
  Operand first, second;
  int8_t communicator = NoParameter;
  int8_t root = NoParameter;
  int8_t peer = NoParameter;   ///< of the first operand
  int8_t source = NoParameter; ///< of the second
  int8_t status = NoParameter; ///< of what the last operand receives
};

// Parameters of a call and of its twin that begins the same.
#define DRAGON_BOTH(name, parameters, ...)                                     \
  {"MPI_" #name, Kind::Blocks, parameters, __VA_ARGS__}, {                     \
    "MPI_I" DRAGON_SMALL_##name, Kind::Begins, parameters + 1, __VA_ARGS__     \
  }
#define DRAGON_SMALL_Barrier "barrier"
#define DRAGON_SMALL_Bcast "bcast"
#define DRAGON_SMALL_Reduce "reduce"
#define DRAGON_SMALL_Allreduce "allreduce"
#define DRAGON_SMALL_Scan "scan"
#define DRAGON_SMALL_Exscan "exscan"
#define DRAGON_SMALL_Gather "gather"
#define DRAGON_SMALL_Gatherv "gatherv"
#define DRAGON_SMALL_Scatter "scatter"
#define DRAGON_SMALL_Scatterv "scatterv"
#define DRAGON_SMALL_Allgather "allgather"
#define DRAGON_SMALL_Allgatherv "allgatherv"
#define DRAGON_SMALL_Alltoall "alltoall"
#define DRAGON_SMALL_Alltoallv "alltoallv"
#define DRAGON_SMALL_Alltoallw "alltoallw"
#define DRAGON_SMALL_Reduce_scatter "reduce_scatter"
#define DRAGON_SMALL_Reduce_scatter_block "reduce_scatter_block"
// Sends of each mode: buffer, count, type, destination, tag, communicator.
#define DRAGON_SENDS(blocking, beginning)                                      \
  {"MPI_" blocking, Kind::Blocks, 6, reads(0, 1, 2), {}, 5, -1, 3},            \
      {"MPI_" beginning, Kind::Begins, 7, reads(0, 1, 2), {}, 5, -1, 3},       \
      {"MPI_" blocking "_init",                                                \
       Kind::Persistent,                                                       \
       7,                                                                      \
       reads(0, 1, 2),                                                         \
       {},                                                                     \
       5,                                                                      \
       -1,                                                                     \
       3}

// clang-format off
constexpr Call Calls[] = {
    DRAGON_SENDS("Send", "Isend"),
    DRAGON_SENDS("Bsend", "Ibsend"),
    DRAGON_SENDS("Ssend", "Issend"),
    DRAGON_SENDS("Rsend", "Irsend"),
    {"MPI_Recv", Kind::Blocks, 7, writes(0, 1, 2), {}, 5, -1, 3, -1, 6},
    {"MPI_Irecv", Kind::Begins, 7, writes(0, 1, 2), {}, 5, -1, 3},
    {"MPI_Recv_init", Kind::Persistent, 7, writes(0, 1, 2), {}, 5, -1, 3},
    {"MPI_Mrecv", Kind::Blocks, 5, writes(0, 1, 2), {}, -1, -1, -1, -1, 4},
    {"MPI_Imrecv", Kind::Begins, 5, writes(0, 1, 2), {}},
    {"MPI_Sendrecv", Kind::Blocks, 12, reads(0, 1, 2), writes(5, 6, 7), 10, -1, 3, 8, 11},
    {"MPI_Sendrecv_replace", Kind::Blocks, 9, changes(0, 1, 2), {}, 7},
    {"MPI_Probe", Kind::Blocks, 4, {}, {}},
    {"MPI_Mprobe", Kind::Blocks, 5, {}, {}},
    {"MPI_Finalize", Kind::Blocks, 0, {}, {}},

    DRAGON_BOTH(Barrier, 1, {}, {}),
    DRAGON_BOTH(Bcast, 5, reads(0, 1, 2).with(Extent::Once, At::Root), writes(0, 1, 2).with(Extent::Once, At::Others), 4, 3),
    DRAGON_BOTH(Reduce, 7, reads(0, 2, 3), writes(1, 2, 3).with(Extent::Once, At::Root), 6, 5),
    DRAGON_BOTH(Allreduce, 6, reads(0, 2, 3), writes(1, 2, 3), 5),
    // The first ranks receive nothing, or not by these calls.
    DRAGON_BOTH(Scan, 6, reads(0, 2, 3), changes(1, 2, 3), 5),
    DRAGON_BOTH(Exscan, 6, reads(0, 2, 3), changes(1, 2, 3), 5),
    DRAGON_BOTH(Gather, 8, reads(0, 1, 2), writes(3, 4, 5).ranks(At::Root), 7, 6),
    DRAGON_BOTH(Gatherv, 9, reads(0, 1, 2), writes(3, 4, 6).varying(5, At::Root), 8, 7),
    DRAGON_BOTH(Scatter, 8, reads(0, 1, 2).ranks(At::Root), writes(3, 4, 5), 7, 6),
    DRAGON_BOTH(Scatterv, 9, reads(0, 1, 3).varying(2, At::Root), writes(4, 5, 6), 8, 7),
    DRAGON_BOTH(Allgather, 7, reads(0, 1, 2), writes(3, 4, 5).ranks(), 6),
    DRAGON_BOTH(Allgatherv, 8, reads(0, 1, 2), writes(3, 4, 6).varying(5), 7),
    DRAGON_BOTH(Alltoall, 7, reads(0, 1, 2).ranks(), writes(3, 4, 5).ranks(), 6),
    DRAGON_BOTH(Alltoallv, 9, reads(0, 1, 3).varying(2), writes(4, 5, 7).varying(6), 8),
    DRAGON_BOTH(Alltoallw, 9, reads(0, 1, 3).varying(2, At::All, Extent::ByType),
                writes(4, 5, 7).varying(6, At::All, Extent::ByType), 8),
    DRAGON_BOTH(Reduce_scatter, 6, reads(0, 2, 3).with(Extent::Sum), writes(1, 2, 3).with(Extent::Own), 5),
    DRAGON_BOTH(Reduce_scatter_block, 6, reads(0, 2, 3).ranks(), writes(1, 2, 3), 5),

    {"MPI_Pack", Kind::Blocks, 7, reads(0, 1, 2), changes(3, 4, -1).with(Extent::Bytes), 6},
    {"MPI_Unpack", Kind::Blocks, 7, reads(0, 1, -1).with(Extent::Bytes), writes(3, 4, 5), 6},

    // Files: what was not there to read keeps its value.
    {"MPI_File_read", Kind::Blocks, 5, changes(1, 2, 3), {}},
    {"MPI_File_read_all", Kind::Blocks, 5, changes(1, 2, 3), {}},
    {"MPI_File_read_at", Kind::Blocks, 6, changes(2, 3, 4), {}},
    {"MPI_File_read_at_all", Kind::Blocks, 6, changes(2, 3, 4), {}},
    {"MPI_File_write", Kind::Blocks, 5, reads(1, 2, 3), {}},
    {"MPI_File_write_all", Kind::Blocks, 5, reads(1, 2, 3), {}},
    {"MPI_File_write_at", Kind::Blocks, 6, reads(2, 3, 4), {}},
    {"MPI_File_write_at_all", Kind::Blocks, 6, reads(2, 3, 4), {}},
};
// clang-format on
#undef DRAGON_BOTH
#undef DRAGON_SENDS

} // namespace dragon::mpi

#endif // DRAGON_RUNTIME_CUDART_MPI_CALLTABLE_H
