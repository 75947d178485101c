//===- field.h - buffers as a class, and what is done to them -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function is in a unit of its own: the class and its copies in field.cpp,
// the kernels in forward.cu and backward.cu, which call theirs by one name.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_FIELD_H
#define DRAGON_TEST_FIELD_H

#include "e2e.h"

struct Field {
  uint32_t *data;
  int count;

  explicit Field(int count);
  ~Field();
  Field(const Field &) = delete;

  void clear();
  void load(const std::vector<uint32_t> &from);
  void store(std::vector<uint32_t> &to) const;
};

/// act = in + step
void forward(Field &act, const Field &in, uint32_t step);
/// sum = sum * 3 + act
void backward(Field &sum, const Field &act);

#endif // DRAGON_TEST_FIELD_H
