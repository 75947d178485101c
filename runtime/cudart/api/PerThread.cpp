//===- PerThread.cpp - calls with a default stream per thread -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Units compiled with a default stream per thread call these names, in which
// the null stream means the calling thread's.
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/modules/ModuleAbi.h"

namespace {
cudaStream_t own(cudaStream_t stream) {
  return stream ? stream : cudaStreamPerThread;
}
} // namespace

#define DRAGON_PER_THREAD(name, parameters, arguments)                         \
  cudaError_t name##_ptsz parameters { return name arguments; }

extern "C" {

DRAGON_PER_THREAD(__cudaLaunchKernel,
                  (cudaKernel_t k, dim3 g, dim3 b, void **a, size_t n,
                   cudaStream_t s),
                  (k, g, b, a, n, own(s)))
DRAGON_PER_THREAD(cudaLaunchKernel,
                  (const void *f, dim3 g, dim3 b, void **a, size_t n,
                   cudaStream_t s),
                  (f, g, b, a, n, own(s)))
DRAGON_PER_THREAD(cudaLaunchCooperativeKernel,
                  (const void *f, dim3 g, dim3 b, void **a, size_t n,
                   cudaStream_t s),
                  (f, g, b, a, n, own(s)))
cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config,
                                     const void *function, void **args) {
  if (!config)
    return cudaLaunchKernelExC(config, function, args);
  cudaLaunchConfig_t changed = *config;
  changed.stream = own(config->stream);
  return cudaLaunchKernelExC(&changed, function, args);
}
DRAGON_PER_THREAD(cudaLaunchHostFunc, (cudaStream_t s, cudaHostFn_t f, void *d),
                  (own(s), f, d))

DRAGON_PER_THREAD(cudaMallocAsync, (void **p, size_t n, cudaStream_t s),
                  (p, n, own(s)))
DRAGON_PER_THREAD(cudaFreeAsync, (void *p, cudaStream_t s), (p, own(s)))
DRAGON_PER_THREAD(cudaMallocFromPoolAsync,
                  (void **p, size_t n, cudaMemPool_t m, cudaStream_t s),
                  (p, n, m, own(s)))

DRAGON_PER_THREAD(cudaMemcpyAsync,
                  (void *t, const void *f, size_t n, cudaMemcpyKind k,
                   cudaStream_t s),
                  (t, f, n, k, own(s)))
DRAGON_PER_THREAD(cudaMemcpyBatchAsync,
                  (void *const *t, const void *const *f, const size_t *n,
                   size_t c, cudaMemcpyAttributes *a, size_t *i, size_t m,
                   cudaStream_t s),
                  (t, f, n, c, a, i, m, own(s)))
DRAGON_PER_THREAD(cudaMemcpy2DAsync,
                  (void *t, size_t tp, const void *f, size_t fp, size_t w,
                   size_t h, cudaMemcpyKind k, cudaStream_t s),
                  (t, tp, f, fp, w, h, k, own(s)))
DRAGON_PER_THREAD(cudaMemcpy3DAsync,
                  (const cudaMemcpy3DParms *p, cudaStream_t s), (p, own(s)))
DRAGON_PER_THREAD(cudaMemcpy3DPeerAsync,
                  (const cudaMemcpy3DPeerParms *p, cudaStream_t s), (p, own(s)))
DRAGON_PER_THREAD(cudaMemcpyToSymbolAsync,
                  (const void *y, const void *f, size_t n, size_t o,
                   cudaMemcpyKind k, cudaStream_t s),
                  (y, f, n, o, k, own(s)))
DRAGON_PER_THREAD(cudaMemcpyFromSymbolAsync,
                  (void *t, const void *y, size_t n, size_t o, cudaMemcpyKind k,
                   cudaStream_t s),
                  (t, y, n, o, k, own(s)))
DRAGON_PER_THREAD(cudaMemsetAsync, (void *t, int v, size_t n, cudaStream_t s),
                  (t, v, n, own(s)))
DRAGON_PER_THREAD(cudaMemset2DAsync,
                  (void *t, size_t p, int v, size_t w, size_t h,
                   cudaStream_t s),
                  (t, p, v, w, h, own(s)))
DRAGON_PER_THREAD(cudaMemset3DAsync,
                  (cudaPitchedPtr t, int v, cudaExtent e, cudaStream_t s),
                  (t, v, e, own(s)))

DRAGON_PER_THREAD(cudaMemPrefetchAsync,
                  (const void *p, size_t n, cudaMemLocation l, unsigned f,
                   cudaStream_t s),
                  (p, n, l, f, own(s)))
DRAGON_PER_THREAD(cudaMemPrefetchBatchAsync,
                  (void **p, size_t *n, size_t c, cudaMemLocation *l, size_t *i,
                   size_t m, unsigned long long f, cudaStream_t s),
                  (p, n, c, l, i, m, f, own(s)))
DRAGON_PER_THREAD(cudaMemDiscardBatchAsync,
                  (void **p, size_t *n, size_t c, unsigned long long f,
                   cudaStream_t s),
                  (p, n, c, f, own(s)))
DRAGON_PER_THREAD(cudaMemDiscardAndPrefetchBatchAsync,
                  (void **p, size_t *n, size_t c, cudaMemLocation *l, size_t *i,
                   size_t m, unsigned long long f, cudaStream_t s),
                  (p, n, c, l, i, m, f, own(s)))

DRAGON_PER_THREAD(cudaStreamSynchronize, (cudaStream_t s), (own(s)))
DRAGON_PER_THREAD(cudaStreamQuery, (cudaStream_t s), (own(s)))
DRAGON_PER_THREAD(cudaStreamWaitEvent,
                  (cudaStream_t s, cudaEvent_t e, unsigned f), (own(s), e, f))
DRAGON_PER_THREAD(cudaStreamAddCallback,
                  (cudaStream_t s, cudaStreamCallback_t c, void *d, unsigned f),
                  (own(s), c, d, f))
DRAGON_PER_THREAD(cudaStreamAttachMemAsync,
                  (cudaStream_t s, void *p, size_t n, unsigned f),
                  (own(s), p, n, f))
DRAGON_PER_THREAD(cudaStreamGetFlags, (cudaStream_t s, unsigned *f),
                  (own(s), f))
DRAGON_PER_THREAD(cudaStreamGetPriority, (cudaStream_t s, int *p), (own(s), p))
DRAGON_PER_THREAD(cudaStreamGetId, (cudaStream_t s, unsigned long long *i),
                  (own(s), i))
DRAGON_PER_THREAD(cudaStreamGetDevice, (cudaStream_t s, int *d), (own(s), d))
DRAGON_PER_THREAD(cudaStreamIsCapturing,
                  (cudaStream_t s, cudaStreamCaptureStatus *c), (own(s), c))
DRAGON_PER_THREAD(cudaStreamBeginCapture,
                  (cudaStream_t s, cudaStreamCaptureMode m), (own(s), m))
DRAGON_PER_THREAD(cudaStreamBeginCaptureToGraph,
                  (cudaStream_t s, cudaGraph_t g, const cudaGraphNode_t *d,
                   const cudaGraphEdgeData *e, size_t n,
                   cudaStreamCaptureMode m),
                  (own(s), g, d, e, n, m))
DRAGON_PER_THREAD(cudaStreamEndCapture, (cudaStream_t s, cudaGraph_t *g),
                  (own(s), g))
DRAGON_PER_THREAD(cudaStreamGetCaptureInfo,
                  (cudaStream_t s, cudaStreamCaptureStatus *c,
                   unsigned long long *i, cudaGraph_t *g,
                   const cudaGraphNode_t **d, const cudaGraphEdgeData **e,
                   size_t *n),
                  (own(s), c, i, g, d, e, n))
DRAGON_PER_THREAD(cudaEventRecord, (cudaEvent_t e, cudaStream_t s), (e, own(s)))
DRAGON_PER_THREAD(cudaEventRecordWithFlags,
                  (cudaEvent_t e, cudaStream_t s, unsigned f), (e, own(s), f))

} // extern "C"
