//===- NvidiaModules.cpp - modules and kernels on NVIDIA's side -----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On a GPU, NVIDIA's runtime loads the code. It is given what was registered
// here, and the copies of kernels that the compiler has made under names of
// their own.
//
//===----------------------------------------------------------------------===//

#include "dragon/Paging.h"
#include "runtime/cudart/front/Forward.h"
#include "runtime/cudart/modules/Module.h"
#include "runtime/cudart/modules/ModuleAbi.h"

#include <cuda_runtime_api.h>

namespace dragon {

void ModuleRegistry::takeFromNvidia(Module &module) {
  if (!module.nvidiaHandle)
    return;
  if (auto unregister = reinterpret_cast<decltype(&__cudaUnregisterFatBinary)>(
          nvidiaFunction("__cudaUnregisterFatBinary")))
    unregister(module.nvidiaHandle);
  module.nvidiaHandle = nullptr;
}

static cudaError_t getFunction(cudaFunction_t *function, const void *stub) {
  using GetFunction = cudaError_t (*)(cudaFunction_t *, const void *);
  return nvidia<GetFunction>("cudaGetFuncBySymbol", function, stub);
}

/// Not loaded before it runs, where that can be had. None if the fat binary
/// does not have it.
static KernelCode codeOf(const void *stub) {
  if (!givesDriverKernels()) {
    cudaFunction_t function = nullptr;
    return getFunction(&function, stub) == cudaSuccess ? KernelCode{function}
                                                       : KernelCode{};
  }
  using GetKernel = cudaError_t (*)(cudaKernel_t *, const void *);
  cudaKernel_t kernel = nullptr;
  if (nvidia<GetKernel>("cudaGetKernel", &kernel, stub) != cudaSuccess)
    return {};
  return {nullptr, kernel};
}

Result ModuleRegistry::prepareGpu(Kernel &kernel) {
  DRAGON_CHECK(giveToNvidia(*kernel.module));
  // Those of a context that was reset are gone.
  kernel.handle.image = {kernel.name.c_str(), nullptr, {}, {}};
  kernel.info.restricted.reset();
  if (!kernel.restrictName.empty())
    prepareRestricted(kernel);
  // With a copy that runs in its place as a rule, it need not be loaded yet.
  if (kernel.info.restricted)
    kernel.handle.image.code = codeOf(kernel.stub);
  if (!kernel.handle.image.code) {
    cudaFunction_t function = nullptr;
    DRAGON_CHECK(getFunction(&function, kernel.stub));
    kernel.handle.image.code = {function};
  }
  kernel.info.counting.reset();
  kernel.info.paged.reset();
  kernel.info.looped.reset();
  kernel.info.pagedLoop.reset();
  kernel.copiesFound.store(false, std::memory_order_relaxed);
  kernel.info.findCopies = [&kernel] { findCopies(kernel); };
  return cudaSuccess;
}

/// One that is not in the fat binary only costs the ability to slice, to count
/// or to fetch pages.
void ModuleRegistry::findCopies(Kernel &kernel) {
  if (kernel.copiesFound.load(std::memory_order_acquire))
    return;
  static std::mutex looking;
  std::lock_guard<std::mutex> guard(looking);
  if (kernel.copiesFound.load(std::memory_order_relaxed))
    return;
  if (kernel.info.record && kernel.info.record->SliceName)
    kernel.info.handle.image.sliceCode = codeOf(&kernel.sliceKey);
  if (countingNameOf(kernel))
    if (const KernelCode code = codeOf(&kernel.countingKey))
      kernel.info.counting =
          KernelHandle{{kernel.name.c_str(), nullptr, code, {}}};
  if (!pagedNameOf(kernel).empty()) {
    auto handle = [&](const void *key, const void *sliceKey) {
      return KernelHandle{{kernel.name.c_str(), nullptr, codeOf(key),
                           sliceKey ? codeOf(sliceKey) : KernelCode{}}};
    };
    const PagedKernel paged{handle(&kernel.pagedKey, &kernel.pagedSliceKey),
                            handle(&kernel.writeBackKey, nullptr),
                            handle(&kernel.recycleKey, nullptr),
                            handle(&kernel.aheadKey, nullptr)};
    if (paged.copy.image.code && paged.writeBack.image.code &&
        paged.recycle.image.code && paged.ahead.image.code)
      kernel.info.paged = paged;
  }
  if (loopNameOf(kernel))
    if (const KernelCode code = codeOf(&kernel.loopKey))
      kernel.info.looped =
          KernelHandle{{kernel.name.c_str(), nullptr, {}, code}};
  if (kernel.info.looped && kernel.info.paged)
    if (const KernelCode code = codeOf(&kernel.pagedLoopKey))
      kernel.info.pagedLoop =
          KernelHandle{{kernel.name.c_str(), nullptr, {}, code}};
  kernel.copiesFound.store(true, std::memory_order_release);
}

/// A copy that is not in the fat binary costs speed only.
void ModuleRegistry::prepareRestricted(Kernel &kernel) {
  using GetAttributes = cudaError_t (*)(cudaFuncAttributes *, const void *);
  const void *key = &kernel.restrictKey;
  cudaFunction_t function = nullptr;
  cudaFuncAttributes attributes{};
  if (getFunction(&function, key) != cudaSuccess ||
      nvidia<GetAttributes>("cudaFuncGetAttributes", &attributes, key) !=
          cudaSuccess)
    return;
  kernel.info.mostThreadsRestricted = uint32_t(attributes.maxThreadsPerBlock);
  kernel.info.restricted =
      KernelHandle{{kernel.name.c_str(), nullptr, {function}, {}}};
}

Result ModuleRegistry::giveToNvidia(Module &module) {
  auto registerBinary = reinterpret_cast<decltype(&__cudaRegisterFatBinary)>(
      nvidiaFunction("__cudaRegisterFatBinary"));
  auto registerEnd = reinterpret_cast<decltype(&__cudaRegisterFatBinaryEnd)>(
      nvidiaFunction("__cudaRegisterFatBinaryEnd"));
  auto registerFunction = reinterpret_cast<decltype(&__cudaRegisterFunction)>(
      nvidiaFunction("__cudaRegisterFunction"));
  auto registerVariable = reinterpret_cast<decltype(&__cudaRegisterVar)>(
      nvidiaFunction("__cudaRegisterVar"));
  auto registerManaged = reinterpret_cast<decltype(&__cudaRegisterManagedVar)>(
      nvidiaFunction("__cudaRegisterManagedVar"));
  if (!registerBinary || !registerEnd || !registerFunction ||
      !registerVariable || !registerManaged)
    return cudaErrorSharedObjectInitFailed;
  std::unique_lock<std::shared_mutex> guard(Lock);
  if (!module.wrapper || module.unregistered || module.nvidiaHandle)
    return cudaSuccess;
  module.nvidiaHandle = registerBinary(const_cast<void *>(module.wrapper));
  for (Kernel &kernel : module.kernels) {
    auto add = [&](const void *key, const char *name) {
      registerFunction(module.nvidiaHandle, static_cast<const char *>(key),
                       const_cast<char *>(name), name, kernel.threadLimit,
                       nullptr, nullptr, nullptr, nullptr, nullptr);
    };
    add(kernel.stub, kernel.name.c_str());
    if (module.hasSummary)
      if (const KernelRecord *record =
              module.summary.findKernel(kernel.name.c_str())) {
        if (record->SliceName)
          add(&kernel.sliceKey, module.summary.string(record->SliceName));
        if (record->CountingName)
          add(&kernel.countingKey, module.summary.string(record->CountingName));
        if (record->Flags & KernelHasPagedCopy) {
          kernel.pagedName = DRAGON_PAGED_PREFIX + kernel.name;
          kernel.pagedSliceName = SlicePrefix + kernel.pagedName;
          add(&kernel.pagedKey, kernel.pagedName.c_str());
          add(&kernel.pagedSliceKey, kernel.pagedSliceName.c_str());
          add(&kernel.writeBackKey, DRAGON_PAGE_WRITE_BACK);
          add(&kernel.recycleKey, DRAGON_PAGE_RECYCLE);
          add(&kernel.aheadKey, DRAGON_PAGES_AHEAD);
        }
        if (record->LoopName) {
          kernel.loopName = std::string(SlicePrefix) +
                            module.summary.string(record->LoopName);
          add(&kernel.loopKey, kernel.loopName.c_str());
          if (record->Flags & KernelHasPagedCopy) {
            kernel.pagedLoopName = std::string(SlicePrefix) +
                                   DRAGON_PAGED_PREFIX +
                                   module.summary.string(record->LoopName);
            add(&kernel.pagedLoopKey, kernel.pagedLoopName.c_str());
          }
        }
        if (record->Flags & KernelHasRestrictCopy) {
          kernel.restrictName = RestrictPrefix + kernel.name;
          add(&kernel.restrictKey, kernel.restrictName.c_str());
        }
      }
  }
  for (Variable &variable : module.variables) {
    auto *shadow =
        const_cast<char *>(static_cast<const char *>(variable.shadow));
    auto *name = const_cast<char *>(variable.name.c_str());
    if (variable.managed)
      registerManaged(module.nvidiaHandle, variable.managed, name, name,
                      variable.external, variable.bytes, variable.constant, 0);
    else
      registerVariable(module.nvidiaHandle, shadow, name, name,
                       variable.external, variable.bytes, variable.constant, 0);
  }
  registerEnd(module.nvidiaHandle);
  return cudaSuccess;
}

Result ModuleRegistry::initialiseNvidia() {
  std::vector<Module *> unknown, waiting;
  {
    std::shared_lock<std::shared_mutex> guard(Lock);
    for (Module &module : Modules) {
      // Before its kernels are known it would be given without them.
      if (!module.wrapper || !module.registered || module.unregistered)
        continue;
      if (!module.nvidiaHandle)
        unknown.push_back(&module);
      for (const Variable &variable : module.variables)
        if (variable.managed && !*variable.managed) {
          waiting.push_back(&module);
          break;
        }
    }
  }
  for (Module *module : unknown) {
    DRAGON_CHECK(giveToNvidia(*module));
    // The image is read now, each kernel's code when it first runs.
    if (!module->kernels.empty())
      (void)codeOf(module->kernels.front().stub);
  }
  // The host may use managed variables before any kernel runs.
  for (Module *module : waiting)
    if (auto load = reinterpret_cast<decltype(&__cudaInitModule)>(
            nvidiaFunction("__cudaInitModule")))
      load(module->nvidiaHandle);
  return cudaSuccess;
}

} // namespace dragon
