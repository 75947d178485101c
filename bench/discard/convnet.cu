//===- convnet.cu - training of a convolutional network -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layers of 3x3 convolutions with tanh, then the mean of each channel and a
// softmax over the first Classes of them, trained by gradient descent on whole
// batches. A convolution is a matrix product: im2col copies the 3x3
// neighbourhoods of all pixels into a workspace that the layers share. On the
// way back the workspace is made again for the weights' gradient, then holds
// the gradient of the neighbourhoods, which col2im adds up to that of the
// pixels. All sums have a fixed order.
//
// What is dead when: the workspace after each matrix product that reads it, as
// the next im2col (or product) overwrites it; a layer's output when the layer
// behind it and itself have been through the backward pass, as the next forward
// pass overwrites it; a layer's delta once its gradients are made; the images
// once the first layer's gradient is, as new ones are uploaded. By hand:
//
//   discard  workspace                                after each multiply,
//                                                     gradient, col2im
//   discard  layer.output, layer.delta                after its backward step
//   discard  images, partial                          after the last gradient
//   prefetch the next layer's output before forward, the previous layer's
//            output before backward
//
// Without them the workspace, the largest buffer, is written back and brought
// in again for each layer, and so are activations only to be overwritten.
//
// The host convolves some of the images directly, in double precision, through
// all layers and back, and compares. tanh is smooth, so differences of rounding
// stay differences of rounding: some 2^-24 for each of a thousand operations
// in a row, below 1e-4 of the largest value; 1e-3 is allowed.
//
//===----------------------------------------------------------------------===//
#include "ConvReference.h"
#include "Workload.h"

const int Threads = 256;
const int GroupImages = 16; // whose weight gradients one block adds up
const int MaxWeights = Channels * Channels * 9;

// Arrays are [image][channel][pixel], the workspace [image][row][pixel] with a
// row for each channel and neighbour, weights [out][row].
struct Layer {
  int in; // channels
  float *weights, *gradient, *output, *delta;
  __host__ __device__ int rows() const { return in * 9; }
  int weightCount() const { return Channels * rows(); }
};

struct Network {
  int layers, batch, groups;
  float *images, *workspace, *partial, *lossGradient, *losses;
  int *labels;
  Layer layer[MaxLayers];
};

// The pixel that neighbour k (0 to 8) of a pixel is, or -1 outside.
__host__ __device__ inline int neighbour(int pixel, int k) {
  int y = pixel / Side + k / 3 - 1, x = pixel % Side + k % 3 - 1;
  return y < 0 || y >= Side || x < 0 || x >= Side ? -1 : y * Side + x;
}

// In all kernels with a block for each image, a thread sees to a pixel.
__global__ void im2col(const float *input, float *workspace, int channels) {
  int pixel = threadIdx.x;
  if (pixel >= Pixels)
    return;
  const float *image = input + (size_t)blockIdx.x * channels * Pixels;
  float *columns = workspace + (size_t)blockIdx.x * channels * 9 * Pixels;
  for (int row = 0; row < channels * 9; ++row) {
    int at = neighbour(pixel, row % 9);
    columns[row * Pixels + pixel] = at < 0 ? 0 : image[row / 9 * Pixels + at];
  }
}

__global__ void multiply(const float *workspace, const float *weights,
                         float *output, int rows) {
  int pixel = threadIdx.x;
  if (pixel >= Pixels)
    return;
  const float *columns = workspace + (size_t)blockIdx.x * rows * Pixels;
  float *image = output + (size_t)blockIdx.x * Channels * Pixels;
  for (int out = 0; out < Channels; ++out) {
    float sum = 0;
    for (int row = 0; row < rows; ++row)
      sum += weights[out * rows + row] * columns[row * Pixels + pixel];
    image[out * Pixels + pixel] = tanhf(sum);
  }
}

// Softmax of the channels' means: a thread for each image. The loss and its
// gradient by each mean, over the number of pixels.
__global__ void classify(const float *output, const int *labels, float *losses,
                         float *lossGradient, int batch) {
  int image = blockIdx.x * blockDim.x + threadIdx.x;
  if (image >= batch)
    return;
  float score[Classes], total = 0;
  for (int c = 0; c < Classes; ++c) {
    float sum = 0;
    for (int pixel = 0; pixel < Pixels; ++pixel)
      sum += output[((size_t)image * Channels + c) * Pixels + pixel];
    score[c] = expf(10 * sum / Pixels);
    total += score[c];
  }
  for (int c = 0; c < Classes; ++c) {
    float p = score[c] / total;
    bool right = c == labels[image];
    if (right)
      losses[image] = -logf(p);
    lossGradient[(size_t)image * Classes + c] =
        10 * (p - (right ? 1.0f : 0.0f)) / Pixels;
  }
}

// The last layer's delta: the loss's gradient by its sums before tanh.
__global__ void lossToDelta(const float *lossGradient, const float *output,
                            float *delta) {
  int pixel = threadIdx.x;
  if (pixel >= Pixels)
    return;
  for (int c = 0; c < Channels; ++c) {
    size_t i = ((size_t)blockIdx.x * Channels + c) * Pixels + pixel;
    float g = c < Classes ? lossGradient[blockIdx.x * Classes + c] : 0;
    delta[i] = g * (1 - output[i] * output[i]);
  }
}

// A block for each group of images, a thread for some weights.
__global__ void groupGradients(const float *delta, const float *workspace,
                               float *partial, int rows, int batch) {
  int first = blockIdx.x * GroupImages;
  int last = min(first + GroupImages, batch);
  for (int w = threadIdx.x; w < Channels * rows; w += blockDim.x) {
    int out = w / rows, row = w % rows;
    float sum = 0;
    for (int image = first; image < last; ++image)
      for (int pixel = 0; pixel < Pixels; ++pixel)
        sum += delta[((size_t)image * Channels + out) * Pixels + pixel] *
               workspace[((size_t)image * rows + row) * Pixels + pixel];
    partial[(size_t)blockIdx.x * Channels * rows + w] = sum;
  }
}

__global__ void addGroups(const float *partial, float *gradient, int weights,
                          int groups) {
  int w = blockIdx.x * blockDim.x + threadIdx.x;
  if (w >= weights)
    return;
  float sum = 0;
  for (int group = 0; group < groups; ++group)
    sum += partial[(size_t)group * weights + w];
  gradient[w] = sum;
}

__global__ void multiplyBack(const float *delta, const float *weights,
                             float *workspace, int rows) {
  int pixel = threadIdx.x;
  if (pixel >= Pixels)
    return;
  const float *image = delta + (size_t)blockIdx.x * Channels * Pixels;
  float *columns = workspace + (size_t)blockIdx.x * rows * Pixels;
  for (int row = 0; row < rows; ++row) {
    float sum = 0;
    for (int out = 0; out < Channels; ++out)
      sum += weights[out * rows + row] * image[out * Pixels + pixel];
    columns[row * Pixels + pixel] = sum;
  }
}

// Delta of the layer in front, whose output it was. Pixel q is neighbour k of
// this pixel where this one is neighbour 8 - k of q.
__global__ void col2im(const float *workspace, const float *output,
                       float *delta) {
  int pixel = threadIdx.x;
  if (pixel >= Pixels)
    return;
  const float *columns = workspace + (size_t)blockIdx.x * Channels * 9 * Pixels;
  for (int c = 0; c < Channels; ++c) {
    float sum = 0;
    for (int k = 0; k < 9; ++k) {
      int at = neighbour(pixel, 8 - k);
      if (at >= 0)
        sum += columns[(c * 9 + k) * Pixels + at];
    }
    size_t i = ((size_t)blockIdx.x * Channels + c) * Pixels + pixel;
    delta[i] = sum * (1 - output[i] * output[i]);
  }
}

__global__ void update(float *weights, const float *gradient, int count,
                       float rate) {
  int w = blockIdx.x * blockDim.x + threadIdx.x;
  if (w < count)
    weights[w] -= rate * gradient[w];
}

static int blocksFor(int threads) { return (threads + Threads - 1) / Threads; }

static void forward(Network &net) {
  for (int l = 0; l < net.layers; ++l) {
    Layer &layer = net.layer[l];
    const float *input = l ? net.layer[l - 1].output : net.images;
    im2col<<<net.batch, Threads>>>(input, net.workspace, layer.in);
    multiply<<<net.batch, Threads>>>(net.workspace, layer.weights, layer.output,
                                     layer.rows());
  }
  classify<<<blocksFor(net.batch), Threads>>>(net.layer[net.layers - 1].output,
                                              net.labels, net.losses,
                                              net.lossGradient, net.batch);
  CHECK(cudaGetLastError());
}

static void backward(Network &net) {
  Layer &last = net.layer[net.layers - 1];
  lossToDelta<<<net.batch, Threads>>>(net.lossGradient, last.output,
                                      last.delta);
  for (int l = net.layers - 1; l >= 0; --l) {
    Layer &layer = net.layer[l];
    const float *input = l ? net.layer[l - 1].output : net.images;
    im2col<<<net.batch, Threads>>>(input, net.workspace, layer.in);
    groupGradients<<<net.groups, Threads>>>(
        layer.delta, net.workspace, net.partial, layer.rows(), net.batch);
    addGroups<<<blocksFor(layer.weightCount()), Threads>>>(
        net.partial, layer.gradient, layer.weightCount(), net.groups);
    if (l == 0)
      break;
    multiplyBack<<<net.batch, Threads>>>(layer.delta, layer.weights,
                                         net.workspace, layer.rows());
    col2im<<<net.batch, Threads>>>(net.workspace, input,
                                   net.layer[l - 1].delta);
  }
  CHECK(cudaGetLastError());
}

static void descend(Network &net, float rate) {
  for (int l = 0; l < net.layers; ++l) {
    Layer &layer = net.layer[l];
    update<<<blocksFor(layer.weightCount()), Threads>>>(
        layer.weights, layer.gradient, layer.weightCount(), rate);
  }
  CHECK(cudaGetLastError());
}

template <typename T> static T *onDevice(size_t count, size_t &footprint) {
  T *memory;
  CHECK(cudaMalloc(&memory, count * sizeof(T)));
  footprint += count * sizeof(T);
  return memory;
}

static size_t allocate(Network &net) {
  size_t footprint = 0, batch = net.batch, image = Channels * Pixels;
  net.images = onDevice<float>(batch * Pixels, footprint);
  net.workspace = onDevice<float>(batch * image * 9, footprint);
  net.partial = onDevice<float>((size_t)net.groups * MaxWeights, footprint);
  net.lossGradient = onDevice<float>(batch * Classes, footprint);
  net.losses = onDevice<float>(batch, footprint);
  net.labels = onDevice<int>(batch, footprint);
  for (int l = 0; l < net.layers; ++l) {
    Layer &layer = net.layer[l];
    layer.in = l ? Channels : 1;
    int count = layer.weightCount();
    layer.weights = onDevice<float>(count, footprint);
    layer.gradient = onDevice<float>(count, footprint);
    layer.output = onDevice<float>(batch * image, footprint);
    layer.delta = onDevice<float>(batch * image, footprint);
    std::vector<float> random(count);
    for (int w = 0; w < count; ++w)
      random[w] = ((int)(hash32(w, 100 + l) >> 8) * 0x1p-23f - 1) *
                  std::sqrt(3.0f / layer.rows());
    CHECK(cudaMemcpy(layer.weights, random.data(), count * sizeof(float),
                     cudaMemcpyHostToDevice));
  }
  return footprint;
}

static void release(Network &net) {
  for (int l = 0; l < net.layers; ++l) {
    CHECK(cudaFree(net.layer[l].weights));
    CHECK(cudaFree(net.layer[l].gradient));
    CHECK(cudaFree(net.layer[l].output));
    CHECK(cudaFree(net.layer[l].delta));
  }
  CHECK(cudaFree(net.images));
  CHECK(cudaFree(net.workspace));
  CHECK(cudaFree(net.partial));
  CHECK(cudaFree(net.lossGradient));
  CHECK(cudaFree(net.losses));
  CHECK(cudaFree(net.labels));
}

// Compares what the last pass left on the device, for some groups of images:
// their losses, and the first layer's gradient, which depends on all others.
static int compare(const Network &net, const std::vector<float> &images,
                   const std::vector<int> &labels,
                   const std::vector<float> &losses, uint64_t &sum,
                   uint64_t &checked) {
  std::vector<std::vector<float>> weights(net.layers);
  for (int l = 0; l < net.layers; ++l) {
    weights[l].resize(net.layer[l].weightCount());
    CHECK(cudaMemcpy(weights[l].data(), net.layer[l].weights,
                     weights[l].size() * sizeof(float),
                     cudaMemcpyDeviceToHost));
    sum = checksum(weights[l].data(), weights[l].size(), sum);
  }
  int count = net.layer[0].weightCount(), wrong = 0;
  std::vector<float> partial(count);
  for (int group : {0, net.groups / 2, net.groups - 1}) {
    std::vector<double> gradient(count);
    CHECK(cudaMemcpy(partial.data(), net.partial + (size_t)group * count,
                     count * sizeof(float), cudaMemcpyDeviceToHost));
    int last = std::min((group + 1) * GroupImages, net.batch);
    for (int i = group * GroupImages; i < last; ++i, ++checked) {
      double loss = reference(weights, &images[(size_t)i * Pixels], labels[i],
                              gradient.data());
      wrong += !(std::fabs(loss - losses[i]) <= 1e-3 * (1 + loss));
    }
    double largest = 0;
    for (double g : gradient)
      largest = std::max(largest, std::fabs(g));
    for (int w = 0; w < count; ++w, ++checked)
      wrong += !(std::fabs(gradient[w] - partial[w]) <= 1e-3 * largest);
  }
  return wrong;
}

int main(int argc, char **argv) {
  std::vector<Option> options = {
      {"--size", 64, "footprint in MiB, unless a batch is given"},
      {"--layers", 6, "layers, at most 64"},
      {"--batch", 0, "images in a batch (as the footprint allows)"},
      {"--iterations", 6, "batches to train with"},
      {"--rate", 20, "thousandths of the gradient in a step"}};
  parseOptions(argc, argv, options);
  Network net = {};
  net.layers = (int)options[1].value;
  if (net.layers > MaxLayers) {
    fprintf(stderr, "convnet: at most %d layers\n", MaxLayers);
    return 2;
  }
  size_t imageBytes = (Channels * (9 + 2 * net.layers) + 1) * Pixels * 4 +
                      MaxWeights * 4 / GroupImages + Classes * 4 + 8;
  net.batch = (int)options[2].value;
  if (net.batch == 0)
    net.batch = (int)(((size_t)options[0].value << 20) / imageBytes) | 1;
  net.groups = (net.batch + GroupImages - 1) / GroupImages;
  int iterations = (int)options[3].value;
  float rate = options[4].value * 1e-3f / net.batch;

  DeviceTime time;
  time.start();
  size_t footprint = allocate(net);
  time.stop();
  std::vector<float> images((size_t)net.batch * Pixels), losses(net.batch);
  std::vector<int> labels(net.batch);
  double firstLoss = 0, loss = 0;
  for (int iteration = 0; iteration < iterations; ++iteration) {
    for (int i = 0; i < net.batch; ++i)
      makeImage(&images[(size_t)i * Pixels], labels[i],
                (uint32_t)(iteration * net.batch + i));
    time.start();
    CHECK(cudaMemcpy(net.images, images.data(), images.size() * sizeof(float),
                     cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(net.labels, labels.data(), labels.size() * sizeof(int),
                     cudaMemcpyHostToDevice));
    if (iteration)
      descend(net, rate); // by the gradients of the batch before
    forward(net);
    backward(net);
    CHECK(cudaMemcpy(losses.data(), net.losses, losses.size() * sizeof(float),
                     cudaMemcpyDeviceToHost));
    time.stop();
    loss = 0;
    for (float one : losses)
      loss += one / net.batch;
    firstLoss = iteration ? firstLoss : loss;
    printf("convnet: iteration %d: loss %.5f\n", iteration, loss);
  }

  uint64_t sum = 0, checked = 0;
  int wrong = compare(net, images, labels, losses, sum, checked);
  release(net);
  if (iterations > 1 && !(loss < firstLoss)) {
    printf("convnet: WRONG: the loss has not fallen\n");
    wrong++;
  }
  return finish("convnet", footprint, time, sum, wrong, checked);
}
