// CUDA as a random program sees it, on the host, in main memory, and at once: an allocation is malloc, a copy memmove, a
// launch a loop over blocks and threads, and streams and events mean nothing. Made from nothing that dragon-cc is made
// from, it says what a program should have printed and written. Fresh memory is filled with the byte FILL: a program
// whose output depends on it reads what it has not written.
#ifndef MODEL_H
#define MODEL_H
#include "model-kernels.h"

#define CUDART_CB
enum cudaError_t { cudaSuccess };
enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};
using cudaEvent_t = struct Event *;
enum { cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2, cudaHostAllocDefault = 0, cudaHostAllocPortable = 1 };

inline const char *cudaGetErrorString(cudaError_t) { return ""; }
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaPeekAtLastError() { return cudaSuccess; }
inline cudaError_t modelAllocate(void **to, size_t bytes) {
  static const char *fill = getenv("FILL");
  *to = aligned_alloc(256, (bytes + 255) / 256 * 256);
  memset(*to, fill ? atoi(fill) : 0, bytes);
  return cudaSuccess;
}
template <class T> cudaError_t cudaMalloc(T **to, size_t bytes) { return modelAllocate((void **)to, bytes); }
template <class T> cudaError_t cudaMallocManaged(T **to, size_t bytes) { return modelAllocate((void **)to, bytes); }
template <class T> cudaError_t cudaMallocHost(T **to, size_t bytes) { return modelAllocate((void **)to, bytes); }
template <class T> cudaError_t cudaHostAlloc(T **to, size_t bytes, unsigned) {
  return modelAllocate((void **)to, bytes);
}
template <class T> cudaError_t cudaMallocAsync(T **to, size_t bytes, cudaStream_t) {
  return modelAllocate((void **)to, bytes);
}
inline cudaError_t cudaFree(void *memory) {
  free(memory);
  return cudaSuccess;
}
inline cudaError_t cudaFreeAsync(void *memory, cudaStream_t) { return cudaFree(memory); }
inline cudaError_t cudaFreeHost(void *memory) { return cudaFree(memory); }

inline cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind) {
  memmove(to, from, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t = nullptr) {
  return cudaMemcpy(to, from, bytes, kind);
}
inline cudaError_t cudaMemcpy2D(void *to, size_t toPitch, const void *from, size_t fromPitch, size_t width,
                                size_t height, cudaMemcpyKind kind) {
  for (size_t row = 0; row < height; ++row)
    cudaMemcpy((char *)to + row * toPitch, (const char *)from + row * fromPitch, width, kind);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpy2DAsync(void *to, size_t toPitch, const void *from, size_t fromPitch, size_t width,
                                     size_t height, cudaMemcpyKind kind, cudaStream_t = nullptr) {
  return cudaMemcpy2D(to, toPitch, from, fromPitch, width, height, kind);
}
inline cudaError_t cudaMemset(void *at, int value, size_t bytes) {
  memset(at, value, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void *at, int value, size_t bytes, cudaStream_t = nullptr) {
  return cudaMemset(at, value, bytes);
}
inline cudaError_t cudaMemset2D(void *at, size_t pitch, int value, size_t width, size_t height) {
  for (size_t row = 0; row < height; ++row)
    memset((char *)at + row * pitch, value, width);
  return cudaSuccess;
}
template <class T>
cudaError_t cudaMemcpyToSymbol(T &symbol, const void *from, size_t bytes, size_t offset = 0) {
  memcpy((char *)&symbol + offset, from, bytes);
  return cudaSuccess;
}

template <class T>
cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t bytes, size_t offset = 0) {
  memcpy(to, (const char *)&symbol + offset, bytes);
  return cudaSuccess;
}
template <class T> cudaError_t cudaGetSymbolAddress(void **to, T &symbol) {
  *to = &symbol;
  return cudaSuccess;
}

/// A variable of the device, which the device's reset brings back to what it was at first.
class Restorable {
public:
  Restorable(void *at, size_t bytes) : at(at), first((char *)at, (char *)at + bytes), next(all) { all = this; }
  static void restore() {
    for (Restorable *variable = all; variable; variable = variable->next)
      memcpy(variable->at, variable->first.data(), variable->first.size());
  }

private:
  void *at;
  std::vector<char> first;
  Restorable *next;
  inline static Restorable *all = nullptr;
};
#define RESTORABLE(variable) static Restorable restorable_##variable(variable, sizeof(variable));
inline cudaError_t cudaDeviceReset() {
  Restorable::restore();
  return cudaSuccess;
}

inline cudaError_t cudaLaunchHostFunc(cudaStream_t, void (*function)(void *), void *data) {
  function(data);
  return cudaSuccess;
}
inline cudaError_t cudaStreamAddCallback(cudaStream_t stream, void (*function)(cudaStream_t, cudaError_t, void *),
                                         void *data, unsigned) {
  function(stream, cudaSuccess, data);
  return cudaSuccess;
}
#define cudaStreamPerThread nullptr

inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
inline cudaError_t cudaStreamCreate(cudaStream_t *) { return cudaSuccess; }
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *, unsigned) { return cudaSuccess; }
inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t *, unsigned, int) { return cudaSuccess; }
inline cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0) { return cudaSuccess; }
inline cudaError_t cudaEventCreate(cudaEvent_t *) { return cudaSuccess; }
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t *, unsigned) { return cudaSuccess; }
inline cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = nullptr) { return cudaSuccess; }
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
#endif
