//===- Arrays.h - CUDA arrays of the cpu device -----------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On a GPU, CUDA arrays are NVIDIA's. On the cpu device they are host memory,
// row by row without gaps: nothing of theirs is out of core, and they do not
// count as device memory. A cudaArray_t is the address of an Array.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_TEXTURES_ARRAYS_H
#define DRAGON_RUNTIME_CUDART_TEXTURES_ARRAYS_H

#include "runtime/cudart/front/Front.h"
#include "runtime/device/cpu/kernels/Texture.h"

#include <cuda_runtime_api.h>
#include <memory>
#include <vector>

namespace dragon {

struct Array {
  cudaChannelFormatDesc description;
  cudaExtent extent; ///< as the program gave it: 0 for what there is not
  unsigned flags;
  TexelFormat format;
  TextureImage image;
  std::vector<char> bytes;
};

struct MipmappedArray {
  std::vector<std::unique_ptr<Array>> levels;
};

/// Null if it is none that the program has.
Array *findArray(cudaArray_const_t array);
MipmappedArray *findMipmappedArray(cudaMipmappedArray_const_t array);

/// False if the channels are none that a texel can have.
bool formatOf(const cudaChannelFormatDesc &description, TexelFormat &format);

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_TEXTURES_ARRAYS_H
