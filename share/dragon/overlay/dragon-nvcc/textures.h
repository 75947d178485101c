//===- textures.h - texture references --------------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CUDA 12 has dropped texture references: variables at file scope that name a
// texture to the device and are bound to memory by the host. Here each is a
// texture object:
//   texture<float, 2> t;       on the host t's description and its object, on
//                              the device the object
//   cudaBindTextureToArray     makes an object, gives it to the device
//   tex2D(t, x, y)             tex2D<float>(the object, x, y)
// Clang's attribute makes the variable one of both sides, and the plugin a
// plain one of the device (passes/support/NvccVariables.h).
//
// `texture` is a name that programs have for something else, so this is
// included only where the driver has found cudaBindTexture in the source.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_NVCC_TEXTURES_H
#define DRAGON_NVCC_TEXTURES_H

struct textureReference {
  int normalized;
  cudaTextureFilterMode filterMode;
  cudaTextureAddressMode addressMode[3];
  cudaChannelFormatDesc channelDesc;
  int sRGB;
  unsigned maxAnisotropy;
  cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias;
  float minMipmapLevelClamp;
  float maxMipmapLevelClamp;
  int disableTrilinearOptimization;

  cudaTextureReadMode dragonReadMode;
  size_t dragonOffset;              ///< of what is bound, from where it starts
  cudaTextureObject_t dragonObject; ///< 0: nothing is bound
};

template <class T, int Type = cudaTextureType1D,
          cudaTextureReadMode Mode = cudaReadModeElementType>
struct __attribute__((device_builtin_texture_type)) texture
    : public textureReference {
  texture(int isNormalized = 0,
          cudaTextureFilterMode filter = cudaFilterModePoint,
          cudaTextureAddressMode address = cudaAddressModeClamp)
      : textureReference() {
    dragonSet(isNormalized, filter, address, cudaCreateChannelDesc<T>());
  }
  texture(int isNormalized, cudaTextureFilterMode filter,
          cudaTextureAddressMode address, cudaChannelFormatDesc format)
      : textureReference() {
    dragonSet(isNormalized, filter, address, format);
  }

private:
  void dragonSet(int isNormalized, cudaTextureFilterMode filter,
                 cudaTextureAddressMode address, cudaChannelFormatDesc format) {
    normalized = isNormalized;
    filterMode = filter;
    for (cudaTextureAddressMode &one : addressMode)
      one = address;
    channelDesc = format;
    dragonReadMode = Mode;
  }
};

//===-- The device --------------------------------------------------------===//

/// What a fetch gives: the element, or floats for as many channels.
template <class T, cudaTextureReadMode Mode> struct dragonTexel {
  typedef T type;
};
#define DRAGON_TEXEL(T, V)                                                     \
  template <> struct dragonTexel<T, cudaReadModeNormalizedFloat> {             \
    typedef float type;                                                        \
  };                                                                           \
  template <> struct dragonTexel<V##1, cudaReadModeNormalizedFloat> {          \
    typedef float1 type;                                                       \
  };                                                                           \
  template <> struct dragonTexel<V##2, cudaReadModeNormalizedFloat> {          \
    typedef float2 type;                                                       \
  };                                                                           \
  template <> struct dragonTexel<V##4, cudaReadModeNormalizedFloat> {          \
    typedef float4 type;                                                       \
  };
DRAGON_TEXEL(char, char)
DRAGON_TEXEL(unsigned char, uchar)
DRAGON_TEXEL(short, short)
DRAGON_TEXEL(unsigned short, ushort)
#undef DRAGON_TEXEL

#define DRAGON_FETCH(name, Type)                                               \
  template <class T, cudaTextureReadMode Mode, class... Args>                  \
  static inline __device__ __attribute__((always_inline))                      \
  typename dragonTexel<T, Mode>::type                                          \
  name(const texture<T, Type, Mode> &reference, Args... args) {                \
    return name<typename dragonTexel<T, Mode>::type>(                          \
        *reinterpret_cast<const cudaTextureObject_t *>(&reference), args...);  \
  }
DRAGON_FETCH(tex1Dfetch, cudaTextureType1D)
DRAGON_FETCH(tex1D, cudaTextureType1D)
DRAGON_FETCH(tex1DLod, cudaTextureType1D)
DRAGON_FETCH(tex1DGrad, cudaTextureType1D)
DRAGON_FETCH(tex2D, cudaTextureType2D)
DRAGON_FETCH(tex2DLod, cudaTextureType2D)
DRAGON_FETCH(tex2DGrad, cudaTextureType2D)
DRAGON_FETCH(tex3D, cudaTextureType3D)
DRAGON_FETCH(tex3DLod, cudaTextureType3D)
DRAGON_FETCH(tex3DGrad, cudaTextureType3D)
DRAGON_FETCH(tex1DLayered, cudaTextureType1DLayered)
DRAGON_FETCH(tex1DLayeredLod, cudaTextureType1DLayered)
DRAGON_FETCH(tex2DLayered, cudaTextureType2DLayered)
DRAGON_FETCH(tex2DLayeredLod, cudaTextureType2DLayered)
DRAGON_FETCH(texCubemap, cudaTextureTypeCubemap)
DRAGON_FETCH(texCubemapLod, cudaTextureTypeCubemap)
DRAGON_FETCH(texCubemapLayered, cudaTextureTypeCubemapLayered)
#undef DRAGON_FETCH

//===-- The host ----------------------------------------------------------===//

#if defined(__CUDA_ARCH__)
#define DRAGON_REFERENCE static inline __attribute__((unused)) cudaError_t
#else
#define DRAGON_REFERENCE                                                       \
  __attribute__((deprecated("CUDA 12 has dropped texture references; use a "   \
                            "cudaTextureObject_t"))) static inline             \
      __attribute__((unused)) cudaError_t
#endif

/// The kernels that come next see `object` in place of what was bound before.
static inline __attribute__((unused)) cudaError_t
dragonBind(const textureReference &reference, cudaTextureObject_t object,
           size_t offset) {
  textureReference &bound = const_cast<textureReference &>(reference);
  cudaTextureObject_t before = bound.dragonObject;
  // The reference stands for the device's variable of that name.
  if (cudaError_t error = cudaMemcpyToSymbol(
          static_cast<const void *>(&reference), &object, sizeof object))
    return error;
  bound.dragonObject = object;
  bound.dragonOffset = offset;
  return before ? cudaDestroyTextureObject(before) : cudaSuccess;
}

static inline __attribute__((unused)) cudaError_t
dragonBind(const textureReference &reference, const cudaResourceDesc &resource,
           size_t offset) {
  cudaTextureDesc description = {};
  for (int i = 0; i < 3; ++i)
    description.addressMode[i] = reference.addressMode[i];
  description.filterMode = reference.filterMode;
  description.readMode = reference.dragonReadMode;
  description.sRGB = reference.sRGB;
  description.normalizedCoords = reference.normalized;
  description.maxAnisotropy = reference.maxAnisotropy;
  description.mipmapFilterMode = reference.mipmapFilterMode;
  description.mipmapLevelBias = reference.mipmapLevelBias;
  description.minMipmapLevelClamp = reference.minMipmapLevelClamp;
  description.maxMipmapLevelClamp = reference.maxMipmapLevelClamp;
  description.disableTrilinearOptimization =
      reference.disableTrilinearOptimization;
  cudaTextureObject_t object = 0;
  if (cudaError_t error =
          cudaCreateTextureObject(&object, &resource, &description, nullptr))
    return error;
  return dragonBind(reference, object, offset);
}

/// Textures start where the device's alignment allows; the rest is an offset,
/// which a program that gives no place for it must not need.
static inline __attribute__((unused)) cudaError_t
dragonAlign(size_t *offset, const void *&pointer, size_t &extra) {
  int device = 0, alignment = 0;
  if (cudaError_t error = cudaGetDevice(&device))
    return error;
  if (cudaError_t error = cudaDeviceGetAttribute(
          &alignment, cudaDevAttrTextureAlignment, device))
    return error;
  extra = alignment ? reinterpret_cast<size_t>(pointer) % alignment : 0;
  if (extra && !offset)
    return cudaErrorInvalidValue;
  pointer = static_cast<const char *>(pointer) - extra;
  if (offset)
    *offset = extra;
  return cudaSuccess;
}

DRAGON_REFERENCE cudaBindTexture(size_t *offset,
                                 const textureReference *reference,
                                 const void *pointer,
                                 const cudaChannelFormatDesc *format,
                                 size_t bytes = UINT_MAX) {
  size_t extra = 0;
  if (cudaError_t error = dragonAlign(offset, pointer, extra))
    return error;
  // As many elements as any device can address.
  size_t element = (format->x + format->y + format->z + format->w) / 8;
  size_t most = (size_t(1) << 27) * (element ? element : 1);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = const_cast<void *>(pointer);
  resource.res.linear.desc = *format;
  resource.res.linear.sizeInBytes = bytes + extra < most ? bytes + extra : most;
  return dragonBind(*reference, resource, extra);
}

DRAGON_REFERENCE
cudaBindTexture2D(size_t *offset, const textureReference *reference,
                  const void *pointer, const cudaChannelFormatDesc *format,
                  size_t width, size_t height, size_t pitch) {
  size_t extra = 0;
  if (cudaError_t error = dragonAlign(offset, pointer, extra))
    return error;
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = const_cast<void *>(pointer);
  resource.res.pitch2D.desc = *format;
  resource.res.pitch2D.width = width;
  resource.res.pitch2D.height = height;
  resource.res.pitch2D.pitchInBytes = pitch;
  return dragonBind(*reference, resource, extra);
}

DRAGON_REFERENCE cudaBindTextureToArray(const textureReference *reference,
                                        cudaArray_const_t array,
                                        const cudaChannelFormatDesc *) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = const_cast<cudaArray_t>(array);
  return dragonBind(*reference, resource, 0);
}

DRAGON_REFERENCE
cudaBindTextureToMipmappedArray(const textureReference *reference,
                                cudaMipmappedArray_const_t array,
                                const cudaChannelFormatDesc *) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = const_cast<cudaMipmappedArray_t>(array);
  return dragonBind(*reference, resource, 0);
}

DRAGON_REFERENCE cudaUnbindTexture(const textureReference *reference) {
  return dragonBind(*reference, cudaTextureObject_t(0), 0);
}

DRAGON_REFERENCE
cudaGetTextureAlignmentOffset(size_t *offset,
                              const textureReference *reference) {
  if (!reference->dragonObject)
    return cudaErrorInvalidTextureBinding;
  *offset = reference->dragonOffset;
  return cudaSuccess;
}

DRAGON_REFERENCE cudaGetTextureReference(const textureReference **reference,
                                         const void *symbol) {
  *reference = static_cast<const textureReference *>(symbol);
  return cudaSuccess;
}

// The same with the reference itself.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"

template <class T, int Type, cudaTextureReadMode Mode>
DRAGON_REFERENCE
cudaBindTexture(size_t *offset, const texture<T, Type, Mode> &reference,
                const void *pointer, const cudaChannelFormatDesc &format,
                size_t bytes = UINT_MAX) {
  return cudaBindTexture(offset, &reference, pointer, &format, bytes);
}

template <class T, int Type, cudaTextureReadMode Mode>
DRAGON_REFERENCE cudaBindTexture(size_t *offset,
                                 const texture<T, Type, Mode> &reference,
                                 const void *pointer, size_t bytes = UINT_MAX) {
  return cudaBindTexture(offset, &reference, pointer, &reference.channelDesc,
                         bytes);
}

template <class T, int Type, cudaTextureReadMode Mode>
DRAGON_REFERENCE
cudaBindTexture2D(size_t *offset, const texture<T, Type, Mode> &reference,
                  const void *pointer, const cudaChannelFormatDesc &format,
                  size_t width, size_t height, size_t pitch) {
  return cudaBindTexture2D(offset, &reference, pointer, &format, width, height,
                           pitch);
}

template <class T, int Type, cudaTextureReadMode Mode>
DRAGON_REFERENCE cudaBindTexture2D(size_t *offset,
                                   const texture<T, Type, Mode> &reference,
                                   const void *pointer, size_t width,
                                   size_t height, size_t pitch) {
  return cudaBindTexture2D(offset, &reference, pointer, &reference.channelDesc,
                           width, height, pitch);
}

template <class T, int Type, cudaTextureReadMode Mode>
DRAGON_REFERENCE cudaBindTextureToArray(const texture<T, Type, Mode> &reference,
                                        cudaArray_const_t array) {
  return cudaBindTextureToArray(&reference, array, nullptr);
}

template <class T, int Type, cudaTextureReadMode Mode>
DRAGON_REFERENCE cudaBindTextureToArray(const texture<T, Type, Mode> &reference,
                                        cudaArray_const_t array,
                                        const cudaChannelFormatDesc &format) {
  return cudaBindTextureToArray(&reference, array, &format);
}

template <class T, int Type, cudaTextureReadMode Mode>
DRAGON_REFERENCE
cudaBindTextureToMipmappedArray(const texture<T, Type, Mode> &reference,
                                cudaMipmappedArray_const_t array) {
  return cudaBindTextureToMipmappedArray(&reference, array, nullptr);
}

template <class T, int Type, cudaTextureReadMode Mode>
DRAGON_REFERENCE cudaUnbindTexture(const texture<T, Type, Mode> &reference) {
  return cudaUnbindTexture(&reference);
}

template <class T, int Type, cudaTextureReadMode Mode>
DRAGON_REFERENCE
cudaGetTextureAlignmentOffset(size_t *offset,
                              const texture<T, Type, Mode> &reference) {
  return cudaGetTextureAlignmentOffset(offset, &reference);
}

#pragma clang diagnostic pop
#undef DRAGON_REFERENCE

#endif // DRAGON_NVCC_TEXTURES_H
