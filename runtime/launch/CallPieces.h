//===- CallPieces.h - how a library call is cut -----------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product of matrices (and what is like it) that does not fit into device
// memory is made in pieces: panels of its operands and of its result, or
// ranges of a batch. How large they are is found by halving, each time along
// the dimension by which the piece's footprint shrinks most, until two pieces
// fit: while the library works on one, the next one is fetched. Where no half
// needs less, but the piece is too large, it is the dimension by which one step
// of it needs least.
//
// The order of the pieces goes back and forth along the inner dimensions: what
// the last piece has used is there where the next row of pieces begins. Along a
// dimension whose pieces add up, the order is upwards, so that the result does
// not depend on the place of a piece.
//
// Source: the cut into panels and its lower bound of transfers, Hong and Kung,
// "I/O complexity: the red-blue pebble game", STOC 1981; back and forth: the
// reflected Gray code.
//
// Not thread-safe: each call has its own.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_CALLPIECES_H
#define DRAGON_RUNTIME_LAUNCH_CALLPIECES_H

#include <cstdint>
#include <vector>

namespace dragon {

class CallPieces {
public:
  struct Dimension {
    int64_t count; ///< of all
    bool canBeCut;
    bool addsUp;       ///< later pieces add to what earlier ones have written
    int64_t piece = 0; ///< of the largest piece
    int64_t at = 0;    ///< the number of the piece
    bool upwards = true;
  };

  /// Outermost first.
  explicit CallPieces(std::vector<Dimension> dimensions);

  /// The first piece as it is proposed now.
  int64_t begin(size_t dimension) const;
  int64_t count(size_t dimension) const;

  struct Footprint {
    uint64_t bytes; ///< of chunks that the piece uses
    uint64_t slack; ///< that other pieces of this size may use beyond
    uint64_t room;  ///< for all that a piece uses
  };
  enum class Answer {
    Again,     ///< something else is proposed: what does it need?
    Settled,   ///< begin with the first piece
    Impossible ///< no smaller piece needs less
  };
  /// The proposed piece needs so much. Not to be called once it is settled.
  Answer weigh(const Footprint &needs);
  bool isSettled() const { return Settled; }

  /// To the next piece; false: there is none.
  bool advance();

private:
  bool isGoodEnough(const Footprint &needs) const;
  /// Proposes the next dimension's half, from `dimension` on.
  bool proposeFrom(size_t dimension);
  Answer settle(bool isAsProposed);

  std::vector<Dimension> Dimensions;
  std::vector<int64_t> Chosen; ///< pieces that are known to need Needs
  Footprint Needs{};
  size_t Tried; ///< whose half is proposed; all of them: none
  size_t Best;  ///< likewise
  Footprint BestNeeds{};
  bool Smallest = false; ///< a one is proposed, in place of halves
  bool Settled = false, Last = false;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_CALLPIECES_H
