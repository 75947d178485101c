//===- field.cpp - a class that owns a buffer -----------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "field.h"

Field::Field(int count) : count(count) {
  CHECK(cudaMalloc((void **)&data, count * sizeof(uint32_t)));
}

Field::~Field() { CHECK(cudaFree(data)); }

void Field::clear() { CHECK(cudaMemset(data, 0, count * sizeof(uint32_t))); }

void Field::load(const std::vector<uint32_t> &from) {
  CHECK(cudaMemcpy(data, from.data(), count * sizeof(uint32_t),
                   cudaMemcpyHostToDevice));
}

void Field::store(std::vector<uint32_t> &to) const {
  CHECK(cudaMemcpy(to.data(), data, count * sizeof(uint32_t),
                   cudaMemcpyDeviceToHost));
}
