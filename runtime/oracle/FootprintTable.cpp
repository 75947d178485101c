//===- FootprintTable.cpp - announced and real footprints -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/oracle/FootprintTable.h"

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

void FootprintTable::launchBegins(const ObservedLaunch &launch) {
  Launch = launch;
  Touched.clear();
}

void FootprintTable::step(std::span<const PageAccess> accesses) {
  for (const PageAccess &access : accesses) {
    PageAccess &sum = Touched[access.page];
    sum.read |= access.read - sum.write;
    sum.write |= access.write;
  }
}

void FootprintTable::launchEnds() {
  StatsFootprint &row = Rows[Launch.kernel];
  row.kernel = Launch.kernel;
  ++row.launches;
  row.indirect |= Launch.indirect;
  for (auto &[page, access] : Touched)
    row.touched += (access.read | access.write).count();
  if (Launch.anything) {
    ++row.unknown;
    return;
  }
  const Masks may = masksOf(Launch.may), must = masksOf(Launch.must);
  for (auto &[page, access] : Touched) {
    PageMask touched = access.read | access.write;
    if (auto found = may.find(page); found != may.end())
      touched -= found->second;
    row.missed += touched.count();
  }
  for (const auto &[page, mask] : may) {
    PageMask left = mask;
    row.announced += left.count();
    if (auto found = Touched.find(page); found != Touched.end())
      left -= found->second.read | found->second.write;
    row.inVain += left.count();
  }
  for (const auto &[page, mask] : must) {
    PageMask left = mask;
    row.overwritten += left.count();
    if (auto found = Touched.find(page); found != Touched.end())
      left -= found->second.write - found->second.read;
    row.notOverwritten += left.count();
  }
}

} // namespace dragon::oracle
