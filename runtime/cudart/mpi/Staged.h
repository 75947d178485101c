//===- Staged.h - ranges of device memory in host memory, for MPI -*- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MPI is given host memory in place of what is in a buffer: it can look neither
// at device memory nor, with the system calls by which processes read from each
// other, at managed memory whose chunks are elsewhere. The host memory is laid
// out as the buffer is, so that MPI's datatypes mean the same in it; only the
// bytes of the message are copied. Copies go through a stream of our own that
// waits for no other: kernels go on meanwhile, as with an MPI that knows CUDA.
//
// Threads: a Staged belongs to one at a time.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_MPI_STAGED_H
#define DRAGON_RUNTIME_CUDART_MPI_STAGED_H

#include "runtime/cudart/front/Resets.h"
#include "runtime/cudart/mpi/Layout.h"

#include <memory>

namespace dragon::mpi {

/// Memory that a message is staged in: pinned, and kept for the next message,
/// where it is short.
class StageMemory {
public:
  StageMemory() = default;
  static StatusOr<StageMemory> make(size_t bytes);
  char *data() const { return Data.get(); }

private:
  struct GiveBack {
    GiveBack() : GiveBack(0, false) {}
    GiveBack(size_t bytes, bool pinned)
        : Bytes(bytes), Pinned(pinned), Resets(deviceResets) {}
    void operator()(char *data) const;

  private:
    size_t Bytes;
    bool Pinned;
    unsigned Resets; ///< of the device, when it was made
  };
  std::unique_ptr<char, GiveBack> Data;
};

/// What a call does to a buffer.
enum class Access : uint8_t { None, Reads, Writes, Changes };

class Staged {
public:
  /// `exact`: a call that writes may write less, and says how much.
  static StatusOr<Staged> make(Word buffer, Layout layout, Access access,
                               bool exact);

  /// What MPI is given in place of the buffer.
  Word stands() const {
    return reinterpret_cast<Word>(Memory.data()) - Word(Where.begin());
  }
  /// In front of the call, or of each start of a persistent request.
  Status copyIn() const;
  /// Behind it. `received`: so many bytes of those that it may have written.
  Status copyOut(uint64_t received = UINT64_MAX) const;
  /// copyOut() has to know.
  bool wantsReceived() const { return Exact; }
  bool writes() const { return How != Access::Reads; }

private:
  Status copy(const Run &run, bool in) const;

  Word Buffer = 0;
  Layout Where;
  Access How = Access::None;
  bool Exact = false;
  StageMemory Memory;
};

/// MPI must not be given this address.
bool mustBeStaged(Word address);

} // namespace dragon::mpi

#endif // DRAGON_RUNTIME_CUDART_MPI_STAGED_H
