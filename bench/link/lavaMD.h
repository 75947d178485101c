//===- lavaMD.h - forces between particles in boxes -------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// After Rodinia's lavaMD: space is cut into boxes of particles, and each
// particle feels those of its box and of the 26 around it. Which boxes these
// are stands in a list, so what a block reads is known only from data. Much
// computation for each byte.
//
// Some particles are computed again on the host.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_BENCH_LINK_LAVAMD_H
#define DRAGON_BENCH_LINK_LAVAMD_H

#include "Data.h"

#include <algorithm>

using namespace bench;

const int Particles = 64; // in a box
const int Near = 27;      // boxes: itself first

struct alignas(16) Four {
  float v, x, y, z;
};

BENCH_BOTH static void addForce(Four &force, const Four &home,
                                const Four &other, float charge) {
  float dx = home.x - other.x, dy = home.y - other.y, dz = home.z - other.z;
  float distance = dx * dx + dy * dy + dz * dz;
  float weight = exactExp(-0.5f * distance) * charge;
  force.v += weight;
  force.x += 2.0f * weight * dx;
  force.y += 2.0f * weight * dy;
  force.z += 2.0f * weight * dz;
}

// A block for each box, a thread for each of its particles.
__global__ void forces(const int *near, const Four *places,
                       const float *charges, Four *result) {
  __shared__ Four otherPlaces[Particles];
  __shared__ float otherCharges[Particles];
  int box = blockIdx.x, t = threadIdx.x;
  Four home = places[(size_t)box * Particles + t];
  Four force = {0, 0, 0, 0};
  for (int k = 0; k < Near; ++k) {
    int other = near[(size_t)box * Near + k];
    if (other < 0)
      continue;
    otherPlaces[t] = places[(size_t)other * Particles + t];
    otherCharges[t] = charges[(size_t)other * Particles + t];
    __syncthreads();
    for (int i = 0; i < Particles; ++i)
      addForce(force, home, otherPlaces[i], otherCharges[i]);
    __syncthreads();
  }
  result[(size_t)box * Particles + t] = force;
}

// Side x Side x Layers boxes. They do not change once data are made.
static int Side = 1, Layers = 1;

static int nearAt(size_t i) {
  int k = (int)(i % Near), box = (int)(i / Near);
  if (k == 0)
    return box;
  k = k <= 13 ? k - 1 : k; // the others in their order
  int x = box % Side + k % 3 - 1, y = box / Side % Side + k / 3 % 3 - 1,
      z = box / Side / Side + k / 9 - 1;
  if (x < 0 || x >= Side || y < 0 || y >= Side || z < 0 || z >= Layers)
    return -1;
  return (z * Side + y) * Side + x;
}
static Four placeAt(size_t i) {
  int box = (int)(i / Particles);
  return {0, (float)(box % Side) + uniform(mix(i, 1), 0, 1),
          (float)(box / Side % Side) + uniform(mix(i, 2), 0, 1),
          (float)(box / Side / Side) + uniform(mix(i, 3), 0, 1)};
}
static float chargeAt(size_t i) { return uniform(mix(i, 4), 0, 1); }

static Four forceOn(size_t particle) {
  size_t box = particle / Particles;
  Four force = {0, 0, 0, 0}, home = placeAt(particle);
  for (int k = 0; k < Near; ++k) {
    int other = nearAt(box * Near + k);
    for (int i = 0; other >= 0 && i < Particles; ++i) {
      size_t index = (size_t)other * Particles + i;
      addForce(force, home, placeAt(index), chargeAt(index));
    }
  }
  return force;
}

#endif // DRAGON_BENCH_LINK_LAVAMD_H
