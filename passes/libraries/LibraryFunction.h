//===- LibraryFunction.h - a library function and its uses ------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The effects of one function of a library on the buffers and on the host
// memory that its parameters point to, as a library summary describes them.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_LIBRARIES_LIBRARYFUNCTION_H
#define DRAGON_PASSES_LIBRARIES_LIBRARYFUNCTION_H

#include "passes/libraries/LibraryExpression.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <string>
#include <vector>

namespace dragon {

enum class LibraryMode {
  Read,
  Write,     ///< some bytes, perhaps not all
  ReadWrite, ///< reads, and may write
  Overwrite, ///< all bytes, before any is read
  Keep       ///< the library may use it until it is freed
};

/// What a function does through a parameter that points to device memory.
struct LibraryUse {
  unsigned Parameter = 0;
  /// The parameter points to an array in device memory of so many pointers,
  /// which is read; the rest is of what each of them points to.
  std::optional<LibraryExpression> Array;
  LibraryMode Mode = LibraryMode::ReadWrite;
  std::optional<LibraryExpression> Bytes; ///< none: unknown, but not before it
  std::optional<LibraryExpression> If;    ///< not used otherwise
  std::optional<LibraryExpression> OverwriteIf;
};

/// Memory of the host that the function looks at while it is called.
struct LibraryHostUse {
  unsigned Parameter = 0;
  std::optional<LibraryExpression> Bytes;
  bool Writes = false;
};

/// A parameter, a number, along which a call may be made in pieces: each has a
/// range [begin, begin + count) of it, as if there were no more, and other
/// parameters changed as follows.
struct LibraryPiece {
  unsigned Along = 0;
  struct Move {
    unsigned Parameter;      ///< a pointer
    LibraryExpression Bytes; ///< that it moves by for each step of `begin`
  };
  llvm::SmallVector<Move, 3> Moves;
  /// Pieces after the first add to what those before have written: the host
  /// parameter, by which the old contents are multiplied, points to One then.
  int Scale = -1;
  std::optional<LibraryExpression> One; ///< its first eight bytes; 0 follows
  std::optional<LibraryExpression> If;  ///< not in pieces otherwise
  /// Only where there is no other way: each piece rounds the result once more.
  std::optional<LibraryExpression> RoundsIf;
};

struct LibraryFunction {
  std::string Name; ///< symbol, or qualified C++ name
  std::string Library;
  std::vector<std::string> Parameters;
  /// Touches no buffer, whatever its parameters are.
  bool Neutral = false;
  /// Its kernels are compiled with the program: the runtime launches them.
  bool Compiled = false;
  /// Of C++ functions, uses are by pointer; or by an iterator that is nothing
  /// but a pointer.
  bool Iterators = false;
  llvm::SmallVector<LibraryUse, 4> Uses;
  llvm::SmallVector<LibraryHostUse, 2> Host;
  /// Outermost first: what is along the last changes soonest.
  llvm::SmallVector<LibraryPiece, 2> Pieces;

  /// The entry point of the runtime that makes the call, with all around it, in
  /// its place; empty: there is none.
  std::string Through;

  /// What it returns when it cannot have the memory that it needs.
  std::optional<int64_t> Failure;

  // The stream in which it works. Parameter numbers, or -1.
  bool InDefaultStream = false;
  int Stream = -1;
  int StreamOf = -1; ///< a handle's
  /// A function (handle, cudaStream_t *) that tells the stream of a handle;
  /// empty: there is none.
  std::string GetsStream;
  int Creates = -1; ///< *parameter becomes a handle in the default stream
  int SetsStreamOf = -1;
  int SetsStreamTo = -1;

  /// Whether it follows pointers that are in device memory.
  bool followsPointers() const;
  /// The use of a parameter, or null.
  const LibraryUse *use(unsigned Parameter) const;
  const LibraryHostUse *hostUse(unsigned Parameter) const;
  /// "cublasSgemm" for cublasSgemm_v2: what stands in the user's source.
  std::string shownName() const;
  /// Puts the numbers that Value knows into all expressions. Nothing is
  /// overwritten for sure if its size, or whether it is used, is not known
  /// then.
  void resolve(llvm::function_ref<
               std::optional<int64_t>(const LibraryExpression::Node &)>
                   Value);
};

} // namespace dragon

#endif // DRAGON_PASSES_LIBRARIES_LIBRARYFUNCTION_H
