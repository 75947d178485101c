// Calls that CUDA 13 has dropped, and those with a changed signature; each is told its modern form, once.
// RUN: %cc -fsyntax-only -Xclang -verify --cuda-host-only %s
// RUN: %cc -fsyntax-only -Werror --cuda-device-only %s
// RUN: %cc -fsyntax-only -Wno-deprecated-declarations -Werror %s
// RUN: %cc -fsyntax-only -Wno-deprecated-declarations -Werror -std=c++11 %s
// RUN: %cc -fsyntax-only -Wno-deprecated-declarations -Werror -default-stream per-thread %s

// expected-note@dragon-nvcc/dropped.h:* 0+ {{marked deprecated here}}

void threads() {
  size_t value;
  cudaFuncCache config;
  // expected-warning@+1 {{'cudaThreadSynchronize' is deprecated: CUDA 13 has dropped it; use 'cudaDeviceSynchronize'}}
  cudaThreadSynchronize();
  // expected-warning@+1 {{use 'cudaDeviceReset'}}
  cudaThreadExit();
  // expected-warning@+1 {{use 'cudaDeviceSetLimit'}}
  cudaThreadSetLimit(cudaLimitStackSize, 1);
  // expected-warning@+1 {{use 'cudaDeviceGetLimit'}}
  cudaThreadGetLimit(&value, cudaLimitStackSize);
  // expected-warning@+1 {{use 'cudaDeviceSetCacheConfig'}}
  cudaThreadSetCacheConfig(cudaFuncCachePreferL1);
  // expected-warning@+1 {{use 'cudaDeviceGetCacheConfig'}}
  cudaThreadGetCacheConfig(&config);
}

void places(float *p, size_t n, int device, cudaStream_t stream) {
  // expected-warning@+1 {{use the form with a cudaMemLocation and flags}}
  cudaMemPrefetchAsync(p, n, 0);
  // expected-warning@+1 {{use the form with a cudaMemLocation and flags}}
  cudaMemPrefetchAsync(p, n, device, 0);
  // expected-warning@+1 {{use the form with a cudaMemLocation and flags}}
  cudaMemPrefetchAsync(p, n, cudaCpuDeviceId, stream);
  // expected-warning@+1 {{use the form with a cudaMemLocation and flags}}
  cudaMemPrefetchAsync(p, n, device, NULL);
  // expected-warning@+1 {{use the form with a cudaMemLocation}}
  cudaMemAdvise(p, n, cudaMemAdviseSetReadMostly, 0);
  // expected-warning@+1 {{use the form with a cudaMemLocation}}
  cudaMemAdvise(p, n, cudaMemAdviseSetPreferredLocation, device);
}

// Today's forms are not touched.
void today(float *p, size_t n, cudaStream_t stream) {
  cudaMemLocation location = {cudaMemLocationTypeDevice, 0};
  cudaMemPrefetchAsync(p, n, location, 0);
  cudaMemPrefetchAsync(p, n, location, 0, stream);
  cudaMemPrefetchAsync(p, n, {cudaMemLocationTypeHost, 0}, 0u, stream);
  cudaMemAdvise(p, n, cudaMemAdviseSetReadMostly, location);
  cudaDeviceSynchronize();
}

void graphs(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to) {
  size_t count;
  // expected-warning@+1 {{use the form with cudaGraphEdgeData}}
  cudaGraphAddDependencies(graph, &from, &to, 1);
  // expected-warning@+1 {{use the form with cudaGraphEdgeData}}
  cudaGraphRemoveDependencies(graph, &from, &to, 1);
  // expected-warning@+1 {{use the form with cudaGraphEdgeData}}
  cudaGraphGetEdges(graph, NULL, NULL, &count);
  // expected-warning@+1 {{use the form with cudaGraphEdgeData}}
  cudaGraphNodeGetDependencies(from, NULL, &count);
  // expected-warning@+1 {{use the form with cudaGraphEdgeData}}
  cudaGraphNodeGetDependentNodes(from, NULL, &count);
  cudaGraphGetEdges(graph, NULL, NULL, NULL, &count);
}
