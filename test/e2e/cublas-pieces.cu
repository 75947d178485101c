// What the summaries that come with dragon-cc say of pieces of cuBLAS's functions: calls whose operands do not fit give what the
// whole call gives. Numbers are small and whole, so that every order of a sum is exact.
//
// REQUIRES: cublas
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %host-build -shared -fPIC -isystem %cuda/include %S/Inputs/library/blas.cpp -o libblas.so
// RUN: %build %s -L. -lblas -Wl,-rpath,%t.dir -o program
// RUN: %plain ./program one && %tight ./program many
//   A bias stays, beside a piece of each operand that may lie across two chunks.
// RUN: %tight DRAGON_DEVICE_MEMORY=10M ./program light
//   Pieces that end within chunks of what they overwrite together: of the 18.3 MiB nothing is fetched but the 9.2 MiB of B.
// RUN: %roomy DRAGON_DEVICE_MEMORY=10M DRAGON_STATS=overwritten.json ./program overwritten
// RUN: %ledger overwritten.json 'host_to_device <= 10*M'
// RUN: rm -rf %t.dir
#include "e2e.h"

#include <cublasLt.h>
#include <cublas_v2.h>
#include <functional>

extern "C" int calls();

static cublasHandle_t blas;
static bool many;

/// Matrices and vectors on the device, with what they hold on the host.
struct Operands {
  std::vector<std::vector<float>> host;
  std::vector<float *> device;

  explicit Operands(const std::vector<size_t> &sizes) {
    for (size_t size : sizes) {
      std::vector<float> &words = host.emplace_back(size);
      for (size_t i = 0; i < size; ++i)
        words[i] = float(scramble(uint32_t(i * 7 + host.size())) % 5) - 2;
      CHECK(cudaMalloc(&device.emplace_back(), size * 4));
      CHECK(cudaMemcpy(device.back(), words.data(), size * 4,
                       cudaMemcpyHostToDevice));
    }
  }
  ~Operands() {
    for (float *buffer : device)
      CHECK(cudaFree(buffer));
  }
};

/// call(operands), which changes the last one, on the device and on the host.
using Call = std::function<cublasStatus_t(const std::vector<float *> &)>;
static void compare(const char *name, const std::vector<size_t> &sizes,
                    const Call &call) {
  Operands operands(sizes);
  int before = calls();
  REQUIRE(call(operands.device) == CUBLAS_STATUS_SUCCESS);
  const int made = calls() - before;
  std::vector<float> result(sizes.back());
  CHECK(cudaMemcpy(result.data(), operands.device.back(), result.size() * 4,
                   cudaMemcpyDeviceToHost));
  std::vector<float *> host;
  for (std::vector<float> &words : operands.host)
    host.push_back(words.data());
  REQUIRE(call(host) == CUBLAS_STATUS_SUCCESS);
  if (result != operands.host.back() || (many ? made < 2 : made != 1)) {
    fprintf(stderr, "%s: wrong, in %d calls\n", name, made);
    exit(EXIT_FAILURE);
  }
}

static void products() {
  const float three = 3, two = 2, none = 0;
  for (const bool ta : {false, true})
    for (const bool tb : {false, true})
      for (const auto &sizes : {std::array{4000, 8, 600},
                                {8, 3000, 800},
                                {1500, 1400, 6},
                                {30, 20, 60000}}) {
        const int m = sizes[0], n = sizes[1], k = sizes[2];
        const int lda = (ta ? k : m) + 3, ldb = (tb ? n : k) + 1, ldc = m + 2;
        const size_t a = size_t(lda) * (ta ? m : k);
        const size_t b = size_t(ldb) * (tb ? k : n);
        compare("cublasSgemm", {a, b, size_t(ldc) * n}, [=](auto &o) {
          return cublasSgemm(blas, ta ? CUBLAS_OP_T : CUBLAS_OP_N,
                             tb ? CUBLAS_OP_T : CUBLAS_OP_N, m, n, k, &three,
                             o[0], lda, o[1], ldb, ta ? &two : &none, o[2],
                             ldc);
        });
      }
  const int m = 50, n = 40, k = 30, count = 800;
  compare("cublasSgemmStridedBatched",
          {size_t(m) * k * count, size_t(k) * n * count, size_t(m) * n * count},
          [=](auto &o) {
            return cublasSgemmStridedBatched(
                blas, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &three, o[0], m, m * k,
                o[1], k, k * n, &two, o[2], m, m * n, count);
          });
}

static void others() {
  const float three = 3, two = 2, none = 0;
  const int m = 1700, n = 1600;
  const size_t all = size_t(m) * n;
  for (const auto op : {CUBLAS_OP_N, CUBLAS_OP_T})
    for (const float *beta : {&none, &two})
      compare("cublasSgemv", {all, size_t(m) * 2, size_t(m) * 3}, [=](auto &o) {
        return cublasSgemv(blas, op, m, n, &three, o[0], m, o[1], 2, beta, o[2],
                           3);
      });
  compare("cublasSgeam", {all, all, all}, [=](auto &o) {
    return cublasSgeam(blas, CUBLAS_OP_T, CUBLAS_OP_N, m, n, &three, o[0], n,
                       &two, o[1], m, o[2], m);
  });
  for (const auto side : {CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT})
    compare("cublasSdgmm", {all, size_t(m), all}, [=](auto &o) {
      return cublasSdgmm(blas, side, m, n, o[0], m, o[1], 1, o[2], m);
    });
  const int few = 8, columns = 300000; // no column in two chunks
  compare("cublasStrsm", {size_t(few) * few, size_t(few) * columns},
          [=](auto &o) {
            return cublasStrsm(blas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER,
                               CUBLAS_OP_N, CUBLAS_DIAG_UNIT, few, columns,
                               &two, o[0], few, o[1], few);
          });
  compare("cublasSsymm",
          {size_t(few) * few, size_t(few) * columns, size_t(few) * columns},
          [=](auto &o) {
            return cublasSsymm(blas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER,
                               few, columns, &three, o[0], few, o[1], few, &two,
                               o[2], few);
          });
  compare("cublasSgeam, in place", {all, all}, [=](auto &o) {
    return cublasSgeam(blas, CUBLAS_OP_N, CUBLAS_OP_N, m, n, &three, o[1], m,
                       &two, o[0], m, o[1], m);
  });
  const int long_ = 1500000;
  compare("cublasSaxpy", {size_t(long_), size_t(long_) * 2}, [=](auto &o) {
    return cublasSaxpy(blas, long_, &three, o[0], 1, o[1], 2);
  });
  compare("cublasScopy", {size_t(long_) * 2, size_t(long_)},
          [=](auto &o) { return cublasScopy(blas, long_, o[0], 2, o[1], 1); });
  compare("cublasSscal", {size_t(long_) * 2},
          [=](auto &o) { return cublasSscal(blas, long_, &three, o[0], 2); });
}

/// A layout of cublasLt's of a matrix that lies by columns, or by rows.
static cublasLtMatrixLayout_t layout(int rows, int columns, int leading,
                                     bool byRows, int count, int64_t offset) {
  cublasLtMatrixLayout_t made;
  const cublasLtOrder_t order = CUBLASLT_ORDER_ROW;
  REQUIRE(cublasLtMatrixLayoutCreate(&made, CUDA_R_32F, rows, columns,
                                     leading) == CUBLAS_STATUS_SUCCESS);
  auto set = [&](cublasLtMatrixLayoutAttribute_t which, const auto &value) {
    REQUIRE(cublasLtMatrixLayoutSetAttribute(
                made, which, &value, sizeof value) == CUBLAS_STATUS_SUCCESS);
  };
  if (byRows)
    set(CUBLASLT_MATRIX_LAYOUT_ORDER, order);
  set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, count);
  set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, offset);
  return made;
}

/// cublasLtMatmul(operands), with all that only descriptors say.
static void light() {
  const float three = 3, two = 2, none = 0;
  struct Shape {
    int m, n, k, count;
    bool ta, tb, byRows, bias, adds;
  };
  for (const Shape &s :
       {Shape{8, 3000, 800, 1, false, false, false, true, false},
        Shape{8, 3000, 800, 1, true, true, false, false, true},
        Shape{1500, 1400, 6, 1, true, false, false, false, false},
        Shape{4000, 8, 600, 1, false, true, false, false, true},
        Shape{4000, 8, 600, 1, true, true, false, true, true},
        Shape{1500, 1400, 6, 1, false, false, true, false, true},
        Shape{60, 50, 60000, 1, false, true, false, true, true},
        Shape{500, 64, 2000, 3, false, false, false, true, true},
        Shape{300, 250, 8, 30, false, true, false, false, true}}) {
    auto made = [&](int rows, int columns) {
      const int leading = (s.byRows ? columns : rows) + 3;
      return layout(rows, columns, leading, s.byRows, s.count,
                    int64_t(leading) * (s.byRows ? rows : columns));
    };
    auto elements = [&](int rows, int columns) {
      return size_t(s.count) * ((s.byRows ? columns : rows) + 3) *
             (s.byRows ? rows : columns);
    };
    const int ra = s.ta ? s.k : s.m, rb = s.tb ? s.n : s.k;
    const int ca = s.m + s.k - ra, cb = s.n + s.k - rb;
    const cublasLtMatrixLayout_t a = made(ra, ca), b = made(rb, cb),
                                 c = made(s.m, s.n);
    cublasLtMatmulDesc_t product;
    REQUIRE(cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F,
                                     CUDA_R_32F) == CUBLAS_STATUS_SUCCESS);
    // What is set is found in the descriptor, wherever it was before.
    auto set = [&](cublasLtMatmulDescAttributes_t which, const auto &value) {
      REQUIRE(cublasLtMatmulDescSetAttribute(product, which, &value,
                                             sizeof value) ==
              CUBLAS_STATUS_SUCCESS);
    };
    const cublasLtEpilogue_t epilogue =
        s.bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
    set(CUBLASLT_MATMUL_DESC_TRANSA, s.ta ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_TRANSB, s.tb ? CUBLAS_OP_T : CUBLAS_OP_N);
    compare(
        "cublasLtMatmul",
        {elements(ra, ca), elements(rb, cb), size_t(s.m), elements(s.m, s.n)},
        [&](auto &o) {
          if (s.bias)
            set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, o[2]);
          // Nothing of it is on the device.
          float *others;
          CHECK(cudaMalloc(&others, 9 << 20));
          CHECK(cudaMemset(others, 0, 9 << 20));
          CHECK(cudaDeviceSynchronize());
          CHECK(cudaFree(others));
          return cublasLtMatmul(nullptr, product, &three, o[0], a, o[1], b,
                                s.adds ? &two : &none, o[3], c, o[3], c,
                                nullptr, nullptr, 0, nullptr);
        });
    for (cublasLtMatrixLayout_t one : {a, b, c})
      REQUIRE(cublasLtMatrixLayoutDestroy(one) == CUBLAS_STATUS_SUCCESS);
    REQUIRE(cublasLtMatmulDescDestroy(product) == CUBLAS_STATUS_SUCCESS);
  }
}

static void overwritten() {
  const float three = 3, none = 0;
  const int few = 8, columns = 300000;
  compare("cublasSgemm",
          {size_t(few) * few, size_t(few) * columns, size_t(few) * columns},
          [=](auto &o) {
            return cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, few, columns,
                               few, &three, o[0], few, o[1], few, &none, o[2],
                               few);
          });
}

int main(int argc, char **argv) {
  REQUIRE(argc == 2 && cublasCreate(&blas) == CUBLAS_STATUS_SUCCESS);
  const std::string what = argv[1];
  many = what != "one";
  if (what == "overwritten") {
    overwritten();
    return 0;
  }
  if (what == "light") {
    light();
    return 0;
  }
  products();
  others();
  if (!many)
    light();
  return 0;
}
