//===- library.h - a library that works on device memory --------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stands for cuBLAS and the like, on the cpu device: a shared library that uses
// no CUDA and touches device memory by itself, which must be there.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_LIBRARY_H
#define DRAGON_TEST_LIBRARY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
typedef struct LibraryContext *LibraryHandle;
int libraryCreate(LibraryHandle *handle);
int libraryDestroy(LibraryHandle handle);
/* y = alpha * x + beta * y; y is not read if *beta is 0. */
int libraryCombine(LibraryHandle handle, int n, const uint32_t *alpha,
                   const uint32_t *x, const uint32_t *beta, uint32_t *y);
/* The same for xs[i] and ys[i], 0 <= i < count, arrays in device memory. */
int libraryCombineArrays(LibraryHandle handle, int n, const uint32_t *alpha,
                         const uint32_t *const *xs, const uint32_t *beta,
                         uint32_t *const *ys, int count);
/* c = alpha * a * b + beta * c, for matrices of m rows and k columns, k rows
   and n columns, m rows and n columns; row by row, lda, ldb and ldc words from
   one to the next; c is not read if *beta is 0. `count` of them, so many words
   apart. */
int libraryMultiply(LibraryHandle handle, int m, int n, int k,
                    const uint32_t *alpha, const uint32_t *a, int lda,
                    int64_t apart, const uint32_t *b, int ldb, int64_t bpart,
                    const uint32_t *beta, uint32_t *c, int ldc, int64_t cpart,
                    int count);
/* How many calls the handle has seen. */
int libraryCalls(LibraryHandle handle);
/* *result, in device memory, = the sum of x. */
int librarySum(LibraryHandle handle, int n, const uint32_t *x,
               uint32_t *result);
/* Adds one to each word of x. No summary describes it. */
int libraryUndocumented(LibraryHandle handle, uint32_t *x, int n);
/* The same for arrays[0..count), an array in device memory. */
int libraryUndocumentedArrays(LibraryHandle handle, uint32_t **arrays,
                              int count, int n);
/* A function of another library, that has no summary file at all. */
void otherIncrement(uint32_t *x, int n);
#ifdef __cplusplus
}
#endif
#endif
