//===- ops.cu - an extension of PyTorch with buffers of its own -----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operators on tensors, and the CUDA runtime's calls on addresses, of tensors
// and of buffers that this file allocates, for run to check from Python.
//
//===----------------------------------------------------------------------===//
#include <ATen/cuda/CUDAContext.h>
#include <torch/library.h>
#include <torch/types.h>

namespace {

__global__ void scaleKernel(float *out, const float *in, float by, size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n)
    out[i] = in[i] * by;
}

__global__ void addKernel(float *out, const float *a, const float *b,
                          size_t n) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < n)
    out[i] = a[i] + b[i];
}

__device__ float table[1024];

constexpr unsigned Block = 256;
unsigned blocksFor(size_t n) { return unsigned((n + Block - 1) / Block); }
cudaStream_t current() { return at::cuda::getCurrentCUDAStream(); }
template <typename T> T *pointer(int64_t address) {
  return reinterpret_cast<T *>(address);
}

torch::Tensor scaled(const torch::Tensor &in, double by) {
  auto out = torch::empty_like(in);
  const size_t n = in.numel();
  scaleKernel<<<blocksFor(n), Block, 0, current()>>>(
      out.data_ptr<float>(), in.data_ptr<float>(), float(by), n);
  TORCH_CHECK(cudaGetLastError() == cudaSuccess);
  return out;
}

int64_t allocate(int64_t bytes) {
  void *memory = nullptr;
  return cudaMalloc(&memory, bytes) ? 0 : reinterpret_cast<int64_t>(memory);
}
int64_t release(int64_t address) { return cudaFree(pointer<void>(address)); }

int64_t copy(int64_t to, int64_t from, int64_t bytes, int64_t kind,
             bool async) {
  const auto how = cudaMemcpyKind(kind);
  return async ? cudaMemcpyAsync(pointer<void>(to), pointer<void>(from), bytes,
                                 how, current())
               : cudaMemcpy(pointer<void>(to), pointer<void>(from), bytes, how);
}

int64_t copyRows(int64_t to, int64_t toPitch, int64_t from, int64_t fromPitch,
                 int64_t width, int64_t rows) {
  return cudaMemcpy2DAsync(pointer<void>(to), toPitch, pointer<void>(from),
                           fromPitch, width, rows, cudaMemcpyDefault,
                           current());
}

int64_t fill(int64_t to, int64_t value, int64_t bytes) {
  return cudaMemsetAsync(pointer<void>(to), int(value), bytes, current());
}

int64_t scale(int64_t out, int64_t in, double by, int64_t n) {
  scaleKernel<<<blocksFor(n), Block, 0, current()>>>(
      pointer<float>(out), pointer<float>(in), float(by), n);
  return cudaGetLastError();
}

int64_t add(int64_t out, int64_t a, int64_t b, int64_t n) {
  addKernel<<<blocksFor(n), Block, 0, current()>>>(
      pointer<float>(out), pointer<float>(a), pointer<float>(b), n);
  return cudaGetLastError();
}

/// cudaMemoryType, or minus an error.
int64_t typeOf(int64_t address) {
  cudaPointerAttributes known{};
  const cudaError_t error =
      cudaPointerGetAttributes(&known, pointer<void>(address));
  return error ? -int64_t(error) : int64_t(known.type);
}

int64_t tableAddress() {
  void *address = nullptr;
  return cudaGetSymbolAddress(&address, table)
             ? 0
             : reinterpret_cast<int64_t>(address);
}

/// Calls that fail, one that NVIDIA's runtime refuses and one that ours does.
int64_t failInNvidias() {
  return cudaFuncSetAttribute(
      scaleKernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 30);
}
int64_t failInOurs(int64_t ours) {
  return cudaMemcpy(pointer<void>(ours), pointer<void>(ours), 1,
                    cudaMemcpyKind(77));
}
int64_t lastError() { return cudaGetLastError(); }

} // namespace

TORCH_LIBRARY(dragon_test, m) {
  m.def("scaled(Tensor x, float by) -> Tensor", scaled);
  m.def("allocate(int bytes) -> int", allocate);
  m.def("release(int address) -> int", release);
  m.def("copy(int to, int origin, int bytes, int kind, bool queued) -> int",
        copy);
  m.def("copy_rows(int to, int to_pitch, int origin, int pitch, int width, "
        "int rows) -> int",
        copyRows);
  m.def("fill(int to, int value, int bytes) -> int", fill);
  m.def("scale(int out, int x, float by, int n) -> int", scale);
  m.def("add(int out, int a, int b, int n) -> int", add);
  m.def("type_of(int address) -> int", typeOf);
  m.def("table_address() -> int", tableAddress);
  m.def("fail_in_nvidias() -> int", failInNvidias);
  m.def("fail_in_ours(int ours) -> int", failInOurs);
  m.def("last_error() -> int", lastError);
}
