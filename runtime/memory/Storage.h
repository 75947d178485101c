//===- Storage.h - a chunk's copy in storage --------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A chunk's storage says which of its bytes are in a file, are zeros, or are in
// swap. It is a map from ranges of the chunk to sources (Intervals.h); what no
// range covers is undefined. Most chunks have no range or one.
//
//   The program reads half of the chunk from a file; the rest is undefined:
//     {[0, 1M) File in.bin @ 4096}
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_STORAGE_H
#define DRAGON_RUNTIME_MEMORY_STORAGE_H

#include "runtime/base/Intervals.h"
#include "runtime/memory/ResidencyPolicy.h"
#include "runtime/tier/FileTier.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>

namespace dragon {

enum class PieceKind : uint8_t { Zero, File, Swap };

/// Bytes of a chunk that lie together in storage.
struct Piece {
  size_t begin; ///< within the chunk
  size_t end;
  PieceKind kind;
  /// File: the bytes are in it. Zero: it has these zeros already, or null.
  /// Swap: null.
  std::shared_ptr<BackingFile> file;
  int64_t offset = 0; ///< of `begin`, in the file or the chunk's swap slot

  /// It is in the program's memory, some of it in [begin, end).
  bool isOfProgram(uintptr_t begin, uintptr_t end) const {
    const auto at = uintptr_t(offset);
    return file && file->isMemory() && at < end &&
           begin < at + (this->end - this->begin);
  }
  /// The bytes [begin, end) are in `other` at `at`.
  bool isAt(const BackingFile &other, int64_t at) const {
    return file && offset == at && file->deviceId() == other.deviceId() &&
           file->inode() == other.inode();
  }
};

class Storage {
public:
  /// All pieces in ascending order: a view, which each change ends.
  auto pieces() const {
    return std::ranges::subrange(Sources.begin(), Sources.end()) |
           std::views::transform([](const auto &entry) {
             return pieceOf(entry.first, entry.second);
           });
  }
  size_t numberOfPieces() const { return Sources.iterative_size(); }
  bool undefined() const { return Sources.empty(); }
  bool hasSwap() const;
  /// All that is defined is in the program's memory.
  bool inProgramMemory() const;
  /// [begin, end) is covered without a gap.
  bool covers(size_t begin, size_t end) const;
  /// What is defined ends there.
  bool endsAt(size_t end) const {
    return !undefined() && Sources.rbegin()->first.upper() == end;
  }
  void clear() {
    ++Changes;
    Sources.clear();
  }
  /// [begin, end) becomes undefined.
  void erase(size_t begin, size_t end);
  /// Puts the piece over what is there. Pieces that continue each other become
  /// one.
  void put(Piece piece);
  /// The whole, for the policy: File if any byte comes from a file, else Swap,
  /// Zero, Undefined.
  Stored kind() const;
  /// Grows with each change: whether what was read is still what is stored.
  uint64_t changes() const { return Changes; }

private:
  struct Source {
    PieceKind kind = PieceKind::Zero;
    std::shared_ptr<BackingFile> file;
    /// Of the chunk's first byte, if the source began there: so it is the same
    /// for all bytes of a piece. 0 for zeros that are in no file.
    int64_t offset = 0;
    bool operator==(const Source &) const = default;
  };

  static Piece pieceOf(HalfOpen<size_t> range, const Source &source) {
    return {range.lower(), range.upper(), source.kind, source.file,
            source.offset + int64_t(range.lower())};
  }

  IntervalMap<size_t, Source> Sources;
  uint64_t Changes = 0;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_STORAGE_H
