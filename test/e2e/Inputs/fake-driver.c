/* A driver without a GPU that writes into the file $STARTED which thread starts it. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CUDA_SUCCESS = 0, CUDA_ERROR_NO_DEVICE = 100, CUDA_ERROR_NOT_FOUND = 500 };

int cuDriverGetVersion(int *version) {
  *version = 13000;
  return CUDA_SUCCESS;
}

int cuInit(unsigned flags) {
  (void)flags;
  const int first = getpid() == (pid_t)syscall(SYS_gettid);
  FILE *file = fopen(getenv("STARTED"), "w");
  if (file) {
    fputs(first ? "the first thread" : "another thread", file);
    fclose(file);
  }
  return CUDA_ERROR_NO_DEVICE;
}

static int other(void) { return CUDA_ERROR_NO_DEVICE; }

/* Every other function is there, and is not called. */
int cuGetProcAddress_v2(const char *name, void **function, int version, unsigned long long flags, int *found) {
  (void)version, (void)flags;
  *function = name[2] == 'I' && name[3] == 'n' && name[4] == 'i' && name[5] == 't' && !name[6] ? (void *)cuInit : (void *)other;
  if (found)
    *found = 0;
  return CUDA_SUCCESS;
}
