//===- PointerEnds.cpp - whether contents end by a pointer ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/placement/PointerEnds.h"

#include "passes/placement/Discards.h"
#include "passes/placement/NextUse.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace dragon {

bool PointerEnds::mayEndAt(NameId Name, EventRef At) const {
  bool MayHold = false;
  for (unsigned B : Facts.Pointers.buffers(Name).set_bits()) {
    if (!mayEnd(Facts, B) || Facts.buffer(B).Kind == BufferKind::Host ||
        Facts.streamOf(B) != static_cast<StreamId>(DefaultStream) ||
        !Facts.Held.mustBeAllocated(B, At))
      return false;
    MayHold |= Facts.Held.mayHold(B, At);
  }
  return MayHold && deviceWorkAhead(Facts.Program, At);
}

bool PointerEnds::endsWith(unsigned B, EventRef At) const {
  const Event &E = Facts.event(At);
  if (E.Pointers.empty())
    return false;
  const EventRef Next{At.Block, At.Index + 1};
  const BitVector Names = Facts.Live.namesWithin(At.Block)[At.Index];
  const BitVector After = Facts.Live.liveWithin(At.Block)[Next.Index];
  bool Any = false;
  for (NameId Name : Names.set_bits()) {
    if (!Facts.Pointers.buffers(Name)[B])
      continue;
    if (After[Name] ||
        none_of(E.Pointers,
                [&](const UseByPointer &U) {
                  return Facts.Program.nameOf(U.Pointer) == Name;
                }) ||
        !mayEndAt(Name, Next))
      return false;
    Any = true;
  }
  return Any;
}

} // namespace dragon
