//===- ReferencePager.cpp - what a fault-driven driver moves --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/oracle/ReferencePager.h"
#include "runtime/base/Rounding.h"

#include <algorithm>

namespace dragon::oracle {

/// Calls visit(number, block, firstPage, lastPage) for each block of the range.
template <typename Visit>
void ReferencePager::forBlocks(AddressRange range, Visit visit) {
  for (uintptr_t at = range.begin; at < range.end;) {
    const uint64_t number = at / BlockBytes;
    const uintptr_t base = number * BlockBytes;
    const uintptr_t end = std::min<uintptr_t>(range.end, base + BlockBytes);
    visit(number, Blocks[number], unsigned((at - base) / PageBytes),
          unsigned((end - base + PageBytes - 1) / PageBytes));
    at = end;
  }
}

uint64_t ReferencePager::contents(const Block &block) {
  return uint64_t(std::count(block.hasContents.begin(), block.hasContents.end(),
                             true)) *
         PageBytes;
}

void ReferencePager::bring(uint64_t number, Block &block) {
  if (block.onDevice)
    return;
  while (Arrivals.size() >= Capacity) {
    Block &first = Blocks[Arrivals.front()];
    Arrivals.pop_front();
    first.onDevice = first.dead = false;
    Moved.deviceToHost += contents(first);
  }
  Moved.hostToDevice += contents(block);
  block.onDevice = true;
  block.place = Arrivals.insert(Arrivals.end(), number);
}

void ReferencePager::hostWrote(AddressRange range) {
  forBlocks(range, [&](uint64_t, Block &block, unsigned first, unsigned last) {
    std::fill(block.hasContents.begin() + first,
              block.hasContents.begin() + last, true);
    if (block.onDevice)
      Moved.hostToDevice += uint64_t(last - first) * PageBytes;
  });
}

void ReferencePager::hostRead(AddressRange range) {
  forBlocks(range, [&](uint64_t, Block &block, unsigned first, unsigned last) {
    if (block.onDevice)
      Moved.deviceToHost += uint64_t(last - first) * PageBytes;
  });
}

void ReferencePager::used(AddressRange range) {
  forBlocks(range,
            [&](uint64_t number, Block &block, unsigned first, unsigned last) {
              bring(number, block);
              if (block.dead) {
                block.dead = false;
                Arrivals.splice(Arrivals.end(), Arrivals, block.place);
              }
              std::fill(block.hasContents.begin() + first,
                        block.hasContents.begin() + last, true);
            });
}

void ReferencePager::freed(AddressRange range) {
  forBlocks(range,
            [&](uint64_t number, Block &block, unsigned first, unsigned last) {
              std::fill(block.hasContents.begin() + first,
                        block.hasContents.begin() + last, false);
              if (contents(block))
                return; // others live in the block
              if (block.onDevice)
                Arrivals.erase(block.place);
              Blocks.erase(number);
            });
}

void ReferencePager::discarded(AddressRange range) {
  if (!HonoursDiscards)
    return;
  // Only whole pages can be.
  range.begin = roundUp<uintptr_t>(range.begin, PageBytes);
  range.end = range.end / PageBytes * PageBytes;
  forBlocks(range, [&](uint64_t, Block &block, unsigned first, unsigned last) {
    std::fill(block.hasContents.begin() + first,
              block.hasContents.begin() + last, false);
    if (block.onDevice && !block.dead && !contents(block)) {
      block.dead = true;
      Arrivals.splice(Arrivals.begin(), Arrivals, block.place);
    }
  });
}

} // namespace dragon::oracle
