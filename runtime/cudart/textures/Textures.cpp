//===- Textures.cpp - texture and surface objects -------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On the cpu device an object is a Texture
// (runtime/device/cpu/kernels/Texture.h) and what the program said of it; on a
// GPU it is NVIDIA's. What it is made over of a buffer stays in device memory
// while the object lives: kernels reach it by a number in which no summary can
// see an address. Arrays are no part of buffers.
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/memory/Memory.h"
#include "runtime/cudart/modules/NvidiaOrOwn.h"
#include "runtime/cudart/textures/Arrays.h"

#include <mutex>
#include <unordered_map>

using namespace dragon;

namespace {

struct Object {
  Texture texture; ///< first: its address is the handle
  cudaResourceDesc resource{};
  cudaTextureDesc description{};
  cudaResourceViewDesc view{};
  LibraryHold hold; ///< of the memory that it is made over
  bool hasView = false;
  bool surface = false;
};

std::mutex lock;
/// What NVIDIA's textures hold on the device, by texture.
std::unordered_map<uint64_t, LibraryHold> &holds() {
  static auto *table = new std::unordered_map<uint64_t, LibraryHold>;
  return *table;
}
std::unordered_map<uint64_t, std::unique_ptr<Object>> &objects() {
  static auto *table =
      new std::unordered_map<uint64_t, std::unique_ptr<Object>>;
  return *table;
}

Object *find(uint64_t handle, bool surface) {
  std::lock_guard<std::mutex> guard(lock);
  auto it = objects().find(handle);
  return it != objects().end() && it->second->surface == surface
             ? it->second.get()
             : nullptr;
}

uint64_t keep(std::unique_ptr<Object> object) {
  auto handle = reinterpret_cast<uintptr_t>(&object->texture);
  std::lock_guard<std::mutex> guard(lock);
  objects().emplace(handle, std::move(object));
  return handle;
}

Result drop(Front &front, uint64_t handle, bool surface) {
  if (!handle)
    return cudaSuccess;
  Object *object = find(handle, surface);
  if (!object)
    return cudaErrorInvalidResourceHandle;
  object->texture.magic = 0;
  LibraryHold hold = std::move(object->hold);
  {
    std::lock_guard<std::mutex> guard(lock);
    objects().erase(handle);
  }
  return front.runtime.libraries().endLibraryCall(hold);
}

Result holdMemory(Front &front, const void *memory, size_t bytes,
                  LibraryHold &hold) {
  auto address = reinterpret_cast<uintptr_t>(memory);
  if (!bytes || !front.runtime.buffers().find(address))
    return cudaSuccess;
  return front.runtime.libraries()
      .beginLibraryCall({"cudaCreateTextureObject",
                         {{address, bytes, LaunchNeed::Read}},
                         std::nullopt},
                        hold)
      .within("what a texture is made over stays in device memory");
}

/// What of buffers the resource is.
Result holdMemory(Front &front, const cudaResourceDesc &resource,
                  LibraryHold &hold) {
  if (resource.resType == cudaResourceTypeLinear) {
    const auto &linear = resource.res.linear;
    return holdMemory(front, linear.devPtr, linear.sizeInBytes, hold);
  }
  if (resource.resType == cudaResourceTypePitch2D) {
    const auto &plane = resource.res.pitch2D;
    return holdMemory(front, plane.devPtr, plane.pitchInBytes * plane.height,
                      hold);
  }
  return cudaSuccess;
}

/// The memory may be a part of a buffer, or a device variable.
Result checkMemory(Front &front, void *memory, size_t bytes) {
  auto address = reinterpret_cast<uintptr_t>(memory);
  return memory && isDeviceAddress(front, address) &&
                 staysInBuffer(front, address, bytes)
             ? cudaSuccess
             : cudaErrorInvalidValue;
}

/// The images of the resource and their format.
Result describe(Front &front, const cudaResourceDesc &resource,
                Texture &texture) {
  switch (resource.resType) {
  case cudaResourceTypeArray: {
    const Array *array = findArray(resource.res.array.array);
    if (!array)
      return cudaErrorInvalidResourceHandle;
    texture.format = array->format;
    texture.levels = {array->image};
    return cudaSuccess;
  }
  case cudaResourceTypeMipmappedArray: {
    const MipmappedArray *array =
        findMipmappedArray(resource.res.mipmap.mipmap);
    if (!array)
      return cudaErrorInvalidResourceHandle;
    texture.format = array->levels[0]->format;
    for (const auto &level : array->levels)
      texture.levels.push_back(level->image);
    return cudaSuccess;
  }
  case cudaResourceTypeLinear: {
    const auto &linear = resource.res.linear;
    if (!formatOf(linear.desc, texture.format))
      return cudaErrorInvalidChannelDescriptor;
    DRAGON_CHECK(checkMemory(front, linear.devPtr, linear.sizeInBytes));
    TextureImage image;
    image.base = static_cast<char *>(linear.devPtr);
    image.width = uint32_t(std::min<size_t>(
        linear.sizeInBytes / texture.format.bytes(), UINT32_MAX));
    image.pitch = image.slice = linear.sizeInBytes;
    texture.levels = {image};
    texture.linearMemory = true;
    return cudaSuccess;
  }
  case cudaResourceTypePitch2D: {
    const auto &plane = resource.res.pitch2D;
    if (!formatOf(plane.desc, texture.format))
      return cudaErrorInvalidChannelDescriptor;
    size_t row = plane.width * texture.format.bytes();
    if (!plane.width || !plane.height || plane.pitchInBytes < row ||
        plane.width > UINT32_MAX || plane.height > UINT32_MAX)
      return cudaErrorInvalidValue;
    DRAGON_CHECK(checkMemory(front, plane.devPtr,
                             plane.pitchInBytes * (plane.height - 1) + row));
    TextureImage image;
    image.base = static_cast<char *>(plane.devPtr);
    image.width = uint32_t(plane.width);
    image.height = uint32_t(plane.height);
    image.pitch = plane.pitchInBytes;
    image.slice = image.pitch * image.height;
    texture.levels = {image};
    return cudaSuccess;
  }
  default:
    return cudaErrorInvalidValue;
  }
}

Texture::Address addressMode(cudaTextureAddressMode mode) {
  switch (mode) {
  case cudaAddressModeWrap:
    return Texture::Address::Wrap;
  case cudaAddressModeMirror:
    return Texture::Address::Mirror;
  case cudaAddressModeBorder:
    return Texture::Address::Border;
  default:
    return Texture::Address::Clamp;
  }
}

Result look(const cudaTextureDesc &description, Texture &texture) {
  bool isFloat = texture.format.kind == TexelFormat::Kind::Float;
  texture.normalizedTexels =
      description.readMode == cudaReadModeNormalizedFloat && !isFloat;
  // 32-bit integers have no normalised form.
  if (texture.normalizedTexels && texture.format.channelBytes == 4)
    return cudaErrorInvalidNormSetting;
  texture.linear = description.filterMode == cudaFilterModeLinear;
  if (texture.linear && !isFloat && !texture.normalizedTexels)
    return cudaErrorInvalidFilterSetting;
  for (unsigned d = 0; d < 3; ++d)
    texture.address[d] = addressMode(description.addressMode[d]);
  for (unsigned c = 0; c < 4; ++c)
    texture.border[c] = description.borderColor[c];
  texture.normalizedCoordinates = description.normalizedCoords;
  texture.sRgb = description.sRGB && texture.format.channelBytes == 1;
  texture.linearLevels = description.mipmapFilterMode == cudaFilterModeLinear;
  texture.levelBias = description.mipmapLevelBias;
  texture.minLevel = description.minMipmapLevelClamp;
  texture.maxLevel = description.maxMipmapLevelClamp;
  return cudaSuccess;
}

/// A view that looks at all of the resource as it is.
bool isPlainView(const cudaResourceViewDesc &view, const Texture &texture) {
  return view.format == cudaResViewFormatNone && !view.firstMipmapLevel &&
         !view.firstLayer &&
         (!view.width || view.width == texture.levels[0].width);
}

Result createTexture(Front &front, cudaTextureObject_t *handle,
                     const cudaResourceDesc *resource,
                     const cudaTextureDesc *description,
                     const cudaResourceViewDesc *view) {
  if (!handle || !resource || !description)
    return cudaErrorInvalidValue;
  auto object = std::make_unique<Object>();
  DRAGON_CHECK(describe(front, *resource, object->texture));
  DRAGON_CHECK(look(*description, object->texture));
  object->resource = *resource;
  object->description = *description;
  if (view) {
    if (!isPlainView(*view, object->texture)) {
      printErrorOnce("cudaCreateTextureObject: resource views with another "
                     "format, size or first level are not supported on the "
                     "cpu device");
      return cudaErrorNotSupported;
    }
    object->view = *view;
    object->hasView = true;
  }
  DRAGON_CHECK(holdMemory(front, *resource, object->hold));
  *handle = keep(std::move(object));
  return cudaSuccess;
}

/// On a GPU.
Result createNvidiaTexture(Front &front, cudaTextureObject_t *handle,
                           const cudaResourceDesc *resource,
                           const cudaTextureDesc *description,
                           const cudaResourceViewDesc *view) {
  LibraryHold hold;
  if (resource)
    DRAGON_CHECK(holdMemory(front, *resource, hold));
  cudaError_t error = DRAGON_NVIDIA(cudaCreateTextureObject, handle, resource,
                                    description, view);
  if (error != cudaSuccess) {
    front.runtime.libraries().endLibraryCall(hold).ignore();
    return error;
  }
  if (hold.chunks.empty())
    return cudaSuccess;
  std::lock_guard<std::mutex> guard(lock);
  holds()[*handle] = std::move(hold);
  return cudaSuccess;
}

Result destroyNvidiaTexture(Front &front, cudaTextureObject_t handle) {
  cudaError_t error = DRAGON_NVIDIA(cudaDestroyTextureObject, handle);
  if (error != cudaSuccess)
    return error;
  LibraryHold hold;
  {
    std::lock_guard<std::mutex> guard(lock);
    auto found = holds().find(handle);
    if (found == holds().end())
      return cudaSuccess;
    hold = std::move(found->second);
    holds().erase(found);
  }
  return front.runtime.libraries().endLibraryCall(hold);
}

template <typename T, typename Get>
Result answer(uint64_t handle, bool surface, T *result, Get &&get) {
  const Object *object = find(handle, surface);
  if (!result || !object)
    return object ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
  *result = get(*object);
  return cudaSuccess;
}

} // namespace

extern "C" {

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *handle,
                                    const cudaResourceDesc *resource,
                                    const cudaTextureDesc *description,
                                    const cudaResourceViewDesc *view) {
  return withDevice([&](Front &front) -> Result {
    if (!front.gpu)
      return createTexture(front, handle, resource, description, view);
    DRAGON_CHECK(modules().initialise(front));
    return createNvidiaTexture(front, handle, resource, description, view);
  });
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t handle) {
  return withDevice([&](Front &front) -> Result {
    return front.gpu ? destroyNvidiaTexture(front, handle)
                     : drop(front, handle, false);
  });
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc *resource,
                                             cudaTextureObject_t handle) {
  return onEither(
      false,
      [&] {
        return DRAGON_NVIDIA(cudaGetTextureObjectResourceDesc, resource,
                             handle);
      },
      [&](Front &) {
        return answer(handle, false, resource,
                      [](const Object &o) { return o.resource; });
      });
}

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc *description,
                                            cudaTextureObject_t handle) {
  return onEither(
      false,
      [&] {
        return DRAGON_NVIDIA(cudaGetTextureObjectTextureDesc, description,
                             handle);
      },
      [&](Front &) {
        return answer(handle, false, description,
                      [](const Object &o) { return o.description; });
      });
}

cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc *view,
                                                 cudaTextureObject_t handle) {
  return onEither(
      false,
      [&] {
        return DRAGON_NVIDIA(cudaGetTextureObjectResourceViewDesc, view,
                             handle);
      },
      [&](Front &) -> Result {
        const Object *object = find(handle, false);
        if (object && !object->hasView)
          return cudaErrorInvalidValue;
        return answer(handle, false, view,
                      [](const Object &o) { return o.view; });
      });
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *handle,
                                    const cudaResourceDesc *resource) {
  return onEither(
      false,
      [&] { return DRAGON_NVIDIA(cudaCreateSurfaceObject, handle, resource); },
      [&](Front &front) -> Result {
        if (!handle || !resource || resource->resType != cudaResourceTypeArray)
          return cudaErrorInvalidValue;
        auto object = std::make_unique<Object>();
        DRAGON_CHECK(describe(front, *resource, object->texture));
        object->resource = *resource;
        object->surface = true;
        *handle = keep(std::move(object));
        return cudaSuccess;
      });
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t handle) {
  return onEither(
      false, [&] { return DRAGON_NVIDIA(cudaDestroySurfaceObject, handle); },
      [&](Front &front) { return drop(front, handle, true); });
}

cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc *resource,
                                             cudaSurfaceObject_t handle) {
  return onEither(
      false,
      [&] {
        return DRAGON_NVIDIA(cudaGetSurfaceObjectResourceDesc, resource,
                             handle);
      },
      [&](Front &) {
        return answer(handle, true, resource,
                      [](const Object &o) { return o.resource; });
      });
}

} // extern "C"
