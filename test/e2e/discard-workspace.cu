// A workspace that layers of different sizes share, with what each of them needs in arrays of structures: what the next layer
// will overwrite does not leave the device, whatever the arguments of its launch come from: the next iteration of the loop, the
// first of the next loop, or of this one in the next round. What a smaller layer leaves is read by nobody, but kept.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program -Rpass=dragon -Rpass-missed=dragon 2>&1 | FileCheck %s
// RUN: %bytes in.bin 2M workspace
// RUN: ./program in.bin whole.bin 4 4 4 4 0 && ./program in.bin rising.bin 1 2 3 4 0
// RUN: ./program in.bin falling.bin 4 3 2 1 0 && ./program in.bin peeked.bin 4 3 2 1 1
// RUN: %strict DRAGON_DEVICE_MEMORY=16M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=2M DRAGON_WAVEFRONT=off DRAGON_STATS=stats.json \
// RUN:   ./program in.bin out.bin 4 4 4 4 0
// RUN: cmp out.bin whole.bin
//   24 times 24 MiB are written and read, of which some 10 MiB can stay. What comes behind the last layer of a loop is not known.
// RUN: %ledger stats.json 'avoided_discard >= 12 * 24*M' 'cpu: avoided_discard >= 18 * 24*M' 'cpu: device_to_host <= 24 * 16*M'
// RUN: %strict DRAGON_DEVICE_MEMORY=16M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=2M DRAGON_WAVEFRONT=always ./program in.bin out.bin 1 2 3 4 0
// RUN: cmp out.bin rising.bin
// RUN: %strict DRAGON_DEVICE_MEMORY=16M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=2M DRAGON_WAVEFRONT=always ./program in.bin out.bin 4 3 2 1 0
// RUN: cmp out.bin falling.bin
//   What the first layer leaves is looked at after the last.
// RUN: %strict DRAGON_DEVICE_MEMORY=16M DRAGON_HOST_MEMORY=64M DRAGON_CHUNK_SIZE=2M DRAGON_WAVEFRONT=always ./program in.bin out.bin 4 3 2 1 1
// RUN: cmp out.bin peeked.bin
// RUN: rm -rf %t.dir
#include "e2e.h"

#ifndef WORDS // of the input
#define WORDS (1 << 19)
#endif

struct Layer {
  int width;
  uint32_t *weights;
};

struct Network {
  int layers, n;
  uint32_t *in, *workspace, *sum;
  Layer layer[8];
};

__global__ void spread(uint32_t *workspace, const uint32_t *in,
                       const uint32_t *weights, int n, int width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    for (int k = 0; k < width; ++k)
      workspace[(size_t)i * width + k] = in[i] * (k + 1) + weights[k];
}

__global__ void gather(uint32_t *sum, const uint32_t *workspace, int n,
                       int width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    for (int k = 0; k < width; ++k)
      sum[i] = sum[i] * 3 + workspace[(size_t)i * width + k];
}

static void forward(Network &net) {
  for (int l = 0; l < net.layers; ++l) {
    Layer &layer = net.layer[l];
    spread<<<net.n / 256, 256>>>(net.workspace, net.in, layer.weights, net.n,
                                 layer.width);
    // CHECK: remark: 'workspace' discarded after 'gather' if a test at run time finds it overwritten by 'spread'
    gather<<<net.n / 256, 256>>>(net.sum, net.workspace, net.n, layer.width);
  }
}

static void backward(Network &net) {
  for (int l = net.layers - 1; l >= 0; --l) {
    Layer &layer = net.layer[l];
    spread<<<net.n / 256, 256>>>(net.workspace, net.in, layer.weights, net.n,
                                 layer.width);
    gather<<<net.n / 256, 256>>>(net.sum, net.workspace, net.n, layer.width);
    if (l == 0)
      break;
  }
}

int main(int, char **argv) {
  Network net = {};
  net.layers = 4;
  net.n = WORDS;
  std::vector<uint32_t> h = slurp(argv[1]);
  REQUIRE((int)h.size() == net.n);
  const int peek = atoi(argv[7]);
  CHECK(cudaMalloc(&net.in, net.n * 4));
  CHECK(cudaMalloc(&net.workspace, net.n * 4 * 12));
  CHECK(cudaMalloc(&net.sum, net.n * 4));
  CHECK(cudaMemset(net.sum, 0, net.n * 4));
  CHECK(cudaMemset(net.workspace, 1, net.n * 4 * 12));
  CHECK(cudaMemcpy(net.in, h.data(), net.n * 4, cudaMemcpyHostToDevice));
  for (int l = 0; l < net.layers; ++l) {
    net.layer[l].width = 3 * atoi(argv[3 + l]);
    CHECK(cudaMalloc(&net.layer[l].weights, 64));
    CHECK(cudaMemset(net.layer[l].weights, l, 64));
  }
  for (int round = 0; round < 3; ++round) {
    forward(net);
    backward(net);
  }
  if (peek) {
    gather<<<net.n / 256, 256>>>(net.sum, net.workspace, net.n,
                                 net.layer[0].width);
  }
  CHECK(cudaMemcpy(h.data(), net.sum, net.n * 4, cudaMemcpyDeviceToHost));
  FILE *out = openFile(argv[2], "wb");
  REQUIRE((int)fwrite(h.data(), 4, net.n, out) == net.n);
  fclose(out);
  return 0;
}
