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

constexpr int OldestVersion = 11000;

// cuda.h names the newest of a function's exported forms: cuMemFree_v2. It is
// what cudaTypedefs.h calls v3020, and what drivers without cuGetProcAddress
// (before CUDA 11.3) are asked for.
#define EXPORTED_TEXT(NAME) #NAME
#define EXPORTED(NAME) EXPORTED_TEXT(NAME)

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
    if (!dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) {
      const char *why = dlerror();
      result->status =
          Status::error(DRAGON_ERROR_NO_DEVICE,
                        "no NVIDIA driver: cannot load libcuda.so.1 ({})",
                        why ? why : "unknown reason");
      return result;
    }
    result->status = result->driver.find([](const char *name) {
      static void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
      return dlsym(library, name);
    });
    return result;
  }();
  if (!loaded->status.ok())
    return Status::native(loaded->status.code(), loaded->status.nativeCode(),
                          "{}", loaded->status.message());
  return &loaded->driver;
}

StatusOr<std::unique_ptr<const CudaDriver>> CudaDriver::open(Lookup library) {
  std::unique_ptr<CudaDriver> driver(new CudaDriver);
  DRAGON_TRY(driver->find(library));
  return std::unique_ptr<const CudaDriver>(std::move(driver));
}

Status CudaDriver::find(Lookup library) {
  auto getVersion = reinterpret_cast<PFN_cuDriverGetVersion_v2020>(
      library("cuDriverGetVersion"));
  if (!getVersion || getVersion(&Version) != CUDA_SUCCESS)
    return Status::error(DRAGON_ERROR_NO_DEVICE,
                         "libcuda.so.1 does not tell its version: no usable "
                         "NVIDIA driver");
  if (Version < OldestVersion)
    return Status::error(DRAGON_ERROR_NO_DEVICE,
                         "the NVIDIA driver supports CUDA {}, {} or later is "
                         "needed; update the driver",
                         versionText(Version), versionText(OldestVersion));
  auto byVersion = reinterpret_cast<PFN_cuGetProcAddress_v12000>(
      library("cuGetProcAddress_v2"));
  auto byVersionBefore12 = reinterpret_cast<PFN_cuGetProcAddress_v11030>(
      library("cuGetProcAddress"));
  struct Wanted {
    const char *name;
    const char *exported;
    int version;
    bool optional;
    void **slot;
  };
  const Wanted wanted[] = {
#define CUDA_SYMBOL(NAME, VERSION)                                             \
  {"cu" #NAME, EXPORTED(cu##NAME), VERSION, false,                             \
   reinterpret_cast<void **>(&NAME)},
#define CUDA_OPTIONAL(FIELD, NAME, VERSION)                                    \
  {"cu" #NAME, "cu" #NAME, VERSION, true, reinterpret_cast<void **>(&FIELD)},
#include "runtime/device/cuda/CudaSymbols.def"
  };
  for (const Wanted &symbol : wanted) {
    if (symbol.version > Version) {
      if (symbol.optional)
        continue; // a driver refuses to be asked for what is newer than it
    } else if (byVersion) {
      CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SUCCESS;
      if (byVersion(symbol.name, symbol.slot, symbol.version,
                    CU_GET_PROC_ADDRESS_LEGACY_STREAM, &found) != CUDA_SUCCESS)
        *symbol.slot = nullptr;
    } else if (byVersionBefore12) {
      if (byVersionBefore12(symbol.name, symbol.slot, symbol.version,
                            CU_GET_PROC_ADDRESS_LEGACY_STREAM) != CUDA_SUCCESS)
        *symbol.slot = nullptr;
    } else {
      *symbol.slot = library(symbol.exported);
      if (!*symbol.slot)
        *symbol.slot = library(symbol.name);
    }
    if (!*symbol.slot && !symbol.optional)
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

std::string CudaDriver::tooOldForCuda13() const {
  if (Version >= 13000)
    return {};
  return fmt::format(
      "the NVIDIA driver supports CUDA {}, and libcudart.so.13 needs one of "
      "CUDA 13 (580 or later); {}update the driver, or run with "
      "DRAGON_BACKEND=cpu",
      versionText(Version),
      runsCuda12() ? "install the CUDA 12 runtime (libcudart.so.12) or add its "
                     "folder to LD_LIBRARY_PATH, or "
                   : "");
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
  if (Before)
    return;
  Cuda.CtxSetCurrent(context);
  // A thread of our own: what it does is in nobody's graph, and must not end
  // the capture of a stream elsewhere.
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  if (Cuda.ThreadExchangeStreamCaptureMode)
    Cuda.ThreadExchangeStreamCaptureMode(&mode);
}

CudaContextScope::~CudaContextScope() {
  if (Restore)
    Cuda.CtxSetCurrent(Before);
}

} // namespace dragon
