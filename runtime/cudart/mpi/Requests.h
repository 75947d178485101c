//===- Requests.h - messages that are under way -----------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is staged for a request lives until MPI says that the request is
// complete: then what it has received is copied into its buffer. A persistent
// request keeps its memory from one start to the next, until it is freed.
//
// MPICH gives one handle to all sends that are complete when they begin, so a
// handle may stand here more than once; any of these will do.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_MPI_REQUESTS_H
#define DRAGON_RUNTIME_CUDART_MPI_REQUESTS_H

#include "runtime/cudart/mpi/Staged.h"

#include <atomic>
#include <map>
#include <mutex>
#include <vector>

namespace dragon::mpi {

struct Pending {
  std::vector<Staged> staged;
  bool persistent = false;
};

class Requests {
public:
  void add(Word request, Pending pending);
  /// Something is staged for it. Cheap if nothing is for any.
  bool has(Word request);
  Status start(Word request);
  /// MPI has completed it, and its status is this.
  Status complete(const Library &library, Word request, const void *status);
  /// The program does not want to know. What is under way stays until the end.
  void free(Word request);

private:
  std::atomic<size_t> Known{0};
  std::mutex Lock;
  std::multimap<Word, Pending> Pendings;
  std::vector<Pending> Freed;
};

/// The process's; never destroyed.
Requests &requests();

/// Bytes that a call has received; none if it was cancelled.
uint64_t receivedBytes(const Library &library, const void *status);

} // namespace dragon::mpi

#endif // DRAGON_RUNTIME_CUDART_MPI_REQUESTS_H
