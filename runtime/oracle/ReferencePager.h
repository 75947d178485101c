//===- ReferencePager.h - what a fault-driven driver moves ------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counts the bytes that a driver which pages on faults would move for the same
// program with its buffers in managed memory, as NVIDIA's UVM does:
//
//  * memory moves in blocks of 2 MiB; a kernel's access to one that is not on
//  the
//    device brings all of it;
//  * room is made by evicting the block that came first (the driver keeps the
//  order
//    in which it allocated device memory for blocks, not of their use), and all
//    that it holds goes to the host, changed or not;
//  * memory that nobody has used costs nothing to bring;
//  * prefetches are honoured; discards, if asked for: a discarded page is not
//  moved
//    until it is used again, and blocks of such pages are the first to go.
//
// Where there is a choice it takes what is best for the driver: cudaMemcpy
// writes and reads where the pages are, without moving blocks; a launch runs
// its blocks in order, and those that run together (a wave) fault on each block
// once at most. Read duplication, access counters and the throttling of
// thrashing pages are not modelled.
//
// Sources: NVIDIA's open kernel modules (uvm_va_block.c, uvm_pmm_gpu.c: the
// list of used root chunks), and Zhu et al., "UVM Discard" (IISWC'22),
// section 2.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_ORACLE_REFERENCEPAGER_H
#define DRAGON_RUNTIME_ORACLE_REFERENCEPAGER_H

#include "runtime/device/Device.h"
#include "runtime/oracle/Oracle.h"
#include "runtime/oracle/PageMask.h"

#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <span>

namespace dragon::oracle {

class ReferencePager {
public:
  static constexpr uint64_t BlockBytes = 2 << 20;

  ReferencePager(uint64_t deviceBytes, bool honoursDiscards)
      : Capacity(std::max<uint64_t>(deviceBytes / BlockBytes, 1)),
        HonoursDiscards(honoursDiscards) {}

  void hostWrote(AddressRange range);
  void hostRead(AddressRange range);
  void freed(AddressRange range);
  void discarded(AddressRange range);
  /// A kernel, a fill or a prefetch uses the range on the device.
  void used(AddressRange range);

  const Traffic &traffic() const { return Moved; }

private:
  static constexpr unsigned Pages = BlockBytes / PageBytes;
  struct Block {
    std::array<bool, Pages> hasContents{};
    bool onDevice = false;
    bool dead = false; ///< on the device, and discarded as a whole
    std::list<uint64_t>::iterator place; ///< in Arrivals, if on the device
  };
  template <typename Visit> void forBlocks(AddressRange range, Visit visit);
  static uint64_t contents(const Block &block);
  void bring(uint64_t number, Block &block);

  const uint64_t Capacity; ///< blocks
  const bool HonoursDiscards;
  std::map<uint64_t, Block> Blocks;
  std::list<uint64_t> Arrivals; ///< blocks on the device
  Traffic Moved;
};

} // namespace dragon::oracle

#endif // DRAGON_RUNTIME_ORACLE_REFERENCEPAGER_H
