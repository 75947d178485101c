// The ordinary end of a program: results are copied to host memory, the device's buffer is freed, and then they are written
// to a file. Their bytes stay where they are over the free, until the file has them, and host memory is not touched.
// RUN: %build %s -Rpass=dragon -o %t 2> %t.remarks
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: rm -rf %t.dir && mkdir -p %t.dir
// RUN: for case in written others dropped looked twice async reset; do \
// RUN:   %plain %t $case %t.dir/out && %tight DRAGON_HOST_MEMORY=64M %t $case %t.dir/out && %tight %t $case %t.dir/out || exit 1; done
// RUN: %tight DRAGON_STATS=%t.json %t written %t.dir/out
// RUN: %ledger %t.json 'avoided_elided_staging >= 12*M'
// RUN: %build -fdragon-trace-accesses %s -o %t && %tight DRAGON_CHECK=1 %t others %t.dir/out
// RUN: rm -rf %t %t.json %t.remarks %t.dir
#include "e2e.h"
#include <sys/mman.h>
#include <unistd.h>

constexpr int N = 3 << 20; // 12 MiB
constexpr size_t Bytes = N * sizeof(uint32_t);

__global__ void number(uint32_t *out, uint32_t first) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = first + i;
}

static uint32_t *numbers(uint32_t first) {
  uint32_t *d;
  CHECK(cudaMalloc(&d, Bytes));
  number<<<N / 256, 256>>>(d, first);
  return d;
}

static void check(const char *path, uint32_t first) {
  const std::vector<uint32_t> found = slurp(path);
  REQUIRE(found.size() == N);
  for (uint32_t i = 0; i < N; ++i)
    REQUIRE(found[i] == first + i);
}

/// What the program has allocated. What is free besides changes with the disk
/// that holds the swap files.
static size_t usedMemory() {
  size_t free = 0, total = 0;
  CHECK(cudaMemGetInfo(&free, &total));
  return total - free;
}

/// Pages of the memory that have ever been touched.
__attribute__((noinline)) static size_t touchedPages(uintptr_t address) {
  const uintptr_t page = sysconf(_SC_PAGESIZE);
  const uintptr_t begin = (address + page - 1) / page * page;
  std::vector<unsigned char> there((address + Bytes - begin) / page);
  REQUIRE(mincore((void *)begin, there.size() * page, there.data()) == 0);
  size_t touched = 0;
  for (unsigned char one : there)
    touched += one & 1;
  return touched;
}

/// Where memory from malloc would lie. The address goes on as a number that the
/// compiler does not follow, so the buffer is none that others know.
static uintptr_t addressOf(FILE *) {
  FILE *maps = fopen("/proc/self/maps", "r");
  REQUIRE(maps);
  char line[512];
  uintptr_t found = 0;
  while (fgets(line, sizeof(line), maps)) {
    unsigned long begin, end;
    char mode[8];
    if (sscanf(line, "%lx-%lx %7s", &begin, &end, mode) == 3 &&
        end - begin >= Bytes && end - begin < Bytes + (64 << 10) &&
        mode[0] == 'r' && mode[1] == 'w')
      found = end - Bytes;
  }
  fclose(maps);
  return found;
}

static void written(const char *path) {
  uint32_t *d = numbers(1);
  uint32_t *h_written = (uint32_t *)malloc(Bytes);
  // REMARK-DAG: 'h_written' elided: bytes of 'd' go to the file
  CHECK(cudaMemcpy(h_written, d, Bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(d));
  FILE *out = fopen(path, "wb");
  REQUIRE(fwrite(h_written, 1, Bytes, out) == Bytes);
  if (const uintptr_t address = getenv("DRAGON_STRICT") ? addressOf(out) : 0)
    REQUIRE(touchedPages(address) < 64);
  fclose(out);
  free(h_written);
  check(path, 1);
}

/// Other buffers want the memory meanwhile.
static void others(const char *path) {
  uint32_t *d = numbers(2), *d_other;
  uint32_t *h_others = (uint32_t *)malloc(Bytes);
  CHECK(cudaMemcpy(h_others, d, Bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(d));
  for (int i = 0; i < 3; ++i) {
    d_other = numbers(100 + i);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(d_other));
  }
  FILE *out = fopen(path, "wb");
  REQUIRE(fwrite(h_others, 4, N / 2, out) == N / 2);
  REQUIRE(fwrite(h_others + N / 2, 4, N / 2, out) == N / 2);
  fclose(out);
  free(h_others);
  check(path, 2);
}

/// What nobody writes ends with the host's memory.
static void dropped() {
  const size_t before = usedMemory();
  uint32_t *d = numbers(3);
  uint32_t *h_dropped = (uint32_t *)malloc(Bytes);
  FILE *out = fopen("/dev/null", "wb");
  CHECK(cudaMemcpy(h_dropped, d, Bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(d));
  REQUIRE(usedMemory() == before);
  REQUIRE(fwrite(h_dropped, 4, N, out) == N);
  free(h_dropped);
  fclose(out);
  for (int i = 0; i < 8; ++i)
    CHECK(cudaFree(numbers(i)));
  REQUIRE(usedMemory() == before);
}

/// Host code looks at it after the free.
static void looked(const char *path) {
  uint32_t *d = numbers(4);
  uint32_t *h_looked = (uint32_t *)malloc(Bytes);
  CHECK(cudaMemcpy(h_looked, d, Bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(d));
  FILE *out = fopen(path, "wb");
  REQUIRE(fwrite(h_looked, 1, Bytes, out) == Bytes);
  fclose(out);
  REQUIRE(h_looked[N - 1] == 4 + N - 1);
  free(h_looked);
  check(path, 4);
}

static void twice(const char *path) {
  uint32_t *d = numbers(5);
  uint32_t *h_twice = (uint32_t *)malloc(Bytes);
  CHECK(cudaMemcpy(h_twice, d, Bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(d));
  REQUIRE(cudaFree(d) == cudaErrorInvalidValue);
  REQUIRE(cudaGetLastError() == cudaErrorInvalidValue);
  FILE *out = fopen(path, "wb");
  REQUIRE(fwrite(h_twice, 1, Bytes, out) == Bytes);
  fclose(out);
  free(h_twice);
  check(path, 5);
}

static void async(const char *path) {
  uint32_t *d, *h_async = (uint32_t *)malloc(Bytes);
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMallocAsync(&d, Bytes, stream));
  number<<<N / 256, 256, 0, stream>>>(d, 6);
  CHECK(cudaMemcpyAsync(h_async, d, Bytes, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaFreeAsync(d, stream));
  CHECK(cudaStreamSynchronize(stream));
  FILE *out = fopen(path, "wb");
  REQUIRE(fwrite(h_async, 1, Bytes, out) == Bytes);
  fclose(out);
  free(h_async);
  CHECK(cudaStreamDestroy(stream));
  check(path, 6);
}

static void reset(const char *path) {
  uint32_t *d = numbers(7);
  uint32_t *h_reset = (uint32_t *)malloc(Bytes);
  CHECK(cudaMemcpy(h_reset, d, Bytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(d));
  CHECK(cudaDeviceReset());
  FILE *out = fopen(path, "wb");
  REQUIRE(fwrite(h_reset, 1, Bytes, out) == Bytes);
  fclose(out);
  free(h_reset);
  check(path, 7);
}

int main(int, char **argv) {
  const std::string name = argv[1];
  if (name == "written")
    written(argv[2]);
  else if (name == "others")
    others(argv[2]);
  else if (name == "dropped")
    dropped();
  else if (name == "looked")
    looked(argv[2]);
  else if (name == "twice")
    twice(argv[2]);
  else if (name == "async")
    async(argv[2]);
  else if (name == "reset")
    reset(argv[2]);
  else
    return 1;
}
