// The library of library.yaml.
#ifndef LIBRARY_H
#define LIBRARY_H
#include "cuda.h"
typedef struct blasContext *blasHandle;
#ifdef __cplusplus
extern "C" {
#endif
int blasCreate(blasHandle *);
int blasDestroy(blasHandle);
int blasVersion(blasHandle, int *);
int blasSetStream(blasHandle, cudaStream_t);
int blasSetWorkspace(blasHandle, void *, size_t);
int blasSgemm_v2(blasHandle, int, int, int m, int n, int k, const float *alpha, const float *A, int lda, const float *B,
                 int ldb, const float *beta, float *C, int ldc);
int blasDgemm_v2(blasHandle, int, int, int m, int n, int k, const double *alpha, const double *A, int lda,
                 const double *B, int ldb, const double *beta, double *C, int ldc);
int blasSgemmBatched(blasHandle, int m, int n, int k, const float *const *, int lda, const float *const *, int ldb,
                     const float *beta, float *const *, int ldc, int count);
int blasVector(blasHandle handle, int trans, int n, const float *beta, const float *A, int lda, const float *x, float *y);
int blasMultiply(blasHandle handle, int n, long k, const float *beta, const float *A, const float *B, int ldb, float *C);
int blasMatmul(float *A, const void *layout, cudaStream_t);
int blasScale(int n, float *x, cudaStream_t);
int blasFill(void *, long);
int blasSum(void *, size_t *, const float *, int, float *);
int blasMystery(blasHandle, float *);
#ifdef __cplusplus
}
#endif
#define blasSgemm blasSgemm_v2
#define blasDgemm blasDgemm_v2
#endif
