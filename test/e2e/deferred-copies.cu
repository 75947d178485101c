// Copies to the device whose bytes are fetched from the program's memory when kernels need them: whatever the program does
// with that memory afterwards, kernels see the bytes of the call.
// RUN: %build %s -Rpass=dragon -Rpass-missed=dragon -o %t 2> %t.remarks
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: for case in reread changed freed vector pinned partly copiedBack swapped extracted; do \
// RUN:   %plain %t $case && %tight DRAGON_HOST_MEMORY=64M %t $case && %tight %t $case || exit 1; done
// RUN: %tight DRAGON_HOST_MEMORY=64M DRAGON_STATS=%t.json %t reread
// RUN: %ledger %t.json 'avoided_deferred_copies == 12*M' 'device_to_host < K'
// RUN: %tight DRAGON_HOST_MEMORY=64M DRAGON_STATS=%t.json DRAGON_ELIDE=0 %t reread
// RUN: %ledger %t.json 'avoided_deferred_copies == 0'
// RUN: rm %t %t.json %t.remarks
#include "sums.h"
#include <sstream>

__global__ void copy(uint32_t *out, const uint32_t *in) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i];
}

static void reread() {
  Device d;
  uint32_t *h_reread = (uint32_t *)malloc(Bytes);
  fill(h_reread, 1);
  // REMARK-DAG: copy of 'h_reread' to {{.*}} deferred
  CHECK(cudaMemcpy(d.in, h_reread, Bytes, cudaMemcpyHostToDevice));
  for (int round = 0; round < 3; ++round)
    REQUIRE(total(d.in, d.total) == expected(1));
  REQUIRE(h_reread[5] == 6); // to read it does no harm
  free(h_reread);
}

static void changed() {
  Device d;
  uint32_t *h_changed = new uint32_t[N];
  fill(h_changed, 2);
  // REMARK-DAG: copy of 'h_changed' to {{.*}} deferred
  CHECK(cudaMemcpy(d.in, h_changed, Bytes, cudaMemcpyHostToDevice));
  REQUIRE(total(d.in, d.total) == expected(2));
  // REMARK-DAG: 'h_changed' copied here where that was deferred
  fill(h_changed, 77);
  REQUIRE(total(d.in, d.total) == expected(2));
  CHECK(cudaMemcpy(d.in, h_changed, Bytes, cudaMemcpyHostToDevice));
  REQUIRE(total(d.in, d.total) == expected(77));
  delete[] h_changed;
}

static void freed() {
  Device d;
  uint32_t *h_freed = (uint32_t *)malloc(Bytes);
  fill(h_freed, 3);
  // REMARK-DAG: copy of 'h_freed' to {{.*}} deferred
  CHECK(cudaMemcpy(d.in, h_freed, Bytes, cudaMemcpyHostToDevice));
  REQUIRE(total(d.in, d.total) == expected(3));
  free(h_freed);
  uint32_t *h_after = (uint32_t *)malloc(Bytes); // the same memory, as a rule
  fill(h_after, 99);
  REQUIRE(total(d.in, d.total) == expected(3));
  // REMARK-DAG: copy of 'h_after' not deferred: the call that frees it at line {{[0-9]+}} may change it
  CHECK(cudaMemcpy(d.in, h_after, Bytes, cudaMemcpyHostToDevice));
  free(h_after);
  REQUIRE(total(d.in, d.total) == expected(99));
}

static void vector() {
  Device d;
  {
    std::vector<uint32_t> h_vector(N);
    fill(h_vector.data(), 4);
    // REMARK-DAG: copy of 'h_vector' to {{.*}} deferred
    CHECK(cudaMemcpy(d.in, h_vector.data(), Bytes, cudaMemcpyHostToDevice));
    REQUIRE(total(d.in, d.total) == expected(4));
  }
  std::vector<uint32_t> other(N, 5);
  REQUIRE(total(d.in, d.total) == expected(4));
}

static void pinned() {
  Device d;
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  uint32_t *h_pinned, *d_other;
  CHECK(cudaMallocHost(&h_pinned, Bytes));
  CHECK(cudaMalloc(&d_other, Bytes));
  fill(h_pinned, 6);
  // REMARK-DAG: copy of 'h_pinned' to {{.*}} deferred
  CHECK(cudaMemcpyAsync(d.in, h_pinned, Bytes, cudaMemcpyHostToDevice, stream));
  copy<<<N / 256, 256, 0, stream>>>(d_other, d.in);
  CHECK(cudaStreamSynchronize(stream));
  fill(h_pinned, 60);
  REQUIRE(total(d.in, d.total) == expected(6));
  REQUIRE(total(d_other, d.total) == expected(6));
  CHECK(cudaFreeHost(h_pinned));
  CHECK(cudaFree(d_other));
  CHECK(cudaStreamDestroy(stream));
}

/// Parts of one host buffer, with odd ends, over each other.
static void partly() {
  Device d;
  uint32_t *h_partly = (uint32_t *)malloc(Bytes);
  fill(h_partly, 7);
  CHECK(cudaMemcpy(d.in, h_partly, Bytes, cudaMemcpyHostToDevice));
  // Its words are 16 further on: the same again.
  CHECK(
      cudaMemcpy(d.in + 16, h_partly + 32, Bytes / 2, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d.in + N / 2, h_partly + 16 * 1001, Bytes / 4,
                   cudaMemcpyHostToDevice));
  REQUIRE(total(d.in, d.total) == expected(7));
  memset(h_partly + N / 3, 0, Bytes / 5);
  REQUIRE(total(d.in, d.total) == expected(7));
  free(h_partly);
  REQUIRE(total(d.in, d.total) == expected(7));
}

/// Results that come to where the input is.
static void copiedBack() {
  Device d;
  uint32_t *d_other;
  CHECK(cudaMalloc(&d_other, Bytes));
  uint32_t *h_back = (uint32_t *)malloc(Bytes);
  fill(h_back, 8);
  CHECK(cudaMemcpy(d.in, h_back, Bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemset(d_other, 0, Bytes));
  REQUIRE(total(d.in, d.total) == expected(8));
  CHECK(cudaMemcpy(h_back, d_other, Bytes, cudaMemcpyDeviceToHost));
  REQUIRE(total(d.in, d.total) == expected(8));
  REQUIRE(h_back[123456] == 0);
  free(h_back);
  CHECK(cudaFree(d_other));
}

/// Two host buffers that change places.
static void swapped() {
  Device d;
  uint32_t *h_one = (uint32_t *)malloc(Bytes),
           *h_two = (uint32_t *)malloc(Bytes);
  fill(h_one, 9);
  for (int round = 0; round < 4; ++round) {
    CHECK(cudaMemcpy(d.in, h_one, Bytes, cudaMemcpyHostToDevice));
    REQUIRE(total(d.in, d.total) == expected(9 + round));
    fill(h_two, 10 + round);
    uint32_t *h_other = h_one;
    h_one = h_two;
    h_two = h_other;
    REQUIRE(total(d.in, d.total) == expected(9 + round));
  }
  free(h_one);
  free(h_two);
}

/// Read as text, before the copy and behind it.
static void extracted() {
  Device d;
  uint32_t *h_text = (uint32_t *)malloc(Bytes);
  std::istringstream text("5 6 1000 2000");
  fill(h_text, 5);
  text >> h_text[0] >> h_text[1];
  // REMARK-DAG: copy of 'h_text' to {{.*}} deferred
  CHECK(cudaMemcpy(d.in, h_text, Bytes, cudaMemcpyHostToDevice));
  REQUIRE(total(d.in, d.total) == expected(5));
  // REMARK-DAG: 'h_text' copied here where that was deferred
  text >> h_text[0] >> h_text[N - 1];
  REQUIRE(text && h_text[0] == 1000 && h_text[N - 1] == 2000);
  REQUIRE(total(d.in, d.total) == expected(5));
  free(h_text);
}

int main(int, char **argv) {
  const std::string which = argv[1];
  if (which == "reread")
    reread();
  else if (which == "changed")
    changed();
  else if (which == "freed")
    freed();
  else if (which == "vector")
    vector();
  else if (which == "pinned")
    pinned();
  else if (which == "partly")
    partly();
  else if (which == "copiedBack")
    copiedBack();
  else if (which == "swapped")
    swapped();
  else if (which == "extracted")
    extracted();
  else
    return 2;
  return 0;
}
