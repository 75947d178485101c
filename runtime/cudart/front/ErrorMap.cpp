//===- ErrorMap.cpp - runtime failures as CUDA error codes ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/front/ErrorMap.h"

#include "runtime/cudart/front/ErrorTable.h"
#include "runtime/cudart/front/ProcessState.h"

#include <atomic>
#include <cstdio>
#include <mutex>
#include <set>
#include <unistd.h>

namespace dragon {

namespace {
std::atomic<int> sticky{cudaSuccess};

/// Native codes of a device are CUresults, and a cudaError_t has the number of
/// the CUresult it stands for.
bool isCudaCode(int native) {
  return native > 0 && findError(native) != nullptr;
}
} // namespace

cudaError_t cudaErrorOf(const Status &status) {
  int native = status.nativeCode();
  switch (status.code()) {
  case DRAGON_OK:
    return cudaSuccess;
  case DRAGON_ERROR_INVALID_ARGUMENT:
    return isCudaCode(native) ? cudaError_t(native) : cudaErrorInvalidValue;
  case DRAGON_ERROR_FILE:
  case DRAGON_ERROR_FILE_CHANGED:
    return cudaErrorOperatingSystem;
  case DRAGON_ERROR_NO_SPACE:
  case DRAGON_ERROR_OUT_OF_MEMORY:
    return cudaErrorMemoryAllocation;
  case DRAGON_ERROR_DEVICE:
    return isCudaCode(native) ? cudaError_t(native) : cudaErrorUnknown;
  case DRAGON_ERROR_NO_DEVICE:
    return isCudaCode(native) ? cudaError_t(native) : cudaErrorNoDevice;
  case DRAGON_ERROR_UNSUPPORTED:
    return isCudaCode(native) ? cudaError_t(native) : cudaErrorNotSupported;
  case DRAGON_ERROR_SETTING:
    return cudaErrorInitializationError;
  }
  return cudaErrorUnknown;
}

void printErrorOnce(const std::string &message) {
  // Programs that go on after an error may repeat it with other numbers in it.
  constexpr size_t MostLines = 64;
  static std::mutex lock;
  // Never destroyed: the very end of the process has errors as well.
  static auto &printed = *new std::set<std::string>;
  {
    std::lock_guard<std::mutex> guard(lock);
    if (printed.size() >= MostLines || !printed.insert(message).second)
      return;
  }
  std::string line = "dragon: error: " + message + "\n";
  // One write, so that lines of several threads do not mix.
  ssize_t ignored = ::write(STDERR_FILENO, line.data(), line.size());
  (void)ignored;
}

cudaError_t report(const Status &status) {
  cudaError_t error = cudaErrorOf(status);
  if (error == cudaSuccess)
    return error;
  // A thread that the end of the process met in the middle of a call.
  if (status.code() == DRAGON_ERROR_NO_DEVICE && refusedAtExit())
    return cudaErrorCudartUnloading;
  // What the program did wrong it learns from the code, as with CUDA.
  if (status.code() != DRAGON_ERROR_INVALID_ARGUMENT &&
      error != cudaErrorCudartUnloading)
    printErrorOnce(status.message());
  if (status.code() == DRAGON_ERROR_DEVICE && endsContext(error))
    makeSticky(error);
  return error;
}

/// The device's answer to what the launch asks for. Programs that know other
/// ways try these.
static bool refusesLaunch(cudaError_t error) {
  switch (error) {
  case cudaErrorInvalidDeviceFunction:
  case cudaErrorInvalidKernelImage:
  case cudaErrorNoKernelImageForDevice:
  case cudaErrorInvalidPtx:
  case cudaErrorUnsupportedPtxVersion:
  case cudaErrorJitCompilerNotFound:
  case cudaErrorLaunchOutOfResources:
  case cudaErrorCooperativeLaunchTooLarge:
    return true;
  default:
    return false;
  }
}

cudaError_t reportOfLaunch(const Status &status) {
  if (status.ok())
    return cudaSuccess;
  const cudaError_t error = report(status);
  switch (status.code()) {
  case DRAGON_ERROR_DEVICE:
    if (!refusesLaunch(error))
      makeSticky(error);
    break;
  case DRAGON_ERROR_FILE:
  case DRAGON_ERROR_FILE_CHANGED:
  case DRAGON_ERROR_NO_SPACE:
  case DRAGON_ERROR_OUT_OF_MEMORY:
    makeSticky(error);
    break;
  default:
    break;
  }
  return error;
}

void makeSticky(cudaError_t error) {
  int none = cudaSuccess;
  sticky.compare_exchange_strong(none, error);
}
cudaError_t stickyError() {
  return cudaError_t(sticky.load(std::memory_order_relaxed));
}
void clearStickyError() { sticky = cudaSuccess; }

bool endsContext(cudaError_t error) {
  switch (error) {
  case cudaErrorIllegalAddress:
  case cudaErrorLaunchTimeout:
  case cudaErrorAssert:
  case cudaErrorHardwareStackError:
  case cudaErrorIllegalInstruction:
  case cudaErrorMisalignedAddress:
  case cudaErrorInvalidAddressSpace:
  case cudaErrorInvalidPc:
  case cudaErrorLaunchFailure:
  case cudaErrorECCUncorrectable:
    return true;
  default:
    return false;
  }
}

cudaError_t &lastError() {
  static thread_local cudaError_t error = cudaSuccess;
  return error;
}

} // namespace dragon
