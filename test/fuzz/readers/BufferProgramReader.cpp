//===- BufferProgramReader.cpp - buffer programs as text ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs that no compiler makes, too: placement must come to an end on any
// flow graph.
//
//===----------------------------------------------------------------------===//

#include "Reader.h"

#include "passes/placement/BufferProgramText.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;

DRAGON_READER("buffer-program") {
  StringRef Text(reinterpret_cast<const char *>(data), bytes);
  Expected<dragon::BufferProgram> Program = dragon::parseBufferProgram(Text);
  if (!Program) {
    consumeError(Program.takeError());
    return;
  }
  raw_null_ostream Nowhere;
  dragon::printBufferProgram(*Program, Nowhere);
  dragon::PlacementOptions Options;
  Options.NextUses = true;
  Options.Wavefront = true;
  dragon::printPlacement(*Program, dragon::place(*Program, Options), Nowhere);
}
