//===- FuzzCorpus.cpp - readers over the files that are kept --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   fuzz-corpus READER FILE...    a reader over files; prints how many
//   fuzz-corpus                   the names of the readers
//
//===----------------------------------------------------------------------===//

#include "Reader.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace {
std::map<std::string, dragon::test::Reader> &readers() {
  static std::map<std::string, dragon::test::Reader> all;
  return all;
}
} // namespace

dragon::test::ReaderEntry::ReaderEntry(const char *name, Reader read) {
  readers()[name] = read;
}

int main(int count, char **words) {
  if (count < 2) {
    for (const auto &[name, read] : readers())
      std::printf("%s\n", name.c_str());
    return 0;
  }
  auto found = readers().find(words[1]);
  if (found == readers().end()) {
    std::fprintf(stderr, "error: no reader '%s'\n", words[1]);
    return 1;
  }
  for (int i = 2; i < count; ++i) {
    std::ifstream file(words[i], std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "error: cannot read '%s'\n", words[i]);
      return 1;
    }
    std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    // Exactly as long as it is, so that ASan sees what is behind it.
    auto *copy = new uint8_t[bytes.size()];
    if (!bytes.empty())
      std::memcpy(copy, bytes.data(), bytes.size());
    found->second(copy, bytes.size());
    delete[] copy;
  }
  std::printf("%s: %d files\n", words[1], count - 2);
}
