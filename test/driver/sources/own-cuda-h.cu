// A project's own cuda.h stands in front of the toolkit's for the project, and not for the toolkit's headers.
// RUN: %cc -fsyntax-only -Werror -I%S/Inputs/own-cuda-h %s
// RUN: %cc -fsyntax-only -Werror -I%S/Inputs/own-cuda-h -DQUOTED %s
// RUN: %cc -fsyntax-only -Werror -DTOOLKIT %s

#ifdef TOOLKIT
#include "cuda.h"
#elif defined(QUOTED)
#include "cuda.h"
#else
#include <cuda.h>
#endif

int main() {
  cudaDeviceSynchronize();
#ifdef TOOLKIT
  return cuInit(0);
#else
  return own();
#endif
}
