//===- Mistakes.h - wrong decisions, made on purpose ---------- -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For tests of what finds wrong directives (DRAGON_CHECK): placement is given a
// buffer program that is not the program's, in one of the ways in which an
// analysis may go wrong. So the directives are as wrong as they would be then,
// each in itself consistent and with its reason.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_PLACEMENT_MISTAKES_H
#define DRAGON_PASSES_PLACEMENT_MISTAKES_H

#include "passes/placement/BufferProgram.h"

namespace dragon {

/// `kind:event[@buffer],...`: of launches by their kernel's name, of other
/// events by their verbs (verbOf), and of all buffers or one:
///   unread       the event reads nothing
///   overwriting  it overwrites all of what it writes, and reads none of that
///   unwritten    it writes nothing
///   unseen       it has nothing to do with the buffer
/// What is no such mistake changes nothing.
BufferProgram withMistakes(BufferProgram Program, llvm::StringRef Mistakes);

} // namespace dragon

#endif // DRAGON_PASSES_PLACEMENT_MISTAKES_H
