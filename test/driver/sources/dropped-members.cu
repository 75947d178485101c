// The members of cudaDeviceProp that CUDA 13 has dropped, in a struct of the same size that can be set as before.
// RUN: %cc -fsyntax-only -Xclang -verify --cuda-host-only %s
// RUN: %cc -fsyntax-only -Werror --cuda-device-only %s
// RUN: %cc -fsyntax-only -Wno-deprecated-declarations -Werror -std=c++11 %s

// expected-note@driver_types.h:* 0+ {{marked deprecated here}}

static cudaDeviceProp global;
union Properties {
  cudaDeviceProp properties;
  int other;
};

int print(int device) {
  cudaDeviceProp p = {0}, q{}, r = {}, several[2] = {};
  struct cudaDeviceProp s;
  memset(&s, 0, sizeof s);
  cudaGetDeviceProperties(&s, device);
  s = p;
  Properties either;
  either.other = several[1].major + q.minor + r.warpSize + global.major;
  // expected-warning@+1 {{'clockRate' is deprecated: CUDA 13 has dropped it; use cudaDeviceGetAttribute with cudaDevAttrClockRate}}
  printf("%s %d\n", s.name, s.clockRate);
  // expected-warning@+1 {{use cudaDeviceGetAttribute with cudaDevAttrMemoryClockRate}}
  int *rate = &s.memoryClockRate;
  int sum = *rate + either.other + s.reserved[0];
  // expected-warning@+1 {{cudaDevAttrComputeMode}}
  sum += s.computeMode;
  // expected-warning@+1 {{use asyncEngineCount}}
  sum += s.deviceOverlap;
  // expected-warning@+1 {{cudaDevAttrKernelExecTimeout}}
  sum += s.kernelExecTimeoutEnabled;
  // expected-warning@+1 {{cudaDeviceGetTexture1DLinearMaxWidth}}
  sum += s.maxTexture1DLinear;
  // expected-warning@+1 {{cudaDevAttrSingleToDoublePrecisionPerfRatio}}
  sum += s.singleToDoublePrecisionPerfRatio;
  // expected-warning@+1 {{use cooperativeLaunch}}
  sum += s.cooperativeMultiDeviceLaunch;
  return sum;
}

#if CUDART_VERSION < 13010
static_assert(sizeof(cudaDeviceProp) == 1008, "the toolkit's");
#endif

// Others have a `reserved` too, and so may programs.
int reserved = sizeof(cudaIpcEventHandle_t::reserved);
