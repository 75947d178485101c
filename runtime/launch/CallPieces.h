//===- CallPieces.h - how a library call is cut -----------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product of matrices (and what is like it) that does not fit into device
// memory is made in pieces: panels of its operands and of its result, or
// ranges of a batch.
//
// How large they are: along each dimension in turn a half is asked for, which
// tells whose bytes shrink with it (rows of a matrix that lies by columns are
// all over it). Then the sizes are chosen by which the least is moved: an
// operand comes again for each piece of the dimensions outside the innermost
// one that it moves along, and stays while those inside change. Of what changes
// with each piece two have room, so that the next one is fetched while the
// library works on one.
//
// The chosen piece is asked for as well. While it needs too much, it is halved,
// along the dimension by which it shrinks most; where no half needs less,
// along the one by which one step of it needs least.
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

#include <cstddef>
#include <cstdint>
#include <optional>
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

  /// How much there is.
  int64_t all(size_t dimension) const { return Dimensions[dimension].count; }
  /// The first piece as it is proposed now.
  int64_t begin(size_t dimension) const;
  int64_t count(size_t dimension) const;

  struct Use {
    uint64_t bytes; ///< of chunks
    uint64_t chunk; ///< how large one is
    bool written;
  };
  struct Footprint {
    uint64_t bytes;        ///< of chunks that the piece uses; of two uses, once
    uint64_t room;         ///< for all that a piece uses
    std::vector<Use> uses; ///< as many, in the same order, for each piece
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
  enum class State { Whole, Halves, Checked, Shrinking, Last };

  Answer choose();
  /// What is moved, in bytes, if the pieces are as they are; none: they do not
  /// fit.
  std::optional<double> costOf(const std::vector<int64_t> &pieces) const;
  void tryFrom(size_t dimension, std::vector<int64_t> &pieces, double &least);

  Answer shrink(const Footprint &needs);
  /// Proposes the next dimension's half, from `dimension` on.
  bool proposeFrom(size_t dimension);
  void proposeChosen();
  /// Where no dimension helps by itself; false: all are as small as can be.
  bool halveLargest();
  Answer settle(bool isAsProposed);

  std::vector<Dimension> Dimensions;
  std::vector<int64_t> Chosen;
  State Now = State::Whole;
  std::vector<Use> Uses; ///< of the whole call
  /// By dimension and use: its bytes shrink along the dimension.
  std::vector<std::vector<char>> Shrinks;
  uint64_t Needs = 0; ///< bytes of what is chosen
  uint64_t Room = 0;
  size_t Tried; ///< whose half is proposed; all of them: none
  size_t Best;  ///< likewise
  uint64_t BestNeeds = 0;
  bool Smallest = false; ///< a one is proposed, in place of halves
  bool Settled = false;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_CALLPIECES_H
