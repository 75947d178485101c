//===- Calls.h - in front of MPI's functions --------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program's calls of MPI come here first (libraries/ForeignCalls.h leads
// them), once it has called CUDA. They stage what is in buffers (Staged.h), and
// lend the device's memory while they wait (Waits.h). MPI's functions are those
// that the program would have called: a library that stands in front of MPI
// itself, such as a profiler, sees each call, with host memory.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_MPI_CALLS_H
#define DRAGON_RUNTIME_CUDART_MPI_CALLS_H

#include "runtime/base/Status.h"
#include "runtime/cudart/libraries/ForeignCalls.h"
#include "runtime/cudart/mpi/Library.h"

#include <span>

namespace dragon::mpi {

/// Those by which data go (CallTable.h).
std::span<const LedCall> transferCalls();
/// Those that wait for requests, start and free them.
std::span<const LedCall> requestCalls();

/// Tells MPI's error handler, which ends the program unless that has another.
int failed(const Library &library, const char *call, const Status &status);

} // namespace dragon::mpi

#endif // DRAGON_RUNTIME_CUDART_MPI_CALLS_H
