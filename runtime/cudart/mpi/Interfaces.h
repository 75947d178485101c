//===- Interfaces.h - the constants of two MPI interfaces -------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plain data, which test/mpi compiles with each mpi.h.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_MPI_INTERFACES_H
#define DRAGON_RUNTIME_CUDART_MPI_INTERFACES_H

#include <cstddef>
#include <cstdint>

namespace dragon::mpi {

/// The first value of an index when there is none, in both.
constexpr int Undefined = -32766;

struct Interface {
  size_t handleBytes, statusBytes;
  uintptr_t inPlace, ignoredStatus; ///< addresses that are no addresses
  int nullProcess;                  ///< MPI_PROC_NULL
  int otherError;                   ///< MPI_ERR_OTHER
  // Handles; 0: the address of the symbol below.
  uintptr_t nullRequest, byteType, world, self;
};

constexpr Interface OpenMpi = {.handleBytes = 8,
                               .statusBytes = 24,
                               .inPlace = 1,
                               .ignoredStatus = 0,
                               .nullProcess = -2,
                               .otherError = 16,
                               .nullRequest = 0,
                               .byteType = 0,
                               .world = 0,
                               .self = 0};
constexpr const char *OpenMpiSymbols[] = {"ompi_request_null", "ompi_mpi_byte",
                                          "ompi_mpi_comm_world",
                                          "ompi_mpi_comm_self"};

constexpr Interface Mpich = {.handleBytes = 4,
                             .statusBytes = 20,
                             .inPlace = UINTPTR_MAX,
                             .ignoredStatus = 1,
                             .nullProcess = -1,
                             .otherError = 15,
                             .nullRequest = 0x2c000000,
                             .byteType = 0x4c00010d,
                             .world = 0x44000000,
                             .self = 0x44000001};

constexpr size_t MostStatusBytes = 24;

} // namespace dragon::mpi

#endif // DRAGON_RUNTIME_CUDART_MPI_INTERFACES_H
