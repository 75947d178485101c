//===- FakeCuda.h - a CUDA driver for machines without a GPU ----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stands in for libcuda behind CudaDriver::open(): functions by name and
// version, as a driver of any age would have them. All memory is the host's,
// and all work is done when it is queued. It writes down the calls that are
// about memory and order, with addresses as "m0+2M" (the first managed
// allocation and an offset) and streams as "s1", "null".
//
// What a program may not rely on is taken from it: what is discarded is filled
// with a pattern, so a discard too many shows in the results.
//
// A CUfunction is a FakeKernel.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_UNIT_SUPPORT_DEVICE_FAKECUDA_H
#define DRAGON_TEST_UNIT_SUPPORT_DEVICE_FAKECUDA_H

#include "runtime/device/cuda/CudaDriver.h"

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace dragon::test {

struct FakeKernel {
  /// `args`: behind the kernel's own, slice clones have the first block and the
  /// whole grid.
  std::function<void(const unsigned grid[3], void **args)> run;
};

class FakeCuda {
public:
  FakeCuda();
  ~FakeCuda();
  FakeCuda(const FakeCuda &) = delete;
  FakeCuda &operator=(const FakeCuda &) = delete;

  /// Loads it as it is set up now.
  const CudaDriver &driver();
  StatusOr<std::unique_ptr<const CudaDriver>> open();

  // -- What the driver is
  int version = 13000;
  bool hasGetProcAddressV2 = true; ///< CUDA 12 and later
  bool hasGetProcAddress = true;   ///< CUDA 11.3 and later
  std::map<int, int> attributes;   ///< CUdevice_attribute -> value
  /// Of the devices behind the first.
  std::vector<std::map<int, int>> others;
  std::set<int> unreached; ///< of them, those whose memory is not reached
  int byPcie = -1;         ///< one of them that has no other link
  size_t freeBytes = size_t(1) << 30;
  size_t totalBytes = size_t(2) << 30;
  size_t managedAlignment = size_t(2) << 20;
  std::set<std::string> missing;           ///< functions it does not have
  std::map<std::string, CUresult> failing; ///< and what those return
  /// Called before managed memory goes: what a kernel module would do then.
  std::function<void(CUdeviceptr)> beforeFree;

  // -- What it was asked
  std::vector<std::string> calls;
  /// Those of the functions named, in order; and forgets all.
  std::vector<std::string> take(const std::set<std::string> &names = {});
  std::set<std::string> asked; ///< names, with versions: "cuMemAdvise 12020"
  uint64_t managedBytes = 0;
  uint64_t mostManagedBytes = 0;

  static constexpr unsigned char Indeterminate = 0xd5;

  // -- For its functions
  std::string nameOf(CUdeviceptr address) const;
  std::string nameOf(CUstream stream) const;
  std::string nameOf(CUevent event) const;
  CUresult note(const char *function, const std::string &arguments);
  struct Managed {
    void *pages;
    size_t room;
    size_t bytes;
    unsigned number;
  };
  std::map<CUdeviceptr, Managed> managed;
  unsigned numManaged = 0;
  struct Handle {
    int file;
    size_t bytes;
  };
  std::map<CUmemGenericAllocationHandle, Handle> handles;
  std::map<void *, size_t> hostPages;
  uint64_t next = 1;
  CUcontext current = nullptr;
  std::recursive_mutex lock;
  static FakeCuda *instance;

private:
  std::vector<std::unique_ptr<const CudaDriver>> Drivers;
};

} // namespace dragon::test

#endif // DRAGON_TEST_UNIT_SUPPORT_DEVICE_FAKECUDA_H
