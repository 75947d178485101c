//===- FootprintTable.cpp - announced and real footprints -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/oracle/FootprintTable.h"

#include <utility>

namespace dragon::oracle {

namespace {

using Masks = std::unordered_map<uint64_t, PageMask>;

Masks masksOf(std::span<const AddressRange> ranges) {
  Masks masks;
  for (const AddressRange &range : ranges)
    forEachPage(range.begin, range.end,
                [&](uint64_t page, size_t begin, size_t end) {
                  masks[page].add(begin, end);
                });
  return masks;
}

} // namespace

void FootprintTable::launchBegins(const char *kernel) {
  Row = &Rows[kernel];
  Row->kernel = kernel;
  ++Row->launches;
}

void FootprintTable::blocksRun(const ObservedBlocks &blocks) {
  blocksEnd();
  Blocks = blocks;
  Touched.clear();
  Running = true;
}

void FootprintTable::launchEnds() {
  blocksEnd();
  Row = nullptr;
}

void FootprintTable::step(std::span<const PageAccess> accesses) {
  for (const PageAccess &access : accesses) {
    PageAccess &sum = Touched[access.page];
    sum.read |= access.read - sum.write;
    sum.write |= access.write;
  }
}

void FootprintTable::blocksEnd() {
  if (!Row || !Running)
    return;
  StatsFootprint &row = *Row;
  Running = false;
  const std::unordered_map<uint64_t, PageAccess> accesses =
      std::exchange(Touched, {});
  ++row.slices;
  row.indirect |= Blocks.indirect;
  row.conditional |= Blocks.conditional;
  for (auto &[page, access] : accesses)
    row.touched += (access.read | access.write).count();
  if (Blocks.anything) {
    ++row.unknown;
    return;
  }
  const Masks may = masksOf(Blocks.may), must = masksOf(Blocks.must),
              certain = masksOf(Blocks.affine);
  for (auto &[page, access] : accesses) {
    PageMask touched = access.read | access.write;
    if (auto found = may.find(page); found != may.end())
      touched -= found->second;
    row.missed += touched.count();
  }
  for (const auto &[page, mask] : may) {
    PageMask affine;
    if (auto found = certain.find(page); found != certain.end())
      affine = found->second;
    row.announced += mask.count();
    row.affine += affine.count();
    PageMask left = mask;
    if (auto found = accesses.find(page); found != accesses.end())
      left -= found->second.read | found->second.write;
    row.inVain += left.count();
    row.affineInVain += (left & affine).count();
  }
  for (const auto &[page, mask] : must) {
    PageMask left = mask;
    row.overwritten += left.count();
    if (auto found = accesses.find(page); found != accesses.end())
      left -= found->second.write - found->second.read;
    row.notOverwritten += left.count();
  }
}

} // namespace dragon::oracle
