// DRAGON_CHECK names each directive that is wrong, and none that is not: fourteen wrong analyses, each in a part of the program
// of its own, against the same program without them. Whether memory is short makes no difference.
//
// RUN: rm -rf %t.dir && mkdir -p %t.dir/swap && cd %t.dir
// RUN: %bytes staged.bin 1M mistakes
// RUN: %build -fdragon-trace-accesses %s -o right
// RUN: for part in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do %plain DRAGON_CHECK=1 ./right $part 2>> right.txt > /dev/null && \
// RUN:   %tight DRAGON_CHECK=1 ./right $part 2>> right.txt > /dev/null || exit 1; done
// RUN: not grep . right.txt
//
// RUN: %build -fdragon-trace-accesses -mllvm -dragon-mistakes=unread:last,overwriting:border,unread:copy-out@d_gone,unread:copy@d_from,unwritten:change,unread:again,unread:copy-out@d_private,narrow:shifted,certain:perhaps,read-only:update,unseen:host-access@h_seen,unseen:host-access@r_seen,unseen:host-access@h_late,unseen:host-access@r_early,unseen:host-access@h_zero %s -o wrong
// RUN: for part in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do echo "part $part"; %plain DRAGON_CHECK=1 ./wrong $part 2>&1; echo "status $?"; done > plain.txt
// RUN: FileCheck %s < plain.txt
// RUN: for part in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14; do echo "part $part"; %tight DRAGON_CHECK=1 ./wrong $part 2>&1; echo "status $?"; done > tight.txt
// RUN: FileCheck %s < tight.txt
//
// Kernels that were not compiled for it are named.
// RUN: %build %s -o untraced
// RUN: %plain DRAGON_CHECK=1 %fails ./untraced 0 2>&1 | FileCheck %s --check-prefix=TRACE
// TRACE: kernel '{{.*}}' does not tell its accesses, which DRAGON_CHECK, {{.*}} need; compile with -fdragon-trace-accesses
// RUN: rm -rf %t.dir
#include "e2e.h"

constexpr int N = 1 << 18;

__global__ void set(int *out, int value) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}
__global__ void add(const int *in, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] + 1;
}
__global__ void last(const int *in, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] + 2;
}
__global__ void again(const int *in, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] + 3;
}
__global__ void shifted(const int *in, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] + 4;
}
__global__ void border(int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < N - 1)
    out[i] = 5;
}
__global__ void change(int *data) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] += 6;
}
__global__ void perhaps(const int *in, int *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (in[i] % 2)
    out[i] = 7;
}
__global__ void update(int *data) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] *= 8;
}

#define LAUNCH(kernel, ...)                                                    \
  do {                                                                         \
    kernel<<<N / 256, 256>>>(__VA_ARGS__);                                     \
    CHECK(cudaGetLastError());                                                 \
  } while (0)

using Words = std::vector<int>;
constexpr size_t Bytes = N * sizeof(int);

static void out(Words &host, const int *device) {
  CHECK(cudaMemcpy(host.data(), device, Bytes, cudaMemcpyDeviceToHost));
}

// The buffer is dead one launch too early.
// CHECK-LABEL: part 0
// CHECK: dragon: check: kernel 'last' (launch 3) reads bytes 0-1048575 of 'd_early' that a directive ended: 'Discarded{{.*}}' at {{.*}}check-mistakes.cu:[[#]] on 'd_early'; last written by 'set' (launch 1)
// CHECK: dragon: check: {{.*}} wrong in {{.*}} results cannot be trusted
// CHECK-NEXT: status 87
void early(Words &host) {
  int *d_early, *d_one, *d_two;
  CHECK(cudaMalloc(&d_early, Bytes));
  CHECK(cudaMalloc(&d_one, Bytes));
  CHECK(cudaMalloc(&d_two, Bytes));
  LAUNCH(set, d_early, 1);
  LAUNCH(add, d_early, d_one);
  LAUNCH(last, d_early, d_two);
  LAUNCH(add, d_one, d_two);
  out(host, d_two);
  CHECK(cudaFree(d_early));
  CHECK(cudaFree(d_one));
  CHECK(cudaFree(d_two));
}

// Of a buffer that is discarded, not all is overwritten.
// CHECK-LABEL: part 1
// CHECK: dragon: check: a copy to the host reads bytes 0-3 and 4 more of 'd_half' that a directive ended: 'Discarded{{.*}}' at {{.*}}:[[#]] on 'd_half'; last written by 'set' (launch 1)
// CHECK: status 87
void half(Words &host) {
  int *d_half, *d_one;
  CHECK(cudaMalloc(&d_half, Bytes));
  CHECK(cudaMalloc(&d_one, Bytes));
  LAUNCH(set, d_half, 1);
  LAUNCH(add, d_half, d_one);
  LAUNCH(border, d_half);
  out(host, d_half);
  LAUNCH(add, d_half, d_one);
  out(host, d_one);
  CHECK(cudaFree(d_half));
  CHECK(cudaFree(d_one));
}

// The contents are not dead: they are copied out.
// CHECK-LABEL: part 2
// CHECK: dragon: check: a copy to the host reads bytes 0-1048575 of 'd_gone' that a directive ended: 'Discarded{{.*}}' at {{.*}}:[[#]] on 'd_gone'; last written by 'add' (launch 2)
// CHECK: status 87
void gone(Words &host) {
  int *d_gone, *d_one;
  CHECK(cudaMalloc(&d_gone, Bytes));
  CHECK(cudaMalloc(&d_one, Bytes));
  LAUNCH(set, d_one, 1);
  LAUNCH(add, d_one, d_gone);
  LAUNCH(add, d_one, d_one);
  out(host, d_gone);
  out(host, d_one);
  CHECK(cudaFree(d_gone));
  CHECK(cudaFree(d_one));
}

// They are copied to another buffer.
// CHECK-LABEL: part 3
// CHECK: dragon: check: a copy between buffers reads bytes 0-1048575 of 'd_from' that a directive ended: 'Discarded{{.*}}' at {{.*}}:[[#]] on 'd_from'; last written by 'set' (launch 1)
// CHECK: status 87
void from(Words &host) {
  int *d_from, *d_to;
  CHECK(cudaMalloc(&d_from, Bytes));
  CHECK(cudaMalloc(&d_to, Bytes));
  LAUNCH(set, d_from, 1);
  LAUNCH(add, d_from, d_to);
  LAUNCH(set, d_to, 2);
  CHECK(cudaMemcpy(d_to, d_from, Bytes, cudaMemcpyDeviceToDevice));
  out(host, d_to);
  CHECK(cudaFree(d_from));
  CHECK(cudaFree(d_to));
}

// A buffer that is mapped read-only is written.
// CHECK-LABEL: part 4
// CHECK: dragon: check: kernel 'change' (launch 1) writes bytes 0-1048575 of 'd_constant', a buffer that a directive made read-only: 'MappedReadOnlyCopied' at {{.*}}:[[#]] on 'd_constant'
// CHECK: status 87
void constant(Words &host) {
  int *d_constant;
  CHECK(cudaMalloc(&d_constant, Bytes));
  CHECK(cudaMemcpy(d_constant, host.data(), Bytes, cudaMemcpyHostToDevice));
  LAUNCH(change, d_constant);
  out(host, d_constant);
  CHECK(cudaFree(d_constant));
}

// What is evicted to the file that it is written to is read after that.
// CHECK-LABEL: part 5
// CHECK: dragon: check: kernel 'again' (launch 2) reads bytes 0-1048575 of 'd_written' that a directive ended: 'SinkToFile' at {{.*}}:[[#]] on 'd_written'; last written by 'set' (launch 1)
// CHECK: status 87
void written(Words &host) {
  int *d_written, *d_one;
  int *staging = (int *)malloc(Bytes);
  FILE *file = openFile("written.bin", "wb");
  CHECK(cudaMalloc(&d_written, Bytes));
  CHECK(cudaMalloc(&d_one, Bytes));
  LAUNCH(set, d_written, 1);
  CHECK(cudaMemcpy(staging, d_written, Bytes, cudaMemcpyDeviceToHost));
  REQUIRE(fwrite(staging, 1, Bytes, file) == Bytes);
  fclose(file);
  free(staging);
  LAUNCH(again, d_written, d_one);
  out(host, d_one);
  CHECK(cudaFree(d_written));
  CHECK(cudaFree(d_one));
}

// A buffer that is never to be copied out is.
// CHECK-LABEL: part 6
// CHECK: dragon: check: a copy to the host reads bytes 0-1048575 of 'd_private' that a directive ended: 'Discarded{{.*}}' at {{.*}}:[[#]] on 'd_private'; last written by 'change' (launch 1)
// CHECK: status 87
void ownOnly(Words &host) {
  int *d_private, *d_one;
  CHECK(cudaMalloc(&d_private, Bytes));
  CHECK(cudaMalloc(&d_one, Bytes));
  CHECK(cudaMemcpy(d_private, host.data(), Bytes, cudaMemcpyHostToDevice));
  LAUNCH(change, d_private);
  LAUNCH(add, d_private, d_one);
  LAUNCH(add, d_one, d_one);
  out(host, d_private);
  out(host, d_one);
  CHECK(cudaFree(d_private));
  CHECK(cudaFree(d_one));
}

// Less is announced than is touched.
// CHECK-LABEL: part 7
// CHECK: dragon: check: kernel 'shifted' (launch 2) reads bytes 1-3 and {{[0-9]+}} more of 'd_one', which its summary does not announce
// CHECK: dragon: check: kernel 'shifted' (launch 2) writes bytes 1-3 and {{[0-9]+}} more of 'd_two', which its summary does not announce
// CHECK: status 87
void narrow(Words &host) {
  int *d_one, *d_two;
  CHECK(cudaMalloc(&d_one, Bytes));
  CHECK(cudaMalloc(&d_two, Bytes));
  LAUNCH(set, d_one, 1);
  LAUNCH(shifted, d_one, d_two);
  out(host, d_two);
  CHECK(cudaFree(d_one));
  CHECK(cudaFree(d_two));
}

// More is announced as overwritten than is.
// CHECK-LABEL: part 8
// CHECK: dragon: check: kernel 'perhaps' (launch 3) does not write bytes 0-{{[0-9]+}} of 'd_two', which its summary announces as overwritten
// CHECK: status 87
void must(Words &host) {
  int *d_one, *d_two;
  CHECK(cudaMalloc(&d_one, Bytes));
  CHECK(cudaMalloc(&d_two, Bytes));
  LAUNCH(set, d_one, 2);
  LAUNCH(set, d_two, 1);
  LAUNCH(perhaps, d_one, d_two);
  out(host, d_two);
  CHECK(cudaFree(d_one));
  CHECK(cudaFree(d_two));
}

// What is announced as only read is written.
// CHECK-LABEL: part 9
// CHECK: dragon: check: kernel 'update' (launch 2) writes bytes 0-1048575 of 'd_one', which its summary announces as only read
// CHECK: status 87
void readOnly(Words &host) {
  int *d_one;
  CHECK(cudaMalloc(&d_one, Bytes));
  LAUNCH(set, d_one, 1);
  LAUNCH(update, d_one);
  out(host, d_one);
  CHECK(cudaFree(d_one));
}

// Memory that was not filled from its file is looked at.
// CHECK-LABEL: part 10
// CHECK: dragon: check: host code at {{.*}}check-mistakes.cu:[[#]] reads memory that a directive keeps from being filled: 'StagingElidedIn' at {{.*}}:[[#]] on 'h_seen'
// CHECK: status 87
void lookedAt() {
  std::FILE *file = openFile("staged.bin", "rb");
  int *d_one, *h_seen = static_cast<int *>(malloc(Bytes));
  CHECK(cudaMalloc(&d_one, Bytes));
  REQUIRE(fread(h_seen, 1, Bytes, file) == Bytes);
  CHECK(cudaMemcpy(d_one, h_seen, Bytes, cudaMemcpyHostToDevice));
  LAUNCH(add, d_one, d_one);
  printf("%d\n", h_seen[77]);
  free(h_seen);
  CHECK(cudaFree(d_one));
  fclose(file);
}

// Results that went to their file alone are looked at; what else is in the memory before and afterwards is the program's.
// CHECK-LABEL: part 11
// CHECK: dragon: check: host code at {{.*}}check-mistakes.cu:[[#]] reads memory that a directive keeps from being filled: 'StagingElidedOut' at {{.*}}:[[#]] on 'r_seen'
// CHECK: status 87
void resultLookedAt() {
  std::FILE *file = openFile("result.bin", "wb");
  int *d_one, *r_seen = static_cast<int *>(malloc(Bytes));
  r_seen[3] = 5;
  REQUIRE(r_seen[3] == 5);
  CHECK(cudaMalloc(&d_one, Bytes));
  LAUNCH(set, d_one, 1);
  CHECK(cudaMemcpy(r_seen, d_one, Bytes, cudaMemcpyDeviceToHost));
  REQUIRE(fwrite(r_seen, 1, Bytes, file) == Bytes);
  printf("%d\n", r_seen[78]);
  r_seen[79] = 6;
  REQUIRE(r_seen[79] == 6);
  free(r_seen);
  CHECK(cudaFree(d_one));
  fclose(file);
}

// Memory that a copy is still to be made of changes.
// CHECK-LABEL: part 12
// CHECK: dragon: check: host code at {{.*}}check-mistakes.cu:[[#]] changes memory that a directive lets be copied later: 'CopyDeferred' at {{.*}}:[[#]] on 'h_late'
// CHECK: status 87
void changedTooEarly() {
  int *d_one, *d_two, *h_late = static_cast<int *>(malloc(4 * Bytes));
  for (int i = 0; i < 4 * N; ++i)
    h_late[i] = i;
  CHECK(cudaMalloc(&d_one, 4 * Bytes));
  CHECK(cudaMalloc(&d_two, Bytes));
  CHECK(cudaMemcpy(h_late, d_two, 4, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(d_one, h_late, 4 * Bytes, cudaMemcpyHostToDevice));
  LAUNCH(add, d_one, d_two);
  h_late[77] = 5;
  LAUNCH(add, d_one, d_two);
  free(h_late);
  CHECK(cudaFree(d_one));
  CHECK(cudaFree(d_two));
}

// Memory that results may have come to is looked at before they are copied there.
// CHECK-LABEL: part 13
// CHECK: dragon: check: host code at {{.*}}check-mistakes.cu:[[#]] reads memory that a directive lets results come to early: 'ResultToPlace' at {{.*}}:[[#]] on 'd_one'
// CHECK: status 87
void lookedAtTooEarly() {
  int *d_one, *r_early = static_cast<int *>(malloc(Bytes));
  for (int i = 0; i < N; ++i)
    r_early[i] = i;
  CHECK(cudaMalloc(&d_one, Bytes));
  LAUNCH(set, d_one, 1);
  printf("%d\n", r_early[77]);
  CHECK(cudaMemcpy(r_early, d_one, Bytes, cudaMemcpyDeviceToHost));
  printf("%d\n", r_early[78]);
  free(r_early);
  CHECK(cudaFree(d_one));
}

// Memory is copied that nothing seems to have been written to.
// CHECK-LABEL: part 14
// CHECK: dragon: check: {{.*}}'add' {{.*}} reads {{.*}}'CopyOfNothing' at {{.*}}:[[#]] on 'h_zero'
// CHECK: status 87
void writtenAfterAll() {
  int *d_one, *d_two, *h_zero = static_cast<int *>(malloc(Bytes));
  for (int i = 0; i < N; ++i)
    h_zero[i] = i;
  CHECK(cudaMalloc(&d_one, Bytes));
  CHECK(cudaMalloc(&d_two, Bytes));
  CHECK(cudaMemcpy(d_one, h_zero, Bytes, cudaMemcpyHostToDevice));
  LAUNCH(add, d_one, d_two);
  CHECK(cudaMemcpy(h_zero, d_two, Bytes, cudaMemcpyDeviceToHost));
  printf("%d\n", h_zero[77]);
  free(h_zero);
  CHECK(cudaFree(d_one));
  CHECK(cudaFree(d_two));
}

int main(int argc, char **argv) {
  REQUIRE(argc == 2);
  Words host(N, 1);
  switch (atoi(argv[1])) {
  case 0:
    early(host);
    break;
  case 1:
    half(host);
    break;
  case 2:
    gone(host);
    break;
  case 3:
    from(host);
    break;
  case 4:
    constant(host);
    break;
  case 5:
    written(host);
    break;
  case 6:
    ownOnly(host);
    break;
  case 7:
    narrow(host);
    break;
  case 8:
    must(host);
    break;
  case 9:
    readOnly(host);
    break;
  case 10:
    lookedAt();
    break;
  case 11:
    resultLookedAt();
    break;
  case 14:
    writtenAfterAll();
    break;
  case 12:
    changedTooEarly();
    break;
  case 13:
    lookedAtTooEarly();
    break;
  }
  return 0;
}
