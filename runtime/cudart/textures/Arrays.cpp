//===- Arrays.cpp - CUDA arrays -------------------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/textures/Arrays.h"

#include "runtime/cudart/launches/HostFunctions.h"
#include "runtime/cudart/modules/NvidiaOrOwn.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

using namespace dragon;

namespace {

std::mutex lock;
/// The levels of mipmapped arrays are among them, owned by those.
std::unordered_map<const void *, std::unique_ptr<Array>> &arrays() {
  static auto *table =
      new std::unordered_map<const void *, std::unique_ptr<Array>>;
  return *table;
}
std::unordered_map<const void *, std::unique_ptr<MipmappedArray>> &mipmapped() {
  static auto *table =
      new std::unordered_map<const void *, std::unique_ptr<MipmappedArray>>;
  return *table;
}

constexpr unsigned KnownFlags = cudaArrayLayered | cudaArraySurfaceLoadStore |
                                cudaArrayCubemap | cudaArrayTextureGather |
                                cudaArrayColorAttachment;

Result makeArray(const cudaChannelFormatDesc &description, cudaExtent extent,
                 unsigned flags, std::unique_ptr<Array> &made) {
  auto array = std::make_unique<Array>();
  if (!formatOf(description, array->format) || !extent.width ||
      (flags & ~KnownFlags))
    return cudaErrorInvalidValue;
  bool cube = flags & cudaArrayCubemap;
  if (cube &&
      (extent.width != extent.height || extent.depth % 6 || !extent.depth))
    return cudaErrorInvalidValue;
  array->description = description;
  array->extent = extent;
  array->flags = flags;
  TextureImage &image = array->image;
  constexpr size_t Most = 1 << 27; // above all limits of CUDA
  if (extent.width > Most || extent.height > Most || extent.depth > Most)
    return cudaErrorInvalidValue;
  image.width = uint32_t(extent.width);
  image.height = uint32_t(std::max<size_t>(extent.height, 1));
  image.depth = uint32_t(std::max<size_t>(extent.depth, 1));
  image.pitch = uint64_t(image.width) * array->format.bytes();
  image.slice = image.pitch * image.height;
  size_t bytes;
  if (__builtin_mul_overflow(image.slice, image.depth, &bytes))
    return cudaErrorMemoryAllocation;
  array->bytes.resize(bytes);
  image.base = array->bytes.data();
  made = std::move(array);
  return cudaSuccess;
}

Result newArray(cudaArray_t *handle, const cudaChannelFormatDesc *description,
                cudaExtent extent, unsigned flags) {
  if (!handle || !description)
    return cudaErrorInvalidValue;
  std::unique_ptr<Array> array;
  DRAGON_CHECK(makeArray(*description, extent, flags, array));
  *handle = reinterpret_cast<cudaArray_t>(array.get());
  std::lock_guard<std::mutex> guard(lock);
  arrays().emplace(array.get(), std::move(array));
  return cudaSuccess;
}

} // namespace

namespace dragon {

bool formatOf(const cudaChannelFormatDesc &description, TexelFormat &format) {
  const int bits[4] = {description.x, description.y, description.z,
                       description.w};
  unsigned channels = 0;
  while (channels < 4 && bits[channels] > 0)
    ++channels;
  for (unsigned c = 0; c < 4; ++c)
    if (bits[c] != (c < channels ? bits[0] : 0))
      return false;
  if (channels != 1 && channels != 2 && channels != 4)
    return false;
  switch (description.f) {
  case cudaChannelFormatKindSigned:
    format.kind = TexelFormat::Kind::Signed;
    break;
  case cudaChannelFormatKindUnsigned:
    format.kind = TexelFormat::Kind::Unsigned;
    break;
  case cudaChannelFormatKindFloat:
    format.kind = TexelFormat::Kind::Float;
    break;
  default:
    return false;
  }
  if (bits[0] != 32 && bits[0] != 16 &&
      (bits[0] != 8 || format.kind == TexelFormat::Kind::Float))
    return false;
  format.channels = uint8_t(channels);
  format.channelBytes = uint8_t(bits[0] / 8);
  return true;
}

Array *findArray(cudaArray_const_t array) {
  std::lock_guard<std::mutex> guard(lock);
  if (auto it = arrays().find(array); it != arrays().end())
    return it->second.get();
  for (auto &[handle, levels] : mipmapped())
    for (auto &level : levels->levels)
      if (static_cast<const void *>(level.get()) == array)
        return level.get();
  return nullptr;
}

MipmappedArray *findMipmappedArray(cudaMipmappedArray_const_t array) {
  std::lock_guard<std::mutex> guard(lock);
  auto it = mipmapped().find(array);
  return it != mipmapped().end() ? it->second.get() : nullptr;
}

} // namespace dragon

extern "C" {

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                            cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

cudaError_t cudaMallocArray(cudaArray_t *array,
                            const cudaChannelFormatDesc *description,
                            size_t width, size_t height, unsigned flags) {
  return onEither(
      false,
      [&] {
        return DRAGON_NVIDIA(cudaMallocArray, array, description, width, height,
                             flags);
      },
      [&](Front &) -> Result {
        if (flags & (cudaArrayLayered | cudaArrayCubemap))
          return cudaErrorInvalidValue;
        return newArray(array, description, cudaExtent{width, height, 0},
                        flags);
      });
}

cudaError_t cudaMalloc3DArray(cudaArray_t *array,
                              const cudaChannelFormatDesc *description,
                              cudaExtent extent, unsigned flags) {
  return onEither(
      false,
      [&] {
        return DRAGON_NVIDIA(cudaMalloc3DArray, array, description, extent,
                             flags);
      },
      [&](Front &) { return newArray(array, description, extent, flags); });
}

cudaError_t cudaFreeArray(cudaArray_t array) {
  return onEither(
      false, [&] { return DRAGON_NVIDIA(cudaFreeArray, array); },
      [&](Front &front) -> Result {
        if (!array)
          return cudaSuccess;
        waitForAllHostFunctions(front);
        std::lock_guard<std::mutex> guard(lock);
        return arrays().erase(array) ? cudaSuccess
                                     : cudaErrorInvalidResourceHandle;
      });
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc *description,
                             cudaExtent *extent, unsigned *flags,
                             cudaArray_t array) {
  return onEither(
      false,
      [&] {
        return DRAGON_NVIDIA(cudaArrayGetInfo, description, extent, flags,
                             array);
      },
      [&](Front &) -> Result {
        const Array *found = findArray(array);
        if (!found)
          return cudaErrorInvalidResourceHandle;
        if (description)
          *description = found->description;
        if (extent)
          *extent = found->extent;
        if (flags)
          *flags = found->flags;
        return cudaSuccess;
      });
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc *description,
                               cudaArray_const_t array) {
  return onEither(
      false,
      [&] { return DRAGON_NVIDIA(cudaGetChannelDesc, description, array); },
      [&](Front &) -> Result {
        const Array *found = findArray(array);
        if (!description || !found)
          return cudaErrorInvalidValue;
        *description = found->description;
        return cudaSuccess;
      });
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *handle,
                                     const cudaChannelFormatDesc *description,
                                     cudaExtent extent, unsigned levels,
                                     unsigned flags) {
  return onEither(
      false,
      [&] {
        return DRAGON_NVIDIA(cudaMallocMipmappedArray, handle, description,
                             extent, levels, flags);
      },
      [&](Front &) -> Result {
        if (!handle || !description)
          return cudaErrorInvalidValue;
        // No more levels than until all extents are 1.
        unsigned most = 1;
        bool layers = flags & (cudaArrayLayered | cudaArrayCubemap);
        for (size_t longest = std::max(
                 {extent.width, extent.height, layers ? 0 : extent.depth});
             longest > 1; longest /= 2)
          ++most;
        auto all = std::make_unique<MipmappedArray>();
        for (unsigned level = 0; level < std::clamp(levels, 1u, most);
             ++level) {
          DRAGON_CHECK(makeArray(*description, extent, flags,
                                 all->levels.emplace_back()));
          auto half = [](size_t n) { return n > 1 ? n / 2 : n; };
          extent = {half(extent.width), half(extent.height),
                    layers ? extent.depth : half(extent.depth)};
        }
        *handle = reinterpret_cast<cudaMipmappedArray_t>(all.get());
        std::lock_guard<std::mutex> guard(lock);
        mipmapped().emplace(all.get(), std::move(all));
        return cudaSuccess;
      });
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *array,
                                       cudaMipmappedArray_const_t handle,
                                       unsigned level) {
  return onEither(
      false,
      [&] {
        return DRAGON_NVIDIA(cudaGetMipmappedArrayLevel, array, handle, level);
      },
      [&](Front &) -> Result {
        const MipmappedArray *found = findMipmappedArray(handle);
        if (!array || !found || level >= found->levels.size())
          return found ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
        *array = reinterpret_cast<cudaArray_t>(found->levels[level].get());
        return cudaSuccess;
      });
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t handle) {
  return onEither(
      false, [&] { return DRAGON_NVIDIA(cudaFreeMipmappedArray, handle); },
      [&](Front &front) -> Result {
        waitForAllHostFunctions(front);
        std::lock_guard<std::mutex> guard(lock);
        return !handle || mipmapped().erase(handle)
                   ? cudaSuccess
                   : cudaErrorInvalidResourceHandle;
      });
}

} // extern "C"
