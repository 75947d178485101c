//===- Forward.cpp - NVIDIA's runtime, behind ours ------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/front/Forward.h"

#include "runtime/cudart/front/Front.h"
#include "runtime/device/cuda/CudaDriver.h"

#include <cstring>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <mutex>
#include <shared_mutex>
#include <string_view>
#include <unordered_map>

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

constexpr char LibraryName[] = "libcudart.so.13";

void *library() {
  static void *handle = [] {
    void *opened = ::dlopen(LibraryName, DRAGON_BIND_FLAGS);
    if (!opened)
      printErrorOnce(fmt::format(
          "cannot load {} ({}); install the CUDA 13 runtime, or add its folder "
          "to LD_LIBRARY_PATH, or run with DRAGON_BACKEND=cpu",
          LibraryName, ::dlerror()));
    // Its own calls say no more than that the driver is too old.
    StatusOr<const CudaDriver *> driver = CudaDriver::load();
    if (driver.ok())
      if (std::string why = (*driver)->tooOldForCuda13(); !why.empty())
        printErrorOnce(why);
    return opened;
  }();
  return handle;
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
  void *handle = library();
  if (!handle)
    return nullptr;
  void *function = ::dlsym(handle, name);
  if (!function)
    printErrorOnce(fmt::format("{} has no {}; install the CUDA 13.0 runtime or "
                               "a later 13",
                               LibraryName, name));
  std::unique_lock<std::shared_mutex> guard(lock);
  (*found)[name] = function;
  return function;
}

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

Result keepAllResident(Front &front) {
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
