// RUN: dragon-summary %t.sm_90 'scale: read-write'
// RUN: %host-ir -O0 %s | %buffer-program -dragon-summary=%t 2>&1 | FileCheck %s
// RUN: %host-ir -O2 -g %s | %buffer-program -dragon-summary=%t 2>&1 | FileCheck %s

// Sizes and buffers in objects on the heap. One that nobody else gets to see is as good as variables: equal fields are
// equal sizes.
#include "cuda.h"

void *calloc(size_t, size_t);
void *memset(void *, int, size_t);
KERNEL1(scale, float *)

struct Network {
  size_t inputs, hidden;
  float *units;
};

void keep(struct Network *);
int isFull(void);

static float *allocateUnits(size_t n) {
  float *new = malloc(n * sizeof(float));
  if (!new)
    return NULL;
  return new;
}

static struct Network *create(size_t inputs, size_t hidden) {
  struct Network *net = malloc(sizeof(struct Network));
  if (!net)
    return NULL;
  net->inputs = inputs;
  net->hidden = hidden;
  net->units = allocateUnits((inputs + 1) * (hidden + 1));
  return net;
}

static void destroy(struct Network *net) {
  free(net->units);
  free(net);
}

static size_t bytesOf(const struct Network *net) {
  return (net->inputs + 1) * (net->hidden + 1) * sizeof(float);
}

// CHECK-LABEL: buffer program of known:
// CHECK-NEXT: staging units [[N:s[0-9]+]]{{$}}
// CHECK-NEXT: buffer d [[N]]{{$}}
// CHECK: copy-in read(units)* must-write(d) [[N]]{{$}}
// CHECK: copy-out read(d)* must-write(units) [[N]]{{$}}
// CHECK: free (units){{$}}
// CHECK-NEXT: return
void known(size_t inputs, size_t hidden) {
  struct Network *net = create(inputs, hidden);
  float *d;
  memset(net->units, 1, (inputs + 1) * (hidden + 1) * sizeof(float));
  cudaMalloc((void **)&d, bytesOf(net));
  cudaMemcpy(d, net->units, bytesOf(net), H2D);
  LAUNCH(scale, d);
  cudaMemcpy(net->units, d, bytesOf(net), D2H);
  cudaFree(d);
  destroy(net);
}

// Who has its address may change it: the sizes are others each time.
// CHECK-LABEL: buffer program of kept:
// CHECK: staging net {{.*}} escapes # to 'keep'
// CHECK: copy-in {{.*}} tested-write(d) {{.*}} other{{$}}
void kept(size_t inputs, size_t hidden) {
  struct Network *net = create(inputs, hidden);
  float *d;
  cudaMalloc((void **)&d, bytesOf(net));
  keep(net);
  cudaMemcpy(d, net->units, bytesOf(net), H2D);
  LAUNCH(scale, d);
  cudaFree(d);
}

// One for each iteration, of which each may be needed at the end.
// CHECK-LABEL: buffer program of several:
// CHECK: staging net {{.*}} summary{{$}}
void several(size_t inputs) {
  struct Network *last = NULL;
  float *d;
  cudaMalloc((void **)&d, inputs);
  while (!isFull()) {
    struct Network *net = calloc(1, sizeof(struct Network));
    net->units = last ? last->units : d;
    last = net;
  }
  LAUNCH(scale, last->units);
  cudaFree(d);
}
