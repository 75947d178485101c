//===- properties12.h - CUDA 12's properties of a device --------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// cudaDeviceProp has other members in CUDA 12 than in CUDA 13. Both begin with
// the same ones, up to maxGridSize; the rest are attributes of the device.
// Included by cuda12.h, which has the macros.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_NVCC_PROPERTIES12_H
#define DRAGON_NVCC_PROPERTIES12_H

/// CUDA 13's, into memory that is large enough for its struct.
cudaError_t
dragonPropertiesOfCuda13(void *properties,
                         int device) __asm__("cudaGetDeviceProperties");

DRAGON_OLD_FORM(cudaGetDeviceProperties)
(struct cudaDeviceProp *properties, int device) {
  static const struct {
    size_t offset, size;
    enum cudaDeviceAttr attribute;
  } members[] = {
#define DRAGON_MEMBER(name, attribute)                                         \
  {offsetof(struct cudaDeviceProp, name), sizeof properties->name,             \
   cudaDevAttr##attribute}
      DRAGON_MEMBER(clockRate, ClockRate),
      DRAGON_MEMBER(totalConstMem, TotalConstantMemory),
      DRAGON_MEMBER(major, ComputeCapabilityMajor),
      DRAGON_MEMBER(minor, ComputeCapabilityMinor),
      DRAGON_MEMBER(textureAlignment, TextureAlignment),
      DRAGON_MEMBER(texturePitchAlignment, TexturePitchAlignment),
      DRAGON_MEMBER(deviceOverlap, GpuOverlap),
      DRAGON_MEMBER(multiProcessorCount, MultiProcessorCount),
      DRAGON_MEMBER(kernelExecTimeoutEnabled, KernelExecTimeout),
      DRAGON_MEMBER(integrated, Integrated),
      DRAGON_MEMBER(canMapHostMemory, CanMapHostMemory),
      DRAGON_MEMBER(computeMode, ComputeMode),
      DRAGON_MEMBER(maxTexture1D, MaxTexture1DWidth),
      DRAGON_MEMBER(maxTexture1DMipmap, MaxTexture1DMipmappedWidth),
      DRAGON_MEMBER(maxTexture1DLinear, MaxTexture1DLinearWidth),
      DRAGON_MEMBER(maxTexture2D[0], MaxTexture2DWidth),
      DRAGON_MEMBER(maxTexture2D[1], MaxTexture2DHeight),
      DRAGON_MEMBER(maxTexture2DMipmap[0], MaxTexture2DMipmappedWidth),
      DRAGON_MEMBER(maxTexture2DMipmap[1], MaxTexture2DMipmappedHeight),
      DRAGON_MEMBER(maxTexture2DLinear[0], MaxTexture2DLinearWidth),
      DRAGON_MEMBER(maxTexture2DLinear[1], MaxTexture2DLinearHeight),
      DRAGON_MEMBER(maxTexture2DLinear[2], MaxTexture2DLinearPitch),
      DRAGON_MEMBER(maxTexture2DGather[0], MaxTexture2DGatherWidth),
      DRAGON_MEMBER(maxTexture2DGather[1], MaxTexture2DGatherHeight),
      DRAGON_MEMBER(maxTexture3D[0], MaxTexture3DWidth),
      DRAGON_MEMBER(maxTexture3D[1], MaxTexture3DHeight),
      DRAGON_MEMBER(maxTexture3D[2], MaxTexture3DDepth),
      DRAGON_MEMBER(maxTexture3DAlt[0], MaxTexture3DWidthAlt),
      DRAGON_MEMBER(maxTexture3DAlt[1], MaxTexture3DHeightAlt),
      DRAGON_MEMBER(maxTexture3DAlt[2], MaxTexture3DDepthAlt),
      DRAGON_MEMBER(maxTextureCubemap, MaxTextureCubemapWidth),
      DRAGON_MEMBER(maxTexture1DLayered[0], MaxTexture1DLayeredWidth),
      DRAGON_MEMBER(maxTexture1DLayered[1], MaxTexture1DLayeredLayers),
      DRAGON_MEMBER(maxTexture2DLayered[0], MaxTexture2DLayeredWidth),
      DRAGON_MEMBER(maxTexture2DLayered[1], MaxTexture2DLayeredHeight),
      DRAGON_MEMBER(maxTexture2DLayered[2], MaxTexture2DLayeredLayers),
      DRAGON_MEMBER(maxTextureCubemapLayered[0], MaxTextureCubemapLayeredWidth),
      DRAGON_MEMBER(maxTextureCubemapLayered[1],
                    MaxTextureCubemapLayeredLayers),
      DRAGON_MEMBER(maxSurface1D, MaxSurface1DWidth),
      DRAGON_MEMBER(maxSurface2D[0], MaxSurface2DWidth),
      DRAGON_MEMBER(maxSurface2D[1], MaxSurface2DHeight),
      DRAGON_MEMBER(maxSurface3D[0], MaxSurface3DWidth),
      DRAGON_MEMBER(maxSurface3D[1], MaxSurface3DHeight),
      DRAGON_MEMBER(maxSurface3D[2], MaxSurface3DDepth),
      DRAGON_MEMBER(maxSurface1DLayered[0], MaxSurface1DLayeredWidth),
      DRAGON_MEMBER(maxSurface1DLayered[1], MaxSurface1DLayeredLayers),
      DRAGON_MEMBER(maxSurface2DLayered[0], MaxSurface2DLayeredWidth),
      DRAGON_MEMBER(maxSurface2DLayered[1], MaxSurface2DLayeredHeight),
      DRAGON_MEMBER(maxSurface2DLayered[2], MaxSurface2DLayeredLayers),
      DRAGON_MEMBER(maxSurfaceCubemap, MaxSurfaceCubemapWidth),
      DRAGON_MEMBER(maxSurfaceCubemapLayered[0], MaxSurfaceCubemapLayeredWidth),
      DRAGON_MEMBER(maxSurfaceCubemapLayered[1],
                    MaxSurfaceCubemapLayeredLayers),
      DRAGON_MEMBER(surfaceAlignment, SurfaceAlignment),
      DRAGON_MEMBER(concurrentKernels, ConcurrentKernels),
      DRAGON_MEMBER(ECCEnabled, EccEnabled),
      DRAGON_MEMBER(pciBusID, PciBusId),
      DRAGON_MEMBER(pciDeviceID, PciDeviceId),
      DRAGON_MEMBER(pciDomainID, PciDomainId),
      DRAGON_MEMBER(tccDriver, TccDriver),
      DRAGON_MEMBER(asyncEngineCount, AsyncEngineCount),
      DRAGON_MEMBER(unifiedAddressing, UnifiedAddressing),
      DRAGON_MEMBER(memoryClockRate, MemoryClockRate),
      DRAGON_MEMBER(memoryBusWidth, GlobalMemoryBusWidth),
      DRAGON_MEMBER(l2CacheSize, L2CacheSize),
      DRAGON_MEMBER(persistingL2CacheMaxSize, MaxPersistingL2CacheSize),
      DRAGON_MEMBER(maxThreadsPerMultiProcessor, MaxThreadsPerMultiProcessor),
      DRAGON_MEMBER(streamPrioritiesSupported, StreamPrioritiesSupported),
      DRAGON_MEMBER(globalL1CacheSupported, GlobalL1CacheSupported),
      DRAGON_MEMBER(localL1CacheSupported, LocalL1CacheSupported),
      DRAGON_MEMBER(sharedMemPerMultiprocessor,
                    MaxSharedMemoryPerMultiprocessor),
      DRAGON_MEMBER(regsPerMultiprocessor, MaxRegistersPerMultiprocessor),
      DRAGON_MEMBER(managedMemory, ManagedMemory),
      DRAGON_MEMBER(isMultiGpuBoard, IsMultiGpuBoard),
      DRAGON_MEMBER(multiGpuBoardGroupID, MultiGpuBoardGroupID),
      DRAGON_MEMBER(hostNativeAtomicSupported, HostNativeAtomicSupported),
      DRAGON_MEMBER(singleToDoublePrecisionPerfRatio,
                    SingleToDoublePrecisionPerfRatio),
      DRAGON_MEMBER(pageableMemoryAccess, PageableMemoryAccess),
      DRAGON_MEMBER(concurrentManagedAccess, ConcurrentManagedAccess),
      DRAGON_MEMBER(computePreemptionSupported, ComputePreemptionSupported),
      DRAGON_MEMBER(canUseHostPointerForRegisteredMem,
                    CanUseHostPointerForRegisteredMem),
      DRAGON_MEMBER(cooperativeLaunch, CooperativeLaunch),
      DRAGON_MEMBER(sharedMemPerBlockOptin, MaxSharedMemoryPerBlockOptin),
      DRAGON_MEMBER(pageableMemoryAccessUsesHostPageTables,
                    PageableMemoryAccessUsesHostPageTables),
      DRAGON_MEMBER(directManagedMemAccessFromHost,
                    DirectManagedMemAccessFromHost),
      DRAGON_MEMBER(maxBlocksPerMultiProcessor, MaxBlocksPerMultiprocessor),
      DRAGON_MEMBER(accessPolicyMaxWindowSize, MaxAccessPolicyWindowSize),
      DRAGON_MEMBER(reservedSharedMemPerBlock, ReservedSharedMemoryPerBlock),
      DRAGON_MEMBER(hostRegisterSupported, HostRegisterSupported),
      DRAGON_MEMBER(sparseCudaArraySupported, SparseCudaArraySupported),
      DRAGON_MEMBER(hostRegisterReadOnlySupported,
                    HostRegisterReadOnlySupported),
      DRAGON_MEMBER(timelineSemaphoreInteropSupported,
                    TimelineSemaphoreInteropSupported),
      DRAGON_MEMBER(memoryPoolsSupported, MemoryPoolsSupported),
      DRAGON_MEMBER(gpuDirectRDMASupported, GPUDirectRDMASupported),
      DRAGON_MEMBER(gpuDirectRDMAFlushWritesOptions,
                    GPUDirectRDMAFlushWritesOptions),
      DRAGON_MEMBER(gpuDirectRDMAWritesOrdering, GPUDirectRDMAWritesOrdering),
      DRAGON_MEMBER(memoryPoolSupportedHandleTypes,
                    MemoryPoolSupportedHandleTypes),
      DRAGON_MEMBER(deferredMappingCudaArraySupported,
                    DeferredMappingCudaArraySupported),
      DRAGON_MEMBER(ipcEventSupported, IpcEventSupport),
      DRAGON_MEMBER(clusterLaunch, ClusterLaunch),
#undef DRAGON_MEMBER
  };
  unsigned long long room[512];
  size_t i;
  cudaError_t error = cudaErrorInvalidValue;
  if (properties)
    error = dragonPropertiesOfCuda13(room, device);
  if (error != cudaSuccess)
    return error;
  memset(properties, 0, sizeof *properties);
  memcpy(properties, room, offsetof(struct cudaDeviceProp, clockRate));
  for (i = 0; i < sizeof members / sizeof *members; ++i) {
    int value = 0;
    size_t wide;
    void *to = (char *)properties + members[i].offset;
    // What this device does not have stays 0.
    if (cudaDeviceGetAttribute(&value, members[i].attribute, device) !=
        cudaSuccess) {
      (void)cudaGetLastError();
      continue;
    }
    wide = (size_t)value;
    if (members[i].size == sizeof wide)
      memcpy(to, &wide, sizeof wide);
    else
      memcpy(to, &value, sizeof value);
  }
  return cudaSuccess;
}

#endif // DRAGON_NVCC_PROPERTIES12_H
