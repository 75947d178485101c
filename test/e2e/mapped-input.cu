// Memory that is a file's: a copy from it moves nothing, kernels get the file's bytes when they need them, and what must go is
// dropped. The small array between the large ones as well. Where the memory is not what the file has, or might not stay so, the
// copy is made: a page that the program has written, a file that somebody has open to write, what is past the end. What changes
// the file later changes no buffer.
//
// RUN: %build %s -o %t
// RUN: rm -rf %t.d && mkdir %t.d && cd %t.d
// RUN: %plain DRAGON_STATS=plain.json %t shared a
// RUN: %ledger plain.json 'host_to_file == 0' 'avoided_elided_staging == 24*M + 4096'
// RUN: %tight DRAGON_STATS=tight.json %t shared a
// RUN: %ledger tight.json 'host_to_swap == 0' 'avoided_elided_staging == 24*M + 4096'
// RUN: %tight DRAGON_STATS=private.json %t private a
// RUN: %ledger private.json 'avoided_elided_staging == 24*M + 4096'
// RUN: %tight DRAGON_STATS=split.json %t split a
// RUN: %ledger split.json 'avoided_elided_staging == 24*M + 4096'
// RUN: %tight %t changed a
// RUN: %tight DRAGON_STATS=written.json %t written a
// RUN: %ledger written.json 'avoided_elided_staging == 16*M + 4096'
// RUN: %tight DRAGON_STATS=writer.json %t writer a
// RUN: %ledger writer.json 'avoided_elided_staging == 0'
// RUN: %tight DRAGON_STATS=end.json %t end a
// RUN: %ledger end.json 'avoided_elided_staging == 16*M + 4096'
// RUN: %tight DRAGON_ELIDE=0 DRAGON_STATS=off.json %t shared a
// RUN: %ledger off.json 'avoided_elided_staging == 0'
// RUN: rm -r %t.d %t
#include "e2e.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

constexpr size_t Small = 1024, Large = 2 << 20; // words
constexpr size_t Words = Small + 3 * Large, Bytes = Words * sizeof(uint32_t);
constexpr uint32_t Factor = 2654435761u;

uint32_t inFile(size_t i) { return uint32_t(i) * Factor; }

__global__ void sum(const uint32_t *words, size_t count, uint32_t *result) {
  size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < count)
    atomicAdd(result, words[i] ^ uint32_t(i));
}

uint32_t expected(const std::vector<uint32_t> &words) {
  uint32_t result = 0;
  for (size_t i = 0; i < words.size(); ++i)
    result += words[i] ^ uint32_t(i);
  return result;
}

int main(int, char **argv) {
  const std::string how = argv[1];
  const char *path = argv[2];
  std::vector<uint32_t> words(Words);
  for (size_t i = 0; i < Words; ++i)
    words[i] = inFile(i);
  FILE *made = openFile(path, "wb");
  REQUIRE(fwrite(words.data(), 1, Bytes, made) == Bytes && fclose(made) == 0);
  if (how == "end") // the last word is a zero that the file does not have
    REQUIRE(truncate(path, Bytes - 4) == 0 && !(words.back() = 0));

  const int fd = open(path, how == "writer" ? O_RDWR : O_RDONLY);
  const bool isPrivate = how == "private" || how == "written";
  const int rights = PROT_READ | (isPrivate ? PROT_WRITE : 0);
  auto *map = static_cast<uint32_t *>(mmap(
      nullptr, Bytes, rights, isPrivate ? MAP_PRIVATE : MAP_SHARED, fd, 0));
  REQUIRE(fd >= 0 && map != MAP_FAILED);
  if (how != "writer")
    close(fd);
  if (how == "written") // in the second large array
    words[Small + Large + 5] = map[Small + Large + 5] = 7;
  if (how == "split")
    REQUIRE(mprotect(map + 4 * Small, 16 * sizeof(uint32_t) * Small,
                     PROT_READ | PROT_EXEC) == 0);

  uint32_t *weights, *result;
  CHECK(cudaMalloc(&weights, Bytes));
  CHECK(cudaMalloc(&result, sizeof(uint32_t)));
  CHECK(cudaMemset(result, 0, sizeof(uint32_t)));
  // A large array, the small one behind it, two large ones.
  size_t at = 0;
  for (size_t count : {Large, Small, Large, Large}) {
    CHECK(cudaMemcpyAsync(weights + at, map + at, count * sizeof(uint32_t),
                          cudaMemcpyHostToDevice));
    at += count;
  }
  CHECK(cudaDeviceSynchronize());
  munmap(map, Bytes);
  if (how == "changed" || how == "writer") {
    const int other = open(path, O_WRONLY);
    const std::vector<char> zeros(Bytes);
    REQUIRE(pwrite(other, zeros.data(), Bytes, 0) == ssize_t(Bytes));
    close(other);
  }
  uint32_t found = 0;
  for (int round = 1; round <= 3; ++round) {
    sum<<<(Words + 255) / 256, 256>>>(weights, Words, result);
    CHECK(cudaMemcpy(&found, result, sizeof(found), cudaMemcpyDeviceToHost));
    REQUIRE(found == uint32_t(round) * expected(words));
  }
  CHECK(cudaFree(weights));
  CHECK(cudaFree(result));
  return unlink(path);
}
