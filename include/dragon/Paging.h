//===- Paging.h - pages that kernels fetch themselves -----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel of which no summary says where in a buffer it accesses memory may
// have a copy `PagedPrefix<name>` that looks for each address in a table first.
// Pages that are not on the device it fetches itself, into frames of device
// memory, while it runs. docs/paging.md has the protocol.
//
// These parameters follow those of the kernel:
//
//   uint32_t *entries     the table
//   uint64_t base         a multiple of the bytes of a page
//   uint64_t count        pages; addresses beyond are as they are
//   uint32_t shift        of the bytes of a page
//   uint64_t frames       the address of the first frame
//   PageControl *control
//   const PageCell *cells null: page (address - base) >> shift has the entry of
//   uint32_t cellShift    that number; else its cell says which, that of
//                         number (address - base) >> cellShift
//
// A module with such copies has a kernel `DRAGON_PAGE_WRITE_BACK` with entries,
// shift, frames, control: it copies the pages that are dirty to where they came
// from, and is launched behind each launch of such a copy. Any grid of one
// dimension, in blocks of a multiple of 32 threads.
//
// All addresses are of the device, in its memory but for what `Sources` leads
// to. The runtime owns all of it; nothing of it changes on the host's side
// while a launch that uses it may run.
//
// Sources: GPUfs (ASPLOS'13) and ActivePointers (ISCA'16) for page tables that
// threads of GPUs look into, BaM (ASPLOS'23) for caches that they fill.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PAGING_H
#define DRAGON_PAGING_H

namespace dragon {

/// A table's entry. A launch changes it from Absent to Filling, and from there
/// to Direct or a frame: what it is then it stays until the launch has ended.
enum PageEntry : unsigned {
  PageResident = 0,  ///< at its address
  PageAbsent = 1,    ///< at its source
  PageFilling = 2,   ///< a thread fetches it: wait
  PageDirect = 3,    ///< at its source, and stays there: no frame was left
  PageFirstFrame = 4 ///< in the frame of this number less PageFirstFrame
};

/// Where buffers lie far apart, the table has the pages of a part of the
/// addresses that has some: [First, First + Count), counted from the base.
struct PageCell {
  unsigned First;
  unsigned Count;
  unsigned Entry; ///< of the first
  unsigned Unused;
};

/// What a frame holds.
struct PageFrame {
  unsigned long Address; ///< of the page
  unsigned Entry;
  unsigned Unused;
};

struct PageControl {
  unsigned Next;      ///< the frame that is taken next; may pass NumFrames
  unsigned NumFrames; ///< at most 2^32 - PageFirstFrame - 1
  unsigned Written;   ///< pages that were written back
  /// Sources[entry >> SourceShift], a long, is what to add to an address for
  /// its source.
  unsigned SourceShift;
  unsigned long Sources; ///< the address of it
  unsigned long Held;    ///< of a PageFrame for each frame
  unsigned long Dirty;   ///< of a byte for each entry: 1 if it was written
};

#define DRAGON_PAGED_PREFIX "__dragon_paged_"
#define DRAGON_PAGE_WRITE_BACK "__dragon_page_write_back"

} // namespace dragon

#endif // DRAGON_PAGING_H
