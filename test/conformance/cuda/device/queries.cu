// Devices: count, properties, attributes, limits, versions.
// RUN: %conforms %s
#include "conformance.h"

int main() {
  int count = 0, device = -1, driver = 0, runtime = 0;
  CHECK(cudaGetDeviceCount(&count));
  REQUIRE(count >= 1);
  CHECK(cudaSetDevice(0));
  CHECK(cudaGetDevice(&device));
  REQUIRE(device == 0);
  REFUSED(cudaErrorInvalidDevice, cudaSetDevice(1000));
  CHECK(cudaDriverGetVersion(&driver));
  CHECK(cudaRuntimeGetVersion(&runtime));
  REQUIRE(driver >= 12000 && runtime >= 13000);
  cudaDeviceProp p;
  CHECK(cudaGetDeviceProperties(&p, 0));
  REQUIRE(p.name[0] && p.warpSize == 32 && p.maxThreadsPerBlock == 1024 &&
          p.major >= 5 && p.multiProcessorCount >= 1 &&
          p.sharedMemPerBlock >= 48 * 1024 && p.totalGlobalMem > 0 &&
          p.maxGridSize[0] == 0x7fffffff && p.maxThreadsDim[2] == 64 &&
          p.unifiedAddressing && p.canMapHostMemory);
  int value = 0;
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 0));
  REQUIRE(value == 32);
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 0));
  REQUIRE(value == 1024);
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 0));
  REQUIRE(value == p.major);
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
  REQUIRE(value == p.multiProcessorCount);
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrClockRate, 0));
  REQUIRE(value > 0);
  size_t limit = 0;
  CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 32 << 20));
  CHECK(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
  REQUIRE(limit >= 32 << 20);
  CHECK(cudaDeviceGetLimit(&limit, cudaLimitPrintfFifoSize));
  CHECK(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
  cudaFuncCache config;
  CHECK(cudaDeviceGetCacheConfig(&config));
  char bus[32];
  CHECK(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
  int same = -1;
  CHECK(cudaDeviceGetByPCIBusId(&same, bus));
  REQUIRE(same == 0);
  int chosen = -1;
  CHECK(cudaChooseDevice(&chosen, &p));
  REQUIRE(chosen >= 0 && chosen < count);
  unsigned flags;
  CHECK(cudaGetDeviceFlags(&flags));
  return 0;
}
