// RUN: dragon-summary %t.sm_90 'scale: read-write'
// RUN: %host-ir -O1 %s | %buffer-program -dragon-summary=%t 2>&1 | FileCheck %s

// An address that becomes text, bytes or another number may come back as any pointer; a pointer from there may be any that did.
#include "cuda.h"

KERNEL1(scale, float *)

int sprintf(char *, const char *, ...);
int sscanf(const char *, const char *, ...);
unsigned long strtoul(const char *, char **, int);
int consume(double);
void put(unsigned);

// CHECK-LABEL: buffer program of text:
// CHECK-NEXT: buffer d {{.*}} escapes # to a number made of its address
// CHECK: copy-out read(d)?
void text(size_t n, char *h) {
  char words[32];
  float *d;
  cudaMalloc((void **)&d, n);
  sprintf(words, "%p", (void *)d);
  LAUNCH(scale, d);
  cudaMemcpy(h, (void *)strtoul(words, NULL, 16), n, 2);
}

// CHECK-LABEL: buffer program of scanned:
// CHECK-NEXT: buffer d {{.*}} escapes # to a number made of its address
// CHECK: copy-out read(d)?
void scanned(size_t n, char *h) {
  char words[32];
  float *d;
  void *e;
  cudaMalloc((void **)&d, n);
  sprintf(words, "%p", (void *)d);
  LAUNCH(scale, d);
  sscanf(words, "%p", &e);
  cudaMemcpy(h, e, n, 2);
}

// CHECK-LABEL: buffer program of half:
// CHECK-NEXT: buffer d {{.*}} escapes # to a number made of its address
void half(size_t n) {
  float *d;
  cudaMalloc((void **)&d, n);
  put((unsigned)((unsigned long)d >> 32));
}

// CHECK-LABEL: buffer program of number:
// CHECK-NEXT: buffer d {{.*}} escapes # to a number made of its address
void number(size_t n) {
  float *d;
  cudaMalloc((void **)&d, n);
  consume((double)(unsigned long)d);
}

// CHECK-LABEL: buffer program of digit:
// CHECK-NEXT: buffer d {{.*}} escapes # to a number made of its address
void digit(size_t n) {
  float *d;
  cudaMalloc((void **)&d, n);
  if (((unsigned long)d >> 20) & 1)
    put(1);
}

// CHECK-LABEL: buffer program of bytes:
// CHECK-NEXT: buffer d {{.*}} escapes # to a number made of its address
void bytes(size_t n, int fd) {
  float *d;
  cudaMalloc((void **)&d, n);
  write(fd, &d, sizeof d);
}

// The distance of two addresses in one buffer is none, whatever becomes of it.
// CHECK-LABEL: buffer program of distance:
// CHECK-NEXT: buffer d {{s[0-9]+}}{{$}}
void distance(size_t n, size_t k) {
  float *d;
  cudaMalloc((void **)&d, n);
  float *end = d + k;
  put((unsigned)(end - d));
  LAUNCH(scale, d);
  cudaFree(d);
}
