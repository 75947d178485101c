//===- Reader.h - one reader of bytes that it did not make ------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each file of this folder gives some reader any bytes: the reader must refuse
// them or make something of them, within its memory and in time. A file is
// built twice: as a libFuzzer target of its own (scripts/fuzz-readers), and as
// a part of fuzz-corpus, which runs each reader over the files that are kept.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_FUZZ_READERS_READER_H
#define DRAGON_TEST_FUZZ_READERS_READER_H

#include <cstddef>
#include <cstdint>

namespace dragon::test {

using Reader = void (*)(const uint8_t *data, size_t bytes);

/// Makes a reader known by its name.
struct ReaderEntry {
  ReaderEntry(const char *name, Reader read);
};

} // namespace dragon::test

/// The body follows; it sees `data` and `bytes`.
#ifdef DRAGON_LIBFUZZER
#define DRAGON_READER(name)                                                    \
  static void readBytes(const uint8_t *data, size_t bytes);                    \
  extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {   \
    readBytes(data, bytes);                                                    \
    return 0;                                                                  \
  }                                                                            \
  static void readBytes(const uint8_t *data, size_t bytes)
#else
#define DRAGON_READER(name)                                                    \
  static void readBytes(const uint8_t *data, size_t bytes);                    \
  static const dragon::test::ReaderEntry Entry(name, readBytes);               \
  static void readBytes(const uint8_t *data, size_t bytes)
#endif

#endif // DRAGON_TEST_FUZZ_READERS_READER_H
