// Calls whose signatures CUDA 13 has changed, as programs of CUDA 12 make them.
#include <cstdio>
#include <cstring>
#include <cub/cub.cuh>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>

#define CHECK(call)                                                            \
  if (cudaError_t error = (call)) {                                            \
    printf("%s: %s\n", #call, cudaGetErrorString(error));                      \
    return 1;                                                                  \
  }

__global__ void twice(float *a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    a[i] *= 2;
}

static int properties() {
  cudaDeviceProp has;
  memset(&has, 0xff, sizeof has);
  CHECK(cudaGetDeviceProperties(&has, 0));
  int clock = -1, major = -1, memory = -1, optin = -1;
  CHECK(cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, 0));
  CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  CHECK(cudaDeviceGetAttribute(&memory, cudaDevAttrMemoryClockRate, 0));
  CHECK(cudaDeviceGetAttribute(&optin, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  bool same = has.clockRate == clock && has.major == major && has.memoryClockRate == memory &&
              has.sharedMemPerBlockOptin == size_t(optin);
  printf("properties: name %d, memory %d, warp %d, attributes %d, rest %d\n", has.name[0] != 0 && strlen(has.name) < 256,
         has.totalGlobalMem > 0, has.warpSize, same, has.reserved[0]);
  return 0;
}

static int hints() {
  float *managed;
  int n = 1 << 20;
  CHECK(cudaMallocManaged(&managed, n * sizeof(float)));
  for (int i = 0; i < n; ++i)
    managed[i] = 1;
  CHECK(cudaMemAdvise(managed, n * sizeof(float), cudaMemAdviseSetPreferredLocation, 0));
  CHECK(cudaMemPrefetchAsync(managed, n * sizeof(float), 0, 0));
  twice<<<n / 256, 256>>>(managed, n);
  CHECK(cudaMemPrefetchAsync(managed, n * sizeof(float), cudaCpuDeviceId));
  CHECK(cudaDeviceSynchronize());
  printf("managed: %g\n", managed[n - 1]);
  CHECK(cudaFree(managed));
  return 0;
}

static int graphs() {
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  float *a;
  CHECK(cudaMalloc(&a, 1024));
  CHECK(cudaMemset(a, 0, 1024));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  twice<<<1, 256, 0, stream>>>(a, 256);
  cudaStreamCaptureStatus status;
  cudaGraph_t graph;
  unsigned long long id = 0;
  CHECK(cudaStreamGetCaptureInfo(stream, &status, &id));
  twice<<<1, 256, 0, stream>>>(a, 256);
  CHECK(cudaStreamEndCapture(stream, &graph));
  size_t edges = 0;
  CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, &edges));
  cudaGraphNode_t from, to, behind;
  CHECK(cudaGraphGetEdges(graph, &from, &to, &edges));
  size_t one = 1;
  CHECK(cudaGraphNodeGetDependencies(to, &behind, &one));
  CHECK(cudaGraphRemoveDependencies(graph, &from, &to, 1));
  CHECK(cudaGraphAddDependencies(graph, &from, &to, 1));
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  printf("graph: status %d, id %d, edges %zu, dependency %d\n", int(status), id != 0, edges, behind == from);
  return 0;
}

static int batch() {
#if CUDART_VERSION >= 12080
  float *to, from[2] = {1, 2}, back = 0;
  CHECK(cudaMalloc(&to, sizeof from));
  void *targets[] = {to, to + 1}, *sources[] = {&from[0], &from[1]};
  size_t sizes[] = {sizeof(float), sizeof(float)}, first = 0, failed = 7;
  cudaMemcpyAttributes attributes = {};
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMemcpyBatchAsync(targets, sources, sizes, 2, &attributes, &first, 1, &failed, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaMemcpy(&back, to + 1, sizeof back, cudaMemcpyDeviceToHost));
  printf("batch: %g, failed %s\n", back, failed == size_t(-1) ? "none" : "one");
#else
  printf("batch: not in this version\n");
#endif
  return 0;
}

static int templates() {
  thrust::device_vector<int> v(1000, 3);
  int sum = thrust::reduce(v.begin(), v.end());
  void *room = nullptr;
  size_t bytes = 0;
  int *out, least = 0;
  CHECK(cudaMalloc(&out, sizeof(int)));
  int *in = thrust::raw_pointer_cast(v.data());
  CHECK(cub::DeviceReduce::Min(room, bytes, in, out, 1000));
  CHECK(cudaMalloc(&room, bytes));
  CHECK(cub::DeviceReduce::Min(room, bytes, in, out, 1000));
  CHECK(cudaMemcpy(&least, out, sizeof(int), cudaMemcpyDeviceToHost));
  printf("thrust %d, cub %d\n", sum, least);
  return 0;
}

int main() {
  printf("CUDA %d, compiler %d.%d\n", CUDART_VERSION / 1000, __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__);
  return properties() || hints() || graphs() || batch() || templates();
}
