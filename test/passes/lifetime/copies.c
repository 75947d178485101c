// RUN: dragon-summary %t.sm_90 'scale: read-write'
// RUN: %host-ir -O1 %s | %buffer-program -dragon-summary=%t 2>&1 | FileCheck %s

// Structures that are copied as they are: each pointer in them comes along.
#include "cuda.h"

KERNEL1(scale, float *)

struct Two {
  float *first, *second;
  long more[8];
};

long sum(const long *more, long i) { return more[i]; }
void look(struct Two *);
void *memcpy(void *, const void *, size_t);
void *memmove(void *, const void *, size_t);

// From memory that others see: the second pointer may be any that they have.
// CHECK-LABEL: buffer program of fromOutside:
// CHECK: copy-in write(second)? {{.*}}other{{$}}
// CHECK: launch scale read-write(second)?{{$}}
long fromOutside(struct Two *given, size_t n, long i, void *h) {
  cudaMalloc((void **)&given->second, n);
  struct Two own = *given;
  cudaMemcpy(own.second, h, n, H2D);
  LAUNCH(scale, own.second);
  return own.more[i];
}

// CHECK-LABEL: buffer program of seen:
// CHECK: launch scale read-write(first)? read-write(second)?{{$}}
long seen(size_t n, long i) {
  struct Two one, other;
  float *first, *second;
  cudaMalloc((void **)&first, n);
  cudaMalloc((void **)&second, n);
  one.first = first;
  one.second = second;
  look(&one);
  other = one;
  LAUNCH(scale, other.second);
  return other.more[i];
}

// Within one object: what was second is first.
// CHECK-LABEL: buffer program of moved:
// CHECK: launch scale read-write(first)? read-write(second)?{{$}}
long moved(size_t n, long i) {
  struct Two one;
  float *first, *second;
  cudaMalloc((void **)&first, n);
  cudaMalloc((void **)&second, n);
  one.first = first;
  one.second = second;
  memmove(&one.first, &one.second, sizeof(float *));
  LAUNCH(scale, one.first);
  return one.more[i];
}

// As one number.
// CHECK-LABEL: buffer program of wide:
// CHECK: launch scale read-write(first)? read-write(second)?{{$}}
long wide(size_t n, long i) {
  struct Two one, other;
  float *first, *second;
  cudaMalloc((void **)&first, n);
  cudaMalloc((void **)&second, n);
  one.first = first;
  one.second = second;
  *(__int128 *)&other = *(__int128 *)&one;
  LAUNCH(scale, other.second);
  return other.more[i] + one.more[i];
}

// What is copied of one object, and no more.
// CHECK-LABEL: buffer program of part:
// CHECK: launch scale read-write(second){{$}}
long part(size_t n, long i) {
  struct Two one, other;
  float *first, *second;
  cudaMalloc((void **)&first, n);
  cudaMalloc((void **)&second, n);
  one.first = first;
  one.second = second;
  memcpy(&other.first, &one.second, sizeof(float *));
  LAUNCH(scale, other.first);
  return other.more[i] + one.more[i];
}
