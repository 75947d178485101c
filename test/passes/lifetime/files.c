// RUN: dragon-summary %t.sm_90 'scale: read-write'
// RUN: %host-ir -O1 %s | %buffer-program -dragon-summary=%t 2>&1 | FileCheck %s

// Which file a call uses, and what a failing main is.
#include "cuda.h"

KERNEL1(scale, float *)
int fileno(FILE *);
int log_to(FILE *);
extern FILE *stderr;
int fprintf(FILE *, const char *, ...);

// A file that only these calls know, one that others know, one that is passed
// in, and a descriptor.
// CHECK-LABEL: buffer program of kinds:
// CHECK: file own{{$}}
// CHECK: file told escapes
// CHECK: file under escapes
// CHECK: file given escapes
// CHECK: file fd{{$}}
// CHECK: file-write own
// CHECK-NEXT: use-file own
// CHECK-NEXT: file-write fd
// CHECK-NEXT: use-file stderr
void kinds(size_t n, FILE *given, char *path) {
  float *h = malloc(n), *d;
  FILE *own = fopen(path, "wb"), *told = fopen(path, "wb"),
       *under = fopen(path, "wb");
  cudaMalloc((void **)&d, n);
  log_to(told);
  fileno(under);
  fwrite(h, 1, n, given);
  int fd = open(path, 1);
  fwrite(h, 1, n, own);
  fclose(own);
  write(fd, h, n);
  fprintf(stderr, "done\n");
}

// CHECK-LABEL: buffer program of main:
// CHECK: block entry{{$}}
// CHECK: block [[BAD:.*]] fails
int main(int argc, char **argv) {
  float *d;
  if (argc != 2)
    return 1;
  cudaMalloc((void **)&d, argc);
  LAUNCH(scale, d);
  cudaFree(d);
  return 0;
}
