//===- Library.h - the MPI library of the process ---------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MPI has two binary interfaces: that of Open MPI, whose handles are pointers,
// and that of MPICH, Intel MPI, MVAPICH and Cray MPI, whose handles are ints.
// An argument takes one register or one place of the stack in both, so calls
// are passed on as words, and only what differs in memory (arrays of handles,
// statuses) and the values of constants are looked up here. No header of MPI is
// needed to build, and one runtime serves both; test/mpi/interface.test
// compares this with the headers that are installed.
//
// Which one it is, MPI_Get_library_version says. Calls of any
// other are not led here.
//
// Sources: the MPI standard 3.1, "Language Binding"; mpi.h of Open MPI 4.1 and
// of MPICH 4.0 (the MPICH ABI initiative).
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_MPI_LIBRARY_H
#define DRAGON_RUNTIME_CUDART_MPI_LIBRARY_H

#include "runtime/cudart/mpi/Interfaces.h"

#include <cstddef>
#include <cstdint>

namespace dragon::mpi {

/// An argument: an int has undefined bytes above its own.
using Word = uintptr_t;
using Count = long long; // MPI_Count

/// Calls that this library makes itself, by their names without "MPI_".
struct OwnCalls {
  int (*Comm_call_errhandler)(Word comm, int code);
  int (*Comm_rank)(Word comm, int *rank);
  int (*Comm_size)(Word comm, int *size);
  int (*Comm_test_inter)(Word comm, int *flag);
  int (*Get_elements_x)(const void *status, Word type, Count *count);
  int (*Test_cancelled)(const void *status, int *flag);
  int (*Type_get_extent_x)(Word type, Count *low, Count *extent);
  int (*Type_get_true_extent_x)(Word type, Count *low, Count *extent);
  int (*Type_size_x)(Word type, Count *size);
  int (*Unpack)(const void *from, int bytes, int *position, void *to, int count,
                Word type, Word comm);
};

class Library {
public:
  /// The process's, `function` being one of its functions or of a library that
  /// stands in front of it; null: one with another interface.
  static const Library *get(void *function);
  static bool fits(void *function) { return get(function); }

  const Interface &interface() const { return *Constants; }
  const OwnCalls &calls() const { return Calls; }
  Word handle(Word argument) const {
    return Constants->handleBytes == sizeof(uint32_t) ? uint32_t(argument)
                                                      : argument;
  }
  Word handleAt(const void *array, size_t index) const;
  bool isNull(Word request) const { return handle(request) == RequestNull; }
  Word byteType() const { return ByteType; }
  Word world() const { return World; }
  Word self() const { return Self; }

private:
  bool open(void *function);

  const Interface *Constants = nullptr;
  OwnCalls Calls{};
  Word RequestNull = 0, ByteType = 0, World = 0, Self = 0;
};

} // namespace dragon::mpi

#endif // DRAGON_RUNTIME_CUDART_MPI_LIBRARY_H
