//===- shapes.h - what headers bring into several units -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A template of a kernel and an inline variable, of which there is one in the
// program though two units have them; a class with virtual functions; dynamic
// shared memory that a function of another unit uses.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_SHAPES_H
#define DRAGON_TEST_SHAPES_H

#include "e2e.h"

inline __device__ uint32_t increment = 1;

template <class T> __global__ void add(T *to, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    to[i] += increment;
}

struct Shape {
  uint32_t size;
  __device__ explicit Shape(uint32_t size) : size(size) {}
  __device__ virtual uint32_t area() const = 0;
};
struct Square : Shape {
  __device__ explicit Square(uint32_t size) : Shape(size) {}
  __device__ uint32_t area() const override;
};
struct Cube : Square {
  __device__ explicit Cube(uint32_t size) : Square(size) {}
  __device__ uint32_t area() const override;
};

/// The sum over the block, in dynamic shared memory.
__device__ uint32_t blockSum(uint32_t value);
/// The library's default, and this program's own.
__device__ uint32_t fallback(uint32_t value);

void addInOther(uint32_t *to, int n);
/// Launches a kernel of shapes.cu; called before main.
uint32_t early();

#endif // DRAGON_TEST_SHAPES_H
