//===- ArrayCopies.cpp - copies to and from CUDA arrays -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On the cpu device an array is pitched host memory, and a copy one of those
// between pitched memory; on a GPU these calls are NVIDIA's.
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/Arrays.h"
#include "runtime/cudart/Copy.h"

using namespace dragon;

namespace {

/// One side of a copy.
struct Side {
  char *address;
  size_t pitch, slice;
};

/// Rows of `width` bytes at this place (x in bytes) of an array.
Result sideOf(cudaArray_const_t handle, size_t x, size_t y, size_t width,
              size_t height, Side &side) {
  Array *array = findArray(handle);
  if (!array)
    return cudaErrorInvalidResourceHandle;
  const TextureImage &image = array->image;
  if (x > image.pitch || width > image.pitch - x || y > image.height ||
      height > image.height - y)
    return cudaErrorInvalidValue;
  side = {image.base + y * image.pitch + x, image.pitch, image.slice};
  return cudaSuccess;
}

Result copyRows(Front &front, const Side &to, const Side &from, size_t width,
                size_t height, cudaStream_t stream, bool async) {
  return copyPitched(front, to.address, to.pitch, to.slice, from.address,
                     from.pitch, from.slice, {width, height, 1},
                     cudaMemcpyDefault, stream, async);
}

Result planeTo(Front &front, cudaArray_t to, size_t x, size_t y,
               const void *from, size_t pitch, size_t width, size_t height,
               cudaStream_t stream, bool async) {
  Side target, source{static_cast<char *>(const_cast<void *>(from)), pitch, 0};
  DRAGON_CHECK(sideOf(to, x, y, width, height, target));
  return copyRows(front, target, source, width, height, stream, async);
}

Result planeFrom(Front &front, void *to, size_t pitch, cudaArray_const_t from,
                 size_t x, size_t y, size_t width, size_t height,
                 cudaStream_t stream, bool async) {
  Side target{static_cast<char *>(to), pitch, 0}, source;
  DRAGON_CHECK(sideOf(from, x, y, width, height, source));
  return copyRows(front, target, source, width, height, stream, async);
}

/// `bytes` in a row from this place on, over the ends of rows.
Result lineOf(cudaArray_const_t handle, size_t x, size_t y, size_t bytes,
              Side &side) {
  Array *array = findArray(handle);
  if (!array)
    return cudaErrorInvalidResourceHandle;
  const TextureImage &image = array->image;
  size_t begin = y * image.pitch + x, whole = image.pitch * image.height;
  if (begin > whole || bytes > whole - begin)
    return cudaErrorInvalidValue;
  side = {image.base + begin, bytes, bytes};
  return cudaSuccess;
}

Result lineTo(Front &front, cudaArray_t to, size_t x, size_t y,
              const void *from, size_t bytes, cudaStream_t stream, bool async) {
  Side target,
      source{static_cast<char *>(const_cast<void *>(from)), bytes, bytes};
  DRAGON_CHECK(lineOf(to, x, y, bytes, target));
  return copyRows(front, target, source, bytes, 1, stream, async);
}

Result lineFrom(Front &front, void *to, cudaArray_const_t from, size_t x,
                size_t y, size_t bytes, cudaStream_t stream, bool async) {
  Side target{static_cast<char *>(to), bytes, bytes}, source;
  DRAGON_CHECK(lineOf(from, x, y, bytes, source));
  return copyRows(front, target, source, bytes, 1, stream, async);
}

} // namespace

namespace dragon {

Result copyArrays3D(Front &front, const cudaMemcpy3DParms &p,
                    cudaStream_t stream, bool async) {
  Array *fromArray = p.srcArray ? findArray(p.srcArray) : nullptr;
  Array *toArray = p.dstArray ? findArray(p.dstArray) : nullptr;
  if (!fromArray && !toArray)
    return cudaErrorInvalidValue;
  if ((p.srcArray && (!fromArray || p.srcPtr.ptr)) ||
      (p.dstArray && (!toArray || p.dstPtr.ptr)))
    return cudaErrorInvalidValue;
  // An array makes the extent one of texels.
  size_t texel = (fromArray ? fromArray : toArray)->format.bytes();
  if (fromArray && toArray && toArray->format.bytes() != texel)
    return cudaErrorInvalidValue;
  cudaExtent extent = p.extent;
  extent.width *= texel;
  auto side = [&](const Array *array, const cudaPitchedPtr &memory,
                  const cudaPos &at, Side &result) -> Result {
    if (!array) {
      size_t slice = memory.pitch * memory.ysize;
      result = {static_cast<char *>(memory.ptr) + at.z * slice +
                    at.y * memory.pitch + at.x,
                memory.pitch, slice};
      return memory.ptr ? cudaSuccess : cudaErrorInvalidValue;
    }
    const TextureImage &image = array->image;
    if (at.x > image.width || p.extent.width > image.width - at.x ||
        at.y > image.height || extent.height > image.height - at.y ||
        at.z > image.depth || extent.depth > image.depth - at.z)
      return cudaErrorInvalidValue;
    result = {image.base + at.z * image.slice + at.y * image.pitch +
                  at.x * texel,
              image.pitch, image.slice};
    return cudaSuccess;
  };
  Side from, to;
  DRAGON_CHECK(side(fromArray, p.srcPtr, p.srcPos, from));
  DRAGON_CHECK(side(toArray, p.dstPtr, p.dstPos, to));
  return copyPitched(front, to.address, to.pitch, to.slice, from.address,
                     from.pitch, from.slice, extent, cudaMemcpyDefault, stream,
                     async);
}

} // namespace dragon

extern "C" {

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y,
                                const void *from, size_t pitch, size_t width,
                                size_t height, cudaMemcpyKind kind) {
  return onEither(
      true,
      [&] {
        return DRAGON_NVIDIA(cudaMemcpy2DToArray, to, x, y, from, pitch, width,
                             height, kind);
      },
      [&](Front &front) {
        return planeTo(front, to, x, y, from, pitch, width, height, nullptr,
                       false);
      });
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y,
                                     const void *from, size_t pitch,
                                     size_t width, size_t height,
                                     cudaMemcpyKind kind, cudaStream_t stream) {
  return onEither(
      true,
      [&] {
        return DRAGON_NVIDIA(cudaMemcpy2DToArrayAsync, to, x, y, from, pitch,
                             width, height, kind, stream);
      },
      [&](Front &front) {
        return planeTo(front, to, x, y, from, pitch, width, height, stream,
                       true);
      });
}

cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch,
                                  cudaArray_const_t from, size_t x, size_t y,
                                  size_t width, size_t height,
                                  cudaMemcpyKind kind) {
  return onEither(
      true,
      [&] {
        return DRAGON_NVIDIA(cudaMemcpy2DFromArray, to, pitch, from, x, y,
                             width, height, kind);
      },
      [&](Front &front) {
        return planeFrom(front, to, pitch, from, x, y, width, height, nullptr,
                         false);
      });
}

cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch,
                                       cudaArray_const_t from, size_t x,
                                       size_t y, size_t width, size_t height,
                                       cudaMemcpyKind kind,
                                       cudaStream_t stream) {
  return onEither(
      true,
      [&] {
        return DRAGON_NVIDIA(cudaMemcpy2DFromArrayAsync, to, pitch, from, x, y,
                             width, height, kind, stream);
      },
      [&](Front &front) {
        return planeFrom(front, to, pitch, from, x, y, width, height, stream,
                         true);
      });
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t toX, size_t toY,
                                     cudaArray_const_t from, size_t fromX,
                                     size_t fromY, size_t width, size_t height,
                                     cudaMemcpyKind kind) {
  return onEither(
      true,
      [&] {
        return DRAGON_NVIDIA(cudaMemcpy2DArrayToArray, to, toX, toY, from,
                             fromX, fromY, width, height, kind);
      },
      [&](Front &front) -> Result {
        Side target, source;
        DRAGON_CHECK(sideOf(to, toX, toY, width, height, target));
        DRAGON_CHECK(sideOf(from, fromX, fromY, width, height, source));
        return copyRows(front, target, source, width, height, nullptr, false);
      });
}

cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y,
                              const void *from, size_t bytes,
                              cudaMemcpyKind kind) {
  return onEither(
      true,
      [&] {
        return DRAGON_NVIDIA(cudaMemcpyToArray, to, x, y, from, bytes, kind);
      },
      [&](Front &front) {
        return lineTo(front, to, x, y, from, bytes, nullptr, false);
      });
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y,
                                   const void *from, size_t bytes,
                                   cudaMemcpyKind kind, cudaStream_t stream) {
  return onEither(
      true,
      [&] {
        return DRAGON_NVIDIA(cudaMemcpyToArrayAsync, to, x, y, from, bytes,
                             kind, stream);
      },
      [&](Front &front) {
        return lineTo(front, to, x, y, from, bytes, stream, true);
      });
}

cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t x,
                                size_t y, size_t bytes, cudaMemcpyKind kind) {
  return onEither(
      true,
      [&] {
        return DRAGON_NVIDIA(cudaMemcpyFromArray, to, from, x, y, bytes, kind);
      },
      [&](Front &front) {
        return lineFrom(front, to, from, x, y, bytes, nullptr, false);
      });
}

cudaError_t cudaMemcpyFromArrayAsync(void *to, cudaArray_const_t from, size_t x,
                                     size_t y, size_t bytes,
                                     cudaMemcpyKind kind, cudaStream_t stream) {
  return onEither(
      true,
      [&] {
        return DRAGON_NVIDIA(cudaMemcpyFromArrayAsync, to, from, x, y, bytes,
                             kind, stream);
      },
      [&](Front &front) {
        return lineFrom(front, to, from, x, y, bytes, stream, true);
      });
}

cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, size_t toX, size_t toY,
                                   cudaArray_const_t from, size_t fromX,
                                   size_t fromY, size_t bytes,
                                   cudaMemcpyKind kind) {
  return onEither(
      true,
      [&] {
        return DRAGON_NVIDIA(cudaMemcpyArrayToArray, to, toX, toY, from, fromX,
                             fromY, bytes, kind);
      },
      [&](Front &front) -> Result {
        Side target, source;
        DRAGON_CHECK(lineOf(to, toX, toY, bytes, target));
        DRAGON_CHECK(lineOf(from, fromX, fromY, bytes, source));
        return copyRows(front, target, source, bytes, 1, nullptr, false);
      });
}

} // extern "C"
