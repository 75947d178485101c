//===- CopyPitched.cpp - copies and fills in two and three dimensions -----===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows without gaps are one linear copy; others are copied row by row. Copies
// of CUDA arrays are NVIDIA's on a GPU (ArrayCopies.cpp).
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/capture/Capture.h"
#include "runtime/cudart/copies/Copy.h"
#include "runtime/cudart/front/Forward.h"
#include "runtime/cudart/launches/HostFunctions.h"
#include "runtime/cudart/memory/Memory.h"

#include <cuda_runtime_api.h>

using namespace dragon;

namespace {

/// A box of bytes in pitched memory.
struct Box {
  size_t width, height, depth;
  char *to;
  size_t toPitch, toSlice;
  const char *from; ///< null: fill
  size_t fromPitch, fromSlice;
};

/// Bytes from the first to the last of the box; false if they overflow.
bool extentOf(const Box &box, size_t pitch, size_t slice, size_t &bytes) {
  size_t rows, slices;
  return !__builtin_mul_overflow(box.height - 1, pitch, &rows) &&
         !__builtin_mul_overflow(box.depth - 1, slice, &slices) &&
         !__builtin_add_overflow(rows, slices, &bytes) &&
         !__builtin_add_overflow(bytes, box.width, &bytes);
}

/// Calls `row(to, from, bytes)` for pieces as long as the layouts allow.
template <typename Row> Result forRows(const Box &box, Row &&row) {
  bool rowsAbut =
      box.height == 1 ||
      (box.toPitch == box.width && (!box.from || box.fromPitch == box.width));
  size_t plane = box.width * box.height;
  bool planesAbut =
      rowsAbut && (box.depth == 1 || (box.toSlice == plane &&
                                      (!box.from || box.fromSlice == plane)));
  if (planesAbut)
    return row(box.to, box.from, plane * box.depth);
  for (size_t z = 0; z < box.depth; ++z) {
    char *to = box.to + z * box.toSlice;
    const char *from = box.from ? box.from + z * box.fromSlice : nullptr;
    if (rowsAbut) {
      DRAGON_CHECK(row(to, from, plane));
      continue;
    }
    for (size_t y = 0; y < box.height; ++y)
      DRAGON_CHECK(row(to + y * box.toPitch,
                       from ? from + y * box.fromPitch : nullptr, box.width));
  }
  return cudaSuccess;
}

Result copyBox(Front &front, const Box &box, cudaMemcpyKind kind,
               cudaStream_t stream, bool async) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
    return cudaErrorInvalidMemcpyDirection;
  if (!box.width || !box.height || !box.depth)
    return cudaSuccess;
  if ((box.height > 1 || box.depth > 1) &&
      (box.toPitch < box.width || box.fromPitch < box.width))
    return cudaErrorInvalidPitchValue;
  size_t toBytes, fromBytes;
  if (!extentOf(box, box.toPitch, box.toSlice, toBytes) ||
      !extentOf(box, box.fromPitch, box.fromSlice, fromBytes))
    return cudaErrorInvalidValue;
  DRAGON_CHECK(checkCopy(front, box.to, box.from, box.width, kind));
  if (!staysInBuffer(front, reinterpret_cast<uintptr_t>(box.to), toBytes) ||
      !staysInBuffer(front, reinterpret_cast<uintptr_t>(box.from), fromBytes))
    return cudaErrorInvalidValue;
  DRAGON_CHECK(forRows(box, [&](char *to, const char *from, size_t bytes) {
    return copyBytes(front, to, from, bytes, stream, true);
  }));
  return async ? Result(cudaSuccess)
               : Result(front.device.synchronize(front.queue(stream)));
}

Result fillBox(Front &front, const Box &box, int value, cudaStream_t stream) {
  if (!box.width || !box.height || !box.depth)
    return cudaSuccess;
  size_t bytes;
  if ((box.height > 1 || box.depth > 1) && box.toPitch < box.width)
    return cudaErrorInvalidPitchValue;
  if (!box.to || !extentOf(box, box.toPitch, box.toSlice, bytes) ||
      !isDeviceAddress(front, reinterpret_cast<uintptr_t>(box.to)) ||
      !staysInBuffer(front, reinterpret_cast<uintptr_t>(box.to), bytes))
    return cudaErrorInvalidValue;
  DRAGON_CHECK(deviceMayWrite(front, box.to, bytes));
  waitForHostFunctions(front, stream);
  return forRows(box, [&](char *to, const char *, size_t row) -> Result {
    return front.runtime.buffers().fill(to, uint32_t(value) & 0xff, 1, row,
                                        front.queue(stream));
  });
}

cudaError_t copy2D(void *to, size_t toPitch, const void *from, size_t fromPitch,
                   size_t width, size_t height, cudaMemcpyKind kind,
                   cudaStream_t stream, bool async) {
  return withDevice([&](Front &front) -> Result {
    if (capturing() && async) {
      if (isCapturedByNvidia(front, stream))
        return whileThere(
            front, {{to, toPitch * height}, {from, fromPitch * height}}, [&] {
              return DRAGON_NVIDIA(cudaMemcpy2DAsync, to, toPitch, from,
                                   fromPitch, width, height, kind, stream);
            });
      if (!front.gpu && isCaptured(stream))
        return captureWork(stream, planeCopy(to, toPitch, from, fromPitch,
                                             width, height, kind));
    }
    Box box{width,
            height,
            1,
            static_cast<char *>(to),
            toPitch,
            0,
            static_cast<const char *>(from),
            fromPitch,
            0};
    return copyBox(front, box, kind, stream, async);
  });
}

cudaError_t fill2D(void *to, size_t pitch, int value, size_t width,
                   size_t height, cudaStream_t stream) {
  return withDevice([&](Front &front) -> Result {
    if (isCapturedByNvidia(front, stream))
      return whileThere(front, {{to, pitch * height}}, [&] {
        return DRAGON_NVIDIA(cudaMemset2DAsync, to, pitch, value, width, height,
                             stream);
      });
    if (capturing() && !front.gpu && isCaptured(stream) && width && height)
      return captureWork(stream, setOfBytes(to, pitch, value, width, height));
    Box box{width, height, 1, static_cast<char *>(to), pitch, 0, nullptr, 0, 0};
    return fillBox(front, box, value, stream);
  });
}

/// All that one side of a 3D copy can be about.
MemoryPart partOf(const cudaPitchedPtr &memory, const cudaMemcpy3DParms &p) {
  return {memory.ptr, memory.pitch * memory.ysize * p.extent.depth};
}

/// Memory and offset of one side of a 3D copy.
char *startOf(const cudaPitchedPtr &memory, const cudaPos &position) {
  return static_cast<char *>(memory.ptr) +
         position.z * memory.pitch * memory.ysize + position.y * memory.pitch +
         position.x;
}

cudaError_t copy3D(const cudaMemcpy3DParms *p, cudaStream_t stream,
                   bool async) {
  return withDevice([&](Front &front) -> Result {
    if (!p)
      return cudaErrorInvalidValue;
    if (capturing() && async && !front.gpu && isCaptured(stream))
      return captureWork(stream, CopyWork{*p});
    if (!front.gpu && (p->srcArray || p->dstArray))
      return copyArrays3D(front, *p, stream, async);
    if (front.gpu && (p->srcArray || p->dstArray))
      return copyNvidiaArrays3D(front, *p, stream, async);
    if (async && isCapturedByNvidia(front, stream))
      return whileThere(
          front, {partOf(p->srcPtr, *p), partOf(p->dstPtr, *p)},
          [&] { return DRAGON_NVIDIA(cudaMemcpy3DAsync, p, stream); });
    Box box{p->extent.width,
            p->extent.height,
            p->extent.depth,
            startOf(p->dstPtr, p->dstPos),
            p->dstPtr.pitch,
            p->dstPtr.pitch * p->dstPtr.ysize,
            startOf(p->srcPtr, p->srcPos),
            p->srcPtr.pitch,
            p->srcPtr.pitch * p->srcPtr.ysize};
    if (!p->srcPtr.ptr || !p->dstPtr.ptr)
      return cudaErrorInvalidValue;
    return copyBox(front, box, p->kind, stream, async);
  });
}

cudaError_t copy3DPeer(const cudaMemcpy3DPeerParms *p, cudaStream_t stream,
                       bool async) {
  if (!p)
    return leave(cudaErrorInvalidValue);
  if (p->srcDevice != 0 || p->dstDevice != 0)
    return leave(cudaErrorInvalidDevice);
  cudaMemcpy3DParms same{};
  same.srcArray = p->srcArray, same.srcPos = p->srcPos;
  same.srcPtr = p->srcPtr, same.dstArray = p->dstArray;
  same.dstPos = p->dstPos, same.dstPtr = p->dstPtr;
  same.extent = p->extent;
  same.kind = cudaMemcpyDeviceToDevice;
  return copy3D(&same, stream, async);
}

cudaError_t fill3D(cudaPitchedPtr memory, int value, cudaExtent extent,
                   cudaStream_t stream) {
  return withDevice([&](Front &front) -> Result {
    if (isCapturedByNvidia(front, stream))
      return whileThere(
          front, {{memory.ptr, memory.pitch * memory.ysize * extent.depth}},
          [&] {
            return DRAGON_NVIDIA(cudaMemset3DAsync, memory, value, extent,
                                 stream);
          });
    if (capturing() && !front.gpu && isCaptured(stream) && extent.width &&
        extent.height) {
      for (size_t z = 0; z < extent.depth; ++z)
        DRAGON_CHECK(
            captureWork(stream, setOfBytes(static_cast<char *>(memory.ptr) +
                                               z * memory.pitch * memory.ysize,
                                           memory.pitch, value, extent.width,
                                           extent.height)));
      return cudaSuccess;
    }
    Box box{extent.width,
            extent.height,
            extent.depth,
            static_cast<char *>(memory.ptr),
            memory.pitch,
            memory.pitch * memory.ysize,
            nullptr,
            0,
            0};
    return fillBox(front, box, value, stream);
  });
}

} // namespace

namespace dragon {

Result copyPitched(Front &front, void *to, size_t toPitch, size_t toSlice,
                   const void *from, size_t fromPitch, size_t fromSlice,
                   cudaExtent extent, cudaMemcpyKind kind, cudaStream_t stream,
                   bool async) {
  Box box{extent.width,
          extent.height,
          extent.depth,
          static_cast<char *>(to),
          toPitch,
          toSlice,
          static_cast<const char *>(from),
          fromPitch,
          fromSlice};
  return copyBox(front, box, kind, stream, async);
}

} // namespace dragon

extern "C" {

cudaError_t cudaMemcpy2D(void *to, size_t toPitch, const void *from,
                         size_t fromPitch, size_t width, size_t height,
                         cudaMemcpyKind kind) {
  return copy2D(to, toPitch, from, fromPitch, width, height, kind, nullptr,
                false);
}

cudaError_t cudaMemcpy2D_ptds(void *to, size_t toPitch, const void *from,
                              size_t fromPitch, size_t width, size_t height,
                              cudaMemcpyKind kind) {
  return copy2D(to, toPitch, from, fromPitch, width, height, kind,
                cudaStreamPerThread, false);
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t toPitch, const void *from,
                              size_t fromPitch, size_t width, size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  return copy2D(to, toPitch, from, fromPitch, width, height, kind, stream,
                true);
}

cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width,
                         size_t height) {
  return fill2D(to, pitch, value, width, height, nullptr);
}

cudaError_t cudaMemset2D_ptds(void *to, size_t pitch, int value, size_t width,
                              size_t height) {
  return fill2D(to, pitch, value, width, height, cudaStreamPerThread);
}

cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width,
                              size_t height, cudaStream_t stream) {
  return fill2D(to, pitch, value, width, height, stream);
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *p) {
  return copy3D(p, nullptr, false);
}

cudaError_t cudaMemcpy3D_ptds(const cudaMemcpy3DParms *p) {
  return copy3D(p, cudaStreamPerThread, false);
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms *p, cudaStream_t stream) {
  return copy3D(p, stream, true);
}

cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms *p) {
  return copy3DPeer(p, nullptr, false);
}

cudaError_t cudaMemcpy3DPeer_ptds(const cudaMemcpy3DPeerParms *p) {
  return copy3DPeer(p, cudaStreamPerThread, false);
}

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms *p,
                                  cudaStream_t stream) {
  return copy3DPeer(p, stream, true);
}

cudaError_t cudaMemset3D(cudaPitchedPtr memory, int value, cudaExtent extent) {
  return fill3D(memory, value, extent, nullptr);
}

cudaError_t cudaMemset3D_ptds(cudaPitchedPtr memory, int value,
                              cudaExtent extent) {
  return fill3D(memory, value, extent, cudaStreamPerThread);
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr memory, int value,
                              cudaExtent extent, cudaStream_t stream) {
  return fill3D(memory, value, extent, stream);
}

} // extern "C"
