//===- Files.h - sequential binary files for generators and checkers ------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The examples' files are plain dumps of arrays, often far larger than memory,
// so generators and checkers go through them in pieces of a few MiB. Every
// failure ends the program with one line that names the file.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_EXAMPLES_FILES_H
#define DRAGON_EXAMPLES_FILES_H

#include <atomic>
#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <sys/stat.h>

namespace example {

[[noreturn]] inline void fail(const std::string &what) {
  std::fprintf(stderr, "error: %s\n", what.c_str());
  std::exit(2);
}

/// A number from the command line, with an optional K, M or G (powers of 1024).
inline uint64_t parseCount(const char *text) {
  char *end = nullptr;
  errno = 0;
  uint64_t value = std::strtoull(text, &end, 10);
  unsigned shift = 0;
  if (*end == 'K')
    shift = 10;
  else if (*end == 'M')
    shift = 20;
  else if (*end == 'G')
    shift = 30;
  if (shift)
    ++end;
  if (end == text || *end || errno || *text == '-' || value == 0 ||
      value > UINT64_MAX >> (shift + 4))
    fail(std::string("bad count '") + text +
         "': expected a positive number, such as 1000000 or 64M");
  return value << shift;
}

class File {
public:
  File(const std::string &path, const char *mode)
      : Path(path), Handle(std::fopen(path.c_str(), mode)) {
    if (!Handle)
      fail("cannot open '" + path + "': " + std::strerror(errno));
    std::setvbuf(Handle, nullptr, _IONBF, 0); // pieces are large already
  }
  File(const File &) = delete;
  File &operator=(const File &) = delete;
  ~File() {
    if (std::fclose(Handle) != 0)
      fail("cannot close '" + Path + "': " + std::strerror(errno));
  }

  void read(void *memory, size_t bytes) {
    if (std::fread(memory, 1, bytes, Handle) != bytes)
      fail("'" + Path + "' is shorter than expected");
  }
  void readAt(void *memory, size_t bytes, uint64_t offset) {
    seek(offset);
    read(memory, bytes);
  }
  void write(const void *memory, size_t bytes) {
    if (std::fwrite(memory, 1, bytes, Handle) != bytes)
      fail("cannot write '" + Path + "': " + std::strerror(errno));
  }
  void seek(uint64_t offset) {
    if (fseeko(Handle, static_cast<off_t>(offset), SEEK_SET) != 0)
      fail("cannot seek in '" + Path + "': " + std::strerror(errno));
  }
  /// Ends the program unless the file has exactly this size.
  void expectSize(uint64_t bytes) {
    struct stat info;
    if (fstat(fileno(Handle), &info) != 0)
      fail("cannot stat '" + Path + "': " + std::strerror(errno));
    if (static_cast<uint64_t>(info.st_size) != bytes)
      fail("'" + Path + "' has " + std::to_string(info.st_size) +
           " bytes, expected " + std::to_string(bytes));
  }

private:
  std::string Path;
  std::FILE *Handle;
};

/// Numbers that depend on seed and index alone (the splitmix64 mixing function
/// of Steele, Lea and Flood, OOPSLA 2014), so that files can be made in any
/// order.
inline uint64_t mix(uint64_t seed, uint64_t index) {
  uint64_t z = (index + 1) * 0x9e3779b97f4a7c15u + seed * 0xd1342543de82ef95u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// In [low, high).
inline float uniform(uint64_t bits, float low, float high) {
  return low + (high - low) * (static_cast<float>(bits >> 40) * 0x1p-24f);
}

constexpr uint64_t PieceElements = 1u << 20;

/// Writes `count` elements, element i = make(i).
template <typename T, typename Make>
void generate(const std::string &path, uint64_t count, Make make) {
  File file(path, "wb");
  std::vector<T> piece(PieceElements);
  for (uint64_t first = 0; first < count; first += PieceElements) {
    uint64_t n = count - first < PieceElements ? count - first : PieceElements;
    for (uint64_t i = 0; i < n; ++i)
      piece[i] = make(first + i);
    file.write(piece.data(), n * sizeof(T));
  }
}

/// Counts differences and reports the first few. wrong() may be called from
/// several threads.
class Report {
public:
  template <typename T> void wrong(uint64_t index, T got, T expected) {
    if (++Wrong <= 5)
      std::fprintf(stderr, "element %" PRIu64 ": got %.9g, expected %.9g\n",
                   index, static_cast<double>(got),
                   static_cast<double>(expected));
  }
  /// The program's exit code.
  int finish(uint64_t checked) const {
    if (Wrong) {
      std::printf("WRONG: %" PRIu64 " of %" PRIu64 " elements differ\n",
                  Wrong.load(), checked);
      return 1;
    }
    std::printf("right: %" PRIu64 " elements checked\n", checked);
    return 0;
  }

private:
  std::atomic<uint64_t> Wrong{0};
};

} // namespace example

#endif // DRAGON_EXAMPLES_FILES_H
