// RUN: dragon-summary %t.sm_90 'scale: read-write' 'step: read write'
// RUN: %host-ir -O0 %s | %buffer-program -dragon-summary=%t 2>&1 | FileCheck %s
// RUN: %host-ir -O2 -g %s | %buffer-program -dragon-summary=%t 2>&1 | FileCheck %s

// Arrays of structures with indices that are not known: each field is apart from the others.
#include "cuda.h"

KERNEL1(scale, float *)
KERNEL2(step, float *, float *)

struct Layer {
  int rows;
  float *weights, *output;
};

struct Network {
  int layers;
  float *images, *workspace;
  struct Layer layer[8];
};

void keep(struct Network *);

static void allocate(struct Network *net, size_t n) {
  cudaMalloc((void **)&net->images, n);
  cudaMalloc((void **)&net->workspace, n);
  for (int l = 0; l < net->layers; ++l) {
    cudaMalloc((void **)&net->layer[l].weights, n);
    cudaMalloc((void **)&net->layer[l].output, n);
  }
}

// CHECK-LABEL: buffer program of taken:
// CHECK-NEXT: buffer images [[N:s[0-9]+]]{{$}}
// CHECK-NEXT: buffer workspace [[N]]{{$}}
// CHECK-NEXT: buffer weights [[N]] array{{$}}
// CHECK-NEXT: buffer output [[N]] array{{$}}
// CHECK: copy-in must-write(images)
// CHECK: launch step read(weights[l1]) write(workspace){{$}}
// CHECK: launch step read(workspace) write(output[l1]){{$}}
// CHECK: launch scale read-write(output[n{{[0-9]+}}-1]){{$}}
void taken(int layers, size_t n, void *h) {
  struct Network net = {0};
  net.layers = layers;
  allocate(&net, n);
  cudaMemcpy(net.images, h, n, H2D);
  for (int l = 0; l < net.layers; ++l) {
    struct Layer *layer = &net.layer[l];
    LAUNCH(step, layer->weights, net.workspace);
    LAUNCH(step, net.workspace, layer->output);
  }
  LAUNCH(scale, net.layer[net.layers - 1].output);
}

// Someone else may look at all of it.
// CHECK-LABEL: buffer program of escaping:
// CHECK-NEXT: buffer images {{.*}} escapes # to 'keep'
void escaping(int layers, size_t n) {
  struct Network net = {0};
  net.layers = layers;
  allocate(&net, n);
  keep(&net);
  for (int l = 0; l < net.layers; ++l)
    LAUNCH(scale, net.layer[l].output);
}

// What is copied as a whole stays as it is: output may be workspace.
// CHECK-LABEL: buffer program of copied:
// CHECK: launch scale read-write(workspace)? read-write(output)?{{$}}
void copied(int layers, size_t n) {
  struct Network net = {0}, other;
  net.layers = layers;
  allocate(&net, n);
  other = net;
  for (int l = 0; l < net.layers; ++l)
    LAUNCH(scale, other.layer[l].output);
}

// Another type than the field's: not taken apart.
// CHECK-LABEL: buffer program of readOtherwise:
// CHECK: launch scale
void readOtherwise(int layers, size_t n) {
  struct Network net = {0};
  net.layers = layers;
  allocate(&net, n);
  long both = *(long *)&net.layers;
  for (int l = 0; l < both; ++l)
    LAUNCH(scale, net.layer[l].output);
}
