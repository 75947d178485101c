//===- srad_v2.h - speckle-reducing anisotropic diffusion -------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Yu and Acton's filter for ultrasonic images, in the two kernels of Rodinia's
// srad_v2: the first computes four derivatives and a diffusion coefficient for
// each cell, the second changes the image by them. How much speckle there is
// comes from a small part of the image, in each iteration.
//
// Six arrays, of which one comes in and goes out; four are dead after each
// iteration. Some cells are computed again on the host, each from the cells
// that it depends on.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_BENCH_LINK_SRAD_V2_H
#define DRAGON_BENCH_LINK_SRAD_V2_H

#include "Data.h"

#include <algorithm>

using namespace bench;

const int Cols = 4099;
const int Region = 64;        // the part that is looked at: its side
const int RegionThreads = 64; // one for each of its columns
const float Lambda = 0.5f;

struct Derivatives {
  float north, south, west, east, c;
};

BENCH_BOTH static Derivatives derivatives(float here, float north, float south,
                                          float west, float east,
                                          float speckle) {
  Derivatives d;
  d.north = north - here;
  d.south = south - here;
  d.west = west - here;
  d.east = east - here;
  float gradient = (d.north * d.north + d.south * d.south + d.west * d.west +
                    d.east * d.east) /
                   (here * here);
  float laplacian = (d.north + d.south + d.west + d.east) / here;
  float numerator = 0.5f * gradient - 0.0625f * (laplacian * laplacian);
  float denominator = 1.0f + 0.25f * laplacian;
  float q = numerator / (denominator * denominator);
  d.c = 1.0f / (1.0f + (q - speckle) / (speckle * (1.0f + speckle)));
  d.c = d.c < 0 ? 0.0f : d.c > 1 ? 1.0f : d.c;
  return d;
}

BENCH_BOTH static float diffused(float here, const Derivatives &d, float cSouth,
                                 float cEast) {
  float divergence =
      d.c * d.north + cSouth * d.south + d.c * d.west + cEast * d.east;
  return here + 0.25f * Lambda * divergence;
}

BENCH_BOTH static float speckleOf(float sum, float squares) {
  float mean = sum / (Region * Region);
  float variance = squares / (Region * Region) - mean * mean;
  return variance / (mean * mean);
}

__global__ void measureSpeckle(const float *image, float *speckle) {
  __shared__ float sums[RegionThreads], squares[RegionThreads];
  int col = threadIdx.x;
  float sum = 0, square = 0;
  for (int row = 0; row < Region; ++row) {
    float value = image[(size_t)row * Cols + col];
    sum += value;
    square += value * value;
  }
  sums[col] = sum;
  squares[col] = square;
  __syncthreads();
  if (col == 0) {
    for (int i = 1; i < Region; ++i) {
      sum += sums[i];
      square += squares[i];
    }
    speckle[0] = speckleOf(sum, square);
  }
}

__global__ void coefficients(const float *image, const float *speckle,
                             float *north, float *south, float *west,
                             float *east, float *c, int rows) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || col >= Cols)
    return;
  size_t i = (size_t)row * Cols + col;
  int up = row > 0 ? row - 1 : 0, down = row < rows - 1 ? row + 1 : rows - 1;
  int left = col > 0 ? col - 1 : 0, right = col < Cols - 1 ? col + 1 : Cols - 1;
  Derivatives d = derivatives(image[i], image[(size_t)up * Cols + col],
                              image[(size_t)down * Cols + col],
                              image[(size_t)row * Cols + left],
                              image[(size_t)row * Cols + right], speckle[0]);
  north[i] = d.north;
  south[i] = d.south;
  west[i] = d.west;
  east[i] = d.east;
  c[i] = d.c;
}

__global__ void diffuse(float *image, const float *north, const float *south,
                        const float *west, const float *east, const float *c,
                        int rows) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || col >= Cols)
    return;
  size_t i = (size_t)row * Cols + col;
  int down = row < rows - 1 ? row + 1 : rows - 1;
  int right = col < Cols - 1 ? col + 1 : Cols - 1;
  Derivatives d = {north[i], south[i], west[i], east[i], c[i]};
  image[i] = diffused(image[i], d, c[(size_t)down * Cols + col],
                      c[(size_t)row * Cols + right]);
}

static float startValue(size_t i) { return exactExp(uniform(mix(i, 1), 0, 1)); }

// A rectangle of the image, with what is needed to go on with it.
class Part {
public:
  Part(int top, int bottom, int left, int right, int rows)
      : top(std::max(top, 0)), bottom(std::min(bottom, rows)),
        left(std::max(left, 0)), right(std::min(right, Cols)),
        width(this->right - this->left) {
    for (int row = this->top; row < this->bottom; ++row)
      for (int col = this->left; col < this->right; ++col)
        image.push_back(startValue((size_t)row * Cols + col));
  }
  float at(int row, int col) const { return image[index(row, col)]; }

  /// One iteration. Each spoils two more cells at those sides that are not the
  /// image's own; they are wrong, not undefined.
  void iterate(float speckle) {
    std::vector<Derivatives> all;
    for (int row = top; row < bottom; ++row)
      for (int col = left; col < right; ++col)
        all.push_back(derivatives(at(row, col), at(up(row), col),
                                  at(down(row), col), at(row, before(col)),
                                  at(row, behind(col)), speckle));
    for (int row = top; row < bottom; ++row)
      for (int col = left; col < right; ++col) {
        size_t i = index(row, col);
        image[i] = diffused(image[i], all[i], all[index(down(row), col)].c,
                            all[index(row, behind(col))].c);
      }
  }

private:
  int up(int row) const { return std::max(row - 1, top); }
  int down(int row) const { return std::min(row + 1, bottom - 1); }
  int before(int col) const { return std::max(col - 1, left); }
  int behind(int col) const { return std::min(col + 1, right - 1); }
  size_t index(int row, int col) const {
    return (size_t)(row - top) * width + (col - left);
  }
  int top, bottom, left, right, width;
  std::vector<float> image;
};

// The speckle in each iteration.
static std::vector<float> speckles(int iterations, int rows) {
  Part part(0, Region + 2 * iterations, 0, Region + 2 * iterations, rows);
  std::vector<float> result;
  for (int iteration = 0; iteration < iterations; ++iteration) {
    float sum = 0, square = 0;
    for (int col = 0; col < Region; ++col) {
      float columnSum = 0, columnSquare = 0;
      for (int row = 0; row < Region; ++row) {
        float value = part.at(row, col);
        columnSum += value;
        columnSquare += value * value;
      }
      sum += columnSum;
      square += columnSquare;
    }
    result.push_back(speckleOf(sum, square));
    part.iterate(result.back());
  }
  return result;
}

#endif // DRAGON_BENCH_LINK_SRAD_V2_H
