//===- backprop.cu - training a layered network ---------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A network of Inputs, Hidden and one output unit, all logistic, is trained by
// gradient descent over all samples at once (back propagation, Rumelhart,
// Hinton and Williams, 1986). The samples come from a file. What a pass makes
// for each sample, the hidden activations and their errors, is as large as the
// input, never reaches a file and is dead after each pass: intermediate data.
// Sums over the samples are formed in a fixed order, so runs are reproducible.
//
//===----------------------------------------------------------------------===//
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

#define CHECK(call)                                                            \
  do {                                                                         \
    cudaError_t status = (call);                                               \
    if (status != cudaSuccess) {                                               \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,            \
              cudaGetErrorString(status));                                     \
      exit(EXIT_FAILURE);                                                      \
    }                                                                          \
  } while (0)

const int Inputs = 32;
const int Hidden = 32;
const int Weights = Inputs * Hidden + Hidden; // both layers
const int SamplesPerBlock = 2048;             // in a partial sum
const float Rate = 4.0f;

__device__ float logistic(float x) { return 1.0f / (1.0f + expf(-x)); }

// A thread for each sample and hidden unit.
__global__ void forwardHidden(const float *samples, const float *weights,
                              float *hidden, int count) {
  int unit = threadIdx.x;
  int sample = blockIdx.x * blockDim.y + threadIdx.y;
  if (sample >= count)
    return;
  float sum = 0;
  for (int i = 0; i < Inputs; ++i)
    sum += samples[(size_t)sample * Inputs + i] * weights[i * Hidden + unit];
  hidden[(size_t)sample * Hidden + unit] = logistic(sum);
}

__global__ void forwardOutput(const float *hidden, const float *weights,
                              float *output, int count) {
  int sample = blockIdx.x * blockDim.x + threadIdx.x;
  if (sample >= count)
    return;
  float sum = 0;
  for (int j = 0; j < Hidden; ++j)
    sum += hidden[(size_t)sample * Hidden + j] * weights[Inputs * Hidden + j];
  output[sample] = logistic(sum);
}

__global__ void outputError(const float *output, const float *target,
                            float *error, int count) {
  int sample = blockIdx.x * blockDim.x + threadIdx.x;
  if (sample < count)
    error[sample] = (target[sample] - output[sample]) * output[sample] *
                    (1.0f - output[sample]);
}

__global__ void hiddenError(const float *hidden, const float *weights,
                            const float *error, float *hiddenError, int count) {
  int unit = threadIdx.x;
  int sample = blockIdx.x * blockDim.y + threadIdx.y;
  if (sample >= count)
    return;
  size_t i = (size_t)sample * Hidden + unit;
  hiddenError[i] = hidden[i] * (1.0f - hidden[i]) * error[sample] *
                   weights[Inputs * Hidden + unit];
}

// A block sums the gradients of SamplesPerBlock samples; a thread for each
// weight of the first layer, and those of input 0 do the second layer too.
__global__ void gradients(const float *samples, const float *hidden,
                          const float *error, const float *hiddenError,
                          float *partial, int count) {
  int unit = threadIdx.x;
  int input = threadIdx.y;
  int first = blockIdx.x * SamplesPerBlock;
  int last = min(first + SamplesPerBlock, count);
  float sum = 0;
  for (int s = first; s < last; ++s)
    sum += samples[(size_t)s * Inputs + input] *
           hiddenError[(size_t)s * Hidden + unit];
  partial[(size_t)blockIdx.x * Weights + input * Hidden + unit] = sum;
  if (input == 0) {
    float outer = 0;
    for (int s = first; s < last; ++s)
      outer += hidden[(size_t)s * Hidden + unit] * error[s];
    partial[(size_t)blockIdx.x * Weights + Inputs * Hidden + unit] = outer;
  }
}

__global__ void update(float *weights, const float *partial, int blocks,
                       float scale) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= Weights)
    return;
  float sum = 0;
  for (int b = 0; b < blocks; ++b)
    sum += partial[(size_t)b * Weights + i];
  weights[i] += scale * sum;
}

static int parseInt(const char *text, const char *what) {
  char *end;
  long value = strtol(text, &end, 10);
  if (end == text || *end || value <= 0 || value > 1 << 30) {
    fprintf(stderr, "backprop: bad %s '%s'\n", what, text);
    exit(EXIT_FAILURE);
  }
  return (int)value;
}

static FILE *openFile(const char *path, const char *mode) {
  FILE *file = fopen(path, mode);
  if (!file) {
    perror(path);
    exit(EXIT_FAILURE);
  }
  return file;
}

static float *allocate(size_t count) {
  float *memory = (float *)malloc(count * sizeof(float));
  if (!memory) {
    fprintf(stderr, "backprop: no host memory for %zu floats\n", count);
    exit(EXIT_FAILURE);
  }
  return memory;
}

// Reads `count` floats from a file to the device.
static void load(float *d_data, size_t count, FILE *file, const char *path) {
  float *h_data = allocate(count);
  if (fread(h_data, sizeof(float), count, file) != count) {
    fprintf(stderr, "backprop: cannot read %zu floats from %s\n", count, path);
    exit(EXIT_FAILURE);
  }
  CHECK(cudaMemcpy(d_data, h_data, count * sizeof(float),
                   cudaMemcpyHostToDevice));
  free(h_data);
  fclose(file);
}

// Writes `count` floats from the device to a file.
static void store(const float *d_data, size_t count, FILE *file,
                  const char *path) {
  float *h_data = allocate(count);
  CHECK(cudaMemcpy(h_data, d_data, count * sizeof(float),
                   cudaMemcpyDeviceToHost));
  if (fwrite(h_data, sizeof(float), count, file) != count ||
      fclose(file) != 0) {
    perror(path);
    exit(EXIT_FAILURE);
  }
  free(h_data);
}

int main(int argc, char **argv) {
  if (argc != 8) {
    fprintf(stderr,
            "usage: backprop COUNT EPOCHS SAMPLES TARGETS WEIGHTS OUTPUTS "
            "TRAINED\n"
            "trains on COUNT samples of %d floats, with a target each; writes "
            "the last\noutputs and the trained weights\n",
            Inputs);
    return EXIT_FAILURE;
  }
  int count = parseInt(argv[1], "number of samples");
  int epochs = parseInt(argv[2], "number of epochs");

  FILE *samplesFile = openFile(argv[3], "rb");
  FILE *targetsFile = openFile(argv[4], "rb");
  FILE *weightsFile = openFile(argv[5], "rb");
  FILE *outputsFile = openFile(argv[6], "wb");
  FILE *trainedFile = openFile(argv[7], "wb");

  int sumBlocks = (count + SamplesPerBlock - 1) / SamplesPerBlock;
  float *d_samples, *d_targets, *d_weights, *d_hidden, *d_output, *d_error,
      *d_hiddenError, *d_partial;
  CHECK(cudaMalloc(&d_samples, (size_t)count * Inputs * sizeof(float)));
  CHECK(cudaMalloc(&d_targets, (size_t)count * sizeof(float)));
  CHECK(cudaMalloc(&d_weights, Weights * sizeof(float)));
  CHECK(cudaMalloc(&d_hidden, (size_t)count * Hidden * sizeof(float)));
  CHECK(cudaMalloc(&d_output, (size_t)count * sizeof(float)));
  CHECK(cudaMalloc(&d_error, (size_t)count * sizeof(float)));
  CHECK(cudaMalloc(&d_hiddenError, (size_t)count * Hidden * sizeof(float)));
  CHECK(cudaMalloc(&d_partial, (size_t)sumBlocks * Weights * sizeof(float)));

  load(d_samples, (size_t)count * Inputs, samplesFile, argv[3]);
  load(d_targets, count, targetsFile, argv[4]);
  load(d_weights, Weights, weightsFile, argv[5]);

  dim3 unitThreads(Hidden, 8);
  int unitBlocks = (count + 7) / 8;
  int threads = 256;
  int blocks = (count + threads - 1) / threads;
  for (int epoch = 0;; ++epoch) {
    forwardHidden<<<unitBlocks, unitThreads>>>(d_samples, d_weights, d_hidden,
                                               count);
    forwardOutput<<<blocks, threads>>>(d_hidden, d_weights, d_output, count);
    if (epoch == epochs)
      break;
    outputError<<<blocks, threads>>>(d_output, d_targets, d_error, count);
    hiddenError<<<unitBlocks, unitThreads>>>(d_hidden, d_weights, d_error,
                                             d_hiddenError, count);
    gradients<<<sumBlocks, dim3(Hidden, Inputs)>>>(
        d_samples, d_hidden, d_error, d_hiddenError, d_partial, count);
    update<<<(Weights + 127) / 128, 128>>>(d_weights, d_partial, sumBlocks,
                                           Rate / count);
    CHECK(cudaGetLastError());
  }
  CHECK(cudaDeviceSynchronize());

  store(d_output, count, outputsFile, argv[6]);
  store(d_weights, Weights, trainedFile, argv[7]);

  CHECK(cudaFree(d_samples));
  CHECK(cudaFree(d_targets));
  CHECK(cudaFree(d_weights));
  CHECK(cudaFree(d_hidden));
  CHECK(cudaFree(d_output));
  CHECK(cudaFree(d_error));
  CHECK(cudaFree(d_hiddenError));
  CHECK(cudaFree(d_partial));
  printf("backprop: %d epochs over %d samples\n", epochs, count);
  return EXIT_SUCCESS;
}
