// Copies to the device of host memory that nothing has been written to: the device's memory is filled with zeros, whatever
// lay there, and nothing comes over the link. Memory that something may have been written to is copied.
// RUN: %build %s -Rpass=dragon -o %t 2> %t.remarks
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: not grep -E "copy of 'h_(written|looped|sometimes|read|scanned|kept|vector)' fills" %t.remarks
// RUN: for case in added cleared async inside written looped sometimes read scanned kept vector; do \
// RUN:   %plain %t $case && %tight DRAGON_HOST_MEMORY=64M %t $case && %tight %t $case || exit 1; done
// RUN: %tight DRAGON_STATS=%t.json %t added
// RUN: %ledger %t.json 'host_to_device < K'
// RUN: %tight DRAGON_STATS=%t.json DRAGON_ELIDE=0 %t cleared
// RUN: %ledger %t.json 'host_to_device >= 8*M'
// RUN: rm %t %t.json %t.remarks
#include "e2e.h"
#include <sstream>

constexpr int N = 3 << 20; // 12 MiB
constexpr size_t Bytes = N * sizeof(uint32_t);

__global__ void addTo(uint32_t *sums, int begin, int end) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= begin && i < end)
    sums[i] += i;
}

__global__ void fillAll(uint32_t *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = 0xABCDABCD;
}

/// Device memory of the size, in which something lies.
static uint32_t *used() {
  uint32_t *d_used;
  CHECK(cudaMalloc(&d_used, Bytes));
  fillAll<<<N / 256, 256>>>(d_used);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(d_used));
  CHECK(cudaMalloc(&d_used, Bytes));
  return d_used;
}

/// The memory plus i in one half.
static void addHalf(uint32_t *d) { addTo<<<N / 256, 256>>>(d, 0, N / 2); }

static void check(const uint32_t *h, uint32_t before) {
  for (uint32_t i = 0; i < N; ++i)
    REQUIRE(h[i] == before + (i < N / 2 ? i : 0));
}

static void added() {
  uint32_t *d = used();
  uint32_t *h_added = (uint32_t *)malloc(Bytes);
  // REMARK-DAG: copy of 'h_added' fills {{.*}} with zeros
  CHECK(cudaMemcpy(d, h_added, Bytes, cudaMemcpyHostToDevice));
  addHalf(d);
  CHECK(cudaMemcpy(h_added, d, Bytes, cudaMemcpyDeviceToHost));
  check(h_added, 0);
  free(h_added);
  CHECK(cudaFree(d));
}

static void cleared() {
  uint32_t *d = used();
  uint32_t *h_cleared = (uint32_t *)calloc(N, sizeof(uint32_t));
  // REMARK-DAG: copy of 'h_cleared' fills {{.*}} with zeros
  CHECK(cudaMemcpy(d, h_cleared, Bytes, cudaMemcpyHostToDevice));
  addHalf(d);
  CHECK(cudaMemcpy(h_cleared, d, Bytes, cudaMemcpyDeviceToHost));
  check(h_cleared, 0);
  free(h_cleared);
  CHECK(cudaFree(d));
}

static void async() {
  uint32_t *d = used(), *h_async;
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMallocHost(&h_async, Bytes));
  // REMARK-DAG: copy of 'h_async' fills {{.*}} with zeros
  CHECK(cudaMemcpyAsync(d, h_async, Bytes, cudaMemcpyHostToDevice, stream));
  addTo<<<N / 256, 256, 0, stream>>>(d, 0, N / 2);
  CHECK(cudaMemcpyAsync(h_async, d, Bytes, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  check(h_async, 0);
  CHECK(cudaFreeHost(h_async));
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFree(d));
}

/// A part that begins and ends within chunks; the rest stays what it was.
static void inside() {
  uint32_t *d = used();
  uint32_t *h_inside = (uint32_t *)malloc(Bytes),
           *h = (uint32_t *)malloc(Bytes);
  fillAll<<<N / 256, 256>>>(d);
  // REMARK-DAG: copy of 'h_inside' fills {{.*}} with zeros
  CHECK(cudaMemcpy(d + 1000, h_inside + 10, Bytes / 2, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(h, d, Bytes, cudaMemcpyDeviceToHost));
  for (int i = 0; i < N; ++i)
    REQUIRE(h[i] == (i < 1000 || i >= 1000 + N / 2 ? 0xABCDABCD : 0));
  free(h_inside);
  free(h);
  CHECK(cudaFree(d));
}

// -- Something may have been written ----------------------------------------

static void copied(uint32_t *h, uint32_t before) {
  uint32_t *d = used();
  CHECK(cudaMemcpy(d, h, Bytes, cudaMemcpyHostToDevice));
  addHalf(d);
  CHECK(cudaMemcpy(h, d, Bytes, cudaMemcpyDeviceToHost));
  REQUIRE(h[N / 4] == before + N / 4);
  CHECK(cudaFree(d));
}

static void written() {
  uint32_t *h_written = (uint32_t *)calloc(N, sizeof(uint32_t));
  h_written[N / 4] = 5;
  copied(h_written, 5);
  free(h_written);
}

/// The results of one round are what the next one begins with.
static void looped() {
  uint32_t *d = used();
  uint32_t *h_looped = (uint32_t *)calloc(N, sizeof(uint32_t));
  for (int round = 0; round < 3; ++round) {
    CHECK(cudaMemcpy(d, h_looped, Bytes, cudaMemcpyHostToDevice));
    addHalf(d);
    CHECK(cudaMemcpy(h_looped, d, Bytes, cudaMemcpyDeviceToHost));
  }
  REQUIRE(h_looped[1000] == 3000);
  free(h_looped);
  CHECK(cudaFree(d));
}

static void sometimes(int argc) {
  uint32_t *h_sometimes = (uint32_t *)calloc(N, sizeof(uint32_t));
  if (argc > 1)
    memset(h_sometimes, 1, Bytes);
  copied(h_sometimes, 0x01010101);
  free(h_sometimes);
}

static void read() {
  uint32_t *h_read = (uint32_t *)calloc(N, sizeof(uint32_t));
  std::istringstream in(std::string(Bytes, '\2'));
  in.read((char *)h_read, Bytes);
  copied(h_read, 0x02020202);
  free(h_read);
}

static void scanned() {
  uint32_t *h_scanned = (uint32_t *)calloc(N, sizeof(uint32_t));
  REQUIRE(sscanf("17", "%u", &h_scanned[N / 4]) == 1);
  copied(h_scanned, 17);
  free(h_scanned);
}

/// Who knows the address may write there, at any time.
uint32_t *keptByOthers;
__attribute__((noinline)) void writeToKept() { keptByOthers[N / 4] = 23; }

static void kept() {
  uint32_t *h_kept = (uint32_t *)calloc(N, sizeof(uint32_t));
  keptByOthers = h_kept;
  writeToKept();
  copied(h_kept, 23);
  free(h_kept);
}

static void vector() {
  std::vector<uint32_t> h_vector(N, 9);
  copied(h_vector.data(), 9);
}

int main(int argc, char **argv) {
  const std::string name = argv[1];
  if (name == "added")
    added();
  else if (name == "cleared")
    cleared();
  else if (name == "async")
    async();
  else if (name == "inside")
    inside();
  else if (name == "written")
    written();
  else if (name == "looped")
    looped();
  else if (name == "sometimes")
    sometimes(argc);
  else if (name == "read")
    read();
  else if (name == "scanned")
    scanned();
  else if (name == "kept")
    kept();
  else if (name == "vector")
    vector();
  else
    return 1;
}
