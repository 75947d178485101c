//===- CudaDriver.h - the CUDA driver, loaded at run time -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libcuda.so.1 by dlopen, so that one executable runs on machines with and
// without a GPU. Functions are asked for by the version of their signature, not
// by exported name: the driver keeps several under one name. Example:
//
//   DRAGON_ASSIGN(const CudaDriver *cuda, CudaDriver::load());
//   DRAGON_TRY(cuda->check(cuda->MemMap(va, bytes, 0, handle, 0), "cuMemMap"));
//
// What older drivers lack is null and says so in CudaSymbols.def; who uses it
// does without.
//
// Threads: all calls from any thread. Nothing is ever unloaded.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_DEVICE_CUDA_CUDADRIVER_H
#define DRAGON_RUNTIME_DEVICE_CUDA_CUDADRIVER_H

#include "runtime/base/Status.h"

#include <cuda.h>
#include <cudaTypedefs.h>
#include <memory>
#include <string>

namespace dragon {

class CudaDriver {
public:
  /// The address of an exported function of libcuda; null: there is none.
  using Lookup = void *(*)(const char *name);

  /// Loads and initialises the driver once; a failure is final and says why
  /// there is no GPU to use.
  static StatusOr<const CudaDriver *> load();
  /// The same of a library that is loaded; for tests, which are one.
  static StatusOr<std::unique_ptr<const CudaDriver>> open(Lookup library);

  /// Ok, or the driver's error with its name and what the call was about.
  Status check(CUresult result, const char *call) const;
  int version() const { return Version; }
  /// Why programs that need NVIDIA's runtime library of CUDA 13 cannot run on
  /// this driver; empty: they can.
  std::string tooOldForCuda13() const;
  /// libcudart.so.12 works with it.
  bool runsCuda12() const { return Version >= 12000; }

#define CUDA_SYMBOL(NAME, VERSION) PFN_cu##NAME##_v##VERSION NAME = nullptr;
#define CUDA_OPTIONAL(FIELD, NAME, VERSION)                                    \
  PFN_cu##NAME##_v##VERSION FIELD = nullptr;
#include "runtime/device/cuda/CudaSymbols.def"

private:
  CudaDriver() = default;
  Status find(Lookup library);
  int Version = 0;
};

/// Makes a context current for the calling thread while it lives, if it is not:
/// a thread without any keeps it, one with another gets that back.
class CudaContextScope {
public:
  CudaContextScope(const CudaDriver &cuda, CUcontext context);
  ~CudaContextScope();
  CudaContextScope(const CudaContextScope &) = delete;
  CudaContextScope &operator=(const CudaContextScope &) = delete;

private:
  const CudaDriver &Cuda;
  CUcontext Before = nullptr;
  bool Restore = false;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_DEVICE_CUDA_CUDADRIVER_H
