//===- dropped.h - calls that CUDA 13 has dropped ---------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs written for an older CUDA call functions that are gone, or by a
// signature that is. Here they are again, each with a note on its modern form
// (-Wno-deprecated-declarations silences them).
//
// A function that only got another name is declared as that other one, by an
// assembler label: the compiler sees the modern call. A changed signature is an
// overload that calls the new one, so it needs C++.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_NVCC_DROPPED_H
#define DRAGON_NVCC_DROPPED_H

#if CUDART_VERSION >= 13000

#include "mark.h"

#ifdef __cplusplus
#define DRAGON_OTHER_LINKAGE extern "C"
#else
#define DRAGON_OTHER_LINKAGE extern
#endif
#define DRAGON_RENAMED(now) __asm__(#now) DRAGON_DROPPED("'" #now "'")

//===-- cudaThread... are cudaDevice... -----------------------------------===//

DRAGON_OTHER_LINKAGE cudaError_t cudaThreadSynchronize(void)
    DRAGON_RENAMED(cudaDeviceSynchronize);
DRAGON_OTHER_LINKAGE cudaError_t cudaThreadExit(void)
    DRAGON_RENAMED(cudaDeviceReset);
DRAGON_OTHER_LINKAGE cudaError_t cudaThreadSetLimit(enum cudaLimit limit,
                                                    size_t value)
    DRAGON_RENAMED(cudaDeviceSetLimit);
DRAGON_OTHER_LINKAGE cudaError_t cudaThreadGetLimit(size_t *value,
                                                    enum cudaLimit limit)
    DRAGON_RENAMED(cudaDeviceGetLimit);
DRAGON_OTHER_LINKAGE cudaError_t cudaThreadSetCacheConfig(
    enum cudaFuncCache config) DRAGON_RENAMED(cudaDeviceSetCacheConfig);
DRAGON_OTHER_LINKAGE cudaError_t cudaThreadGetCacheConfig(
    enum cudaFuncCache *config) DRAGON_RENAMED(cudaDeviceGetCacheConfig);

#ifdef __cplusplus

//===-- Places as a device's number, or cudaCpuDeviceId -------------------===//

#define DRAGON_OVERLOAD(instead)                                               \
  DRAGON_DROPPED(instead) static inline __attribute__((unused)) cudaError_t

static inline cudaMemLocation dragonLocation(int device) {
  cudaMemLocation location = {};
  location.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost
                                            : cudaMemLocationTypeDevice;
  location.id = device == cudaCpuDeviceId ? 0 : device;
  return location;
}

DRAGON_OVERLOAD("the form with a cudaMemLocation and flags")
cudaMemPrefetchAsync(const void *pointer, size_t bytes, int device,
                     cudaStream_t stream = 0) {
  return cudaMemPrefetchAsync(pointer, bytes, dragonLocation(device), 0u,
                              stream);
}

DRAGON_OVERLOAD("the form with a cudaMemLocation")
cudaMemAdvise(const void *pointer, size_t bytes, cudaMemoryAdvise advice,
              int device) {
  return cudaMemAdvise(pointer, bytes, advice, dragonLocation(device));
}

// CUDA 12's names of today's forms.
DRAGON_OVERLOAD("cudaMemPrefetchAsync")
cudaMemPrefetchAsync_v2(const void *pointer, size_t bytes,
                        cudaMemLocation location, unsigned flags,
                        cudaStream_t stream = 0) {
  return cudaMemPrefetchAsync(pointer, bytes, location, flags, stream);
}

DRAGON_OVERLOAD("cudaMemAdvise")
cudaMemAdvise_v2(const void *pointer, size_t bytes, cudaMemoryAdvise advice,
                 cudaMemLocation location) {
  return cudaMemAdvise(pointer, bytes, advice, location);
}

//===-- Graphs: edges without data ----------------------------------------===//

#define DRAGON_WITH_EDGES DRAGON_OVERLOAD("the form with cudaGraphEdgeData")

DRAGON_WITH_EDGES
cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                         const cudaGraphNode_t *to, size_t count) {
  return cudaGraphAddDependencies(graph, from, to, nullptr, count);
}

DRAGON_WITH_EDGES
cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                            const cudaGraphNode_t *to, size_t count) {
  return cudaGraphRemoveDependencies(graph, from, to, nullptr, count);
}

DRAGON_WITH_EDGES
cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                  size_t *count) {
  return cudaGraphGetEdges(graph, from, to, nullptr, count);
}

DRAGON_WITH_EDGES
cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                             size_t *count) {
  return cudaGraphNodeGetDependencies(node, nodes, nullptr, count);
}

DRAGON_WITH_EDGES
cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                               size_t *count) {
  return cudaGraphNodeGetDependentNodes(node, nodes, nullptr, count);
}

DRAGON_WITH_EDGES
cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph,
                 const cudaGraphNode_t *dependencies, size_t count,
                 struct cudaGraphNodeParams *parameters) {
  return cudaGraphAddNode(node, graph, dependencies, nullptr, count,
                          parameters);
}

DRAGON_WITH_EDGES
cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus *status,
                         unsigned long long *id, cudaGraph_t *graph,
                         const cudaGraphNode_t **dependencies, size_t *count) {
  return cudaStreamGetCaptureInfo(stream, status, id, graph, dependencies,
                                  nullptr, count);
}

DRAGON_WITH_EDGES
cudaStreamGetCaptureInfo_v2(cudaStream_t stream,
                            cudaStreamCaptureStatus *status,
                            unsigned long long *id = nullptr,
                            cudaGraph_t *graph = nullptr,
                            const cudaGraphNode_t **dependencies = nullptr,
                            size_t *count = nullptr) {
  return cudaStreamGetCaptureInfo(stream, status, id, graph, dependencies,
                                  nullptr, count);
}

DRAGON_WITH_EDGES
cudaStreamUpdateCaptureDependencies(cudaStream_t stream,
                                    cudaGraphNode_t *dependencies, size_t count,
                                    unsigned flags) {
  return cudaStreamUpdateCaptureDependencies(stream, dependencies, nullptr,
                                             count, flags);
}

#undef DRAGON_WITH_EDGES
#undef DRAGON_OVERLOAD

#endif // __cplusplus

#undef DRAGON_RENAMED
#undef DRAGON_OTHER_LINKAGE
#undef DRAGON_DROPPED

#endif // CUDART_VERSION
#endif // DRAGON_NVCC_DROPPED_H
