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

int libraryMultiply(LibraryHandle handle, int m, int n, int k,
                    const uint32_t *alpha, const uint32_t *a, int lda,
                    int64_t apart, const uint32_t *b, int ldb, int64_t bpart,
                    const uint32_t *beta, uint32_t *c, int ldc, int64_t cpart,
                    int count) {
  ++handle->calls;
  if (m < 0)
    return 7;
  for (int one = 0; one < count; ++one, a += apart, b += bpart, c += cpart)
    for (int i = 0; i < m; ++i) {
      uint32_t *row = c + int64_t(i) * ldc;
      for (int j = 0; j < n; ++j)
        row[j] = *beta ? *beta * row[j] : 0;
      for (int l = 0; l < k; ++l) {
        const uint32_t factor = *alpha * a[int64_t(i) * lda + l];
        for (int j = 0; j < n; ++j)
          row[j] += factor * b[int64_t(l) * ldb + j];
      }
    }
  return 0;
}

int libraryCalls(LibraryHandle handle) { return handle->calls; }

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
