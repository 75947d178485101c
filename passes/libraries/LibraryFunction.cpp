//===- LibraryFunction.cpp - a library function and its uses --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/libraries/LibraryFunction.h"

using namespace llvm;

namespace dragon {

bool LibraryFunction::followsPointers() const {
  return any_of(Uses, [](const LibraryUse &U) { return U.Array.has_value(); });
}

const LibraryUse *LibraryFunction::use(unsigned Parameter) const {
  for (const LibraryUse &U : Uses)
    if (U.Parameter == Parameter)
      return &U;
  return nullptr;
}

const LibraryHostUse *LibraryFunction::hostUse(unsigned Parameter) const {
  for (const LibraryHostUse &U : Host)
    if (U.Parameter == Parameter)
      return &U;
  return nullptr;
}

std::string LibraryFunction::shownName() const {
  StringRef Shown = Name;
  Shown.consume_back("_64");
  if (!Shown.consume_back("_v2"))
    Shown = Name;
  return Shown.str();
}

void LibraryFunction::resolve(
    function_ref<std::optional<int64_t>(const LibraryExpression::Node &)>
        Value) {
  auto Resolve = [&](std::optional<LibraryExpression> &E) {
    bool Had = E.has_value();
    if (E)
      E = E->resolved(Value);
    return Had && !E;
  };
  for (LibraryUse &Use : Uses) {
    Resolve(Use.Array);
    if (Resolve(Use.Bytes) || Resolve(Use.OverwriteIf)) {
      Use.OverwriteIf.reset();
      if (Use.Mode == LibraryMode::Overwrite)
        Use.Mode = LibraryMode::Write;
    }
    // It may be used: say what it may do, and nothing that is sure.
    if (Resolve(Use.If)) {
      Use.OverwriteIf.reset();
      if (Use.Mode == LibraryMode::Overwrite)
        Use.Mode = LibraryMode::Write;
    }
  }
  for (LibraryHostUse &Use : Host)
    Resolve(Use.Bytes);
  erase_if(Pieces, [&](LibraryPiece &Piece) {
    bool Lost =
        Resolve(Piece.One) || Resolve(Piece.If) || Resolve(Piece.RoundsIf);
    for (LibraryPiece::Move &Move : Piece.Moves) {
      std::optional<LibraryExpression> Bytes = Move.Bytes.resolved(Value);
      Lost |= !Bytes;
      if (Bytes)
        Move.Bytes = std::move(*Bytes);
    }
    return Lost;
  });
}

} // namespace dragon
