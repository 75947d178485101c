//===- Storage.h - a chunk's copy in storage --------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What of a chunk is in which file, in zeros, or in swap: a short sorted list
// of pieces; what no piece covers is undefined. Most chunks have none or one.
//
//   half of the chunk is read from a file, the rest is undefined:
//     {[0, 1M) File in.bin @ 4096}
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_STORAGE_H
#define DRAGON_RUNTIME_MEMORY_STORAGE_H

#include "runtime/memory/ResidencyPolicy.h"
#include "runtime/tier/FileTier.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace dragon {

enum class PieceKind : uint8_t { Zero, File, Swap };

struct Piece {
  size_t begin; ///< within the chunk
  size_t end;
  PieceKind kind;
  /// File: where the bytes are. Zero: where zeros are, if set. Swap: null.
  std::shared_ptr<BackingFile> file;
  int64_t offset = 0; ///< of `begin`, in the file or the chunk's swap slot

  /// The bytes [begin, end) are in `other` at `at`.
  bool isAt(const BackingFile &other, int64_t at) const {
    return file && offset == at && file->deviceId() == other.deviceId() &&
           file->inode() == other.inode();
  }
};

class Storage {
public:
  const std::vector<Piece> &pieces() const { return Pieces; }
  bool undefined() const { return Pieces.empty(); }
  bool hasSwap() const;
  /// [begin, end) is covered without a gap.
  bool covers(size_t begin, size_t end) const;
  void clear() {
    ++Changes;
    Pieces.clear();
  }
  /// [begin, end) becomes undefined.
  void erase(size_t begin, size_t end);
  /// Puts the piece over what is there; joins neighbours that continue.
  void put(Piece piece);
  /// The whole, for the policy: File if any byte comes from a file, else Swap,
  /// Zero, Undefined.
  Stored kind() const;
  /// Grows with each change: whether what was read is still what is stored.
  uint64_t changes() const { return Changes; }

private:
  std::vector<Piece> Pieces;
  uint64_t Changes = 0;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_STORAGE_H
