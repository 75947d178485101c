//===- Texture.h - textures and surfaces of the cpu device ------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a texture object or surface object stands for: images in memory that the
// device reaches, the format of their texels, and how they are looked at. The
// object's handle is the address of this structure. The rules of sampling are
// those of the CUDA programming guide, "Texture fetching": texel i covers
// [i, i + 1), linear filtering weighs with 8 bits of fraction.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_DEVICE_CPU_KERNELS_TEXTURE_H
#define DRAGON_RUNTIME_DEVICE_CPU_KERNELS_TEXTURE_H

#include <cstdint>
#include <vector>

namespace dragon {

struct TexelFormat {
  enum class Kind : uint8_t { Signed, Unsigned, Float };
  Kind kind = Kind::Float;
  uint8_t channels = 0;
  uint8_t channelBytes = 0;

  uint32_t bytes() const { return uint32_t(channels) * channelBytes; }
};

/// One level: rows of `pitch` bytes, planes or layers of `slice` bytes. Extents
/// in texels, at least 1.
struct TextureImage {
  char *base = nullptr;
  uint64_t pitch = 0, slice = 0;
  uint32_t width = 1, height = 1, depth = 1;
};

struct Texture {
  static constexpr uint64_t Magic = 0x6472616774657831;
  enum class Address : uint8_t { Wrap, Clamp, Mirror, Border };

  uint64_t magic = Magic;
  TexelFormat format;
  std::vector<TextureImage> levels;
  bool linearMemory = false; ///< tex1Dfetch: zeros outside
  // How a texture is looked at; surfaces need nothing of it.
  Address address[3] = {Address::Clamp, Address::Clamp, Address::Clamp};
  bool linear = false;
  bool linearLevels = false;
  bool normalizedCoordinates = false;
  bool normalizedTexels = false; ///< integers are read as fractions
  bool sRgb = false;
  float border[4] = {};
  float levelBias = 0, minLevel = 0, maxLevel = 0;

  /// Null if the handle is none of a texture.
  static const Texture *of(uint64_t handle);
};

} // namespace dragon

#endif // DRAGON_RUNTIME_DEVICE_CPU_KERNELS_TEXTURE_H
