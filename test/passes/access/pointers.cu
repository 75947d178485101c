// Where addresses come from: parameters, structures passed by value, choices,
// memory that is no buffer, and what cannot be followed.
//
// RUN: %device -O0 -Xclang -disable-llvm-passes %s -o - | %print-access 2>&1 | FileCheck %s
// RUN: %device -O3 -Xclang -disable-llvm-passes %s -o - | %print-access 2>&1 | FileCheck %s
#include "device.h"

// Functions are inlined, pointers to locals are seen through.
static __device__ void where(int *row, int *col) {
  *row = blockIdx.x;
  *col = threadIdx.x;
}
static __device__ float &element(float *a, int pitch, int row, int col) {
  return a[row * pitch + col];
}
// CHECK-LABEL: kernel inlined{{$}}
// CHECK-NEXT:   a (argument 0): write, streaming{{$}}
// CHECK-NEXT:     write exact 4 bytes at 4*(zext64(tid.x) + sext64(arg1*bid.x)){{$}}
extern "C" __global__ void inlined(float *a, int pitch) {
  int row, col;
  where(&row, &col);
  element(a, pitch, row, col) = 1;
}

// A structure passed by value: two pointers and a size.
struct Arrays {
  const float *from;
  int n;
  float *to;
};
// CHECK-LABEL: kernel by_value{{$}}
// CHECK-NEXT:   s+0 (argument 0): read
// CHECK-NEXT:     read exact 4 bytes at 4*sext64(bid.x*bdim.x + tid.x)
// CHECK-NEXT:       if bid.x*bdim.x + tid.x <s arg0+8
// CHECK-NEXT:   s+16 (argument 0 + 16): write
// CHECK-NEXT:     write exact 4 bytes at 4*sext64(bid.x*bdim.x + tid.x)
// CHECK-NEXT:       if bid.x*bdim.x + tid.x <s arg0+8
extern "C" __global__ void by_value(Arrays s) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < s.n)
    s.to[i] = s.from[i];
}

// As an argument of a function it is copied; each copy is looked through.
static __device__ void scale(Arrays s, int i) {
  if (i < s.n)
    s.to[i] = 2 * s.from[i];
}
// CHECK-LABEL: kernel copied{{$}}
// CHECK:          read exact 4 bytes at 4*sext64(bid.x*bdim.x + tid.x)
// CHECK-NEXT:       if bid.x*bdim.x + tid.x <s arg0+8
extern "C" __global__ void copied(Arrays s) {
  scale(s, blockIdx.x * blockDim.x + threadIdx.x);
}

// A structure that the kernel changes: a field may be what was stored there; those that stay are the arguments.
// CHECK-LABEL: kernel changed{{$}}
// CHECK-NEXT:   s+0 (argument 0): not accessed
// CHECK-NEXT:   s+16 (argument 0 + 16): write
// CHECK-NEXT:     write 4 bytes at 4*zext64(tid.x)
// CHECK-NEXT:       if tid.x <s arg0+8
// CHECK-NEXT:   other (argument 1): write
// CHECK-NEXT:     write 4 bytes at 4*zext64(tid.x)
// CHECK-NEXT:       if tid.x <s arg0+8
extern "C" __global__ void changed(Arrays s, float *other) {
  float **to = &s.to;
  if (threadIdx.x == 3)
    *to = other;
  if ((int)threadIdx.x < s.n)
    (&s)->to[threadIdx.x] = 1;
}

// A number that the kernel changes is its own, those beside it are the launch's.
struct Share {
  int count, offset;
  __device__ void begin(int block) { offset = block * 4096; }
};
// CHECK-LABEL: kernel shared_out{{$}}
// CHECK-NEXT:   a (argument 0): write, streaming{{$}}
// CHECK-NEXT:     write exact 4 bytes at 4*zext64(4096*bid.x + tid.x)
// CHECK-NEXT:       if 4096*bid.x + tid.x <s arg1
extern "C" __global__ void shared_out(float *a, Share share) {
  share.begin(blockIdx.x);
  int i = share.offset + threadIdx.x;
  if (i < share.count)
    a[(unsigned)i] = 1;
}

// Where it is written is not known: none of it is the argument's any more.
struct Choice {
  float *of[3];
};
// CHECK-LABEL: kernel changed_somewhere, touches anything{{$}}
extern "C" __global__ void changed_somewhere(Choice c, float *other, int i) {
  c.of[i] = other;
  c.of[0][threadIdx.x] = 1;
}

// A field chosen at run time is any of the pointers.
struct Table {
  float *of[3];
};
// CHECK-LABEL: kernel table{{$}}
// CHECK-NEXT:   t+0 (argument 0): write
// CHECK-NEXT:     write 4 bytes at 4*zext64(tid.x)
// CHECK-NEXT:   t+8 (argument 0 + 8): write
// CHECK-NEXT:     write 4 bytes at 4*zext64(tid.x)
// CHECK-NEXT:   t+16 (argument 0 + 16): write
// CHECK-NEXT:     write 4 bytes at 4*zext64(tid.x)
extern "C" __global__ void table(Table t, int which) {
  t.of[which][threadIdx.x] = 1;
}

// More pointers than are listed, and pointers that are no pointers by type: any
// buffer may be meant.
struct Many {
  float *of[3][48];
};
// CHECK-LABEL: kernel many, touches anything{{$}}
extern "C" __global__ void many(Many m, int which) {
  m.of[2][which][threadIdx.x] = 1;
}
union Either {
  long long size;
  float *to;
};
struct Eithers {
  Either of[3];
};
// CHECK-LABEL: kernel either, touches anything{{$}}
extern "C" __global__ void either(Eithers e, int which) {
  e.of[which].to[threadIdx.x] = 1;
}

// One of two: each may be written, neither must.
// CHECK-LABEL: kernel one_of_two{{$}}
// CHECK-NEXT:   a (argument 0): write
// CHECK-NEXT:     write 4 bytes at 4*zext64(tid.x)
// CHECK-NEXT:   b (argument 1): write
// CHECK-NEXT:     write 4 bytes at 4*zext64(tid.x)
extern "C" __global__ void one_of_two(float *a, float *b, int flag) {
  float *p = flag ? a : b;
  p[threadIdx.x] = 1;
}

// Addresses as numbers.
// CHECK-LABEL: kernel as_number{{$}}
// CHECK-NEXT:   a (argument 0): write
// CHECK-NEXT:     write exact 4 bytes at {{.*}}arg2
extern "C" __global__ void as_number(float *a, float *b, size_t pitch) {
  float *row = (float *)((unsigned long)a + (threadIdx.y * pitch + 16));
  row[threadIdx.x] = 1;
}
// A number from memory may be the way to another buffer; so may the difference of two addresses. A mask takes bits
// of the address away.
// CHECK-LABEL: kernel moved, touches anything{{$}}
extern "C" __global__ void moved(float *a, const long *table) {
  *(float *)((unsigned long)a + table[threadIdx.x]) = 1;
}
// CHECK-LABEL: kernel moved_by_difference, touches anything{{$}}
extern "C" __global__ void moved_by_difference(float *a, float *b, float *c) {
  *(float *)((unsigned long)a + ((unsigned long)b - (unsigned long)c)) = 1;
}
// CHECK-LABEL: kernel masked, touches anything{{$}}
extern "C" __global__ void masked(float *a) {
  *(float *)(((unsigned long)a + 15) & ~15ul) = 1;
}

// A pointer that walks is a recurrence; one that swaps roles is any of both.
// CHECK-LABEL: kernel walking{{$}}
// CHECK:          write exact 4 bytes at {{.*}}k0
// CHECK-NEXT:       while trunc32(k0) <s arg1
extern "C" __global__ void walking(float *a, int n) {
  for (int i = 0; i < n; ++i)
    *a++ = 1;
}
// The inner loop's walk is a step of the outer loop's; not if it may end early.
// CHECK-LABEL: kernel walking_rows{{$}}
// CHECK-NEXT:   a (argument 0): write
// CHECK-NEXT:     write exact 4 bytes at {{.*}}k{{.*}}k
// CHECK-NEXT:       while
// CHECK-NEXT:       while
// CHECK-NEXT:   b (argument 1): write
// CHECK-NEXT:     write exact 4 bytes at {{.*}}k{{.*}}k
extern "C" __global__ void walking_rows(float *a, float *b, int height, int width) {
  int at = 0;
  for (int i = 0; i < height; ++i)
    for (int j = 0; j < width; ++j) {
      *a++ = 1;
      b[at++] = 1;
    }
}
// CHECK-LABEL: kernel walking_somewhere{{$}}
// CHECK-NEXT:   a (argument 0): write
// CHECK-NEXT:     write conditional (unsaid) anywhere
extern "C" __global__ void walking_somewhere(float *a, const int *stop, int height, int width) {
  for (int i = 0; i < height; ++i)
    for (int j = 0; j < width; ++j) {
      *a++ = 1;
      if (stop[j])
        break;
    }
}
// CHECK-LABEL: kernel swapping{{$}}
// CHECK-NEXT:   a (argument 0): read-write, {{.*}}read first
// CHECK:          write anywhere
// CHECK:        b (argument 1): read-write, {{.*}}read first
// CHECK:          write anywhere
// CHECK: note: swapping: 'a': the address is not an affine function of the parameter
extern "C" __global__ void swapping(float *a, float *b, int n) {
  for (int i = 0; i < n; ++i) {
    b[threadIdx.x] = a[threadIdx.x] + 1;
    float *t = a;
    a = b;
    b = t;
  }
}
