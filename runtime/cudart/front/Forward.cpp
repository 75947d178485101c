//===- Forward.cpp - NVIDIA's runtime, behind ours ------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/front/Forward.h"

#include "runtime/base/PinnedRanges.h"
#include "runtime/cudart/front/Front.h"
#include "runtime/device/cuda/Cuda12.h"
#include "runtime/device/cuda/CudaDriver.h"
#include "runtime/trace/Log.h"

#include <algorithm>
#include <cstring>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <mutex>
#include <shared_mutex>
#include <string_view>
#include <unordered_map>
#include <utility>

// RTLD_DEEPBIND and the sanitizers' own interposition exclude each other.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define DRAGON_BIND_FLAGS (RTLD_NOW | RTLD_LOCAL)
#endif
#endif
#ifndef DRAGON_BIND_FLAGS
#define DRAGON_BIND_FLAGS (RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND)
#endif

namespace dragon {

namespace {

constexpr char Cuda13[] = "libcudart.so.13", Cuda12[] = "libcudart.so.12";

struct Library {
  void *handle = nullptr;
  const char *name = Cuda13;
};

/// The newest that the driver can run; its own calls would say no more than
/// that the driver is too old.
Library openLibrary() {
  const StatusOr<const CudaDriver *> driver = CudaDriver::load();
  std::string why = driver.ok() ? (*driver)->tooOldForCuda13() : "";
  if (why.empty()) {
    if (void *opened = ::dlopen(Cuda13, DRAGON_BIND_FLAGS))
      return {opened, Cuda13};
    why = fmt::format("cannot load {} ({}); install the CUDA 13 runtime, or "
                      "add its folder to LD_LIBRARY_PATH, or run with "
                      "DRAGON_BACKEND=cpu",
                      Cuda13, ::dlerror());
  }
  if (!driver.ok() || (*driver)->runsCuda12())
    if (void *opened = ::dlopen(Cuda12, DRAGON_BIND_FLAGS)) {
      log(LogLevel::Info, "NVIDIA's runtime is {}: {}", Cuda12, why);
      return {opened, Cuda12};
    }
  printErrorOnce(why);
  return {};
}

const Library &library() {
  static const Library Opened = openLibrary();
  return Opened;
}

template <typename Function> Function ofLibrary(const char *name) {
  return reinterpret_cast<Function>(::dlsym(library().handle, name));
}

/// cudaGetDeviceProperties of CUDA 13.
cudaError_t propertiesByCuda12(cudaDeviceProp *properties, int device) {
  const auto get = ofLibrary<cudaError_t (*)(Cuda12Properties *, int)>(
      "cudaGetDeviceProperties_v2");
  const auto attributeOf =
      ofLibrary<decltype(&::cudaDeviceGetAttribute)>("cudaDeviceGetAttribute");
  if (!get || !attributeOf)
    return cudaErrorSharedObjectInitFailed;
  Cuda12Properties old{};
  if (const cudaError_t error = get(&old, device); error != cudaSuccess)
    return error;
  setProperties(*properties, old);
  for (const auto &[attribute, member] :
       {std::pair{cudaDevAttrNumaConfig, &properties->deviceNumaConfig},
        std::pair{cudaDevAttrNumaId, &properties->deviceNumaId},
        std::pair{cudaDevAttrMpsEnabled, &properties->mpsEnabled},
        std::pair{cudaDevAttrHostNumaId, &properties->hostNumaId}})
    if (attributeOf(member, attribute, device) != cudaSuccess)
      *member = 0;
  return cudaSuccess;
}

void *findFunction(const char *name) {
  if (library().name == Cuda13)
    return ::dlsym(library().handle, name);
  if (std::string_view(name) == "cudaGetDeviceProperties")
    return reinterpret_cast<void *>(&propertiesByCuda12);
  if (!isInCuda12(name))
    return nullptr;
  for (const std::string &old : namesInCuda12(name))
    if (void *function = ::dlsym(library().handle, old.c_str()))
      return function;
  return nullptr;
}

} // namespace

void *nvidiaFunction(const char *name) {
  static std::shared_mutex lock;
  static auto *found = new std::unordered_map<std::string, void *>;
  {
    std::shared_lock<std::shared_mutex> guard(lock);
    auto it = found->find(name);
    if (it != found->end())
      return it->second;
  }
  if (!library().handle)
    return nullptr;
  void *function = findFunction(name);
  if (!function)
    printErrorOnce(
        fmt::format("{} has no {}; install the CUDA 13.0 runtime or a later 13"
                    ", and a driver for it (580 or later)",
                    library().name, name));
  std::unique_lock<std::shared_mutex> guard(lock);
  (*found)[name] = function;
  return function;
}

bool givesDriverKernels() { return library().name == Cuda13; }

void forgetNvidiaError() {
  using Forget = cudaError_t (*)();
  if (auto forget =
          reinterpret_cast<Forget>(nvidiaFunction("cudaGetLastError")))
    forget();
}

void unpinFor(const char *name) {
  const std::string_view call = name;
  if (!call.starts_with("cudaMemcpy") && !call.starts_with("cudaGraph") &&
      !call.starts_with("cudaHost"))
    return;
  if (Front *front = Front::existing())
    front->runtime.files().unpinProgramMemory(nullptr, SIZE_MAX);
}

Status deviceMayWrite(Front &front, const void *memory, size_t bytes) {
  PinnedRanges &pinned = PinnedRanges::get();
  if (!pinned.any())
    return {};
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  for (const auto &[first, last, kind] :
       pinned.noteWrites(begin, begin + std::min(bytes, UINTPTR_MAX - begin)))
    DRAGON_TRY(front.runtime.files().releaseProgramMemory(
        reinterpret_cast<const void *>(first), last - first));
  return {};
}

Result keepAllResident(Front &front) {
  DRAGON_CHECK(deviceMayWriteAnywhere(front));
  if (!front.gpu)
    return cudaSuccess;
  return std::move(front.runtime.libraries().keepAllResident())
      .within("a call that is NVIDIA's (a graph, texture or library kernel) "
              "needs every buffer in device memory");
}

Result keepResident(Front &front, const void *address) {
  auto at = reinterpret_cast<uintptr_t>(address);
  if (!front.gpu || !front.runtime.buffers().find(at))
    return cudaSuccess;
  return std::move(front.runtime.libraries().keepResident(at))
      .within("a copy that is NVIDIA's needs the buffer in device memory");
}

} // namespace dragon
