//===- LastUses.h - contents that nobody needs behind a launch --*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whoever watches hears of them when the launch is in its queue, and they are
// discarded then.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_LASTUSES_H
#define DRAGON_RUNTIME_LAUNCH_LASTUSES_H

#include "runtime/launch/LaunchCall.h"
#include "runtime/memory/Discards.h"

#include <functional>
#include <vector>

namespace dragon {

class LastUses {
public:
  LastUses(Context &context, AddressSpace &space, Discards &discards)
      : Ctx(context), Space(space), Discarded(discards) {}

  /// Ranges whose contents die with the launch, of buffers that may lose them.
  std::vector<AddressRange> dyingOf(const LaunchCall &call) const;
  /// Says so to who watches.
  void tell(const LaunchCall &call) const;
  Status end(const LaunchCall &call);
  /// end() of the launch would only note them.
  bool canWait(const LaunchCall &call) const;
  /// But for those of some chunks.
  Status end(const LastUse &use, Queue queue,
             const std::function<bool(const Chunk &)> &except);

private:
  Context &Ctx;
  AddressSpace &Space;
  Discards &Discarded;
};

/// The end of the part, within its buffer.
uintptr_t endOf(const LastUse &use, uintptr_t base, size_t bytes);

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_LASTUSES_H
