//===- StdioState.h - what a FILE is about to do ----------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether going round the C library leaves a stream as going through it would.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_STAGING_STDIOSTATE_H
#define DRAGON_RUNTIME_CUDART_STAGING_STDIOSTATE_H

#include <cstddef>
#include <cstdio>
#include <cwchar>

namespace dragon {

/// What Linux moves at most in one read() or write().
constexpr size_t LargestTransfer = 0x7ffff000;

/// Other threads wait, as for each call of the C library.
class StreamLock {
public:
  explicit StreamLock(std::FILE *file) : File(file) { ::flockfile(file); }
  ~StreamLock() { ::funlockfile(File); }
  StreamLock(const StreamLock &) = delete;
  StreamLock &operator=(const StreamLock &) = delete;

private:
  std::FILE *File;
};

/// The next bytes are those of the file at its position: no end or error was
/// met, it is no wide stream, and nothing was pushed back (for which the C
/// library keeps the buffer aside).
inline bool readsAtItsPosition(std::FILE *file) {
  return !::feof(file) && !::ferror(file) && std::fwide(file, 0) <= 0 &&
         !file->_IO_save_base;
}

inline bool writesAtItsPosition(std::FILE *file) {
  return !::ferror(file) && std::fwide(file, 0) <= 0;
}

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_STAGING_STDIOSTATE_H
