//===- Texture.cpp - textures and surfaces of the cpu device --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/kernels/Texture.h"

#include "dragon/CompilerABI.h"
#include "runtime/device/cpu/kernels/KernelRun.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#define DRAGON_EXPORT extern "C" __attribute__((visibility("default")))

namespace dragon {

namespace {

/// Four words: floats, or integers.
struct Texel {
  float number[4] = {};
  uint32_t word[4] = {};
};

float fromHalf(uint16_t bits) {
  return static_cast<float>(std::bit_cast<_Float16>(bits));
}

float fromSRgb(float c) {
  return c <= 0.04045f ? c / 12.92f : std::pow((c + 0.055f) / 1.055f, 2.4f);
}

/// Coordinates in texels; far outside is as good as outside.
float bounded(float x) {
  constexpr float Far = 1 << 24;
  return std::isnan(x) ? 0 : std::clamp(x, -Far, Far);
}

/// How one axis of a texture is looked at.
struct Axis {
  uint32_t extent;
  Texture::Address mode;

  /// The texel for number i, which may be outside; false: the border.
  bool find(int64_t i, uint32_t &texel) const {
    int64_t n = extent;
    if (i >= 0 && i < n) {
      texel = static_cast<uint32_t>(i);
      return true;
    }
    switch (mode) {
    case Texture::Address::Border:
      return false;
    case Texture::Address::Wrap:
      i = (i % n + n) % n;
      break;
    case Texture::Address::Mirror:
      i = (i % (2 * n) + 2 * n) % (2 * n);
      i = i < n ? i : 2 * n - 1 - i;
      break;
    case Texture::Address::Clamp:
      i = std::clamp<int64_t>(i, 0, n - 1);
      break;
    }
    texel = static_cast<uint32_t>(i);
    return true;
  }
};

class Sampler {
public:
  Sampler(const Texture &texture, uint32_t kind)
      : T(texture), Kind(kind), Dimensions(kind & DRAGON_TEXTURE_DIMENSIONS) {}

  Texel sample(const uint32_t *at);

private:
  bool isFloat() const {
    return T.format.kind == TexelFormat::Kind::Float || T.normalizedTexels;
  }
  Texel load(const TextureImage &image, uint32_t x, uint32_t y, uint32_t z);
  Texel border() const;
  Texel sampleLevel(unsigned level);
  Texel sampleImage(const TextureImage &image);
  Texel corner(const TextureImage &image, const int64_t index[3]);
  Texel gather(const TextureImage &image);
  float levelOf(const uint32_t *at) const;
  void chooseFace();

  const Texture &T;
  uint32_t Kind;
  unsigned Dimensions;
  float Coordinate[3] = {};
  uint32_t Plane = 0; ///< layer and face; for images without a third dimension
};

Texel Sampler::border() const {
  Texel texel;
  for (unsigned c = 0; c < 4; ++c) {
    texel.number[c] = T.border[c];
    texel.word[c] =
        isFloat() ? 0
                  : static_cast<uint32_t>(static_cast<int64_t>(T.border[c]));
  }
  return texel;
}

Texel Sampler::load(const TextureImage &image, uint32_t x, uint32_t y,
                    uint32_t z) {
  const char *from =
      image.base + z * image.slice + y * image.pitch + x * T.format.bytes();
  Texel texel;
  texel.number[3] = 1;
  texel.word[3] = 1;
  for (unsigned c = 0; c < T.format.channels; ++c) {
    uint32_t bits = 0;
    std::memcpy(&bits, from + c * T.format.channelBytes, T.format.channelBytes);
    bool isSigned = T.format.kind == TexelFormat::Kind::Signed;
    unsigned width = 8u * T.format.channelBytes;
    if (T.format.kind == TexelFormat::Kind::Float) {
      texel.number[c] = width == 16 ? fromHalf(static_cast<uint16_t>(bits))
                                    : std::bit_cast<float>(bits);
      continue;
    }
    int32_t extended = static_cast<int32_t>(bits << (32 - width)) >>
                       static_cast<int>(32 - width);
    texel.word[c] = isSigned ? static_cast<uint32_t>(extended) : bits;
    if (!T.normalizedTexels)
      continue;
    float most = static_cast<float>((1u << (isSigned ? width - 1 : width)) - 1);
    texel.number[c] = isSigned
                          ? std::max(static_cast<float>(extended) / most, -1.0f)
                          : static_cast<float>(bits) / most;
    if (T.sRgb && c < 3)
      texel.number[c] = fromSRgb(texel.number[c]);
  }
  return texel;
}

/// The texel with these numbers along the axes, any of which may be outside.
Texel Sampler::corner(const TextureImage &image, const int64_t index[3]) {
  uint32_t found[3] = {0, 0, Plane};
  const uint32_t extents[3] = {image.width, image.height, image.depth};
  unsigned axes = Dimensions == DRAGON_TEXTURE_CUBE ? 2 : Dimensions;
  for (unsigned d = 0; d < axes; ++d) {
    // Beyond [0, 1) only normalised coordinates can go on.
    Texture::Address mode = T.address[d];
    if (!T.normalizedCoordinates && mode != Texture::Address::Border)
      mode = Texture::Address::Clamp;
    if (Dimensions == DRAGON_TEXTURE_CUBE)
      mode = Texture::Address::Clamp;
    if (!Axis{extents[d], mode}.find(index[d], found[d]))
      return border();
  }
  return load(image, found[0], found[1], found[2]);
}

Texel Sampler::gather(const TextureImage &image) {
  unsigned component = Kind >> DRAGON_TEXTURE_COMPONENT_SHIFT & 3;
  int64_t x = static_cast<int64_t>(std::floor(Coordinate[0] - 0.5f));
  int64_t y = static_cast<int64_t>(std::floor(Coordinate[1] - 0.5f));
  const int64_t order[4][3] = {
      {x, y + 1, 0}, {x + 1, y + 1, 0}, {x + 1, y, 0}, {x, y, 0}};
  Texel all;
  for (unsigned i = 0; i < 4; ++i) {
    Texel one = corner(image, order[i]);
    all.number[i] = one.number[component];
    all.word[i] = one.word[component];
  }
  return all;
}

Texel Sampler::sampleImage(const TextureImage &image) {
  const uint32_t extents[3] = {image.width, image.height, image.depth};
  unsigned axes = Dimensions == DRAGON_TEXTURE_CUBE ? 2 : Dimensions;
  float given[3];
  std::copy_n(Coordinate, 3, given);
  for (unsigned d = 0; d < axes; ++d) {
    float x = Coordinate[d];
    if (T.normalizedCoordinates)
      x *= static_cast<float>(extents[d]);
    Coordinate[d] = bounded(x);
  }
  Texel result;
  int64_t index[3] = {};
  if (Kind & DRAGON_TEXTURE_GATHER) {
    result = gather(image);
  } else if (!T.linear || !isFloat()) {
    for (unsigned d = 0; d < axes; ++d)
      index[d] = static_cast<int64_t>(std::floor(Coordinate[d]));
    result = corner(image, index);
  } else {
    int64_t first[3] = {};
    float weight[3] = {};
    for (unsigned d = 0; d < axes; ++d) {
      float x = Coordinate[d] - 0.5f;
      first[d] = static_cast<int64_t>(std::floor(x));
      weight[d] =
          std::floor((x - std::floor(x)) * 256 + 0.5f) / 256; // 8 bits of it
    }
    for (unsigned which = 0; which < 1u << axes; ++which) {
      float share = 1;
      for (unsigned d = 0; d < axes; ++d) {
        bool upper = which >> d & 1;
        share *= upper ? weight[d] : 1 - weight[d];
        index[d] = first[d] + upper;
      }
      if (share == 0)
        continue;
      Texel one = corner(image, index);
      for (unsigned c = 0; c < 4; ++c)
        result.number[c] += share * one.number[c];
    }
  }
  std::copy_n(given, 3, Coordinate);
  return result;
}

float Sampler::levelOf(const uint32_t *at) const {
  float level = 0;
  if (Kind & DRAGON_TEXTURE_LEVEL)
    level = std::bit_cast<float>(at[4]);
  if (Kind & DRAGON_TEXTURE_GRADIENTS) {
    const uint32_t extents[3] = {T.levels[0].width, T.levels[0].height,
                                 T.levels[0].depth};
    float longest = 0;
    for (unsigned g = 0; g < 2; ++g) {
      float squares = 0;
      for (unsigned d = 0; d < std::min(Dimensions, 3u); ++d) {
        float step = std::bit_cast<float>(at[4 + 3 * g + d]);
        if (T.normalizedCoordinates)
          step *= static_cast<float>(extents[d]);
        squares += step * step;
      }
      longest = std::max(longest, std::sqrt(squares));
    }
    level = longest > 0 ? std::log2(longest) : -1000.0f;
  }
  level = std::clamp(level + T.levelBias, T.minLevel,
                     std::max(T.minLevel, T.maxLevel));
  return std::clamp(level, 0.0f, static_cast<float>(T.levels.size() - 1));
}

/// A direction becomes a face of the cube and a place on it.
void Sampler::chooseFace() {
  float x = Coordinate[0], y = Coordinate[1], z = Coordinate[2];
  float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  unsigned face;
  float s, t, most;
  if (ax >= ay && ax >= az) {
    face = x < 0, most = ax, s = x < 0 ? z : -z, t = -y;
  } else if (ay >= az) {
    face = 2 + (y < 0), most = ay, s = x, t = y < 0 ? -z : z;
  } else {
    face = 4 + (z < 0), most = az, s = z < 0 ? -x : x, t = -y;
  }
  most = most > 0 ? most : 1;
  Coordinate[0] = (s / most + 1) / 2;
  Coordinate[1] = (t / most + 1) / 2;
  Plane = Plane * 6 + face;
  if (!T.normalizedCoordinates) {
    Coordinate[0] *= static_cast<float>(T.levels[0].width);
    Coordinate[1] *= static_cast<float>(T.levels[0].height);
  }
}

Texel Sampler::sampleLevel(unsigned level) {
  return sampleImage(T.levels[level]);
}

Texel Sampler::sample(const uint32_t *at) {
  const TextureImage &base = T.levels[0];
  if (Kind & DRAGON_TEXTURE_INTEGER && T.linearMemory) {
    uint32_t x = at[0];
    return x < base.width ? load(base, x, 0, 0) : Texel();
  }
  for (unsigned d = 0; d < 3; ++d)
    Coordinate[d] = Kind & DRAGON_TEXTURE_INTEGER
                        ? static_cast<float>(static_cast<int32_t>(at[d]))
                        : std::bit_cast<float>(at[d]);
  if (Kind & DRAGON_TEXTURE_LAYERED) {
    uint32_t faces = Dimensions == DRAGON_TEXTURE_CUBE ? 6 : 1;
    int32_t layers = static_cast<int32_t>(base.depth / faces);
    Plane = static_cast<uint32_t>(
        std::clamp(static_cast<int32_t>(at[3]), 0, std::max(layers - 1, 0)));
  }
  if (Dimensions == DRAGON_TEXTURE_CUBE)
    chooseFace();
  if (T.levels.size() == 1)
    return sampleLevel(0);
  float level = levelOf(at);
  if (!T.linearLevels || !isFloat())
    return sampleLevel(static_cast<unsigned>(std::lround(level)));
  auto lower = static_cast<unsigned>(level);
  float share = level - static_cast<float>(lower);
  Texel result = sampleLevel(lower);
  if (share > 0) {
    Texel upper = sampleLevel(lower + 1);
    for (unsigned c = 0; c < 4; ++c)
      result.number[c] += share * (upper.number[c] - result.number[c]);
  }
  return result;
}

/// Ends the kernel, as `what` of a handle that is none.
void refuse(const char *what) {
  KernelThread *thread = KernelThread::current();
  thread->run().failIn(*thread->runningContext, KernelIllegalAddress, what);
  thread->stop();
}

} // namespace

const Texture *Texture::of(uint64_t handle) {
  const auto *texture =
      reinterpret_cast<const Texture *>(handle); // NOLINT: what a handle is
  return texture && texture->magic == Magic && !texture->levels.empty()
             ? texture
             : nullptr;
}

} // namespace dragon

using namespace dragon;

DRAGON_EXPORT void dragon_cpu_texture(uint64_t object, uint32_t kind,
                                      const uint32_t *at, uint32_t *texel) {
  const Texture *texture = Texture::of(object);
  if (!texture)
    refuse("reads a texture that is no texture object");
  Texel found = Sampler(*texture, kind).sample(at);
  bool numbers = texture->format.kind == TexelFormat::Kind::Float ||
                 texture->normalizedTexels;
  std::memcpy(texel,
              numbers ? static_cast<const void *>(found.number)
                      : static_cast<const void *>(found.word),
              sizeof(found.word));
}

DRAGON_EXPORT void dragon_cpu_surface(uint64_t object, uint32_t kind,
                                      const int32_t *at, uint32_t bytes,
                                      void *data) {
  const Texture *surface = Texture::of(object);
  if (!surface)
    refuse("uses a surface that is no surface object");
  const TextureImage &image = surface->levels[0];
  unsigned dimensions = kind & DRAGON_TEXTURE_DIMENSIONS;
  bool layered = kind & DRAGON_TEXTURE_LAYERED;
  int64_t place[3] = {at[0], dimensions > 1 ? at[1] : 0,
                      layered          ? at[3]
                      : dimensions > 2 ? at[2]
                                       : 0};
  const int64_t last[3] = {int64_t(image.width) * surface->format.bytes() -
                               bytes,
                           int64_t(image.height) - 1, int64_t(image.depth) - 1};
  bool store = kind & DRAGON_SURFACE_STORE, inside = true;
  for (unsigned d = 0; d < 3; ++d) {
    if (place[d] >= 0 && place[d] <= last[d])
      continue;
    inside = false;
    place[d] = std::clamp<int64_t>(place[d], 0, std::max<int64_t>(last[d], 0));
  }
  if (!inside && kind & DRAGON_SURFACE_ZERO) {
    if (!store)
      std::memset(data, 0, bytes);
    return;
  }
  if (!inside && !(kind & DRAGON_SURFACE_CLAMP)) {
    refuse(store ? "writes outside of a surface"
                 : "reads outside of a surface");
    return;
  }
  char *address = image.base + static_cast<uint64_t>(place[2]) * image.slice +
                  static_cast<uint64_t>(place[1]) * image.pitch + place[0];
  if (store)
    std::memcpy(address, data, bytes);
  else
    std::memcpy(data, address, bytes);
}
