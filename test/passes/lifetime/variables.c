// RUN: dragon-summary %t.sm_90 'scale: read-write' 'step: read write'
// RUN: %host-ir -O0 %s | %buffer-program -dragon-summary=%t 2>&1 | FileCheck %s
// RUN: %host-ir -O2 %s | %buffer-program -dragon-summary=%t 2>&1 | FileCheck %s

// Pointers in structures, arrays and globals; variables that change roles.
#include "cuda.h"

KERNEL1(scale, float *)
KERNEL2(step, float *, float *)

struct State {
  float *host;
  float *device;
  size_t bytes;
};

// CHECK-LABEL: buffer program of inStructure:
// CHECK: launch scale read-write({{[a-z]+}}){{$}}
// CHECK: copy-out read({{[a-z]+}})* must-write({{[a-z]+}})
void inStructure(size_t n) {
  struct State s;
  s.bytes = n;
  s.host = malloc(s.bytes);
  cudaMalloc((void **)&s.device, s.bytes);
  LAUNCH(scale, s.device);
  cudaMemcpy(s.host, s.device, s.bytes, D2H);
}

// Fields of a structure on the heap are told apart by their offsets.
// CHECK-LABEL: buffer program of onHeap:
// CHECK-NEXT: staging s
// CHECK-NEXT: staging [[H:[a-z]+]]
// CHECK-NEXT: buffer [[D:[a-z]+]]
// CHECK: launch scale read-write([[D]]){{$}}
// CHECK: copy-out read([[D]]) write([[H]])
void onHeap(size_t n) {
  struct State *s = malloc(sizeof(struct State));
  s->host = malloc(n);
  cudaMalloc((void **)&s->device, n);
  LAUNCH(scale, s->device);
  cudaMemcpy(s->host, s->device, s->bytes, D2H);
  free(s);
}

// Which element is meant is not known: either may be.
// CHECK-LABEL: buffer program of inArray:
// CHECK: launch scale read-write(d[0])? read-write(d[1])?
void inArray(size_t n, int which) {
  float *d[2];
  cudaMalloc((void **)&d[0], n);
  cudaMalloc((void **)&d[1], n);
  LAUNCH(scale, d[which]);
}

// CHECK-LABEL: buffer program of pingPong:
// CHECK-NEXT: buffer from [[N:s[0-9]+]]{{$}}
// CHECK-NEXT: buffer to [[N]]{{$}}
// CHECK: launch step read(from) write(to){{$}}
// CHECK: launch step read(to) write(from){{$}}
void pingPong(size_t n, int steps) {
  float *from, *to;
  cudaMalloc((void **)&from, n);
  cudaMalloc((void **)&to, n);
  for (int i = 0; i < steps; ++i) {
    LAUNCH(step, from, to);
    float *swap = from;
    from = to;
    to = swap;
  }
}

// Allocated and freed in each iteration: one at a time.
// CHECK-LABEL: buffer program of inLoop:
// CHECK-NEXT: buffer d {{s[0-9]+}}{{$}}
// CHECK: launch scale read-write(d){{$}}
// CHECK: free (d){{$}}
void inLoop(size_t n, int steps) {
  for (int i = 0; i < steps; ++i) {
    float *d;
    cudaMalloc((void **)&d, n);
    LAUNCH(scale, d);
    cudaFree(d);
  }
}

// Here the last iteration's buffer is used by the next.
// CHECK-LABEL: buffer program of carried:
// CHECK-NEXT: buffer d {{s[0-9]+}} summary{{$}}
void carried(size_t n, int steps) {
  float *last = NULL;
  for (int i = 0; i < steps; ++i) {
    float *d;
    cudaMalloc((void **)&d, n);
    LAUNCH(step, last, d);
    last = d;
  }
}

// If the second allocation fails, `d` is still the first buffer.
// CHECK-LABEL: buffer program of reused:
// CHECK: launch scale read-write(d)? read-write(d)?
void reused(size_t n) {
  float *d;
  cudaMalloc((void **)&d, n);
  LAUNCH(scale, d);
  cudaMalloc((void **)&d, 2 * n);
  LAUNCH(scale, d);
}

static float *own;
static float *shared;
static void fillOwn(size_t n) { cudaMalloc((void **)&own, n); }
static void fillShared(size_t n) { cudaMalloc((void **)&shared, n); }

// CHECK-LABEL: buffer program of useShared:
// CHECK: launch scale{{$}}
void useShared(void) { LAUNCH(scale, shared); }

// A global that only main and its helpers use is a variable of main.
// CHECK-LABEL: buffer program of main:
// CHECK-NEXT: buffer own {{s[0-9]+}}{{$}}
// CHECK-NEXT: buffer shared {{s[0-9]+}} escapes
// CHECK: launch scale read-write(own){{$}}
int main(int argc, char **argv) {
  fillOwn(argc);
  fillShared(argc);
  LAUNCH(scale, own);
  return 0;
}

// Fields have the names that the user gave them, wherever else they are used in
// the function, and globals theirs.
// CHECK-LABEL: buffer program of members:
// CHECK-NEXT: staging host [[N:s[0-9]+]]{{$}}
// CHECK-NEXT: buffer device [[N]]{{$}}
struct Pair {
  float *host, *device;
};
int cudaHostRegister(void *, size_t, unsigned);
void members(size_t n, FILE *in) {
  struct Pair p;
  p.host = NULL;
  p.device = NULL;
  p.host = malloc(n);
  // Pinning it is no look at it.
  cudaHostRegister(p.host, n, 0);
  cudaMalloc((void **)&p.device, n);
  fread(p.host, 1, n, in);
  cudaMemcpy(p.device, p.host, n, H2D);
  LAUNCH(scale, p.device);
}
// CHECK: elide host
