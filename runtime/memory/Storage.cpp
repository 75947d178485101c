//===- Storage.cpp - a chunk's copy in storage ----------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/Storage.h"

#include <algorithm>
#include <utility>

namespace dragon {

bool Storage::hasSwap() const {
  return std::any_of(Sources.begin(), Sources.end(), [](const auto &entry) {
    return entry.second.kind == PieceKind::Swap;
  });
}

bool Storage::inProgramMemory() const {
  return !Sources.empty() &&
         std::all_of(Sources.begin(), Sources.end(), [](const auto &entry) {
           return entry.second.kind == PieceKind::File &&
                  entry.second.file->isMemory();
         });
}

bool Storage::covers(size_t begin, size_t end) const {
  for (const auto &[range, source] : Sources)
    if (range.lower() <= begin)
      begin = std::max(begin, range.upper());
  return begin >= end;
}

void Storage::erase(size_t begin, size_t end) {
  ++Changes;
  Sources.erase(HalfOpen<size_t>(begin, end));
}

void Storage::put(Piece piece) {
  ++Changes;
  const bool nowhere = piece.kind == PieceKind::Zero && !piece.file;
  Sources.set({{piece.begin, piece.end},
               {piece.kind, std::move(piece.file),
                nowhere ? 0 : piece.offset - int64_t(piece.begin)}});
}

Stored Storage::kind() const {
  Stored kind = Stored::Undefined;
  for (const auto &[range, source] : Sources) {
    if (source.kind == PieceKind::File)
      return Stored::File;
    if (source.kind == PieceKind::Swap)
      kind = Stored::Swap;
    else if (kind == Stored::Undefined)
      kind = Stored::Zero;
  }
  // Where zeros cover a part, the rest is undefined: zeros will do for it.
  return kind;
}

} // namespace dragon
