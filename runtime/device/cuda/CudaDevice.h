//===- CudaDevice.h - what all back ends on the CUDA driver share -*- C++ -*-=//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Queues, events, launches, and copies and fills of memory that the driver
// takes as one piece. What memory is made of, and where, is the back end's. It
// works in the device's primary context, the one that the CUDA runtime uses, so
// its streams, events and functions are those of cudart.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_DEVICE_CUDA_CUDADEVICE_H
#define DRAGON_RUNTIME_DEVICE_CUDA_CUDADEVICE_H

#include "runtime/device/Device.h"
#include "runtime/device/cuda/CudaDriver.h"

namespace dragon {

/// The first GPU and its primary context, which somebody has to release.
struct CudaContext {
  CUdevice device = 0;
  CUcontext context = nullptr;
  static StatusOr<CudaContext> retain(const CudaDriver &cuda);
};

inline CUstream streamOf(Queue queue) { return static_cast<CUstream>(queue); }

class CudaDevice : public Device {
protected:
  /// Releases the context in the end.
  CudaDevice(const CudaDriver &cuda, const CudaContext &context);
  ~CudaDevice() override;

  /// Fills in Caps.
  Status describe(const char *name, size_t granularity, bool hostMapped);
  int attribute(CUdevice_attribute which) const; ///< 0: not known
  /// With the context current.
  Status copyPiece(uintptr_t to, uintptr_t from, size_t bytes, Queue queue);
  Status fillPiece(uintptr_t to, uint32_t value, unsigned width, size_t bytes,
                   Queue queue);
  Status destroyQueueImpl(Queue queue) override;
  StatusOr<DeviceMemory> memoryImpl() override;

  const CudaDriver &Cuda;
  const CUdevice Ordinal;
  const CUcontext Context;

private:
  StatusOr<CUfunction> functionOf(const KernelCode &code);
  /// A launch is about to be queued.
  virtual Status beforeWork(Queue) { return {}; }

  Status pinImpl(uintptr_t begin, size_t bytes) override;
  Status unpinImpl(uintptr_t begin) override;
  StatusOr<Queue> createQueueImpl(unsigned flags, int priority) override;
  Status synchronizeImpl(Queue queue) override;
  StatusOr<bool> queryImpl(Queue queue) override;
  Status synchronizeAllImpl() override;
  StatusOr<Event> createEventImpl(bool timing) override;
  Status destroyEventImpl(Event event) override;
  Status recordImpl(Event event, Queue queue) override;
  Status waitImpl(Queue queue, Event event) override;
  StatusOr<bool> queryEventImpl(Event event) override;
  Status synchronizeEventImpl(Event event) override;
  StatusOr<float> elapsedMillisecondsImpl(Event start, Event end) override;
  Status poisonImpl(uintptr_t va, size_t bytes, Queue queue) override;
  Status launchImpl(const LaunchRequest &request) override;
  /// The whole grid; it may begin before the launch in front of it ends.
  CUresult launchProgrammatic(CUfunction function, const LaunchRequest &request,
                              void **args);
  bool acceptsImpl(const LaunchRequest &request) override;
  bool hostReachesImpl(const void *address) override;
  AddressRange othersAtImpl(uintptr_t address) override;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_DEVICE_CUDA_CUDADEVICE_H
