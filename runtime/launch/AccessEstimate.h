//===- AccessEstimate.h - how often a launch touches which chunk ----*- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The accesses to chunks (LinkCost.h), from the kernel's summary: the bytes
// that each block touches in the chunk, summed over the blocks. A few boxes
// that make up the grid say where; one block of each says how many of the box's
// blocks touch the same. A matrix product, cut into bands of block rows: a band
// touches its rows of A, and all of B; a block of it 1/300 of the columns of B,
// with 300 blocks in each of 10 rows: ten times the bytes of B in this band.
//
// Where the summary says nothing (an index that is data), each byte counts once
// and as scattered: it is measured instead (AccessCounts.h). An estimate:
// nothing that must be right depends on it.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_ACCESSESTIMATE_H
#define DRAGON_RUNTIME_LAUNCH_ACCESSESTIMATE_H

#include "runtime/launch/LaunchFootprint.h"

#include <vector>

namespace dragon {

/// By use in `whole`, which is what chunksOf() found for the whole grid.
std::vector<double> estimateAccesses(const ResolvedLaunch &launch,
                                     const LaunchFootprint &whole);

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_ACCESSESTIMATE_H
