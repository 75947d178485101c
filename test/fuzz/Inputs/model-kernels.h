// What kernels are and how they are launched in the model of CUDA: see model.h. They and their loops are a file of their own,
// compiled with optimisation, for most of the model's time goes there; the rest is compiled without.
//
// MODEL_LAUNCH(kernel, (grid, block, ...), arguments) runs a kernel thread by thread; one with barriers is written block
// by block, as loops over threads between barriers (FOR_THREADS), for MODEL_LAUNCH_BLOCKS.
#ifndef MODEL_KERNELS_H
#define MODEL_KERNELS_H
#include <cstddef>
#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline
#define __launch_bounds__(...)

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) {
  return {x, y, z, w};
}
inline thread_local dim3 threadIdx, blockIdx, blockDim, gridDim;

using cudaStream_t = struct Stream *;

class Launch {
public:
  Launch(dim3 grid, dim3 block, size_t = 0, cudaStream_t = nullptr) {
    gridDim = grid, blockDim = block;
    blockIdx = threadIdx = dim3(0, 0, 0);
  }
  bool more() const { return blockIdx.z < gridDim.z; }
  void nextBlock() {
    threadIdx = dim3(0, 0, 0);
    if (++blockIdx.x < gridDim.x)
      return;
    blockIdx.x = 0;
    if (++blockIdx.y < gridDim.y)
      return;
    blockIdx.y = 0;
    ++blockIdx.z;
  }
  void nextThread() {
    if (++threadIdx.x < blockDim.x)
      return;
    threadIdx.x = 0;
    if (++threadIdx.y < blockDim.y)
      return;
    threadIdx.y = 0;
    if (++threadIdx.z < blockDim.z)
      return;
    nextBlock();
  }
};

/// A kernel's launch, compiled where the kernel is; Next leads from one call of it to the next.
template <class Function, Function *Kernel, void (Launch::*Next)()> struct Launcher;
template <class... Parameters, void (*Kernel)(Parameters...), void (Launch::*Next)()>
struct Launcher<void(Parameters...), Kernel, Next> {
  static void launch(Launch launch, Parameters... arguments) {
    for (; launch.more(); (launch.*Next)())
      Kernel(arguments...);
  }
};
#define MODEL_UNWRAP(...) __VA_ARGS__
#define MODEL_LAUNCH_BY(next, kernel, config, ...)                             \
  Launcher<decltype(kernel), kernel, &Launch::next>::launch(Launch{MODEL_UNWRAP config}, __VA_ARGS__)
#define MODEL_LAUNCH(...) MODEL_LAUNCH_BY(nextThread, __VA_ARGS__)
#define MODEL_LAUNCH_BLOCKS(...) MODEL_LAUNCH_BY(nextBlock, __VA_ARGS__)
#define FOR_THREADS                                                            \
  for (threadIdx.y = 0; threadIdx.y < blockDim.y; ++threadIdx.y)               \
    for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x)

/// Returns what was there.
template <class T> T replace(T *at, T value) {
  T old = *at;
  *at = value;
  return old;
}
template <class T> T atomicAdd(T *at, T value) { return replace<T>(at, *at + value); }
template <class T> T atomicXor(T *at, T value) { return replace<T>(at, *at ^ value); }
template <class T> T atomicOr(T *at, T value) { return replace<T>(at, *at | value); }
template <class T> T atomicMax(T *at, T value) { return replace<T>(at, *at < value ? value : *at); }
template <class T> T atomicMin(T *at, T value) { return replace<T>(at, value < *at ? value : *at); }
inline unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
inline int min(int a, int b) { return a < b ? a : b; }
#endif
