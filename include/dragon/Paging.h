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
//   uint64_t resident     bit n: what the kernel's argument n points to is at
//                         its address, and needs no look-up
//
// A module with such copies has kernels, launched one after the other
// behind each launch of such a copy, or a slice of it:
//
//   DRAGON_PAGE_WRITE_BACK   entries, uint32_t their number, shift, frames,
//                            control, uint32_t limit
//     copies the pages that are dirty to where they came from. If more frames
//     than the limit are in use, and most of them have pages that had not been
//     in frames before, all pages leave. Any grid of one dimension, in blocks
//     of a multiple of 32 threads.
//   DRAGON_PAGE_RECYCLE      control, uint32_t limit
//     the frames are free then, and what the next slice will want of each
//     region is foreseen. One thread.
//   DRAGON_PAGES_AHEAD       entries, shift, frames, control
//     behind a slice that is not the last: fetches what is foreseen. A grid as
//     that of DRAGON_PAGE_WRITE_BACK.
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

/// What a source (PageControl::Sources) has besides the distance, in its lowest
/// bits.
enum PageSource : unsigned {
  PageRead = 1, ///< no thread of the launch writes there
  /// In storage: the host reads it for who asks (PageRequest), and has no place
  /// for accesses. Pages of it need frames.
  PageStored = 2,
  /// In host memory, and pages of it need frames, too.
  PageInFrame = 4
};
constexpr long PageSourceBits = 7;

/// What a frame holds.
struct PageFrame {
  unsigned long Address; ///< of the page
  unsigned Entry;
  /// How often the page had been wanted when it was fetched. Behind a slice
  /// PageToStore: it is PageStored and was written, and the host stores it.
  unsigned Touches;
};
constexpr unsigned PageToStore = 0x80000000;

/// A thread asks the host for a page of what is in storage. Requests lie in
/// host memory, their pages from PageRequestBytes on. They are used in turn:
/// number n is request n % NumPageRequests in round n / NumPageRequests. Who
/// has that number waits until Turn is 3 * round, sets Address, and Turn to one
/// more; the host puts the page in its place, and adds one; who has asked
/// copies it, and adds one. Each one releases what it has written so, and the
/// next one acquires it.
struct PageRequest {
  unsigned long Address; ///< of the page
  unsigned Turn;
  unsigned Unused;
};
/// A power of two, no less than a warp has threads: so who has a number waits
/// for lower ones alone, and those for nobody but the host and lower ones.
constexpr unsigned NumPageRequests = 128;
constexpr unsigned PageTurns = 3;
struct PageRequests {
  PageRequest Slots[NumPageRequests];
  /// A page that needs a frame found none: threads that need such ones end, or
  /// the launch does (PageControl::EndsThreads).
  unsigned OutOfFrames;
};
constexpr unsigned long PageRequestBytes = 4096, RequestedPageBytes = 4096;
static_assert(sizeof(PageRequests) <= PageRequestBytes);

/// Of the pages that a slice touched and no thread writes, one of 32 is fetched
/// no earlier than at twice the break-even, so that there is something to judge
/// by.
struct PageSample {
  unsigned Pages;   ///< that were touched
  unsigned Touches; ///< of these, none counted with more than 2 * BreakEven
  unsigned Reached; ///< of the pages, those with BreakEven touches
  unsigned Twice;   ///< with twice as many
};
constexpr unsigned PagesOfSample = 32;
constexpr bool isSampled(unsigned Entry) {
  return (Entry * 2654435769U) >> 27 == 0; // neighbours far from one another
}

/// Pages that neighbour one another: of a buffer that a launch reads in host
/// memory. At most MostPageRegions, in order; those that have none are behind.
struct PageRegion {
  unsigned First;        ///< entry
  unsigned Count;        ///< of entries
  unsigned long Address; ///< of the first page
};
constexpr unsigned MostPageRegions = 64;

/// Of a region: what a slice has touched, by its sampled pages, and what the
/// next one is expected to. All 0 before the first slice of a launch. Pages are
/// numbered in their region.
struct PageTrack {
  unsigned ToEnd;   ///< the number of the first one, counted from the end
  unsigned Behind;  ///< of the last one, and 1
  unsigned Pages;   ///< that were touched
  unsigned Touches; ///< as PageSample's
  unsigned Before;  ///< the first one in the slice before, and 1; 0: none was
  unsigned Ahead;   ///< the first page that is foreseen
  unsigned NumAhead;
  unsigned Unused;
};

struct PageControl {
  unsigned Next;          ///< the frame that is taken next; may pass NumFrames
  unsigned NumFrames;     ///< at most 2^32 - PageFirstFrame - 1
  unsigned long Written;  ///< pages that were written back, in all
  unsigned long Recycled; ///< frames that were free again, in all
  unsigned Again; ///< of the pages in frames, those that had left frames before
  /// Sources[entry >> SourceShift], a long, is what to add to an address for
  /// its source; its lowest bits are PageSource.
  unsigned SourceShift;
  /// A page that no thread writes is fetched when it was touched so often:
  /// until then look-ups go to its source. A touch is a request to the link: a
  /// thread's look-up, or those of a warp's threads in 128 bytes together.
  unsigned EnoughTouches;
  /// So many requests cost as much as the page; 0: EnoughTouches stays what it
  /// is.
  unsigned BreakEven;
  unsigned long Sources; ///< the address of it
  unsigned long Held;    ///< of a PageFrame for each frame
  unsigned long Marks;   ///< of a byte for each entry: PageMark
  unsigned Begun;        ///< Next, when the slice began
  unsigned NumRegions;
  PageSample Sample;
  unsigned long Direct;  ///< touches that went to sources, in all
  unsigned long Regions; ///< the address of them
  unsigned long Tracks;  ///< of a PageTrack for each region
  unsigned long Ahead;   ///< pages that were fetched ahead, in all
  /// The address of PageRequests; 0: nothing is in storage, nor must be in
  /// frames. Else pages leave frames behind each slice that used many.
  unsigned long Requests;
  unsigned long Asked; ///< the next number of a request
  unsigned InUse;      ///< frames, when the last slice had ended
  /// No thread waits for one that has ended. Else none may end by itself.
  unsigned EndsThreads;
};

enum PageMark : unsigned char {
  PageDirty = 1,  ///< it was written
  PageLeft = 2,   ///< it was in a frame before, which it had to leave
  PageWanted = 4, ///< it was touched to the break-even when it last was
};

/// The frames should be free again: pages that come stay no longer than those
/// before. Where the same ones come again, those that are there had better
/// stay.
constexpr bool recyclesFrames(unsigned Next, unsigned Again, unsigned Limit) {
  return Next > Limit && Again <= Next / 2;
}

/// At so many times the break-even, what was fetched in vain is a sixteenth of
/// what went over the link before: as good as no paging.
constexpr unsigned PageReluctance = 16;
/// Fewer sampled pages say nothing.
constexpr unsigned EnoughSampled = 8;

/// EnoughTouches for the next slice. Where a page was wanted to the break-even
/// on average, it costs least to fetch each one at once. Otherwise one that
/// gets there is fetched then, unless most of those that did were wanted hardly
/// more: then fetching them costs twice what it saves.
constexpr unsigned nextEnough(unsigned Now, unsigned BreakEven,
                              const PageSample &Sample) {
  if (BreakEven == 0 || Sample.Pages < EnoughSampled)
    return Now;
  if (Sample.Touches / Sample.Pages >= BreakEven)
    return 1;
  if (Sample.Reached - Sample.Twice > Sample.Twice)
    return BreakEven * PageReluctance;
  return BreakEven;
}

/// What the next slice will want of a region of so many pages, after what this
/// one did. Slices have neighbouring blocks, and these mostly read neighbouring
/// pages: what they read moves on from slice to slice, as far as it did from
/// the one before to this one, or by its length. Where that is not so, few of
/// the pages between the first and the last one are touched, or there is
/// nothing behind the last one. Pages come ahead where requests to all of them
/// would cost as much.
constexpr void foresee(PageTrack &Track, unsigned Count, unsigned BreakEven) {
  const unsigned First = Count - Track.ToEnd, Length = Track.Behind - First,
                 Before = Track.Before, Pages = Track.Pages,
                 Touches = Track.Touches;
  Track = {0, 0, 0, 0, Pages ? First + 1 : 0, 0, 0, 0};
  if (BreakEven == 0 || Pages < EnoughSampled ||
      Touches / BreakEven < Length / PagesOfSample || Before > First + 1)
    return;
  const unsigned Move = Before ? First + 1 - Before : Length;
  // The first and the last one touched were hardly sampled.
  const unsigned Margin =
      Length / 16 < 2 * PagesOfSample ? Length / 16 : 2 * PagesOfSample;
  const unsigned Begin = First + Move - (First + Move < Margin ? 0 : Margin);
  const unsigned End = First + Move + Length + Margin;
  if (Move >= Count || Begin >= Count)
    return;
  Track.Ahead = Begin;
  Track.NumAhead = (End < Count ? End : Count) - Begin;
}

/// Arguments that `resident` has bits for.
constexpr unsigned MostResidentArguments = 64;

#define DRAGON_PAGED_PREFIX "__dragon_paged_"
#define DRAGON_PAGE_WRITE_BACK "__dragon_page_write_back"
#define DRAGON_PAGE_RECYCLE "__dragon_pages_recycle"
#define DRAGON_PAGES_AHEAD "__dragon_pages_ahead"

} // namespace dragon

#endif // DRAGON_PAGING_H
