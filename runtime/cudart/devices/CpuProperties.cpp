//===- CpuProperties.cpp - the cpu device as CUDA sees it -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/devices/Devices.h"
#include "runtime/cudart/modules/Module.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <thread>

namespace dragon {

cudaDeviceProp cpuDeviceProperties(Front &front) {
  cudaDeviceProp p{};
  std::snprintf(p.name, sizeof p.name, "dragon cpu device");
  std::memcpy(p.uuid.bytes, "dragon cpu dev 0", sizeof p.uuid.bytes);
  p.totalGlobalMem = front.device.caps().totalMemory;
  unsigned architecture = modules().architecture();
  if (!architecture)
    architecture = 90;
  p.major = int(architecture / 10);
  p.minor = int(architecture % 10);

  p.warpSize = 32;
  p.maxThreadsPerBlock = 1024;
  p.maxThreadsDim[0] = p.maxThreadsDim[1] = 1024;
  p.maxThreadsDim[2] = 64;
  p.maxGridSize[0] = 0x7fffffff;
  p.maxGridSize[1] = p.maxGridSize[2] = 65535;
  p.maxThreadsPerMultiProcessor = 2048;
  p.maxBlocksPerMultiProcessor = 32;
  p.cooperativeLaunch = 1;
  p.multiProcessorCount =
      int(std::max(1u, front.runtime.settings().cpuThreads
                           ? front.runtime.settings().cpuThreads
                           : std::thread::hardware_concurrency()));
  p.sharedMemPerBlock = DefaultSharedBytes;
  p.sharedMemPerBlockOptin = MostSharedBytes;
  p.sharedMemPerMultiprocessor = MostSharedBytes + 1024;
  p.reservedSharedMemPerBlock = 1024;
  p.regsPerBlock = p.regsPerMultiprocessor = 65536;
  p.totalConstMem = 65536;
  p.memPitch = 0x7fffffff;
  p.textureAlignment = 512;
  p.texturePitchAlignment = 32;
  p.surfaceAlignment = 512;
  p.l2CacheSize = 4 << 20;
  p.memoryBusWidth = 64;

  p.canMapHostMemory = 1;
  p.unifiedAddressing = 1;
  p.managedMemory = 1;
  p.concurrentKernels = 1;
  p.asyncEngineCount = 1;
  p.streamPrioritiesSupported = 1;
  p.globalL1CacheSupported = p.localL1CacheSupported = 1;
  p.hostNativeAtomicSupported = 1;
  p.canUseHostPointerForRegisteredMem = 1;
  p.hostRegisterSupported = 1;
  p.memoryPoolsSupported = 1;
  // Kernels read and write what the host allocated as it is. A host access to
  // managed memory that a kernel uses waits for the kernel (HostFaults.h).
  p.concurrentManagedAccess = 1;
  p.pageableMemoryAccess = 1;
  p.pageableMemoryAccessUsesHostPageTables = 1;
  p.hostNumaId = -1;
  p.deviceNumaId = -1;
  return p;
}

bool attributeOf(const cudaDeviceProp &p, cudaDeviceAttr attribute,
                 int &value) {
  auto clamp = [](size_t bytes) {
    return int(std::min<size_t>(bytes, 0x7fffffff));
  };
  switch (int(attribute)) {
#define DRAGON_ATTRIBUTE(name, field)                                          \
  case cudaDevAttr##name:                                                      \
    value = clamp(size_t(p.field));                                            \
    return true;
    DRAGON_ATTRIBUTE(MaxThreadsPerBlock, maxThreadsPerBlock)
    DRAGON_ATTRIBUTE(MaxBlockDimX, maxThreadsDim[0])
    DRAGON_ATTRIBUTE(MaxBlockDimY, maxThreadsDim[1])
    DRAGON_ATTRIBUTE(MaxBlockDimZ, maxThreadsDim[2])
    DRAGON_ATTRIBUTE(MaxGridDimX, maxGridSize[0])
    DRAGON_ATTRIBUTE(MaxGridDimY, maxGridSize[1])
    DRAGON_ATTRIBUTE(MaxGridDimZ, maxGridSize[2])
    DRAGON_ATTRIBUTE(MaxSharedMemoryPerBlock, sharedMemPerBlock)
    DRAGON_ATTRIBUTE(TotalConstantMemory, totalConstMem)
    DRAGON_ATTRIBUTE(WarpSize, warpSize)
    DRAGON_ATTRIBUTE(MaxPitch, memPitch)
    DRAGON_ATTRIBUTE(MaxRegistersPerBlock, regsPerBlock)
    DRAGON_ATTRIBUTE(TextureAlignment, textureAlignment)
    DRAGON_ATTRIBUTE(GpuOverlap, asyncEngineCount)
    DRAGON_ATTRIBUTE(MultiProcessorCount, multiProcessorCount)
    DRAGON_ATTRIBUTE(Integrated, integrated)
    DRAGON_ATTRIBUTE(CanMapHostMemory, canMapHostMemory)
    DRAGON_ATTRIBUTE(SurfaceAlignment, surfaceAlignment)
    DRAGON_ATTRIBUTE(ConcurrentKernels, concurrentKernels)
    DRAGON_ATTRIBUTE(EccEnabled, ECCEnabled)
    DRAGON_ATTRIBUTE(PciBusId, pciBusID)
    DRAGON_ATTRIBUTE(PciDeviceId, pciDeviceID)
    DRAGON_ATTRIBUTE(PciDomainId, pciDomainID)
    DRAGON_ATTRIBUTE(GlobalMemoryBusWidth, memoryBusWidth)
    DRAGON_ATTRIBUTE(L2CacheSize, l2CacheSize)
    DRAGON_ATTRIBUTE(MaxThreadsPerMultiProcessor, maxThreadsPerMultiProcessor)
    DRAGON_ATTRIBUTE(AsyncEngineCount, asyncEngineCount)
    DRAGON_ATTRIBUTE(UnifiedAddressing, unifiedAddressing)
    DRAGON_ATTRIBUTE(TexturePitchAlignment, texturePitchAlignment)
    DRAGON_ATTRIBUTE(ComputeCapabilityMajor, major)
    DRAGON_ATTRIBUTE(ComputeCapabilityMinor, minor)
    DRAGON_ATTRIBUTE(StreamPrioritiesSupported, streamPrioritiesSupported)
    DRAGON_ATTRIBUTE(GlobalL1CacheSupported, globalL1CacheSupported)
    DRAGON_ATTRIBUTE(LocalL1CacheSupported, localL1CacheSupported)
    DRAGON_ATTRIBUTE(MaxSharedMemoryPerMultiprocessor,
                     sharedMemPerMultiprocessor)
    DRAGON_ATTRIBUTE(MaxRegistersPerMultiprocessor, regsPerMultiprocessor)
    DRAGON_ATTRIBUTE(ManagedMemory, managedMemory)
    DRAGON_ATTRIBUTE(HostNativeAtomicSupported, hostNativeAtomicSupported)
    DRAGON_ATTRIBUTE(PageableMemoryAccess, pageableMemoryAccess)
    DRAGON_ATTRIBUTE(ConcurrentManagedAccess, concurrentManagedAccess)
    DRAGON_ATTRIBUTE(CanUseHostPointerForRegisteredMem,
                     canUseHostPointerForRegisteredMem)
    DRAGON_ATTRIBUTE(CooperativeLaunch, cooperativeLaunch)
    DRAGON_ATTRIBUTE(MaxSharedMemoryPerBlockOptin, sharedMemPerBlockOptin)
    DRAGON_ATTRIBUTE(HostRegisterSupported, hostRegisterSupported)
    DRAGON_ATTRIBUTE(PageableMemoryAccessUsesHostPageTables,
                     pageableMemoryAccessUsesHostPageTables)
    DRAGON_ATTRIBUTE(MaxBlocksPerMultiprocessor, maxBlocksPerMultiProcessor)
    DRAGON_ATTRIBUTE(ReservedSharedMemoryPerBlock, reservedSharedMemPerBlock)
    DRAGON_ATTRIBUTE(MemoryPoolsSupported, memoryPoolsSupported)
#undef DRAGON_ATTRIBUTE
  case cudaDevAttrClockRate:
  case cudaDevAttrMemoryClockRate:
    value = 1000000; // kHz
    return true;
  case cudaDevAttrSingleToDoublePrecisionPerfRatio:
    value = 2;
    return true;
  case cudaDevAttrHostNumaId:
  case cudaDevAttrNumaId:
    value = -1;
    return true;
  default:
    value = 0; // textures, clusters, handles: none of it is there
    return attribute >= 1 && attribute < cudaDevAttrMax;
  }
}

} // namespace dragon
