//===- library.cpp - a library that works on device memory ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "library.h"

#include <stdlib.h>

struct LibraryContext {
  int calls;
};

int libraryCreate(LibraryHandle *handle) {
  *handle = new LibraryContext{0};
  return 0;
}

int libraryDestroy(LibraryHandle handle) {
  delete handle;
  return 0;
}

int libraryCombine(LibraryHandle handle, int n, const uint32_t *alpha,
                   const uint32_t *x, const uint32_t *beta, uint32_t *y) {
  ++handle->calls;
  for (int i = 0; i < n; ++i)
    y[i] = *alpha * x[i] + (*beta ? *beta * y[i] : 0);
  return 0;
}

int libraryCombineArrays(LibraryHandle handle, int n, const uint32_t *alpha,
                         const uint32_t *const *xs, const uint32_t *beta,
                         uint32_t *const *ys, int count) {
  for (int i = 0; i < count; ++i)
    libraryCombine(handle, n, alpha, xs[i], beta, ys[i]);
  return 0;
}

int librarySum(LibraryHandle handle, int n, const uint32_t *x,
               uint32_t *result) {
  ++handle->calls;
  *result = 0;
  for (int i = 0; i < n; ++i)
    *result += x[i];
  return 0;
}

int libraryUndocumented(LibraryHandle handle, uint32_t *x, int n) {
  ++handle->calls;
  otherIncrement(x, n);
  return 0;
}

int libraryUndocumentedArrays(LibraryHandle handle, uint32_t **arrays,
                              int count, int n) {
  ++handle->calls;
  for (int i = 0; i < count; ++i)
    otherIncrement(arrays[i], n);
  return 0;
}

void otherIncrement(uint32_t *x, int n) {
  for (int i = 0; i < n; ++i)
    ++x[i];
}
