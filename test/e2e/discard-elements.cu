// The elements of an array of buffers die one by one: a layer's output behind its backward step, as the next forward pass
// overwrites it. Not so where that pass may end early, has fewer layers, or where something looks at an element before.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program -Rpass=dragon 2>&1 | FileCheck %s
// RUN: %bytes in.bin 4M elements
// RUN: for i in 0 1 2 3; do ./program in.bin plain$i.bin $i || exit 1; \
// RUN:   %strict DRAGON_DEVICE_MEMORY=16M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=2M DRAGON_WAVEFRONT=off DRAGON_STATS=stats$i.json \
// RUN:   ./program in.bin out.bin $i || exit 1; cmp out.bin plain$i.bin || exit 1; done
//   Four rounds of six outputs of 4 MiB, more than half of which die on the device.
// RUN: %ledger stats0.json 'avoided_discard >= 48*M' 'device_to_host <= 100*M'
// RUN: rm -rf %t.dir
#include "e2e.h"

#ifndef WORDS // of the input
#define WORDS (1 << 20)
#endif

struct Layer {
  int width;
  uint32_t *output;
};

struct Network {
  int layers, n;
  uint32_t *in, *sum;
  Layer layer[8];
};

__global__ void make(uint32_t *output, const uint32_t *input, int n,
                     uint32_t width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    output[i] = input[i] * 3 + width;
}

__global__ void take(uint32_t *sum, const uint32_t *output, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    sum[i] = sum[i] * 5 + output[i];
}

#define MAKE(net, l)                                                           \
  make<<<net.n / 256, 256>>>(net.layer[l].output, net.in, net.n,               \
                             net.layer[l].width)
#define TAKE(net, l)                                                           \
  take<<<net.n / 256, 256>>>(net.sum, net.layer[l].output, net.n)

static void backward(Network &net, int layers) {
  for (int l = layers - 1; l >= 0; --l)
    TAKE(net, l);
}

static void rounds(Network &net) {
  for (int round = 0; round < 4; ++round) {
    for (int l = 0; l < net.layers; ++l)
      MAKE(net, l);
    for (int l = net.layers - 1; l >= 0; --l)
      // CHECK-DAG: :[[# @LINE + 1]]:{{.*}}'output' discarded after 'take' if a test at run time finds it overwritten by 'make'
      TAKE(net, l);
  }
}

// CHECK-NOT: :{{6[4-9]|[7-9][0-9]}}:{{.*}}'output' discarded after 'take' if
static void endsEarly(Network &net) {
  for (int round = 0; round < 4; ++round) {
    for (int l = 0; l < net.layers; ++l) {
      MAKE(net, l);
      if (net.layer[l].width == round + 1)
        break;
    }
    backward(net, net.layers);
  }
}

static void fewerLayers(Network &net) {
  volatile int three = 3;
  const int fewer = three;
  for (int l = 0; l < net.layers; ++l)
    MAKE(net, l);
  for (int round = 0; round < 4; ++round) {
    for (int l = 0; l < fewer; ++l)
      MAKE(net, l);
    backward(net, net.layers);
  }
}

static void looksBefore(Network &net) {
  for (int l = 0; l < net.layers; ++l)
    MAKE(net, l);
  for (int round = 0; round < 4; ++round) {
    TAKE(net, 2);
    for (int l = 0; l < net.layers; ++l)
      MAKE(net, l);
    backward(net, net.layers);
  }
}

int main(int, char **argv) {
  Network net = {};
  volatile int layers = 6;
  net.layers = layers;
  net.n = WORDS;
  std::vector<uint32_t> h = slurp(argv[1]);
  REQUIRE((int)h.size() == net.n);
  CHECK(cudaMalloc(&net.in, net.n * 4));
  CHECK(cudaMalloc(&net.sum, net.n * 4));
  CHECK(cudaMemset(net.sum, 0, net.n * 4));
  CHECK(cudaMemcpy(net.in, h.data(), net.n * 4, cudaMemcpyHostToDevice));
  for (int l = 0; l < net.layers; ++l) {
    net.layer[l].width = l;
    CHECK(cudaMalloc(&net.layer[l].output, net.n * 4));
    CHECK(cudaMemset(net.layer[l].output, l, net.n * 4));
  }
  switch (atoi(argv[3])) {
  case 0:
    rounds(net);
    break;
  case 1:
    endsEarly(net);
    break;
  case 2:
    fewerLayers(net);
    break;
  case 3:
    looksBefore(net);
    break;
  }
  CHECK(cudaMemcpy(h.data(), net.sum, net.n * 4, cudaMemcpyDeviceToHost));
  FILE *out = openFile(argv[2], "wb");
  REQUIRE((int)fwrite(h.data(), 4, net.n, out) == net.n);
  fclose(out);
  return 0;
}
