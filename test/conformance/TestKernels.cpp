//===- TestKernels.cpp - the same small kernels for every back end --------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestKernels.h"
#include "runtime/device/cuda/CudaDriver.h"

#include <algorithm>
#include <cstring>
#include <ctime>

namespace dragon {

namespace {

const char ptx[] =
#include "TestKernels.ptx.inc"
    ;

template <typename T> T argument(void *const *args, unsigned index) {
  T value;
  std::memcpy(&value, args[index], sizeof(T));
  return value;
}

void runIncrement(dragon_cpu_context *ctx, void *const *args) {
  auto *p = argument<uint32_t *>(args, 0);
  auto n = argument<uint32_t>(args, 1);
  auto by = argument<uint32_t>(args, 2);
  for (uint32_t t = 0; t < ctx->ntid[0]; ++t) {
    uint32_t i = ctx->ctaid[0] * ctx->ntid[0] + t;
    if (i < n)
      p[i] += by;
  }
}

void runStamp(dragon_cpu_context *ctx, void *const *args) {
  auto *p = argument<uint32_t *>(args, 0);
  p[ctx->ctaid[1] * ctx->nctaid[0] + ctx->ctaid[0]] =
      ctx->nctaid[0] * 65536 + ctx->nctaid[1] * 256 + ctx->ntid[0];
}

void runSpin(dragon_cpu_context *, void *const *args) {
  auto nanoseconds = argument<uint64_t>(args, 0);
  timespec pause{static_cast<time_t>(nanoseconds / 1000000000),
                 static_cast<long>(nanoseconds % 1000000000)};
  nanosleep(&pause, nullptr);
}

void runSum(dragon_cpu_context *ctx, void *const *args) {
  auto *p = argument<const uint32_t *>(args, 0);
  auto n = argument<uint32_t>(args, 1);
  uint32_t total = 0;
  for (uint32_t i = ctx->ctaid[0]; i < n; i += ctx->nctaid[0])
    total += p[4 * i] ^ p[4 * i + 1] ^ p[4 * i + 2] ^ p[4 * i + 3];
  if (total == 0x12345)
    *argument<uint32_t *>(args, 2) = total;
}

const dragon_cpu_kernel cpuKernels[] = {{"increment", runIncrement, 0, 0},
                                        {"stamp", runStamp, 0, 0},
                                        {"spin", runSpin, 0, 0},
                                        {"sum", runSum, 0, 0}};

} // namespace

StatusOr<std::unique_ptr<TestKernels>> TestKernels::create(Device &device) {
  auto kernels = std::make_unique<TestKernels>();
  KernelHandle *handles[] = {&kernels->increment, &kernels->stamp,
                             &kernels->spin, &kernels->sum};
  CUmodule module = nullptr;
  const CudaDriver *cuda = nullptr;
  CUcontext context = nullptr;
  bool gpu = std::strcmp(device.caps().name, "cpu") != 0;
  if (gpu) {
    DRAGON_ASSIGN(cuda, CudaDriver::load());
    DRAGON_TRY(cuda->check(cuda->DevicePrimaryCtxRetain(&context, 0),
                           "cuDevicePrimaryCtxRetain"));
    CudaContextScope scope(*cuda, context);
    DRAGON_TRY(
        cuda->check(cuda->ModuleLoadData(&module, ptx), "cuModuleLoadData"));
  }
  for (unsigned k = 0; k < 4; ++k) {
    KernelImage image{cpuKernels[k].name, &cpuKernels[k], {}, {}};
    if (gpu) {
      CudaContextScope scope(*cuda, context);
      CUfunction function = nullptr;
      DRAGON_TRY(cuda->check(
          cuda->ModuleGetFunction(&function, module, image.name), image.name));
      image.cpu = nullptr;
      image.code = {function};
      std::string slice = std::string(image.name) + "_slice";
      if (cuda->ModuleGetFunction(&function, module, slice.c_str()) ==
          CUDA_SUCCESS)
        image.sliceCode = {function};
    }
    handles[k]->image = image;
  }
  return StatusOr<std::unique_ptr<TestKernels>>(std::move(kernels));
}

TestLaunch::TestLaunch(KernelHandle &kernel,
                       std::initializer_list<uint32_t> grid, uint32_t threads,
                       std::initializer_list<void *> arguments) {
  std::copy(arguments.begin(), arguments.end(), Arguments);
  request.kernel = &kernel;
  request.kernelName = kernel.image.name;
  for (unsigned axis = 0; axis < 3; ++axis) {
    request.grid[axis] = axis < grid.size() ? grid.begin()[axis] : 1;
    request.block[axis] = axis == 0 ? threads : 1;
    request.box.Lo[axis] = 0;
    request.box.Hi[axis] = request.grid[axis];
  }
  request.args = Arguments;
  request.numArgs = static_cast<uint32_t>(arguments.size());
  request.touchesAnything = true;
}

} // namespace dragon
