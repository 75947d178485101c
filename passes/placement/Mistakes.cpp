//===- Mistakes.cpp - wrong decisions, made on purpose --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/placement/Mistakes.h"

#include "llvm/ADT/SmallVector.h"

using namespace llvm;

namespace dragon {

static void change(BufferUse &U, StringRef Kind) {
  if (Kind == "unread" || (Kind == "overwriting" && U.Writes))
    U.Reads = false;
  if (Kind == "unwritten")
    U.Writes = false;
  if (Kind == "overwriting" && U.Writes)
    U.Must = U.Whole = true;
}

static void make(BufferProgram &Program, StringRef Kind, StringRef Of,
                 StringRef Buffer) {
  for (Block &B : Program.Blocks)
    for (Event &E : B.Events)
      if (E.is<LaunchEvent>() ? E.Name == Of : verbOf(E.What) == Of)
        for (size_t I = E.Uses.size(); I-- > 0;) {
          BufferUse &U = E.Uses[I];
          if (!Buffer.empty() && Program.Buffers[U.Buffer].Name != Buffer)
            continue;
          if (Kind == "unseen")
            E.Uses.erase(E.Uses.begin() + ptrdiff_t(I));
          else
            change(U, Kind);
        }
}

BufferProgram withMistakes(BufferProgram Program, StringRef Mistakes) {
  SmallVector<StringRef, 8> All;
  Mistakes.split(All, ',');
  for (StringRef Mistake : All) {
    auto [Kind, Where] = Mistake.split(':');
    auto [Event, Buffer] = Where.split('@');
    make(Program, Kind, Event, Buffer);
  }
  return Program;
}

} // namespace dragon
