//===- CpuKernels.h - kernels written as the lowering writes them -*- C++ -*-=//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Small kernels in the form that the cpu device runs, and a launch of them
// without the rest of the runtime.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_UNIT_DEVICE_CPUKERNELS_H
#define DRAGON_TEST_UNIT_DEVICE_CPUKERNELS_H

#include "runtime/base/Settings.h"
#include "runtime/device/cpu/CpuDevice.h"
#include "test/unit/support/base/Expect.h"

#include <functional>
#include <gtest/gtest.h>

namespace dragon {

using test::MiB;

struct Shape {
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {1, 1, 1};
  uint32_t dynamicBytes = 0;
};

/// A kernel whose body is a C++ function: called once per thread, on a fiber
/// or in a loop over the threads of a block.
using ThreadBody = std::function<void(dragon_cpu_context *ctx)>;

inline void runOnFiber(dragon_cpu_context *ctx, void *const *args) {
  (*static_cast<ThreadBody *>(args[0]))(ctx);
}
inline void runInLoop(dragon_cpu_context *ctx, void *const *args) {
  auto &body = *static_cast<ThreadBody *>(args[0]);
  for (ctx->tid[2] = 0; ctx->tid[2] < ctx->ntid[2]; ++ctx->tid[2])
    for (ctx->tid[1] = 0; ctx->tid[1] < ctx->ntid[1]; ++ctx->tid[1])
      for (ctx->tid[0] = 0; ctx->tid[0] < ctx->ntid[0]; ++ctx->tid[0])
        body(ctx);
}

inline std::unique_ptr<Device> makeCpu(const Settings &settings) {
  auto device = CpuDevice::create(settings);
  if (!device.ok()) {
    ADD_FAILURE() << device.takeStatus().message();
    return nullptr;
  }
  return std::move(*device);
}

inline Settings smallSettings() {
  Settings settings;
  settings.deviceMemory = 64 * MiB;
  settings.cpuThreads = 2;
  return settings;
}

/// Launches `body` under the name `name`.
inline Status launchBody(Device &device, const char *name, bool fibers,
                         const Shape &shape, ThreadBody body,
                         std::span<const AddressRange> touched = {},
                         bool touchesAnything = false,
                         uint32_t staticBytes = 0) {
  dragon_cpu_kernel kernel{name, fibers ? runOnFiber : runInLoop,
                           fibers ? uint32_t(DRAGON_CPU_NEEDS_FIBERS) : 0u,
                           staticBytes};
  KernelHandle handle{{name, &kernel, {}, {}}};
  void *args[1] = {&body};
  LaunchRequest request{};
  request.kernel = &handle;
  request.kernelName = name;
  for (unsigned axis = 0; axis < 3; ++axis) {
    request.grid[axis] = shape.grid[axis];
    request.block[axis] = shape.block[axis];
    request.box.Hi[axis] = shape.grid[axis];
  }
  request.dynamicSharedBytes = shape.dynamicBytes;
  request.args = args;
  request.numArgs = 1;
  request.touched = touched;
  request.touchesAnything = touchesAnything;
  return device.launch(request);
}

/// A buffer of one chunk, mapped.
struct MappedChunk {
  MappedChunk(Device &device, Place place, size_t bytes) : device(device) {
    auto va = device.reserve(bytes);
    EXPECT_TRUE(va.ok());
    base = *va;
    auto created = device.create(place, bytes);
    EXPECT_TRUE(created.ok());
    physical = *created;
    EXPECT_TRUE(device.map(base, physical).ok());
  }
  ~MappedChunk() {
    EXPECT_TRUE(device.unmap(base, physical).ok());
    EXPECT_TRUE(device.destroy(physical).ok());
    EXPECT_TRUE(device.release(base, physical.bytes).ok());
  }
  template <typename T> T *as() { return reinterpret_cast<T *>(base); }
  AddressRange range() const { return {base, base + physical.bytes}; }

  Device &device;
  uintptr_t base;
  Physical physical;
};

} // namespace dragon

#endif // DRAGON_TEST_UNIT_DEVICE_CPUKERNELS_H
