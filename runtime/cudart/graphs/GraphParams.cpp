//===- GraphParams.cpp - what the nodes of a graph are to do --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The calls that ask for the parameters of nodes, and change them.
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/graphs/GraphCalls.h"
#include "runtime/cudart/launches/KernelWork.h"

using namespace dragon;

namespace {

/// What the work's parameters are, if it is of that kind.
template <typename Work, typename Params>
Result getParams(cudaGraphNode_t node, Params *params) {
  GraphNode *found = findNode(node);
  const Work *work = found ? std::get_if<Work>(&found->work) : nullptr;
  if (!work || !params)
    return cudaErrorInvalidValue;
  *params = work->params;
  return cudaSuccess;
}

} // namespace

namespace dragon {

Result setWork(GraphNode *node, GraphWork work) {
  if (!node || node->work.index() != work.index())
    return cudaErrorInvalidValue;
  node->work = std::move(work);
  return cudaSuccess;
}

} // namespace dragon

extern "C" {

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node,
                                         cudaKernelNodeParams *params) {
  return DRAGON_EITHER(false, cudaGraphKernelNodeGetParams, (node, params),
                       { return getParams<KernelWork>(node, params); });
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node,
                                         cudaMemcpy3DParms *params) {
  return DRAGON_EITHER(false, cudaGraphMemcpyNodeGetParams, (node, params),
                       { return getParams<CopyWork>(node, params); });
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node,
                                         cudaMemsetParams *params) {
  return DRAGON_EITHER(false, cudaGraphMemsetNodeGetParams, (node, params),
                       { return getParams<SetWork>(node, params); });
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node,
                                       cudaHostNodeParams *params) {
  return DRAGON_EITHER(false, cudaGraphHostNodeGetParams, (node, params),
                       { return getParams<HostWork>(node, params); });
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                         const cudaKernelNodeParams *params) {
  return DRAGON_EITHER(false, cudaGraphKernelNodeSetParams, (node, params), {
    KernelWork work;
    if (!params)
      return cudaErrorInvalidValue;
    DRAGON_CHECK(kernelWork(front, *params, false, work));
    return setWork(findNode(node), std::move(work));
  });
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                         const cudaMemcpy3DParms *params) {
  if (!params)
    return leave(cudaErrorInvalidValue);
  return DRAGON_EITHER_THERE(
      (sideOf(params->srcPtr, params->extent),
       sideOf(params->dstPtr, params->extent)),
      cudaGraphMemcpyNodeSetParams, (node, params),
      { return setWork(findNode(node), CopyWork{*params}); });
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to,
                                           const void *from, size_t bytes,
                                           cudaMemcpyKind kind) {
  return DRAGON_EITHER_THERE(
      (MemoryPart{to, bytes}, MemoryPart{from, bytes}),
      cudaGraphMemcpyNodeSetParams1D, (node, to, from, bytes, kind),
      { return setWork(findNode(node), linearCopy(to, from, bytes, kind)); });
}

cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node,
                                                 const void *symbol,
                                                 const void *from, size_t bytes,
                                                 size_t offset,
                                                 cudaMemcpyKind kind) {
  char *address = nullptr;
  if (cudaError_t error = symbolAddress(symbol, offset, bytes, address).error())
    return leave(error);
  return cudaGraphMemcpyNodeSetParams1D(node, address, from, bytes, kind);
}

cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node,
                                                   void *to, const void *symbol,
                                                   size_t bytes, size_t offset,
                                                   cudaMemcpyKind kind) {
  char *address = nullptr;
  if (cudaError_t error = symbolAddress(symbol, offset, bytes, address).error())
    return leave(error);
  return cudaGraphMemcpyNodeSetParams1D(node, to, address, bytes, kind);
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node,
                                         const cudaMemsetParams *params) {
  if (!params)
    return leave(cudaErrorInvalidValue);
  return DRAGON_EITHER_THERE((partOf(*params)), cudaGraphMemsetNodeSetParams,
                             (node, params), {
                               DRAGON_CHECK(checkSet(*params));
                               return setWork(findNode(node), SetWork{*params});
                             });
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node,
                                       const cudaHostNodeParams *params) {
  return DRAGON_EITHER(false, cudaGraphHostNodeSetParams, (node, params), {
    return params && params->fn ? setWork(findNode(node), HostWork{*params})
                                : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node,
                                   cudaGraphNodeParams *params) {
  if (!params)
    return leave(cudaErrorInvalidValue);
  switch (params->type) {
  case cudaGraphNodeTypeKernel: {
    const cudaKernelNodeParams same = kernelParams(*params);
    return cudaGraphKernelNodeSetParams(node, &same);
  }
  case cudaGraphNodeTypeMemcpy:
    return cudaGraphMemcpyNodeSetParams(node, &params->memcpy.copyParams);
  case cudaGraphNodeTypeMemset: {
    const cudaMemsetParams same = setParams(*params);
    return cudaGraphMemsetNodeSetParams(node, &same);
  }
  case cudaGraphNodeTypeHost: {
    const cudaHostNodeParams same{params->host.fn, params->host.userData};
    return cudaGraphHostNodeSetParams(node, &same);
  }
  default:
    return DRAGON_EITHER(false, cudaGraphNodeSetParams, (node, params),
                         { return cudaErrorNotSupported; });
  }
}

} // extern "C"
