//===- ModuleAbi.h - calls that compilers insert ----------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The undocumented half of the CUDA runtime's interface: what clang and nvcc
// emit for kernels, device variables and launches. The toolkit declares it only
// for code that nvcc generates.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_MODULES_MODULEABI_H
#define DRAGON_RUNTIME_CUDART_MODULES_MODULEABI_H

#include <cuda_runtime_api.h>

extern "C" {
void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *stub, char *deviceName,
                            const char *name, int threadLimit, uint3 *tid,
                            uint3 *bid, dim3 *blockDim, dim3 *gridDim,
                            int *warpSize);
void __cudaRegisterVar(void **handle, char *shadow, char *deviceAddress,
                       const char *name, int external, size_t bytes,
                       int constant, int global);
void __cudaRegisterManagedVar(void **handle, void **pointer,
                              char *deviceAddress, const char *name,
                              int external, size_t bytes, int constant,
                              int global);
void __cudaRegisterTexture(void **handle, const void *shadow,
                           const void **deviceAddress, const char *name,
                           int dimensions, int normalized, int external);
void __cudaRegisterHostVar(void **handle, const char *name, char *shadow,
                           size_t bytes);
char __cudaInitModule(void **handle);
unsigned __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim,
                                     size_t sharedMem, cudaStream_t stream);
cudaError_t __cudaPopCallConfiguration(dim3 *gridDim, dim3 *blockDim,
                                       size_t *sharedMem, void *stream);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *stub);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim,
                               void **args, size_t sharedMem,
                               cudaStream_t stream);
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 gridDim,
                                    dim3 blockDim, void **args,
                                    size_t sharedMem, cudaStream_t stream);
}

#endif // DRAGON_RUNTIME_CUDART_MODULES_MODULEABI_H
