// The macros that programs know nvcc by, and what nvcc includes by itself.
// RUN: %cc -fsyntax-only -Werror %s

#if !__CUDACC__ || !defined(__NVCC__)
#error "not nvcc"
#endif
#if __CUDACC_VER_MAJOR__ < 13 || __CUDACC_VER_MINOR__ < 0 ||                   \
    __CUDACC_VER_BUILD__ < 0
#error "not this nvcc"
#endif
static_assert(__CUDACC_VER_MAJOR__ == CUDART_VERSION / 1000, "the toolkit's");

// The toolkit's headers still see clang.
#include <cuda/std/utility>
#include <nv/target>
static_assert(_CCCL_CUDA_COMPILER(CLANG), "clang");
static_assert(!_CCCL_CUDA_COMPILER(NVCC), "not nvcc");
#ifndef __NVCC__
#error "not nvcc any more"
#endif

int main() {
  clock_t start = clock();
  assert(start != clock_t(-1) && strlen("a") == 1 && isdigit('1') && INT_MAX);
  printf("%f\n", sqrt(2.0));
  return abs(EXIT_SUCCESS);
}
