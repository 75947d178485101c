//===- cuda12.h - programs of CUDA 12 on a runtime of CUDA 13 ---*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libdragonrt has the calls of CUDA 13. With the headers of a toolkit from 12.4
// on, most calls are the same. The others are one of two kinds:
//
//   cudaMemAdvise_v2   is what CUDA 13 calls cudaMemAdvise: declared as that
//                      one, by an assembler label
//   cudaMemAdvise      has another signature than in CUDA 13: defined here, by
//                      a call of the first kind, under a name of its own for
//                      the linker
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_NVCC_CUDA12_H
#define DRAGON_NVCC_CUDA12_H

#if CUDART_VERSION < 13000

#include <stddef.h>
#include <string.h>

#ifdef __CUDART_API_PER_THREAD_DEFAULT_STREAM
#define DRAGON_STREAM_CALL(name) #name "_ptsz"
#else
#define DRAGON_STREAM_CALL(name) #name
#endif
#define DRAGON_DECLARED_AS(name, label)                                        \
  extern __typeof__(name) name __asm__(label);
#ifdef __cplusplus
#define DRAGON_OLD_FORM(name)                                                  \
  DRAGON_DECLARED_AS(name, "dragon_cuda12_" #name) inline cudaError_t name
extern "C" {
#else
#define DRAGON_OLD_FORM(name)                                                  \
  DRAGON_DECLARED_AS(name, "dragon_cuda12_" #name)                             \
  __attribute__((weak)) cudaError_t name
#endif

//===-- What CUDA 13 has under another name -------------------------------===//

DRAGON_DECLARED_AS(cudaMemAdvise_v2, "cudaMemAdvise")
DRAGON_DECLARED_AS(cudaMemPrefetchAsync_v2,
                   DRAGON_STREAM_CALL(cudaMemPrefetchAsync))
DRAGON_DECLARED_AS(cudaGraphAddDependencies_v2, "cudaGraphAddDependencies")
DRAGON_DECLARED_AS(cudaGraphRemoveDependencies_v2,
                   "cudaGraphRemoveDependencies")
DRAGON_DECLARED_AS(cudaGraphGetEdges_v2, "cudaGraphGetEdges")
DRAGON_DECLARED_AS(cudaGraphNodeGetDependencies_v2,
                   "cudaGraphNodeGetDependencies")
DRAGON_DECLARED_AS(cudaGraphNodeGetDependentNodes_v2,
                   "cudaGraphNodeGetDependentNodes")
DRAGON_DECLARED_AS(cudaGraphAddNode_v2, "cudaGraphAddNode")
DRAGON_DECLARED_AS(cudaStreamGetCaptureInfo_v3,
                   DRAGON_STREAM_CALL(cudaStreamGetCaptureInfo))
DRAGON_DECLARED_AS(cudaStreamUpdateCaptureDependencies_v2,
                   DRAGON_STREAM_CALL(cudaStreamUpdateCaptureDependencies))
DRAGON_DECLARED_AS(cudaSignalExternalSemaphoresAsync,
                   DRAGON_STREAM_CALL(cudaSignalExternalSemaphoresAsync))
DRAGON_DECLARED_AS(cudaWaitExternalSemaphoresAsync,
                   DRAGON_STREAM_CALL(cudaWaitExternalSemaphoresAsync))

//===-- Places as a device's number, or cudaCpuDeviceId -------------------===//

static inline struct cudaMemLocation dragonLocation(int device) {
  struct cudaMemLocation location;
  memset(&location, 0, sizeof location);
  location.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost
                                            : cudaMemLocationTypeDevice;
  location.id = device == cudaCpuDeviceId ? 0 : device;
  return location;
}

DRAGON_OLD_FORM(cudaMemPrefetchAsync)
(const void *pointer, size_t bytes, int device, cudaStream_t stream) {
  return cudaMemPrefetchAsync_v2(pointer, bytes, dragonLocation(device), 0u,
                                 stream);
}

DRAGON_OLD_FORM(cudaMemAdvise)
(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice, int device) {
  return cudaMemAdvise_v2(pointer, bytes, advice, dragonLocation(device));
}

//===-- Graphs: edges without data ----------------------------------------===//

DRAGON_OLD_FORM(cudaGraphAddDependencies)
(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
 size_t count) {
  return cudaGraphAddDependencies_v2(graph, from, to, NULL, count);
}

DRAGON_OLD_FORM(cudaGraphRemoveDependencies)
(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
 size_t count) {
  return cudaGraphRemoveDependencies_v2(graph, from, to, NULL, count);
}

DRAGON_OLD_FORM(cudaGraphGetEdges)
(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *count) {
  return cudaGraphGetEdges_v2(graph, from, to, NULL, count);
}

DRAGON_OLD_FORM(cudaGraphNodeGetDependencies)
(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count) {
  return cudaGraphNodeGetDependencies_v2(node, nodes, NULL, count);
}

DRAGON_OLD_FORM(cudaGraphNodeGetDependentNodes)
(cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count) {
  return cudaGraphNodeGetDependentNodes_v2(node, nodes, NULL, count);
}

DRAGON_OLD_FORM(cudaGraphAddNode)
(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
 size_t count, struct cudaGraphNodeParams *parameters) {
  return cudaGraphAddNode_v2(node, graph, dependencies, NULL, count,
                             parameters);
}

DRAGON_OLD_FORM(cudaStreamGetCaptureInfo)
(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
 unsigned long long *id, cudaGraph_t *graph,
 const cudaGraphNode_t **dependencies, size_t *count) {
  return cudaStreamGetCaptureInfo_v3(stream, status, id, graph, dependencies,
                                     NULL, count);
}

DRAGON_OLD_FORM(cudaStreamUpdateCaptureDependencies)
(cudaStream_t stream, cudaGraphNode_t *dependencies, size_t count,
 unsigned flags) {
  return cudaStreamUpdateCaptureDependencies_v2(stream, dependencies, NULL,
                                                count, flags);
}

//===-- Batches that say which copy failed --------------------------------===//

#if CUDART_VERSION >= 12080

DRAGON_DECLARED_AS(cudaEventElapsedTime, "cudaEventElapsedTime")

cudaError_t dragonBatchOfCuda13(
    void *const *to, const void *const *from, const size_t *sizes, size_t count,
    struct cudaMemcpyAttributes *attributes, size_t *firsts,
    size_t attributeCount,
    cudaStream_t stream) __asm__(DRAGON_STREAM_CALL(cudaMemcpyBatchAsync));

cudaError_t dragon3DBatchOfCuda13(
    size_t count, struct cudaMemcpy3DBatchOp *copies, unsigned long long flags,
    cudaStream_t stream) __asm__(DRAGON_STREAM_CALL(cudaMemcpy3DBatchAsync));

DRAGON_OLD_FORM(cudaMemcpyBatchAsync)
(void **to, void **from, size_t *sizes, size_t count,
 struct cudaMemcpyAttributes *attributes, size_t *firsts, size_t attributeCount,
 size_t *failed, cudaStream_t stream) {
  if (failed)
    *failed = (size_t)-1; // none that is known
  return dragonBatchOfCuda13((void *const *)to, (const void *const *)from,
                             sizes, count, attributes, firsts, attributeCount,
                             stream);
}

DRAGON_OLD_FORM(cudaMemcpy3DBatchAsync)
(size_t count, struct cudaMemcpy3DBatchOp *copies, size_t *failed,
 unsigned long long flags, cudaStream_t stream) {
  if (failed)
    *failed = (size_t)-1;
  return dragon3DBatchOfCuda13(count, copies, flags, stream);
}

#endif // CUDA 12.8

//===-- Properties of a device --------------------------------------------===//

#include "properties12.h"

#ifdef __cplusplus
} // extern "C"
#endif

#undef DRAGON_OLD_FORM
#undef DRAGON_DECLARED_AS
#undef DRAGON_STREAM_CALL

#endif // CUDART_VERSION
#endif // DRAGON_NVCC_CUDA12_H
