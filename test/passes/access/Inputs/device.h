// What the tests of the access analysis need of CUDA: compiles in no time, and
// clang's output for it is that for the real headers.
#ifndef DEVICE_H
#define DEVICE_H
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __host__ __attribute__((host))
#define NOINLINE __attribute__((noinline))
struct Dimensions {
  unsigned x, y, z;
};
#define REGISTER(NAME, REG)                                                    \
  static inline __device__ Dimensions NAME() {                                 \
    return {(unsigned)__nvvm_read_ptx_sreg_##REG##_x(),                        \
            (unsigned)__nvvm_read_ptx_sreg_##REG##_y(),                        \
            (unsigned)__nvvm_read_ptx_sreg_##REG##_z()};                       \
  }
REGISTER(threadIdxValue, tid)
REGISTER(blockIdxValue, ctaid)
REGISTER(blockDimValue, ntid)
REGISTER(gridDimValue, nctaid)
#define threadIdx threadIdxValue()
#define blockIdx blockIdxValue()
#define blockDim blockDimValue()
#define gridDim gridDimValue()
static inline __device__ int min(int a, int b) { return a < b ? a : b; }
static inline __device__ int max(int a, int b) { return a > b ? a : b; }
typedef unsigned long size_t;
struct alignas(16) float4 {
  float x, y, z, w;
};
#endif
