//===- blas.cpp - functions of cuBLAS's on the host processor ------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What cuBLAS's documentation says of them, for floats, in memory of the cpu
// device: a stand-in for the library where there is no GPU. calls() says how
// many calls there were.
//
//===----------------------------------------------------------------------===//

#include <cublasLt.h>
#include <cublas_v2.h>
#include <map>
#include <stdint.h>
#include <string.h>

static int made = 0;
extern "C" int calls() { return made; }

static float of(cublasOperation_t op, const float *a, int lda, int i, int j) {
  return op == CUBLAS_OP_N ? a[i + int64_t(j) * lda] : a[j + int64_t(i) * lda];
}
static void put(float &to, float sum, float beta) {
  to = sum + (beta != 0 ? beta * to : 0);
}
/// c = alpha a b + beta c, by the elements of a and b.
template <typename A, typename B>
static void multiply(int m, int n, int k, const float *alpha, A a, B b,
                     const float *beta, float *c, int ldc) {
  ++made;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) {
      float sum = 0;
      for (int l = 0; l < k; ++l)
        sum += a(i, l) * b(l, j);
      put(c[i + int64_t(j) * ldc], *alpha * sum, *beta);
    }
}

static const float &element(const float *x, int n, int inc, int i) {
  return x[inc > 0 ? i * inc : (i - n + 1) * inc];
}
static float &element(float *x, int n, int inc, int i) {
  return x[inc > 0 ? i * inc : (i - n + 1) * inc];
}

extern "C" {
cublasStatus_t cublasCreate_v2(cublasHandle_t *handle) {
  *handle = reinterpret_cast<cublasHandle_t>(&made);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetStream_v2(cublasHandle_t, cudaStream_t *stream) {
  *stream = nullptr;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSgemm_v2(cublasHandle_t, cublasOperation_t opA,
                              cublasOperation_t opB, int m, int n, int k,
                              const float *alpha, const float *a, int lda,
                              const float *b, int ldb, const float *beta,
                              float *c, int ldc) {
  multiply(
      m, n, k, alpha, [=](int i, int l) { return of(opA, a, lda, i, l); },
      [=](int l, int j) { return of(opB, b, ldb, l, j); }, beta, c, ldc);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t opA,
                          cublasOperation_t opB, int m, int n, int k,
                          const float *alpha, const float *a, int lda,
                          long long strideA, const float *b, int ldb,
                          long long strideB, const float *beta, float *c,
                          int ldc, long long strideC, int count) {
  for (int z = 0; z < count; ++z)
    cublasSgemm_v2(handle, opA, opB, m, n, k, alpha, a + z * strideA, lda,
                   b + z * strideB, ldb, beta, c + z * strideC, ldc);
  made -= count - 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSgemv_v2(cublasHandle_t, cublasOperation_t op, int m,
                              int n, const float *alpha, const float *a,
                              int lda, const float *x, int incx,
                              const float *beta, float *y, int incy) {
  ++made;
  const int rows = op == CUBLAS_OP_N ? m : n, columns = m + n - rows;
  for (int i = 0; i < rows; ++i) {
    float sum = 0;
    for (int l = 0; l < columns; ++l)
      sum += of(op, a, lda, i, l) * element(x, columns, incx, l);
    put(element(y, rows, incy, i), *alpha * sum, *beta);
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSgeam(cublasHandle_t, cublasOperation_t opA,
                           cublasOperation_t opB, int m, int n,
                           const float *alpha, const float *a, int lda,
                           const float *beta, const float *b, int ldb, float *c,
                           int ldc) {
  ++made;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i)
      c[i + int64_t(j) * ldc] =
          *alpha * of(opA, a, lda, i, j) + *beta * of(opB, b, ldb, i, j);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSdgmm(cublasHandle_t, cublasSideMode_t mode, int m, int n,
                           const float *a, int lda, const float *x, int incx,
                           float *c, int ldc) {
  ++made;
  const bool left = mode == CUBLAS_SIDE_LEFT;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i)
      c[i + int64_t(j) * ldc] =
          a[i + int64_t(j) * lda] *
          element(x, left ? m : n, incx, left ? i : j);
  return CUBLAS_STATUS_SUCCESS;
}

/// B = alpha A^-1 B, A from the left, lower and with ones in the diagonal.
cublasStatus_t cublasStrsm_v2(cublasHandle_t, cublasSideMode_t,
                              cublasFillMode_t, cublasOperation_t,
                              cublasDiagType_t, int m, int n,
                              const float *alpha, const float *a, int lda,
                              float *b, int ldb) {
  ++made;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) {
      float &to = b[i + int64_t(j) * ldb];
      to *= *alpha;
      for (int l = 0; l < i; ++l)
        to -= a[i + int64_t(l) * lda] * b[l + int64_t(j) * ldb];
    }
  return CUBLAS_STATUS_SUCCESS;
}

/// C = alpha A B + beta C, A symmetric from the left, its lower half.
cublasStatus_t cublasSsymm_v2(cublasHandle_t, cublasSideMode_t,
                              cublasFillMode_t, int m, int n,
                              const float *alpha, const float *a, int lda,
                              const float *b, int ldb, const float *beta,
                              float *c, int ldc) {
  multiply(
      m, n, m, alpha,
      [=](int i, int l) {
        return i >= l ? a[i + int64_t(l) * lda] : a[l + int64_t(i) * lda];
      },
      [=](int l, int j) { return b[l + int64_t(j) * ldb]; }, beta, c, ldc);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSaxpy_v2(cublasHandle_t, int n, const float *alpha,
                              const float *x, int incx, float *y, int incy) {
  ++made;
  for (int i = 0; i < n; ++i)
    element(y, n, incy, i) += *alpha * element(x, n, incx, i);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSscal_v2(cublasHandle_t, int n, const float *alpha,
                              float *x, int incx) {
  ++made;
  for (int i = 0; i < n; ++i)
    element(x, n, incx, i) *= *alpha;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasScopy_v2(cublasHandle_t, int n, const float *x, int incx,
                              float *y, int incy) {
  ++made;
  for (int i = 0; i < n; ++i)
    element(y, n, incy, i) = element(x, n, incx, i);
  return CUBLAS_STATUS_SUCCESS;
}
}

// -- cublasLt: products of floats --------------------------------------------

namespace {
/// What the program has set, and what is set at first.
using Attributes = std::map<int, int64_t>;
Attributes &of(const void *descriptor) {
  return *static_cast<Attributes *>(const_cast<void *>(descriptor));
}
cublasStatus_t get(const void *descriptor, int which, void *to, size_t bytes) {
  auto found = of(descriptor).find(which);
  if (found == of(descriptor).end())
    return CUBLAS_STATUS_INVALID_VALUE;
  memcpy(to, &found->second, bytes);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t set(const void *descriptor, int which, const void *from,
                   size_t bytes) {
  int64_t &to = of(descriptor)[which] = 0;
  memcpy(&to, from, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

struct Matrix {
  Matrix(const void *matrix, const void *layout)
      : first(static_cast<float *>(const_cast<void *>(matrix))),
        says(of(layout)) {}
  float &at(int64_t z, int64_t row, int64_t column) {
    const int64_t leading = says[CUBLASLT_MATRIX_LAYOUT_LD];
    const bool byRows =
        says[CUBLASLT_MATRIX_LAYOUT_ORDER] == CUBLASLT_ORDER_ROW;
    return first[z * says[CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET] +
                 (byRows ? row * leading + column : row + column * leading)];
  }
  int64_t rows() { return says[CUBLASLT_MATRIX_LAYOUT_ROWS]; }
  int64_t columns() { return says[CUBLASLT_MATRIX_LAYOUT_COLS]; }

  float *first;
  Attributes &says;
};
} // namespace

extern "C" {
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout,
                                          cudaDataType type, uint64_t rows,
                                          uint64_t columns, int64_t leading) {
  *layout = reinterpret_cast<cublasLtMatrixLayout_t>(
      new Attributes{{CUBLASLT_MATRIX_LAYOUT_TYPE, type},
                     {CUBLASLT_MATRIX_LAYOUT_ORDER, CUBLASLT_ORDER_COL},
                     {CUBLASLT_MATRIX_LAYOUT_ROWS, rows},
                     {CUBLASLT_MATRIX_LAYOUT_COLS, columns},
                     {CUBLASLT_MATRIX_LAYOUT_LD, leading},
                     {CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, 1},
                     {CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, 0},
                     {CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, 0}});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete &of(layout);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t
cublasLtMatrixLayoutGetAttribute(cublasLtMatrixLayout_t layout,
                                 cublasLtMatrixLayoutAttribute_t which,
                                 void *to, size_t bytes, size_t *) {
  return get(layout, which, to, bytes);
}
cublasStatus_t
cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                 cublasLtMatrixLayoutAttribute_t which,
                                 const void *from, size_t bytes) {
  return set(layout, which, from, bytes);
}
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *product,
                                        cublasComputeType_t type,
                                        cudaDataType_t scale) {
  *product = reinterpret_cast<cublasLtMatmulDesc_t>(
      new Attributes{{CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, type},
                     {CUBLASLT_MATMUL_DESC_SCALE_TYPE, scale},
                     {CUBLASLT_MATMUL_DESC_POINTER_MODE, 0},
                     {CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_N},
                     {CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_N},
                     {CUBLASLT_MATMUL_DESC_TRANSC, CUBLAS_OP_N},
                     {CUBLASLT_MATMUL_DESC_FILL_MODE, CUBLAS_FILL_MODE_FULL},
                     {CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_DEFAULT},
                     {CUBLASLT_MATMUL_DESC_BIAS_POINTER, 0}});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t product) {
  delete &of(product);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t
cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t product,
                               cublasLtMatmulDescAttributes_t which, void *to,
                               size_t bytes, size_t *needed) {
  if (bytes == 0 && of(product).count(which))
    *needed = which == CUBLASLT_MATMUL_DESC_BIAS_POINTER ? sizeof(void *)
                                                         : sizeof(int32_t);
  return get(product, which, to, bytes);
}
cublasStatus_t
cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t product,
                               cublasLtMatmulDescAttributes_t which,
                               const void *from, size_t bytes) {
  return set(product, which, from, bytes);
}

cublasStatus_t
cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t product,
               const void *alpha, const void *a, cublasLtMatrixLayout_t layoutA,
               const void *b, cublasLtMatrixLayout_t layoutB, const void *beta,
               const void *c, cublasLtMatrixLayout_t layoutC, void *d,
               cublasLtMatrixLayout_t layoutD, const cublasLtMatmulAlgo_t *,
               void *, size_t, cudaStream_t) {
  ++made;
  Attributes &how = of(product);
  Matrix A(a, layoutA), B(b, layoutB), C(c, layoutC), D(d, layoutD);
  const bool ta = how[CUBLASLT_MATMUL_DESC_TRANSA] == CUBLAS_OP_T,
             tb = how[CUBLASLT_MATMUL_DESC_TRANSB] == CUBLAS_OP_T;
  const int64_t m = D.rows(), n = D.columns(), k = ta ? A.rows() : A.columns();
  const float scale = *static_cast<const float *>(alpha),
              old = *static_cast<const float *>(beta);
  const auto *bias = how[CUBLASLT_MATMUL_DESC_EPILOGUE] == CUBLASLT_EPILOGUE_BIAS
                         ? reinterpret_cast<const float *>(
                               how[CUBLASLT_MATMUL_DESC_BIAS_POINTER])
                         : nullptr;
  if (!bias && how[CUBLASLT_MATMUL_DESC_BIAS_POINTER])
    return CUBLAS_STATUS_INVALID_VALUE;
  if ((ta ? A.columns() : A.rows()) != m || (tb ? B.rows() : B.columns()) != n ||
      (tb ? B.columns() : B.rows()) != k || C.rows() != m || C.columns() != n)
    return CUBLAS_STATUS_INVALID_VALUE;
  for (int64_t z = 0; z < D.says[CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT]; ++z)
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < m; ++i) {
        float sum = 0;
        for (int64_t l = 0; l < k; ++l)
          sum += (ta ? A.at(z, l, i) : A.at(z, i, l)) *
                 (tb ? B.at(z, j, l) : B.at(z, l, j));
        sum = scale * sum + (old != 0 ? old * C.at(z, i, j) : 0);
        D.at(z, i, j) = sum + (bias ? bias[i] : 0);
      }
  return CUBLAS_STATUS_SUCCESS;
}
}
