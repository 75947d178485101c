//===- KernelLaunch.cpp - kernel launches ---------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/launches/KernelLaunch.h"

#include "runtime/base/PinnedRanges.h"
#include "runtime/cudart/capture/Capture.h"
#include "runtime/cudart/front/CompilerHints.h"
#include "runtime/cudart/front/Forward.h"
#include "runtime/cudart/launches/HostFunctions.h"
#include "runtime/cudart/launches/KernelWork.h"
#include "runtime/cudart/modules/Module.h"
#include "runtime/cudart/modules/ModuleAbi.h"
#include "runtime/trace/Log.h"

#include <cstring>

using namespace dragon;

namespace dragon {

namespace {

/// CUDA's limits, which the cpu device has as well, so that a launch fails here
/// where it would fail on a GPU.
cudaError_t checkShape(const Kernel &kernel, dim3 grid, dim3 block,
                       size_t sharedBytes, bool gpu) {
  constexpr uint64_t MostThreads = 1024;
  if (!grid.x || !grid.y || !grid.z || !block.x || !block.y || !block.z)
    return cudaErrorInvalidConfiguration;
  if (grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535)
    return cudaErrorInvalidConfiguration;
  if (block.x > MostThreads || block.y > MostThreads || block.z > 64 ||
      uint64_t(block.x) * block.y * block.z > MostThreads)
    return cudaErrorInvalidConfiguration;
  if (sharedBytes > 0xffffffffu)
    return cudaErrorInvalidValue;
  if (gpu)
    return cudaSuccess; // the driver knows the kernel's own limits
  if (block.x * block.y * block.z > unsigned(mostThreads(kernel)))
    return cudaErrorInvalidValue;
  return sharedBytes > size_t(dynamicSharedLimit(kernel))
             ? cudaErrorInvalidValue
             : cudaSuccess;
}

/// All blocks must fit on the device at the same time.
Result checkTogether(const void *function, dim3 grid, dim3 block,
                     size_t sharedBytes) {
  int perProcessor = 0, processors = 0;
  if (cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
          &perProcessor, function, int(block.x * block.y * block.z),
          sharedBytes))
    return error;
  if (cudaError_t error = cudaDeviceGetAttribute(
          &processors, cudaDevAttrMultiProcessorCount, 0))
    return error;
  return uint64_t(grid.x) * grid.y * grid.z >
                 uint64_t(perProcessor) * uint64_t(processors)
             ? cudaErrorCooperativeLaunchTooLarge
             : cudaSuccess;
}

/// Of the program's memory, by what the compiler knows of the kernel.
Status noteWrites(Front &front, const KernelInfo &kernel, void **args) {
  if (!PinnedRanges::get().any())
    return {};
  const KernelRecord *record = kernel.record;
  bool anywhere = !kernel.summary || !record ||
                  (record->Flags & (KernelTouchesAnything | KernelUnknown));
  for (uint32_t i = 0; !anywhere && i < record->NumPointers; ++i) {
    const PointerRecord &pointer =
        kernel.summary->pointer(record->FirstPointer + i);
    anywhere = pointer.Flags & PointerEscapes;
    if (pointer.Mode == AccessMode::None || pointer.Mode == AccessMode::Read)
      continue;
    uintptr_t address;
    std::memcpy(&address,
                static_cast<const char *>(args[pointer.ArgIndex]) +
                    pointer.ByteOffset,
                sizeof address);
    DRAGON_TRY(deviceMayWriteFrom(front, address));
  }
  return anywhere ? deviceMayWriteAnywhere(front) : Status();
}

} // namespace

cudaError_t checkLaunch(Front &front, const Kernel &kernel, dim3 grid,
                        dim3 block, size_t sharedBytes) {
  return checkShape(kernel, grid, block, sharedBytes, front.gpu);
}

LaunchCall launchCall(const Kernel &kernel, dim3 grid, dim3 block, void **args,
                      size_t sharedBytes) {
  LaunchCall call{};
  call.kernel = &kernel.info;
  call.grid[0] = grid.x, call.grid[1] = grid.y, call.grid[2] = grid.z;
  call.block[0] = block.x, call.block[1] = block.y, call.block[2] = block.z;
  call.dynamicSharedBytes = uint32_t(sharedBytes);
  call.args = args;
  call.numArgs = kernel.info.record ? kernel.info.record->NumArgs : 0;
  return call;
}

cudaError_t launchKernel(const void *function, dim3 grid, dim3 block,
                         void **args, size_t sharedBytes, cudaStream_t stream,
                         LaunchKind kind) {
  const bool cooperative = kind == LaunchKind::Cooperative;
  const LaunchHints hints = takeLaunchHints();
  return withDeviceInPassing([&](Front &front) -> Result {
    Kernel *kernel = modules().find(function);
    if (!kernel) {
      if (!front.gpu)
        return cudaErrorInvalidDeviceFunction;
      // A kernel of NVIDIA's side (cudaLibraryGetKernel): we know nothing of
      // what it touches.
      if (!isCapturedByNvidia(front, stream))
        DRAGON_CHECK(keepAllResident(front));
      return cooperative ? DRAGON_NVIDIA(cudaLaunchCooperativeKernel, function,
                                         grid, block, args, sharedBytes, stream)
                         : DRAGON_NVIDIA(cudaLaunchKernel, function, grid,
                                         block, args, sharedBytes, stream);
    }
    DRAGON_CHECK(modules().prepare(front, *kernel));
    if (cudaError_t error =
            checkShape(*kernel, grid, block, sharedBytes, front.gpu))
      return error;
    if (cooperative && !front.gpu)
      DRAGON_CHECK(checkTogether(kernel->stub, grid, block, sharedBytes));
    if (capturing()) {
      if (isCapturedByNvidia(front, stream))
        return cooperative
                   ? DRAGON_NVIDIA(cudaLaunchCooperativeKernel, kernel->stub,
                                   grid, block, args, sharedBytes, stream)
                   : DRAGON_NVIDIA(cudaLaunchKernel, kernel->stub, grid, block,
                                   args, sharedBytes, stream);
      if (!front.gpu && isCaptured(stream)) {
        KernelWork work;
        cudaKernelNodeParams params{const_cast<void *>(kernel->stub),
                                    grid,
                                    block,
                                    unsigned(sharedBytes),
                                    args,
                                    nullptr};
        DRAGON_CHECK(kernelWork(front, params, cooperative, work));
        return captureWork(stream, std::move(work));
      }
    }
    waitForHostFunctions(front, stream);
    DRAGON_CHECK(noteWrites(front, kernel->info, args));
    LaunchCall call = launchCall(*kernel, grid, block, args, sharedBytes);
    call.cooperative = cooperative;
    call.programmatic = kind == LaunchKind::Programmatic;
    call.queue = front.queue(stream);
    call.lastUses = hints.lastUses;
    call.followed = hints.followed;
    if (hints.followed)
      log(LogLevel::Debug, "'{}': another launch follows", kernel->name);
    return reportOfLaunch(front.runtime.launches().launch(call));
  });
}

} // namespace dragon

extern "C" {

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block,
                             void **args, size_t shared, cudaStream_t stream) {
  return launchKernel(function, grid, block, args, shared, stream,
                      LaunchKind::Plain);
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
                               void **args, size_t shared,
                               cudaStream_t stream) {
  return launchKernel(kernel, grid, block, args, shared, stream,
                      LaunchKind::Plain);
}

cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid,
                                        dim3 block, void **args, size_t shared,
                                        cudaStream_t stream) {
  return launchKernel(function, grid, block, args, shared, stream,
                      LaunchKind::Cooperative);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config,
                                const void *function, void **args) {
  if (!config || (config->numAttrs && !config->attrs))
    return leave(cudaErrorInvalidValue);
  LaunchKind kind = LaunchKind::Plain;
  bool plain = true;
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const cudaLaunchAttribute &attribute = config->attrs[i];
    switch (attribute.id) {
    case cudaLaunchAttributeCooperative:
      if (attribute.val.cooperative)
        kind = LaunchKind::Cooperative;
      break;
    case cudaLaunchAttributeProgrammaticStreamSerialization:
      if (attribute.val.programmaticStreamSerializationAllowed &&
          kind == LaunchKind::Plain)
        kind = LaunchKind::Programmatic;
      break;
    // Hints, and permissions that need not be used.
    case cudaLaunchAttributeIgnore:
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributeMemSyncDomain:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributePreferredSharedMemoryCarveout:
      break;
    case cudaLaunchAttributeClusterDimension:
      plain = plain && attribute.val.clusterDim.x == 1 &&
              attribute.val.clusterDim.y == 1 &&
              attribute.val.clusterDim.z == 1;
      break;
    default:
      plain = false;
    }
  }
  if (plain && !(kind == LaunchKind::Programmatic && capturing()))
    return launchKernel(function, config->gridDim, config->blockDim, args,
                        config->dynamicSmemBytes, config->stream, kind);
  return withDevice([&](Front &front) -> Result {
    Kernel *kernel = modules().find(function);
    if (kernel)
      DRAGON_CHECK(modules().prepare(front, *kernel));
    // With all that the launch asks for.
    if (isCapturedByNvidia(front, config->stream))
      return DRAGON_NVIDIA(cudaLaunchKernelExC, config,
                           kernel ? kernel->stub : function, args);
    if (plain)
      return launchKernel(function, config->gridDim, config->blockDim, args,
                          config->dynamicSmemBytes, config->stream, kind);
    if (!front.gpu) {
      printErrorOnce(fmt::format(
          "kernel '{}': launch attributes (clusters, launch events) are not "
          "supported on the cpu device",
          kernel ? kernel->name : "?"));
      return cudaErrorNotSupported;
    }
    DRAGON_CHECK(keepAllResident(front));
    return DRAGON_NVIDIA(cudaLaunchKernelExC, config, function, args);
  });
}

} // extern "C"
