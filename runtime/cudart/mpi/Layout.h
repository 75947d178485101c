//===- Layout.h - where the bytes of a message are --------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A message of `count` elements of a datatype is a list of rows of bytes,
// relative to the buffer's address. For a datatype with gaps (MPI_Type_vector,
// a subarray, a structure) the rows are found by experiment: one element of
// bytes that are not zero is unpacked into zeros, and what is not zero then is
// where its bytes are. So no constructor of datatypes needs to be known.
//
//   MPI_Type_vector(3, 2, 8, MPI_BYTE)   one run: offset 0, 2 bytes, 3 rows,
//                                        8 bytes from one to the next
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_MPI_LAYOUT_H
#define DRAGON_RUNTIME_CUDART_MPI_LAYOUT_H

#include "runtime/base/Status.h"
#include "runtime/cudart/mpi/Library.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace dragon::mpi {

/// Rows of bytes, each `pitch` behind the one before it.
struct Run {
  int64_t offset;
  uint64_t bytes, pitch, rows;

  int64_t end() const {
    return offset + int64_t((rows - 1) * pitch) + int64_t(bytes);
  }
  bool operator==(const Run &) const = default;
};

class Layout {
public:
  /// Behind what there is it may become part of the last run.
  void add(int64_t offset, uint64_t bytes);
  void add(const Layout &other, int64_t at);

  const std::vector<Run> &runs() const { return Runs; }
  bool empty() const { return Runs.empty(); }
  /// Nothing between its first byte and its last one is left out.
  bool isDense() const { return Runs.size() == 1 && Runs[0].rows == 1; }
  int64_t begin() const { return Begin; }
  int64_t end() const { return End; }

private:
  std::vector<Run> Runs;
  int64_t Begin = INT64_MAX, End = INT64_MIN;
};

/// Adds `count` elements of the type, the first one at `at`.
Status addElements(const Library &library, Layout &to, int64_t at,
                   int64_t count, Word type);
/// How far the elements of a type are apart.
int64_t extentOf(const Library &library, Word type);
/// The handle may mean another type from now on.
void forgetType(const Library &library, Word type);

} // namespace dragon::mpi

#endif // DRAGON_RUNTIME_CUDART_MPI_LAYOUT_H
