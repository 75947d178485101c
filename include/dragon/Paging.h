//===- Paging.h - pages that kernels fetch themselves -----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel of which no summary says where in a buffer it accesses memory may
// have a copy `__dragon_paged_<name>` that looks for each address in a table
// first. Pages that are not on the device it fetches itself, into frames of
// device memory, while it runs. docs/paging.md has the protocol.
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
// A module with such copies has two kernels, launched one after the other
// behind each launch of such a copy, or a slice of it:
//
//   DRAGON_PAGE_WRITE_BACK   entries, uint32_t their number, shift, frames,
//                            control, uint32_t limit
//     copies the pages that are dirty to where they came from. If more frames
//     than the limit are in use, and most of them have pages that had not been
//     in frames before, all pages leave. Any grid of one dimension, in blocks
//     of a multiple of 32 threads.
//   DRAGON_PAGE_RECYCLE      control, uint32_t limit
//     the frames are free then. One thread.
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

/// A table's entry. A launch changes it from Absent to Touched, to Filling, and
/// from there to Direct or a frame: what it is then it stays until the launch
/// has ended.
enum PageEntry : unsigned {
  PageResident = 0,   ///< at its address
  PageAbsent = 1,     ///< at its source
  PageFilling = 2,    ///< a thread fetches it: wait
  PageDirect = 3,     ///< at its source, and stays there: no frame was left
  PageFirstFrame = 4, ///< in the frame of this number less PageFirstFrame
  /// Absent, and in the lower bits how often a thread wanted it, of those that
  /// do not write it. Above all frames.
  PageTouched = 0x80000000
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
  unsigned Next;          ///< the frame that is taken next; may pass NumFrames
  unsigned NumFrames;     ///< at most 2^32 - PageFirstFrame - 1
  unsigned long Written;  ///< pages that were written back, in all
  unsigned long Recycled; ///< frames that were free again, in all
  unsigned Again; ///< of the pages in frames, those that had left frames before
  /// Sources[entry >> SourceShift], a long, is what to add to an address for
  /// its source; its lowest bit is set if no thread of the launch writes there.
  unsigned SourceShift;
  /// A page that no thread writes is fetched when so many look-ups wanted it:
  /// until then they go to its source.
  unsigned EnoughTouches;
  unsigned Unused;
  unsigned long Sources; ///< the address of it
  unsigned long Held;    ///< of a PageFrame for each frame
  unsigned long Marks;   ///< of a byte for each entry: PageMark
};

enum PageMark : unsigned char {
  PageDirty = 1, ///< it was written
  PageLeft = 2,  ///< it was in a frame before, which it had to leave
};

/// The frames should be free again: pages that come stay no longer than those
/// before. Where the same ones come again, those that are there had better
/// stay.
constexpr bool recyclesFrames(unsigned Next, unsigned Again, unsigned Limit) {
  return Next > Limit && Again <= Next / 2;
}

#define DRAGON_PAGED_PREFIX "__dragon_paged_"
#define DRAGON_PAGE_WRITE_BACK "__dragon_page_write_back"
#define DRAGON_PAGE_RECYCLE "__dragon_page_recycle"

} // namespace dragon

#endif // DRAGON_PAGING_H
