//===- Oracle.h - the least traffic that a trace allows ---------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Given what a program did to its buffers, how many bytes had to cross the link
// between host and device at least, for any policy that knows the future and
// keeps or drops pages of 4 KiB in a device memory of a given size?
//
// The trace is a sequence of steps (some blocks of a launch: the bytes that
// they read and write) with the host's reads and writes between them. Each byte
// has a life: written by somebody, read by somebody, overwritten at last. What
// cannot be avoided is counted at once: what the host wrote and the device
// reads, and the other way round. Between two steps that use a page (a gap) it
// may stay, and take a page of memory for that time, or leave; then the bytes
// that the later step reads are moved again: in, and before that out, if the
// host did not have them. Dead bytes cost nothing.
//
// Which gaps to bridge is chosen for all pages at once: a flow of as many units
// as there are pages of memory through the steps in order, whose units either
// wait or take the arc of a gap and earn what it costs to leave. The largest
// earning is exact (an interval scheduling problem: its matrix is totally
// unimodular), and found by LEMON's network simplex.
//
// It is a lower bound: where the model has to choose, it chooses the cheaper
// side. What a step itself uses needs no room; bytes are moved one by one;
// bytes that are written out are charged to one gap only; a copy between
// buffers costs nothing; a fill costs nothing, wherever it is read. The order
// of steps is that of the run.
//
// Source: offline caching with write-back as min-cost flow, after Belady (1966)
// and Chrobak, Karloff, Payne, Vishwanathan, "New results on server problems"
// (1991).
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_ORACLE_ORACLE_H
#define DRAGON_RUNTIME_ORACLE_ORACLE_H

#include "runtime/device/Device.h"
#include "runtime/oracle/PageMask.h"

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace dragon::oracle {

/// Bytes over the link.
struct Traffic {
  uint64_t hostToDevice = 0;
  uint64_t deviceToHost = 0;
  uint64_t total() const { return hostToDevice + deviceToHost; }
};

/// A page that two steps use, and what it costs if it is not there in between.
struct Gap {
  uint32_t from;    ///< steps
  uint32_t to;      ///< > from
  uint32_t reload;  ///< bytes
  uint32_t written; ///< bytes
};

/// The gaps to bridge so that at most `pages` are bridged at any time (from one
/// step to the next) and the rest costs the least. Returns that cost.
Traffic leastCost(std::span<const Gap> gaps, uint64_t pages);

class Oracle {
public:
  void hostWrote(AddressRange range);
  void hostRead(AddressRange range);
  void copied(uintptr_t to, uintptr_t from, size_t bytes);
  /// Also for memory that is freed: contents that nobody has to move.
  void filled(AddressRange range);
  void step(std::span<const PageAccess> accesses);

  /// With `deviceBytes` of memory. May take seconds for long traces.
  Traffic leastTraffic(uint64_t deviceBytes) const;

private:
  /// Written bytes whose way out a gap pays for.
  struct Charge {
    size_t gap;
    PageMask bytes;
  };
  struct Page {
    PageMask hostOnly; ///< contents that the device does not have
    PageMask device;   ///< contents that the device has if the page stays
    PageMask dirty;    ///< of these: contents that the host does not have
    std::vector<Charge> charges;
    uint32_t lastStep = 0; ///< 0: none
  };
  Page &at(uint64_t page) { return Pages[page]; }
  static void dropEmpty(std::vector<Charge> &charges);
  /// The versions of these bytes end.
  static void end(Page &page, const PageMask &bytes);

  std::unordered_map<uint64_t, Page> Pages;
  std::vector<Gap> Gaps;
  Traffic Unavoidable;
  uint32_t Step = 0;
};

} // namespace dragon::oracle

#endif // DRAGON_RUNTIME_ORACLE_ORACLE_H
