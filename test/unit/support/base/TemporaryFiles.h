//===- TemporaryFiles.h - files and memory of tests -------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_UNIT_SUPPORT_BASE_TEMPORARYFILES_H
#define DRAGON_TEST_UNIT_SUPPORT_BASE_TEMPORARYFILES_H

#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>

namespace dragon::test {

class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string name =
        (std::filesystem::temp_directory_path() / "dragon-tier-XXXXXX")
            .string();
    Path = ::mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(Path); }
  std::string file(const char *name) const { return Path + "/" + name; }
  const std::string &path() const { return Path; }

private:
  std::string Path;
};

struct Memory {
  explicit Memory(size_t bytes)
      : bytes(bytes), data(static_cast<char *>(std::aligned_alloc(
                          4096, (bytes + 8191) / 4096 * 4096))) {}
  ~Memory() { std::free(data); }
  Memory(const Memory &) = delete;
  void randomise(unsigned seed) {
    std::mt19937 random(seed);
    for (size_t i = 0; i < bytes; ++i)
      data[i] = char(random());
  }
  size_t bytes;
  char *data;
};

} // namespace dragon::test

#endif // DRAGON_TEST_UNIT_SUPPORT_BASE_TEMPORARYFILES_H
