// Launches spelled with spaces, as nvcc reads them; what comments, strings and templates say stays.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir && cd %t.dir
// RUN: %build %s -o program && %plain ./program | FileCheck %s
// Errors are at the program's own lines and columns.
// RUN: not %build -DWRONG %s -o wrong 2>&1 | FileCheck %s --check-prefix=WRONG

// clang-format off
#include <cstdio>
#include <vector>

template <class T> struct Box {
  T value;
};

__global__ void set(int *p, int value) { p[threadIdx.x] = value >> 1; }

int main() {
  int *data, host[4] = {0};
  cudaMalloc(&data, sizeof host);
  std::vector<Box<Box<int> > > boxes(1); /* set<< <1, 1>> >(data, 1) */
  set<< <1, 8 >> 1>> >(data, 6);
  set << < 1, 1 >> > (data, 8 >> int(boxes[0].value.value));
  set<<<1, 1>>>(data + 1, 14); // set<< <1, 1>> >(data, 1)
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  // CHECK: a << <b>> > '<' 4 7 3 3
  printf("%s '%c' %d %d %d %d\n", "a << <b>> >", '<', host[0], host[1], host[2], host[3]);
#ifdef WRONG
  // WRONG: spaced-launches.cu:[[#@LINE+1]]:24: error: use of undeclared identifier 'nothing'
  set << < 1, 1 >> > ( nothing, 8);
#endif
}
