// Texture references, each as a texture object in a variable of the device; the fetches are those of objects.
// RUN: %cc -fsyntax-only -Xclang -verify --cuda-host-only %s
// RUN: %cc -fsyntax-only -Wno-deprecated-declarations -Werror %s
// RUN: %cc -ptx -arch=sm_80 -Wno-deprecated-declarations %s -o - | FileCheck %s

// CHECK: .visible .global .align 8 .u64 linear
// CHECK: .visible .global .align 8 .u64 _ZL4flat
// CHECK-NOT: .texref
// CHECK: .entry
// CHECK: ld.global.b64 [[OBJECT:%rd[0-9]+]], [linear];
// CHECK: tex.1d.v4.f32.s32 {{.*}}[[[OBJECT]], {

// expected-note@dragon-nvcc/textures.h:* 0+ {{marked deprecated here}}

texture<float, 1, cudaReadModeElementType> linear;
static texture<uchar4, cudaTextureType2D, cudaReadModeNormalizedFloat> flat;
texture<int2> two;
texture<float, 3> volume;

__global__ void kernel(float *out, int i) {
  float sum = tex1Dfetch(linear, i);
  float4 texel = tex2D(flat, i + 0.5f, 1);
  sum += texel.x + texel.w + tex1Dfetch(two, i).y;
  *out = sum + tex3D(volume, 1, 2, 3);
}

void bind(const float *data, size_t bytes, cudaArray_t array) {
  size_t offset;
  linear.addressMode[0] = cudaAddressModeClamp;
  flat.normalized = true;
  flat.filterMode = cudaFilterModeLinear;
  // expected-warning@+1 {{'cudaBindTexture<float, 1, cudaReadModeElementType>' is deprecated: CUDA 12 has dropped texture references; use a cudaTextureObject_t}}
  cudaBindTexture(&offset, linear, data, bytes);
  // expected-warning@+1 {{texture references}}
  cudaBindTexture(NULL, linear, data);
  cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
  // expected-warning@+1 {{texture references}}
  cudaBindTexture2D(0, flat, data, format, 16, 16, 64);
  // expected-warning@+1 {{texture references}}
  cudaBindTextureToArray(flat, array, format);
  // expected-warning@+1 {{texture references}}
  cudaBindTextureToArray(flat, array);
  // expected-warning@+1 {{texture references}}
  cudaUnbindTexture(linear);
}
