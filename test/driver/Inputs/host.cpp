#include <cuda_runtime.h>
#include <dragon/dragon.h>

static_assert(__cplusplus > 201103L, "this is C++");
extern "C" int answer(void);
int host() { return answer() + cudaSuccess + DRAGON_OK; }
