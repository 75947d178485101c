//===- PinnedStage.h - pinned blocks for a copy of pageable memory *- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// They are transit memory, a quarter of it at most: what the copy moves out of
// its way needs the rest.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_PINNEDSTAGE_H
#define DRAGON_RUNTIME_MEMORY_PINNEDSTAGE_H

#include "runtime/memory/HostSlabs.h"
#include "runtime/memory/StagedCopies.h"

namespace dragon {

class PinnedStage {
public:
  /// The copy is in the program's `queue`, and goes `through` one of its own.
  PinnedStage(Context &context, HostSlabs &slabs, Queue queue, Queue through,
              size_t bytes, bool pageable);
  ~PinnedStage() { finish().ignore(); }
  PinnedStage(const PinnedStage &) = delete;
  PinnedStage &operator=(const PinnedStage &) = delete;

  /// Null: the device copies by itself.
  StagedCopies *forRun(size_t bytes);
  Status finish();

private:
  bool takeSlabs();

  Context &Ctx;
  HostSlabs &Slabs;
  StagedCopies Copies;
  bool Wanted;
  LentSlabs Held;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_PINNEDSTAGE_H
