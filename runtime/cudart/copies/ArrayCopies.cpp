//===- ArrayCopies.cpp - copies to and from CUDA arrays -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On the cpu device an array is pitched host memory, and a copy one of those
// between pitched memory. On a GPU these calls are NVIDIA's: what they copy of
// a buffer comes to the device for the call, in parts where it does not fit.
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/capture/Capture.h"
#include "runtime/cudart/copies/Copy.h"
#include "runtime/cudart/launches/HostFunctions.h"
#include "runtime/cudart/modules/NvidiaOrOwn.h"
#include "runtime/cudart/textures/Arrays.h"

#include <algorithm>

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

//===----------------------------------------------------------------------===//
// On a GPU
//===----------------------------------------------------------------------===//

/// Rows of memory that NVIDIA's copy to or from an array works on.
struct Rows {
  void *memory;
  size_t pitch, width, height;
  bool written;
  cudaStream_t stream;

  size_t bytes() const { return height ? pitch * (height - 1) + width : 0; }
};

/// Whether the runtime must bring it to the device for a copy of NVIDIA's.
bool isOurs(Front &front, const Rows &rows) {
  return rows.bytes() &&
         front.runtime.buffers().find(reinterpret_cast<uintptr_t>(rows.memory));
}

/// copy() while the rows are on the device; `fits`: false if they cannot be.
template <typename Copy>
Result whileThere(Front &front, const Rows &rows, bool &fits, Copy &&copy) {
  LibraryHold hold;
  Status status = front.runtime.libraries().beginLibraryCall(
      {"a copy of an array",
       {{reinterpret_cast<uintptr_t>(rows.memory), rows.bytes(),
         rows.written ? LaunchNeed::Write : LaunchNeed::Read}},
       front.queue(rows.stream)},
      hold);
  fits = status.code() != DRAGON_ERROR_OUT_OF_MEMORY;
  if (!fits && rows.height > 1)
    return cudaSuccess;
  DRAGON_CHECK(status);
  cudaError_t error = copy();
  DRAGON_CHECK(front.runtime.libraries().endLibraryCall(hold));
  return error;
}

/// copy(first, count) of these rows, in an order; all at once if they fit.
template <typename Copy>
Result withRows(Front &front, const Rows &rows, Copy &&copy) {
  if (rows.written)
    DRAGON_CHECK(deviceMayWrite(front, rows.memory, rows.bytes()));
  if (!isOurs(front, rows))
    return copy(size_t(0), rows.height);
  if (capturing()) {
    DRAGON_CHECK(keepResident(front, rows.memory));
    return copy(size_t(0), rows.height);
  }
  waitForHostFunctions(front, rows.stream);
  size_t count = rows.height;
  for (size_t first = 0; first < rows.height;) {
    count = std::min(count, rows.height - first);
    Rows part = rows;
    part.memory = static_cast<char *>(rows.memory) + first * rows.pitch;
    part.height = count;
    bool fits;
    DRAGON_CHECK(
        whileThere(front, part, fits, [&] { return copy(first, count); }));
    if (fits)
      first += count;
    else
      count = (count + 1) / 2;
  }
  return cudaSuccess;
}

char *rowAt(const void *memory, size_t pitch, size_t row) {
  return static_cast<char *>(const_cast<void *>(memory)) + row * pitch;
}

/// The call of NVIDIA's on a GPU, for parts of its rows.
template <typename Nvidia, typename Own>
cudaError_t onEitherByRows(const Rows &rows, Nvidia &&nvidia, Own &&own) {
  return withDevice([&](Front &front) -> Result {
    if (!front.gpu)
      return own(front);
    DRAGON_CHECK(modules().initialise(front));
    return withRows(front, rows, nvidia);
  });
}

/// The same for memory.width bytes in a row, over the ends of the array's rows,
/// by line(x, row of the array, byte, bytes). Where they do not fit, whole rows
/// are copied by plane(row of the array, byte, width, rows).
template <typename Line, typename Plane, typename Own>
cudaError_t onEitherByLines(cudaArray_const_t array, size_t x, size_t y,
                            const Rows &memory, Line &&line, Plane &&plane,
                            Own &&own) {
  return withDevice([&](Front &front) -> Result {
    if (!front.gpu)
      return own(front);
    DRAGON_CHECK(modules().initialise(front));
    const size_t bytes = memory.width;
    cudaChannelFormatDesc format{};
    cudaExtent extent{};
    unsigned flags = 0;
    DRAGON_CHECK(DRAGON_NVIDIA(cudaArrayGetInfo, &format, &extent, &flags,
                               const_cast<cudaArray_t>(array)));
    const size_t row =
        extent.width * size_t(format.x + format.y + format.z + format.w) / 8;
    auto copyLine = [&](size_t at, size_t length) {
      Rows part = memory;
      part.memory = rowAt(memory.memory, 1, at);
      part.pitch = part.width = length;
      return withRows(front, part,
                      [&](size_t, size_t) { return line(x, y, at, length); });
    };
    if (!row || x >= row || bytes <= row - x || capturing() ||
        !isOurs(front, memory))
      return copyLine(0, bytes);
    size_t done = 0;
    if (x) {
      DRAGON_CHECK(copyLine(0, row - x));
      done = row - x, x = 0, ++y;
    }
    if (const size_t whole = (bytes - done) / row) {
      Rows part = memory;
      part.memory = rowAt(memory.memory, 1, done);
      part.pitch = part.width = row;
      part.height = whole;
      DRAGON_CHECK(withRows(front, part, [&](size_t first, size_t count) {
        return plane(y + first, done + first * row, row, count);
      }));
      done += whole * row, y += whole;
    }
    return done < bytes ? copyLine(done, bytes - done) : cudaSuccess;
  });
}

} // namespace

namespace dragon {

Result copyNvidiaArrays3D(Front &front, const cudaMemcpy3DParms &p,
                          cudaStream_t stream, bool async) {
  auto copy = [&](const cudaMemcpy3DParms &part) {
    return async ? DRAGON_NVIDIA(cudaMemcpy3DAsync, &part, stream)
                 : DRAGON_NVIDIA(cudaMemcpy3D, &part);
  };
  const bool written = p.srcArray; // the memory, if there is any
  const cudaPitchedPtr &memory = written ? p.dstPtr : p.srcPtr;
  const cudaPos &at = written ? p.dstPos : p.srcPos;
  if ((p.srcArray && p.dstArray) || !memory.ptr)
    return copy(p);
  if (!memory.pitch) {
    DRAGON_CHECK(deviceMayWriteAnywhere(front));
    DRAGON_CHECK(keepResident(front, memory.ptr));
    return copy(p);
  }
  // A row of these is a plane. One that is alone need not have its height.
  const size_t plane = memory.pitch * memory.ysize;
  const size_t used = memory.pitch * (at.y + p.extent.height);
  Rows planes{rowAt(memory.ptr, plane, at.z),
              plane,
              used,
              p.extent.depth,
              written,
              stream};
  return withRows(front, planes, [&](size_t first, size_t count) {
    cudaMemcpy3DParms part = p;
    part.srcPos.z += first;
    part.dstPos.z += first;
    part.extent.depth = count;
    return copy(part);
  });
}

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
  return onEitherByRows(
      {const_cast<void *>(from), pitch, width, height, false, nullptr},
      [&](size_t row, size_t rows) {
        return DRAGON_NVIDIA(cudaMemcpy2DToArray, to, x, y + row,
                             rowAt(from, pitch, row), pitch, width, rows, kind);
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
  return onEitherByRows(
      {const_cast<void *>(from), pitch, width, height, false, stream},
      [&](size_t row, size_t rows) {
        return DRAGON_NVIDIA(cudaMemcpy2DToArrayAsync, to, x, y + row,
                             rowAt(from, pitch, row), pitch, width, rows, kind,
                             stream);
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
  return onEitherByRows(
      {to, pitch, width, height, true, nullptr},
      [&](size_t row, size_t rows) {
        return DRAGON_NVIDIA(cudaMemcpy2DFromArray, rowAt(to, pitch, row),
                             pitch, from, x, y + row, width, rows, kind);
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
  return onEitherByRows(
      {to, pitch, width, height, true, stream},
      [&](size_t row, size_t rows) {
        return DRAGON_NVIDIA(cudaMemcpy2DFromArrayAsync, rowAt(to, pitch, row),
                             pitch, from, x, y + row, width, rows, kind,
                             stream);
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
      false,
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
  return onEitherByLines(
      to, x, y, {const_cast<void *>(from), 0, bytes, 1, false, nullptr},
      [&](size_t x, size_t y, size_t at, size_t length) {
        return DRAGON_NVIDIA(cudaMemcpyToArray, to, x, y, rowAt(from, 1, at),
                             length, kind);
      },
      [&](size_t y, size_t at, size_t width, size_t rows) {
        return DRAGON_NVIDIA(cudaMemcpy2DToArray, to, 0, y, rowAt(from, 1, at),
                             width, width, rows, kind);
      },
      [&](Front &front) {
        return lineTo(front, to, x, y, from, bytes, nullptr, false);
      });
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y,
                                   const void *from, size_t bytes,
                                   cudaMemcpyKind kind, cudaStream_t stream) {
  return onEitherByLines(
      to, x, y, {const_cast<void *>(from), 0, bytes, 1, false, stream},
      [&](size_t x, size_t y, size_t at, size_t length) {
        return DRAGON_NVIDIA(cudaMemcpyToArrayAsync, to, x, y,
                             rowAt(from, 1, at), length, kind, stream);
      },
      [&](size_t y, size_t at, size_t width, size_t rows) {
        return DRAGON_NVIDIA(cudaMemcpy2DToArrayAsync, to, 0, y,
                             rowAt(from, 1, at), width, width, rows, kind,
                             stream);
      },
      [&](Front &front) {
        return lineTo(front, to, x, y, from, bytes, stream, true);
      });
}

cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t x,
                                size_t y, size_t bytes, cudaMemcpyKind kind) {
  return onEitherByLines(
      from, x, y, {to, 0, bytes, 1, true, nullptr},
      [&](size_t x, size_t y, size_t at, size_t length) {
        return DRAGON_NVIDIA(cudaMemcpyFromArray, rowAt(to, 1, at), from, x, y,
                             length, kind);
      },
      [&](size_t y, size_t at, size_t width, size_t rows) {
        return DRAGON_NVIDIA(cudaMemcpy2DFromArray, rowAt(to, 1, at), width,
                             from, 0, y, width, rows, kind);
      },
      [&](Front &front) {
        return lineFrom(front, to, from, x, y, bytes, nullptr, false);
      });
}

cudaError_t cudaMemcpyFromArrayAsync(void *to, cudaArray_const_t from, size_t x,
                                     size_t y, size_t bytes,
                                     cudaMemcpyKind kind, cudaStream_t stream) {
  return onEitherByLines(
      from, x, y, {to, 0, bytes, 1, true, stream},
      [&](size_t x, size_t y, size_t at, size_t length) {
        return DRAGON_NVIDIA(cudaMemcpyFromArrayAsync, rowAt(to, 1, at), from,
                             x, y, length, kind, stream);
      },
      [&](size_t y, size_t at, size_t width, size_t rows) {
        return DRAGON_NVIDIA(cudaMemcpy2DFromArrayAsync, rowAt(to, 1, at),
                             width, from, 0, y, width, rows, kind, stream);
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
      false,
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
