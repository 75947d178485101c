//===- CutCalls.h - library calls that are made in pieces -------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled code asks for the next piece of a call until there is none
// (dragon/CompilerABI.h, dragon_library_pieces).
//
// Thread-safe for calls of their own.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_LIBRARIES_CUTCALLS_H
#define DRAGON_RUNTIME_CUDART_LIBRARIES_CUTCALLS_H

#include "dragon/CompilerABI.h"
#include "runtime/cudart/front/Front.h"

namespace dragon {

/// The library reads the scalar during the call, so that another one can be put
/// in its place: it is in host memory. In pinned memory the device may read it
/// later.
bool isReadInCall(const void *scalar);
/// A call, or the piece of it that `pieces` is, does not fit: true if `pieces`
/// is another one now, whose uses are to be told.
bool cutCall(Front &front, const LibraryCall &call,
             dragon_library_pieces &pieces);
/// While pieces are looked for, nothing is to be brought in.
bool isLookingForPieces(const dragon_library_pieces *pieces);
/// False: there is no other.
bool nextPiece(dragon_library_pieces &pieces, bool failed);
/// The call has ended.
void endPieces(dragon_library_pieces &pieces);

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_LIBRARIES_CUTCALLS_H
