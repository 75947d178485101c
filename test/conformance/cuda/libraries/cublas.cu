// cuBLAS: a product of matrices in device memory.
// FLAGS: -lcublas
// REFUSED: cpu: cuBLAS :: NVIDIA's libraries need a GPU
// REQUIRES: cublas
// RUN: %conforms %s
#include "conformance.h"
#include <cublas_v2.h>

int main() {
  cublasHandle_t handle;
  cublasStatus_t created = cublasCreate(&handle);
  if (created != CUBLAS_STATUS_SUCCESS)
    fprintf(stderr, "cuBLAS: %s\n", cublasGetStatusString(created));
  REQUIRE(created == CUBLAS_STATUS_SUCCESS);
  float *a = onDevice<float>({1, 2, 3, 4}), *b = onDevice<float>({5, 6, 7, 8});
  float *c = onDevice<float>(4), one = 1, zero = 0;
  REQUIRE(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, a, 2, b,
                      2, &zero, c, 2) == CUBLAS_STATUS_SUCCESS);
  auto h = fetch(c, 4);
  REQUIRE(h[0] == 23 && h[1] == 34 && h[2] == 31 && h[3] == 46);
  REQUIRE(cublasDestroy(handle) == CUBLAS_STATUS_SUCCESS);
  return 0;
}
