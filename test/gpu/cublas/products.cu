// Products of matrices by cuBLAS that may be larger than device memory, of all types and shapes that are made in pieces.
//
//   products                  checks some elements of each against sums in double precision
//   products time N ROUNDS    C = A B with N x N matrices: in single precision, and of half precision with sums in single
//
// The exit code is 1 if an element is wrong.
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "check.h"

#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

using Real = std::complex<double>;

/// Small numbers that every type holds exactly.
__host__ __device__ inline int number(unsigned long long i, unsigned seed) {
  unsigned long long x = (i + 1) * 0x9E3779B97F4A7C15ull + seed * 0x2545F491ull;
  x ^= x >> 29;
  x *= 0xBF58476D1CE4E5B9ull;
  x ^= x >> 32;
  return int(x % 17) - 8;
}

template <typename T> struct Of {
  static __host__ __device__ T value(unsigned long long i, unsigned seed) {
    return T(float(number(i, seed)));
  }
  static Real real(T value) { return double(float(value)); }
};
template <> struct Of<double> {
  static __host__ __device__ double value(unsigned long long i, unsigned seed) {
    return number(i, seed);
  }
  static Real real(double value) { return value; }
};
template <> struct Of<cuComplex> {
  static __host__ __device__ cuComplex value(unsigned long long i,
                                             unsigned seed) {
    return {float(number(2 * i, seed)), float(number(2 * i + 1, seed))};
  }
  static Real real(cuComplex value) { return {value.x, value.y}; }
};
template <> struct Of<cuDoubleComplex> {
  static __host__ __device__ cuDoubleComplex value(unsigned long long i,
                                                   unsigned seed) {
    return {double(number(2 * i, seed)), double(number(2 * i + 1, seed))};
  }
  static Real real(cuDoubleComplex value) { return {value.x, value.y}; }
};

template <typename T>
__global__ void fill(T *to, unsigned long long count, unsigned seed) {
  for (unsigned long long i = blockIdx.x * 256ull + threadIdx.x; i < count;
       i += gridDim.x * 256ull)
    to[i] = Of<T>::value(i, seed);
}

template <typename T> T *filled(size_t count, unsigned seed) {
  T *to;
  CHECK(cudaMalloc(&to, count * sizeof(T)));
  fill<<<2048, 256>>>(to, count, seed);
  return to;
}

struct Shape {
  bool ta, tb;
  int m, n, k, batch, extra; ///< extra: elements between columns

  int lda() const { return (ta ? k : m) + extra; }
  int ldb() const { return (tb ? n : k) + extra; }
  int ldc() const { return m + extra; }
  long long a() const { return (long long)lda() * (ta ? m : k); }
  long long b() const { return (long long)ldb() * (tb ? k : n); }
  long long c() const { return (long long)ldc() * n; }
  cublasOperation_t opA() const { return ta ? CUBLAS_OP_T : CUBLAS_OP_N; }
  cublasOperation_t opB() const { return tb ? CUBLAS_OP_T : CUBLAS_OP_N; }
};

static cublasHandle_t blas;
static int wrong = 0;

/// multiply(shape, a, b, beta, c), alpha = 1. `exact`: how near a result is, of
/// the largest sum. Each element of row i has number(i, bias) added, if any.
template <typename In, typename Out, typename Multiply>
void check(const char *name, const Shape &s, double beta, double exact,
           Multiply multiply, unsigned bias = 0) {
  In *a = filled<In>(s.a() * s.batch, 1), *b = filled<In>(s.b() * s.batch, 2);
  Out *c = filled<Out>(s.c() * s.batch, 3);
  const int status = multiply(s, a, b, float(beta), c);
  double worst = 0;
  if (!status) {
    std::vector<Out> result(s.c() * s.batch);
    CHECK(cudaMemcpy(result.data(), c, result.size() * sizeof(Out),
                     cudaMemcpyDeviceToHost));
    for (int sample = 0; sample < 400; ++sample) {
      const int i =
          sample % 5 ? int(sample * 7919ll % s.m) : s.m - 1 - sample % s.m;
      const int j = sample % 3 ? int(sample * 104729ll % s.n) : s.n - 1;
      const int z = sample % s.batch;
      Real sum = 0, size = 0;
      for (int l = 0; l < s.k; ++l) {
        const long long ai =
            s.ta ? l + (long long)i * s.lda() : i + (long long)l * s.lda();
        const long long bi =
            s.tb ? j + (long long)l * s.ldb() : l + (long long)j * s.ldb();
        sum += Of<In>::real(Of<In>::value(ai + z * s.a(), 1)) *
               Of<In>::real(Of<In>::value(bi + z * s.b(), 2));
        size += 36;
      }
      const long long at = i + (long long)j * s.ldc() + z * s.c();
      if (beta != 0)
        sum += beta * Of<Out>::real(Of<Out>::value(at, 3));
      if (bias)
        sum += double(number(i, bias));
      worst = std::max(worst, std::abs(Of<Out>::real(result[at]) - sum) /
                                  std::abs(size));
    }
  }
  const bool bad = status || !(worst <= exact);
  wrong += bad;
  printf("%-28s %c%c %6d x %6d x %6d, %3d: %s", name, s.ta ? 'T' : 'N',
         s.tb ? 'T' : 'N', s.m, s.n, s.k, s.batch, bad ? "WRONG" : "right");
  if (bad)
    printf(" (status %d, error %g)", status, worst);
  printf("\n");
  fflush(stdout);
  for (void *buffer : {(void *)a, (void *)b, (void *)c})
    CHECK(cudaFree(buffer));
}

template <typename T> cudaDataType typeOf();
template <> cudaDataType typeOf<float>() { return CUDA_R_32F; }
template <> cudaDataType typeOf<__half>() { return CUDA_R_16F; }
template <> cudaDataType typeOf<__nv_bfloat16>() { return CUDA_R_16BF; }

/// cublasGemmEx, or for a batch cublasGemmStridedBatchedEx.
template <typename In, typename Out>
int gemmEx(const Shape &s, const In *a, const In *b, float beta, Out *c) {
  const float one = 1;
  if (s.batch == 1)
    return cublasGemmEx(blas, s.opA(), s.opB(), s.m, s.n, s.k, &one, a,
                        typeOf<In>(), s.lda(), b, typeOf<In>(), s.ldb(), &beta,
                        c, typeOf<Out>(), s.ldc(), CUBLAS_COMPUTE_32F,
                        CUBLAS_GEMM_DEFAULT);
  return cublasGemmStridedBatchedEx(
      blas, s.opA(), s.opB(), s.m, s.n, s.k, &one, a, typeOf<In>(), s.lda(),
      s.a(), b, typeOf<In>(), s.ldb(), s.b(), &beta, c, typeOf<Out>(), s.ldc(),
      s.c(), s.batch, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

struct LtMatrix {
  cublasLtMatrixLayout_t layout;

  LtMatrix(cudaDataType type, int rows, int columns, int ld, int batch,
           int64_t stride) {
    CHECK(cublasLtMatrixLayoutCreate(&layout, type, rows, columns, ld));
    CHECK(cublasLtMatrixLayoutSetAttribute(
        layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch));
    CHECK(cublasLtMatrixLayoutSetAttribute(
        layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
        sizeof stride));
  }
  LtMatrix(const LtMatrix &) = delete;
  LtMatrix &operator=(const LtMatrix &) = delete;
  ~LtMatrix() { CHECK(cublasLtMatrixLayoutDestroy(layout)); }
};

static cublasLtHandle_t lt;
static void *workspace;
constexpr size_t WorkspaceBytes = 4 << 20;

/// cublasLtMatmul, with a bias where there is one.
template <typename In, typename Out>
int ltMatmul(const Shape &s, const In *a, const In *b, float beta, Out *c,
             const Out *bias = nullptr) {
  const float one = 1;
  const cublasOperation_t opA = s.opA(), opB = s.opB();
  cublasLtMatmulDesc_t product;
  CHECK(cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  auto set = [&](cublasLtMatmulDescAttributes_t which, const auto &value) {
    CHECK(
        cublasLtMatmulDescSetAttribute(product, which, &value, sizeof(value)));
  };
  set(CUBLASLT_MATMUL_DESC_TRANSA, opA);
  set(CUBLASLT_MATMUL_DESC_TRANSB, opB);
  if (bias) {
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
    set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
  }
  const LtMatrix ofA(typeOf<In>(), s.ta ? s.k : s.m, s.ta ? s.m : s.k, s.lda(),
                     s.batch, s.a());
  const LtMatrix ofB(typeOf<In>(), s.tb ? s.n : s.k, s.tb ? s.k : s.n, s.ldb(),
                     s.batch, s.b());
  const LtMatrix ofC(typeOf<Out>(), s.m, s.n, s.ldc(), s.batch, s.c());
  cublasLtMatmulPreference_t preference;
  CHECK(cublasLtMatmulPreferenceCreate(&preference));
  CHECK(cublasLtMatmulPreferenceSetAttribute(
      preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &WorkspaceBytes,
      sizeof(WorkspaceBytes)));
  cublasLtMatmulHeuristicResult_t found;
  int number = 0;
  CHECK(cublasLtMatmulAlgoGetHeuristic(lt, product, ofA.layout, ofB.layout,
                                       ofC.layout, ofC.layout, preference, 1,
                                       &found, &number));
  const int status =
      number == 0
          ? int(CUBLAS_STATUS_NOT_SUPPORTED)
          : int(cublasLtMatmul(lt, product, &one, a, ofA.layout, b, ofB.layout,
                               &beta, c, ofC.layout, c, ofC.layout, &found.algo,
                               workspace, WorkspaceBytes, nullptr));
  CHECK(cublasLtMatmulPreferenceDestroy(preference));
  CHECK(cublasLtMatmulDescDestroy(product));
  return status;
}

template <typename In, typename Out>
int ltWithBias(const Shape &s, const In *a, const In *b, float beta, Out *c) {
  Out *bias = filled<Out>(s.m, 6);
  const int status = ltMatmul(s, a, b, beta, c, bias);
  CHECK(cudaFree(bias));
  return status;
}

static int sgemm(const Shape &s, const float *a, const float *b, float beta,
                 float *c) {
  const float one = 1;
  if (s.batch == 1)
    return cublasSgemm(blas, s.opA(), s.opB(), s.m, s.n, s.k, &one, a, s.lda(),
                       b, s.ldb(), &beta, c, s.ldc());
  return cublasSgemmStridedBatched(blas, s.opA(), s.opB(), s.m, s.n, s.k, &one,
                                   a, s.lda(), s.a(), b, s.ldb(), s.b(), &beta,
                                   c, s.ldc(), s.c(), s.batch);
}

static int sgemmBatched(const Shape &s, const float *a, const float *b,
                        float beta, float *c) {
  std::vector<const float *> pointers;
  for (int z = 0; z < s.batch; ++z)
    pointers.push_back(a + z * s.a());
  for (int z = 0; z < s.batch; ++z)
    pointers.push_back(b + z * s.b());
  for (int z = 0; z < s.batch; ++z)
    pointers.push_back(c + z * s.c());
  const float **table, one = 1;
  CHECK(cudaMalloc(&table, pointers.size() * sizeof(float *)));
  CHECK(cudaMemcpy(table, pointers.data(), pointers.size() * sizeof(float *),
                   cudaMemcpyHostToDevice));
  const int status =
      cublasSgemmBatched(blas, s.opA(), s.opB(), s.m, s.n, s.k, &one, table,
                         s.lda(), table + s.batch, s.ldb(), &beta,
                         (float **)table + 2 * s.batch, s.ldc(), s.batch);
  CHECK(cudaFree(table));
  return status;
}

static void say(const char *name, int status, double worst, double exact) {
  const bool bad = status || !(worst <= exact);
  wrong += bad;
  printf("%-28s: %s", name, bad ? "WRONG" : "right");
  if (bad)
    printf(" (status %d, error %g)", status, worst);
  printf("\n");
  fflush(stdout);
}

/// What is cut into columns and elements: N x N matrices of floats, which cuBLAS
/// sums exactly where that is possible.
static void checkOthers() {
  const int n = 4000;
  const size_t all = size_t(n) * n;
  const float one = 1, half = .5;
  float *a = filled<float>(all, 1), *b = filled<float>(all, 2);
  float *c = filled<float>(all, 3), *x = filled<float>(n, 4);
  float *y = filled<float>(n, 5);
  auto at = [](size_t i, unsigned seed) {
    return double(Of<float>::value(i, seed));
  };
  for (const bool transposed : {false, true}) {
    fill<<<16, 256>>>(y, n, 5);
    const int status = cublasSgemv(blas, transposed ? CUBLAS_OP_T : CUBLAS_OP_N,
                                   n, n, &one, a, n, x, 1, &half, y, 1);
    std::vector<float> result(n);
    CHECK(cudaMemcpy(result.data(), y, n * 4, cudaMemcpyDeviceToHost));
    double worst = 0;
    for (int i = 0; i < n; i += 37) {
      double sum = .5 * at(i, 5);
      for (int l = 0; l < n; ++l)
        sum += at(transposed ? l + size_t(i) * n : i + size_t(l) * n, 1) *
               at(l, 4);
      worst = std::max(worst, std::abs(result[i] - sum) / (36. * n));
    }
    say(transposed ? "cublasSgemv, T" : "cublasSgemv, N", status, worst, 1e-6);
  }
  auto compare = [&](const char *name, int status, const float *of,
                     auto expected) {
    std::vector<float> result(all);
    CHECK(cudaMemcpy(result.data(), of, all * 4, cudaMemcpyDeviceToHost));
    double worst = 0;
    for (size_t k = 0; k < all; k += 1013)
      worst = std::max(worst, std::abs(result[k] - expected(k)));
    say(name, status, worst, 0);
  };
  compare("cublasSgeam",
          cublasSgeam(blas, CUBLAS_OP_T, CUBLAS_OP_N, n, n, &one, a, n, &half,
                      b, n, c, n),
          c,
          [&](size_t k) { return at(k / n + k % n * n, 1) + .5 * at(k, 2); });
  fill<<<2048, 256>>>(c, all, 3);
  compare("cublasSaxpy", cublasSaxpy(blas, int(all), &half, a, 1, c, 1), c,
          [&](size_t k) { return .5 * at(k, 1) + at(k, 3); });
  compare("cublasSdgmm",
          cublasSdgmm(blas, CUBLAS_SIDE_LEFT, n, n, a, n, x, 1, c, n), c,
          [&](size_t k) { return at(k, 1) * at(k % n, 4); });
  // With ones in the diagonal and zeros elsewhere it is what it was. The matrix
  // itself must fit.
  constexpr int few = 1000, columns = int(all / few);
  CHECK(cudaMemset(a, 0, all * 4));
  compare("cublasStrsm",
          cublasStrsm(blas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER,
                      CUBLAS_OP_N, CUBLAS_DIAG_UNIT, few, columns, &half, a,
                      few, b, few),
          b, [&](size_t k) { return .5 * at(k, 2); });
  for (float *buffer : {a, b, c, x, y})
    CHECK(cudaFree(buffer));
}

static int checkAll() {
  const Shape tn{true, false, 40000, 128, 512, 1, 0};
  const Shape nt{false, true, 512, 96, 40000, 1, 8};
  const Shape square{false, false, 3000, 2900, 3100, 1, 4};
  const Shape wide{true, true, 100, 30000, 700, 1, 0};
  const Shape batch{true, false, 600, 500, 400, 40, 0};
  const Shape few{false, false, 6000, 64, 2500, 3, 16};
  for (const Shape &s : {tn, nt, square, wide, batch, few}) {
    check<float, float>("cublasSgemm", s, s.extra ? .5 : 0, 1e-6, sgemm);
    check<__half, float>("cublasGemmEx, half, float", s, s.extra ? 0 : .5, 1e-6,
                         gemmEx<__half, float>);
    check<__nv_bfloat16, __nv_bfloat16>("cublasGemmEx, bfloat16", s,
                                        s.extra ? 1 : 0, 5e-3,
                                        gemmEx<__nv_bfloat16, __nv_bfloat16>);
    check<float, float>("cublasLtMatmul", s, s.extra ? .5 : 0, 1e-6,
                        [](const Shape &shape, auto *a, auto *b, double beta,
                           auto *c) { return ltMatmul(shape, a, b, beta, c); });
    check<__half, float>(
        "cublasLtMatmul, half, float", s, s.extra ? 0 : .5, 1e-6,
        [](const Shape &shape, auto *a, auto *b, double beta, auto *c) {
          return ltMatmul(shape, a, b, beta, c);
        });
    check<__nv_bfloat16, __nv_bfloat16>(
        "cublasLtMatmul, bias, bfloat16", s, s.extra ? 1 : 0, 5e-3,
        ltWithBias<__nv_bfloat16, __nv_bfloat16>, /*bias=*/6);
  }
  check<float, float>("cublasSgemmBatched", batch, .5, 1e-6, sgemmBatched);
  const Shape middle{false, false, 2000, 1900, 1800, 1, 2};
  check<double, double>(
      "cublasDgemm", middle, .5, 1e-14,
      [](const Shape &s, auto *a, auto *b, double beta, auto *c) {
        const double one = 1;
        return cublasDgemm(blas, s.opA(), s.opB(), s.m, s.n, s.k, &one, a,
                           s.lda(), b, s.ldb(), &beta, c, s.ldc());
      });
  check<cuComplex, cuComplex>(
      "cublasCgemm", nt, .5, 1e-6,
      [](const Shape &s, auto *a, auto *b, float scale, auto *c) {
        const cuComplex one{1, 0}, beta{scale, 0};
        return cublasCgemm(blas, s.opA(), s.opB(), s.m, s.n, s.k, &one, a,
                           s.lda(), b, s.ldb(), &beta, c, s.ldc());
      });
  check<cuDoubleComplex, cuDoubleComplex>(
      "cublasZgemm", middle, 0, 1e-14,
      [](const Shape &s, auto *a, auto *b, double scale, auto *c) {
        const cuDoubleComplex one{1, 0}, beta{scale, 0};
        return cublasZgemm(blas, s.opA(), s.opB(), s.m, s.n, s.k, &one, a,
                           s.lda(), b, s.ldb(), &beta, c, s.ldc());
      });
  checkOthers();
  return wrong != 0;
}

template <typename In>
void timeProduct(const char *name, int n, int rounds,
                 int (*multiply)(const Shape &, const In *, const In *, float,
                                 float *)) {
  const Shape s{true, false, n, n, n, 1, 0};
  In *a = filled<In>(s.a(), 1), *b = filled<In>(s.b(), 2);
  float *c = filled<float>(s.c(), 3);
  CHECK(cudaDeviceSynchronize());
  for (int round = 0; round < rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    CHECK(multiply(s, a, b, 0, c));
    CHECK(cudaDeviceSynchronize());
    printf(
        "%-8s %d: %.3f s\n", name, n,
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
            .count());
    fflush(stdout);
  }
  for (void *buffer : {(void *)a, (void *)b, (void *)c})
    CHECK(cudaFree(buffer));
}

int main(int count, char **arguments) {
  CHECK(cublasCreate(&blas));
  CHECK(cublasLtCreate(&lt));
  CHECK(cudaMalloc(&workspace, WorkspaceBytes));
  CHECK(cublasSetWorkspace(blas, workspace, WorkspaceBytes));
  if (count == 1)
    return checkAll();
  if (count != 4 || strcmp(arguments[1], "time")) {
    fprintf(stderr, "usage: products [time N ROUNDS]\n");
    return 2;
  }
  const int n = atoi(arguments[2]), rounds = atoi(arguments[3]);
  timeProduct<float>("float", n, rounds, sgemm);
  timeProduct<__half>("half", n, rounds, gemmEx<__half, float>);
  return 0;
}
