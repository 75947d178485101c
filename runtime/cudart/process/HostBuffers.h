//===- HostBuffers.h - memory of the program in system calls ----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel answers EFAULT to a buffer in managed memory whose chunk is not in
// host memory. So a call that is given such a buffer gets plain memory in its
// place: what is written is copied out of managed memory in front of the call,
// what was read is copied into it behind the call. Both copies are accesses of
// the host like any others, with all that follows from them.
//
// Why chunks are not brought, held and given to the kernel itself: a read of a
// pipe may wait for ever, perhaps for what a launch of another thread computes
// in the same chunk. A launch would have to wait for the call, or take away a
// chunk in the middle of it, after which the kernel has consumed data that are
// lost (a datagram). With a copy nothing is held while a call waits, so nothing
// can wait for it; no range is too large for host memory; and direct I/O works
// on devices whose memory the kernel cannot pin.
//
//   read(fd, managed, 40 MiB)     a regular file: 16 MiB, 16 MiB, 8 MiB
//   read(fd, managed, 40 MiB)     a pipe that has 3 KiB: one call, 3 KiB
//   readv(fd, {plain, managed})   one call: {plain, copy}
//
// Parts that are not managed memory go to the kernel as they are.
//
// Threads: an object belongs to one call. No locks, no malloc: usable in the
// handlers of signals where the call itself is.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_PROCESS_HOSTBUFFERS_H
#define DRAGON_RUNTIME_CUDART_PROCESS_HOSTBUFFERS_H

#include "runtime/base/HostRanges.h"

#include <algorithm>
#include <cerrno>
#include <sys/types.h>
#include <sys/uio.h>
#include <type_traits>

namespace dragon {

class HostTransfer {
public:
  enum Direction {
    Reads, ///< the call writes the memory
    Writes ///< it reads it
  };
  /// What one call moves at most of managed memory.
  static constexpr size_t PieceBytes = size_t(16) << 20;
  /// What Linux moves at most in one call.
  static constexpr size_t MostBytes = 0x7ffff000;

  explicit HostTransfer(Direction direction) : Way(direction) {}
  ~HostTransfer();
  HostTransfer(const HostTransfer &) = delete;
  HostTransfer &operator=(const HostTransfer &) = delete;

  /// Takes as much as one call can of what follows the first `done` bytes of
  /// the list. False, with errno: there is no memory for it.
  bool next(const iovec *list, size_t count, size_t done);
  /// For the call. They stay valid until the next next().
  const iovec *vectors() const;
  size_t count() const { return Count; }
  size_t bytes() const { return Bytes; }
  /// Nothing is left behind what next() took.
  bool last() const { return Last; }
  /// The call has filled that many bytes. Leaves errno alone.
  void finish(size_t got);

  /// Plain memory in place of `bytes` at `memory`, which the call may read
  /// (with their contents) and write; itself if it is plain already. Until the
  /// next next(). Null, with errno: there is none.
  void *borrow(void *memory, size_t bytes);
  template <typename T> T *borrow(T *memory) {
    return static_cast<T *>(
        borrow(const_cast<std::remove_const_t<T> *>(memory), sizeof(T)));
  }
  /// The first `bytes` of what was borrowed go to the caller's memory.
  static void give(void *memory, const void *borrowed, size_t bytes);

private:
  struct Block;
  bool takeBlock();
  bool add(char *memory, size_t bytes);
  char *place(const char *memory, size_t &bytes);

  const Direction Way;
  Block *Memory = nullptr;
  size_t Count = 0, Bytes = 0;
  size_t Copied = 0; ///< of Bytes
  size_t Used = 0;   ///< of the block
  bool Last = true;
};

/// A list has managed memory in it.
bool hasHostRange(const iovec *list, size_t count);

/// Makes a call in pieces: `call(vectors, count, done)` moves bytes as readv
/// does, the first `done` are done. `whole`: what one call left over is asked
/// for again, because only the end of the file or an error could be the reason.
template <typename Call>
ssize_t transfer(HostTransfer::Direction direction, const iovec *list,
                 size_t count, bool whole, Call call) {
  HostTransfer part(direction);
  size_t done = 0;
  for (;;) {
    if (!part.next(list, count, done))
      return done ? ssize_t(done) : -1;
    const ssize_t got = call(part.vectors(), int(part.count()), done);
    if (got < 0)
      return done ? ssize_t(done) : got;
    if (direction == HostTransfer::Reads)
      part.finish(size_t(got));
    done += size_t(got);
    if (size_t(got) < part.bytes() || part.last() || !whole ||
        done >= HostTransfer::MostBytes)
      return ssize_t(done);
  }
}

/// Reads of the descriptor are short at its end only.
bool fillsWhole(int fd);

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_PROCESS_HOSTBUFFERS_H
