//===- Storage.cpp - a chunk's copy in storage ----------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/Storage.h"

#include <algorithm>

namespace dragon {

bool Storage::hasSwap() const {
  return std::any_of(Pieces.begin(), Pieces.end(), [](const Piece &piece) {
    return piece.kind == PieceKind::Swap;
  });
}

bool Storage::covers(size_t begin, size_t end) const {
  for (const Piece &piece : Pieces)
    if (piece.begin <= begin)
      begin = std::max(begin, piece.end);
  return begin >= end;
}

void Storage::erase(size_t begin, size_t end) {
  ++Changes;
  std::vector<Piece> kept;
  for (Piece &piece : Pieces) {
    if (piece.begin < begin) {
      Piece left = piece;
      left.end = std::min(left.end, begin);
      kept.push_back(std::move(left));
    }
    if (piece.end > end) {
      Piece right = piece;
      size_t cut = right.begin < end ? end - right.begin : 0;
      right.begin += cut;
      right.offset += int64_t(cut);
      kept.push_back(std::move(right));
    }
  }
  Pieces = std::move(kept);
}

void Storage::put(Piece piece) {
  erase(piece.begin, piece.end);
  auto at = std::find_if(Pieces.begin(), Pieces.end(), [&](const Piece &other) {
    return other.begin >= piece.end;
  });
  at = Pieces.insert(at, std::move(piece));
  auto continues = [](const Piece &a, const Piece &b) {
    return a.end == b.begin && a.kind == b.kind && a.file == b.file &&
           (a.offset + int64_t(a.end - a.begin) == b.offset ||
            (a.kind == PieceKind::Zero && !a.file));
  };
  if (auto after = at + 1; after != Pieces.end() && continues(*at, *after)) {
    at->end = after->end;
    at = Pieces.erase(after) - 1;
  }
  if (at != Pieces.begin() && continues(*(at - 1), *at)) {
    (at - 1)->end = at->end;
    Pieces.erase(at);
  }
}

Stored Storage::kind() const {
  Stored kind = Stored::Undefined;
  for (const Piece &piece : Pieces) {
    if (piece.kind == PieceKind::File)
      return Stored::File;
    if (piece.kind == PieceKind::Swap)
      kind = Stored::Swap;
    else if (kind == Stored::Undefined)
      kind = Stored::Zero;
  }
  // Zero in part means that the rest is undefined: zeros will do.
  return kind;
}

} // namespace dragon
