//===- ModuleCalls.cpp - registration, symbols and functions --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/PerThread.h"
#include "runtime/base/Rounding.h"
#include "runtime/cudart/front/Forward.h"
#include "runtime/cudart/modules/Module.h"
#include "runtime/cudart/modules/ModuleAbi.h"

#include <algorithm>

using namespace dragon;

namespace {

Module *moduleOf(void **handle) { return reinterpret_cast<Module *>(handle); }

struct CallConfiguration {
  dim3 grid;
  dim3 block;
  size_t shared;
  cudaStream_t stream;
};

/// Those of the calling thread that were pushed and not popped yet.
std::vector<CallConfiguration> &callConfigurations() {
  return PerThread<std::vector<CallConfiguration>, CallConfiguration>::get();
}

} // namespace

extern "C" {

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

void **__cudaRegisterFatBinary(void *wrapper) {
  return reinterpret_cast<void **>(modules().addFatBinary(wrapper));
}

void __cudaRegisterFatBinaryEnd(void **) {}

void __cudaUnregisterFatBinary(void **handle) {
  if (handle)
    modules().remove(moduleOf(handle));
}

void __cudaRegisterFunction(void **handle, const char *stub, char *,
                            const char *name, int threadLimit, uint3 *, uint3 *,
                            dim3 *, dim3 *, int *) {
  modules().addKernel(moduleOf(handle), stub, name, threadLimit);
}

void __cudaRegisterVar(void **handle, char *shadow, char *, const char *name,
                       int external, size_t bytes, int constant, int) {
  modules().addVariable(moduleOf(handle), shadow, name, bytes, constant,
                        external, nullptr);
}

void __cudaRegisterManagedVar(void **handle, void **pointer, char *,
                              const char *name, int external, size_t bytes,
                              int constant, int) {
  modules().addVariable(moduleOf(handle), pointer, name, bytes, constant,
                        external, pointer);
}

// A texture reference is a variable that holds a texture object.
void __cudaRegisterTexture(void **handle, const void *shadow, const void **,
                           const char *name, int, int, int external) {
  modules().addVariable(moduleOf(handle), shadow, name,
                        sizeof(cudaTextureObject_t), /*constant=*/false,
                        external, nullptr);
}

// A host variable that device code may reach; only nvcc's experimental modes
// make one.
void __cudaRegisterHostVar(void **, const char *name, char *, size_t) {
  printErrorOnce(fmt::format("host variable '{}' is used by device code, which "
                             "is not supported; compile with dragon-cc",
                             name));
}

char __cudaInitModule(void **) {
  return withDevice([](Front &front) { return modules().initialise(front); }) ==
         cudaSuccess;
}

//===----------------------------------------------------------------------===//
// Launch configurations
//===----------------------------------------------------------------------===//

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                     cudaStream_t stream) {
  callConfigurations().push_back({grid, block, shared, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared,
                                       void *stream) {
  std::vector<CallConfiguration> &configurations = callConfigurations();
  if (configurations.empty())
    return leave(cudaErrorMissingConfiguration);
  const CallConfiguration &top = configurations.back();
  *grid = top.grid;
  *block = top.block;
  *shared = top.shared;
  *static_cast<cudaStream_t *>(stream) = top.stream;
  configurations.pop_back();
  return cudaSuccess;
}

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

cudaError_t cudaGetSymbolAddress(void **address, const void *symbol) {
  return withDevice([&](Front &front) -> Result {
    Variable *variable = modules().findVariable(symbol);
    if (!address || !variable)
      return address ? cudaErrorInvalidSymbol : cudaErrorInvalidValue;
    return modules().addressOf(front, *variable, *address);
  });
}

cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol) {
  return withDevice([&](Front &) -> Result {
    Variable *variable = modules().findVariable(symbol);
    if (!bytes || !variable)
      return bytes ? cudaErrorInvalidSymbol : cudaErrorInvalidValue;
    *bytes = variable->bytes;
    return cudaSuccess;
  });
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

cudaError_t __cudaGetKernel(cudaKernel_t *handle, const void *stub) {
  return withDevice([&](Front &front) -> Result {
    Kernel *kernel = modules().find(stub);
    if (!kernel)
      return cudaErrorInvalidDeviceFunction;
    void *found = nullptr;
    DRAGON_CHECK(modules().handleOf(front, *kernel, found));
    *handle = static_cast<cudaKernel_t>(found);
    return cudaSuccess;
  });
}

cudaError_t cudaGetKernel(cudaKernel_t *handle, const void *stub) {
  return handle ? __cudaGetKernel(handle, stub) : leave(cudaErrorInvalidValue);
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, const void *symbol) {
  return withDevice([&](Front &front) -> Result {
    Kernel *kernel = modules().find(symbol);
    if (!function || !kernel)
      return function ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidValue;
    if (!front.gpu) {
      printErrorOnce("cudaGetFuncBySymbol: functions of the driver API do not "
                     "exist on the cpu device");
      return cudaErrorNotSupported;
    }
    DRAGON_CHECK(modules().prepare(front, *kernel));
    return DRAGON_NVIDIA(cudaGetFuncBySymbol, function, kernel->stub);
  });
}

cudaError_t cudaFuncGetName(const char **name, const void *function) {
  Kernel *kernel = modules().find(function);
  if (!name || !kernel)
    return leave(name ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidValue);
  *name = kernel->name.c_str();
  return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes,
                                  const void *function) {
  return withDevice([&](Front &front) -> Result {
    Kernel *kernel = modules().find(function);
    if (!attributes)
      return cudaErrorInvalidValue;
    if (front.gpu) {
      if (kernel)
        DRAGON_CHECK(modules().prepare(front, *kernel));
      return DRAGON_NVIDIA(cudaFuncGetAttributes, attributes, function);
    }
    if (!kernel)
      return cudaErrorInvalidDeviceFunction;
    DRAGON_CHECK(modules().prepare(front, *kernel));
    // What has no meaning on the host processor is what a plain kernel has.
    cudaFuncAttributes answer{};
    answer.sharedSizeBytes = kernel->handle.image.cpu->static_shared_bytes;
    answer.maxThreadsPerBlock = mostThreads(*kernel);
    answer.numRegs = 32;
    unsigned architecture = modules().architecture();
    answer.ptxVersion = answer.binaryVersion =
        architecture ? int(architecture) : 90;
    answer.maxDynamicSharedSizeBytes = dynamicSharedLimit(*kernel);
    answer.preferredShmemCarveout = kernel->carveout;
    *attributes = answer;
    return cudaSuccess;
  });
}

cudaError_t cudaFuncSetAttribute(const void *function,
                                 cudaFuncAttribute attribute, int value) {
  return withDevice([&](Front &front) -> Result {
    Kernel *kernel = modules().find(function);
    if (front.gpu) {
      if (kernel) {
        DRAGON_CHECK(modules().prepare(front, *kernel));
        ModuleRegistry::findCopies(*kernel);
      }
      // NVIDIA's side knows the slice clone as a kernel of its own.
      if (kernel && kernel->info.handle.image.sliceCode)
        DRAGON_CHECK(DRAGON_NVIDIA(cudaFuncSetAttribute,
                                   static_cast<const void *>(&kernel->sliceKey),
                                   attribute, value));
      // Where a copy has less to give, it is not used.
      auto setForCopy = [&](auto &copy, const void *key) {
        if (copy && DRAGON_NVIDIA(cudaFuncSetAttribute, key, attribute,
                                  value) != cudaSuccess)
          copy.reset();
      };
      if (kernel) {
        setForCopy(kernel->info.counting, &kernel->countingKey);
        setForCopy(kernel->info.paged, &kernel->pagedKey);
        setForCopy(kernel->info.looped, &kernel->loopKey);
        setForCopy(kernel->info.pagedLoop, &kernel->pagedLoopKey);
        setForCopy(kernel->info.restricted, &kernel->restrictKey);
      }
      return DRAGON_NVIDIA(cudaFuncSetAttribute, function, attribute, value);
    }
    if (!kernel)
      return cudaErrorInvalidDeviceFunction;
    DRAGON_CHECK(modules().prepare(front, *kernel));
    switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize: {
      int fixed = int(kernel->handle.image.cpu->static_shared_bytes);
      if (value < 0 || value > MostSharedBytes - fixed)
        return cudaErrorInvalidValue;
      kernel->maxDynamicShared = value;
      return cudaSuccess;
    }
    case cudaFuncAttributePreferredSharedMemoryCarveout:
      if (value < -1 || value > 100)
        return cudaErrorInvalidValue;
      kernel->carveout = value;
      return cudaSuccess;
    default:
      return cudaErrorInvalidValue;
    }
  });
}

cudaError_t cudaFuncSetCacheConfig(const void *function, cudaFuncCache config) {
  return withDevice([&](Front &front) -> Result {
    Kernel *kernel = modules().find(function);
    if (!kernel)
      return cudaErrorInvalidDeviceFunction;
    if (!front.gpu)
      return config >= cudaFuncCachePreferNone &&
                     config <= cudaFuncCachePreferEqual
                 ? cudaSuccess
                 : cudaErrorInvalidValue;
    DRAGON_CHECK(modules().prepare(front, *kernel));
    return DRAGON_NVIDIA(cudaFuncSetCacheConfig, function, config);
  });
}

cudaError_t cudaFuncSetSharedMemConfig(const void *function,
                                       cudaSharedMemConfig config) {
  return withDevice([&](Front &front) -> Result {
    Kernel *kernel = modules().find(function);
    if (!kernel)
      return cudaErrorInvalidDeviceFunction;
    if (!front.gpu)
      return config >= cudaSharedMemBankSizeDefault &&
                     config <= cudaSharedMemBankSizeEightByte
                 ? cudaSuccess
                 : cudaErrorInvalidValue;
    DRAGON_CHECK(modules().prepare(front, *kernel));
    return DRAGON_NVIDIA(cudaFuncSetSharedMemConfig, function, config);
  });
}

cudaError_t cudaFuncGetParamInfo(const void *function, size_t index,
                                 size_t *offset, size_t *bytes) {
  return withDevice([&](Front &front) -> Result {
    Kernel *kernel = modules().find(function);
    if (!kernel)
      return cudaErrorInvalidDeviceFunction;
    DRAGON_CHECK(modules().prepare(front, *kernel));
    if (front.gpu)
      return DRAGON_NVIDIA(cudaFuncGetParamInfo, function, index, offset,
                           bytes);
    const KernelRecord *record = kernel->info.record;
    if (!record || !offset || !bytes || index >= record->NumArgs)
      return record ? cudaErrorInvalidValue : cudaErrorNotSupported;
    // Parameters are laid out one after the other, aligned to their size where
    // that is a power of two up to 16, as scalars and pointers are.
    const uint32_t *sizes = kernel->info.summary->argSizes(*record);
    size_t at = 0;
    for (size_t i = 0; i <= index; ++i) {
      size_t align = sizes[i] & (sizes[i] - 1) || !sizes[i]
                         ? (sizes[i] % 8 ? 4 : 8)
                         : std::min<size_t>(sizes[i], 16);
      at = roundUp(at, align);
      if (i < index)
        at += sizes[i];
    }
    *offset = at;
    *bytes = sizes[index];
    return cudaSuccess;
  });
}

} // extern "C"
