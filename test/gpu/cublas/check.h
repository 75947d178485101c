// Ends the program where a call fails, with what it returned.
#ifndef DRAGON_TEST_GPU_CUBLAS_CHECK_H
#define DRAGON_TEST_GPU_CUBLAS_CHECK_H

#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                            \
  do {                                                                         \
    if (const int status = int(call)) {                                        \
      fprintf(stderr, "%s:%d: %s: %d\n", __FILE__, __LINE__, #call, status);   \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

#endif
