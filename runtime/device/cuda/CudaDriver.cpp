//===- CudaDriver.cpp - the CUDA driver, loaded at run time ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cuda/CudaDriver.h"

#include <cstdlib>
#include <dlfcn.h>

namespace dragon {

namespace {

constexpr int OldestVersion = 12000;

std::string versionText(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

Status noDevice(CUresult result, const char *why) {
  return Status::native(DRAGON_ERROR_NO_DEVICE, static_cast<int>(result), "{}",
                        why);
}

/// What cuInit's failures mean to somebody who expected a GPU.
Status explainInit(const CudaDriver &cuda, CUresult result) {
  switch (result) {
  case CUDA_SUCCESS:
    return {};
  case CUDA_ERROR_NO_DEVICE: {
    const char *visible = std::getenv("CUDA_VISIBLE_DEVICES");
    if (visible)
      return Status::native(DRAGON_ERROR_NO_DEVICE, static_cast<int>(result),
                            "the CUDA driver finds no GPU with "
                            "CUDA_VISIBLE_DEVICES='{}'",
                            visible);
    return noDevice(result, "the CUDA driver finds no GPU (see nvidia-smi)");
  }
  case CUDA_ERROR_STUB_LIBRARY:
    return noDevice(result, "libcuda.so.1 is the toolkit's stub, not a driver; "
                            "take its folder out of LD_LIBRARY_PATH");
  case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    return noDevice(result,
                    "libcuda.so.1 and the kernel module nvidia are of "
                    "different driver versions; reboot, or load the module "
                    "that belongs to the library");
  case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
    return noDevice(result, "libcuda.so.1 is a forward-compatibility library "
                            "that this GPU does not allow; use the driver's "
                            "own libcuda");
  case CUDA_ERROR_SYSTEM_NOT_READY:
    return noDevice(result, "the GPU is not ready: nvidia-fabricmanager or "
                            "another service of the driver is not running");
  default:
    return std::move(cuda.check(result, "cuInit"))
        .within("the CUDA driver does not start (see nvidia-smi)");
  }
}

} // namespace

StatusOr<const CudaDriver *> CudaDriver::load() {
  struct Loaded {
    CudaDriver driver;
    Status status;
  };
  static Loaded *loaded = [] {
    auto *result = new Loaded{CudaDriver(), Status()};
    result->status = result->driver.open();
    return result;
  }();
  if (!loaded->status.ok())
    return Status::native(loaded->status.code(), loaded->status.nativeCode(),
                          "{}", loaded->status.message());
  return &loaded->driver;
}

Status CudaDriver::open() {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *why = dlerror();
    return Status::error(DRAGON_ERROR_NO_DEVICE,
                         "no NVIDIA driver: cannot load libcuda.so.1 ({})",
                         why ? why : "unknown reason");
  }
  auto getVersion = reinterpret_cast<PFN_cuDriverGetVersion_v2020>(
      dlsym(library, "cuDriverGetVersion"));
  if (!getVersion || getVersion(&Version) != CUDA_SUCCESS)
    return Status::error(DRAGON_ERROR_NO_DEVICE,
                         "libcuda.so.1 does not tell its version: no usable "
                         "NVIDIA driver");
  auto getProcAddress = reinterpret_cast<PFN_cuGetProcAddress_v12000>(
      dlsym(library, "cuGetProcAddress_v2"));
  if (Version < OldestVersion || !getProcAddress)
    return Status::error(DRAGON_ERROR_NO_DEVICE,
                         "the NVIDIA driver supports CUDA {}, {} or later is "
                         "needed; update the driver",
                         versionText(Version), versionText(OldestVersion));
  struct Wanted {
    const char *name;
    int version;
    void **slot;
  };
  const Wanted wanted[] = {
#define CUDA_SYMBOL(NAME, VERSION)                                             \
  {"cu" #NAME, VERSION, reinterpret_cast<void **>(&NAME)},
#include "runtime/device/cuda/CudaSymbols.def"
  };
  for (const Wanted &symbol : wanted) {
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SUCCESS;
    CUresult result = getProcAddress(symbol.name, symbol.slot, symbol.version,
                                     CU_GET_PROC_ADDRESS_LEGACY_STREAM, &found);
    if (result != CUDA_SUCCESS || !*symbol.slot)
      return Status::error(DRAGON_ERROR_NO_DEVICE,
                           "the NVIDIA driver (CUDA {}) lacks {} of CUDA {}; "
                           "update the driver",
                           versionText(Version), symbol.name,
                           versionText(symbol.version));
  }
  DRAGON_TRY(explainInit(*this, Init(0)));
  int count = 0;
  DRAGON_TRY(check(DeviceGetCount(&count), "cuDeviceGetCount"));
  if (count == 0)
    return explainInit(*this, CUDA_ERROR_NO_DEVICE);
  return {};
}

Status CudaDriver::check(CUresult result, const char *call) const {
  if (result == CUDA_SUCCESS)
    return {};
  dragon_error code = DRAGON_ERROR_DEVICE;
  if (result == CUDA_ERROR_OUT_OF_MEMORY)
    code = DRAGON_ERROR_OUT_OF_MEMORY;
  else if (result == CUDA_ERROR_NOT_SUPPORTED)
    code = DRAGON_ERROR_UNSUPPORTED;
  else if (result == CUDA_ERROR_INVALID_VALUE ||
           result == CUDA_ERROR_INVALID_HANDLE)
    code = DRAGON_ERROR_INVALID_ARGUMENT;
  else if (result == CUDA_ERROR_NO_DEVICE)
    code = DRAGON_ERROR_NO_DEVICE;
  const char *name = nullptr, *text = nullptr;
  if (GetErrorName)
    GetErrorName(result, &name);
  if (GetErrorString)
    GetErrorString(result, &text);
  return Status::native(code, static_cast<int>(result), "{}: {} ({})", call,
                        text ? text : "unknown error",
                        name ? name : std::to_string(result));
}

CudaContextScope::CudaContextScope(const CudaDriver &cuda, CUcontext context)
    : Cuda(cuda) {
  if (Cuda.CtxGetCurrent(&Before) == CUDA_SUCCESS && Before == context)
    return;
  Restore = Before && Cuda.CtxSetCurrent(context) == CUDA_SUCCESS;
  if (!Before)
    Cuda.CtxSetCurrent(context);
}

CudaContextScope::~CudaContextScope() {
  if (Restore)
    Cuda.CtxSetCurrent(Before);
}

} // namespace dragon
