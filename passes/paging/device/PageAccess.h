//===- PageAccess.h - what a kernel does to find a page ---------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Device code: compiled to IR when the project is built, and linked into each
// module that has paged copies (PagedCopies.h). docs/paging.md has the protocol
// and why it is right. The names are known to the passes; the layout is that of
// dragon/Paging.h.
//
// Two variants: PageAccess.gpu.cpp, in which the threads of a warp fetch a page
// together, and PageAccess.cpu.cpp for the host processor.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_PAGING_DEVICE_PAGEACCESS_H
#define DRAGON_PASSES_PAGING_DEVICE_PAGEACCESS_H

#define INLINE inline __attribute__((always_inline))
#ifdef __NVPTX__
#define KERNEL __attribute__((nvptx_kernel))
#define GLOBAL __attribute__((address_space(1)))
#else // unit tests
#define KERNEL
#define GLOBAL
#endif

#include "dragon/Paging.h"

using dragon::PageCell;
using dragon::PageControl;
using dragon::PageFrame;
using dragon::PageRegion;
using dragon::PageRequest;
using dragon::PageRequests;
using dragon::PageSample;
using dragon::PageTrack;

namespace {

/// The variants': an entry as it was at some time since the launch began, one
/// as all threads see it now, and the change of one.
INLINE unsigned entrySeen(const unsigned GLOBAL *Entry);
INLINE unsigned entryNow(const unsigned GLOBAL *Entry);
INLINE void publish(unsigned GLOBAL *Entry, unsigned Value);
INLINE void pauseForHost();
/// From `Known` to `Next`; true: this thread has done it.
INLINE bool change(unsigned GLOBAL *Entry, unsigned Known, unsigned Next) {
  return __scoped_atomic_compare_exchange_n(Entry, &Known, Next, false,
                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                            __MEMORY_SCOPE_DEVICE);
}
INLINE void raise(unsigned GLOBAL *Value, unsigned To) {
  __scoped_atomic_fetch_max(Value, To, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}
template <typename Number>
INLINE Number count(Number GLOBAL *Counter, Number More = 1) {
  return __scoped_atomic_fetch_add(Counter, More, __ATOMIC_RELAXED,
                                   __MEMORY_SCOPE_DEVICE);
}

constexpr unsigned NoEntry = ~0U;

/// The number of an address's entry in the table.
INLINE unsigned entryOf(unsigned long Address, unsigned long Base,
                        unsigned long Count, unsigned Shift,
                        const PageCell GLOBAL *Cells, unsigned CellShift) {
  const unsigned long At = Address - Base, Page = At >> Shift;
  if (Page >= Count)
    return NoEntry;
  if (!Cells)
    return (unsigned)Page;
  const PageCell GLOBAL &Cell = Cells[At >> CellShift];
  const unsigned Number = (unsigned)Page - Cell.First;
  return Number < Cell.Count ? Cell.Entry + Number : NoEntry;
}

INLINE bool isFrame(unsigned Entry) {
  return (int)Entry >= (int)dragon::PageFirstFrame;
}

/// The place of an address whose page is in a frame.
INLINE unsigned long inFrame(unsigned long Address, unsigned Entry,
                             unsigned Shift, unsigned long Frames) {
  return Frames + (Address & ((1UL << Shift) - 1)) +
         ((unsigned long)(Entry - dragon::PageFirstFrame) << Shift);
}

/// Where the contents of a page are, if not on the device.
struct Source {
  long Delta;      ///< from an address there
  bool IsRead;     ///< no thread writes it
  bool IsStored;   ///< the host knows it
  bool NeedsFrame; ///< it is not accessed there
};
INLINE Source sourceOf(unsigned Number, const PageControl GLOBAL *Control) {
  const long Value =
      ((const long GLOBAL *)Control->Sources)[Number >> Control->SourceShift];
  return {Value & ~dragon::PageSourceBits, (Value & dragon::PageRead) != 0,
          (Value & dragon::PageStored) != 0,
          (Value & (dragon::PageStored | dragon::PageInFrame)) != 0};
}

/// How often a page that is not there was wanted.
INLINE unsigned touchesOf(unsigned Entry) {
  return Entry == dragon::PageAbsent ? 0 : Entry & ~dragon::PageTouched;
}

/// At how many it is fetched, if no thread writes it.
INLINE unsigned enoughFor(unsigned Number, const PageControl GLOBAL *Control) {
  const unsigned Enough = Control->EnoughTouches,
                 BreakEven = Control->BreakEven;
  if (BreakEven == 0)
    return Enough;
  if (dragon::isSampled(Number))
    return Enough > 2 * BreakEven ? Enough : 2 * BreakEven;
  const unsigned char Mark =
      ((const unsigned char GLOBAL *)Control->Marks)[Number];
  return Mark & dragon::PageWanted && Enough <= BreakEven ? 1 : Enough;
}

/// For the page that is about to be fetched.
INLINE void noteFetch(unsigned Number, PageControl GLOBAL *Control) {
  if (!Control->Requests &&
      ((const unsigned char GLOBAL *)Control->Marks)[Number] & dragon::PageLeft)
    count(&Control->Again);
}

/// The host, and all threads.
INLINE unsigned turnOf(const PageRequest GLOBAL *Request) {
  return __scoped_atomic_load_n(&Request->Turn, __ATOMIC_ACQUIRE,
                                __MEMORY_SCOPE_SYSTEM);
}
INLINE void setTurn(PageRequest GLOBAL *Request, unsigned Turn) {
  __scoped_atomic_store_n(&Request->Turn, Turn, __ATOMIC_RELEASE,
                          __MEMORY_SCOPE_SYSTEM);
}

/// A request of that number.
struct Question {
  PageRequest GLOBAL *Request;
  unsigned long Page; ///< where it comes
  unsigned Turn;      ///< the first one of its round

  INLINE Question(unsigned long Number, const PageControl GLOBAL *Control) {
    const unsigned Slot = Number % dragon::NumPageRequests;
    Request = ((PageRequests GLOBAL *)Control->Requests)->Slots + Slot;
    Page = Control->Requests + dragon::PageRequestBytes +
           Slot * dragon::RequestedPageBytes;
    Turn = (unsigned)(Number / dragon::NumPageRequests) * dragon::PageTurns;
  }
  INLINE void waitFor(unsigned Steps) const {
    while (turnOf(Request) != Turn + Steps)
      pauseForHost();
  }
  INLINE void ask(unsigned long Address) const {
    waitFor(0);
    Request->Address = Address;
    setTurn(Request, Turn + 1);
  }
  INLINE void waitForAnswer() const { waitFor(2); }
  INLINE void end() const { setTurn(Request, Turn + dragon::PageTurns); }
};

/// No frame is left for a page that needs one, which the thread has claimed: it
/// is to end.
INLINE void giveUp(unsigned GLOBAL *Entry, const PageControl GLOBAL *Control) {
  __scoped_atomic_store_n(
      &((PageRequests GLOBAL *)Control->Requests)->OutOfFrames, 1U,
      __ATOMIC_RELEASE, __MEMORY_SCOPE_SYSTEM);
  __scoped_atomic_thread_fence(__ATOMIC_SEQ_CST, __MEMORY_SCOPE_SYSTEM);
  publish(Entry, dragon::PageAbsent);
  if (!Control->EndsThreads)
    __builtin_trap();
}

/// All threads of a grid of one dimension.
INLINE unsigned threadNumber() {
  return __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() +
         __nvvm_read_ptx_sreg_tid_x();
}
INLINE unsigned numberOfThreads() {
  return __nvvm_read_ptx_sreg_nctaid_x() * __nvvm_read_ptx_sreg_ntid_x();
}

INLINE unsigned framesInUse(const PageControl GLOBAL *Control) {
  return Control->Next < Control->NumFrames ? Control->Next
                                            : Control->NumFrames;
}

/// The region that an entry is in; NumRegions: none.
INLINE unsigned regionOf(unsigned Number, const PageControl GLOBAL *Control) {
  const auto *Regions = (const PageRegion GLOBAL *)Control->Regions;
  unsigned Low = 0, High = Control->NumRegions;
  while (Low < High) {
    const unsigned Middle = (Low + High) / 2;
    if (Number - Regions[Middle].First < Regions[Middle].Count)
      return Middle;
    if (Number < Regions[Middle].First)
      High = Middle;
    else
      Low = Middle + 1;
  }
  return Control->NumRegions;
}

/// A sampled page was touched so often.
INLINE void noteInRegion(unsigned Number, unsigned Touches,
                         const PageControl GLOBAL *Control) {
  const unsigned Which = regionOf(Number, Control);
  if (Which == Control->NumRegions)
    return;
  const PageRegion GLOBAL &Region =
      ((const PageRegion GLOBAL *)Control->Regions)[Which];
  PageTrack GLOBAL *Track = (PageTrack GLOBAL *)Control->Tracks + Which;
  const unsigned Page = Number - Region.First;
  raise(&Track->ToEnd, Region.Count - Page);
  raise(&Track->Behind, Page + 1);
  count(&Track->Pages);
  count(&Track->Touches, Touches);
}

/// What a thread has seen behind a slice of the pages that are sampled.
struct Seen {
  PageSample Sum = {0, 0, 0, 0};

  INLINE void add(unsigned Number, unsigned Touches,
                  const PageControl GLOBAL *Control) {
    const unsigned BreakEven = Control->BreakEven;
    const unsigned Counted = Touches < 2 * BreakEven ? Touches : 2 * BreakEven;
    noteInRegion(Number, Counted, Control);
    ++Sum.Pages;
    Sum.Touches += Counted;
    Sum.Reached += Touches >= BreakEven;
    Sum.Twice += Touches >= 2 * BreakEven;
  }
  INLINE void tell(PageSample GLOBAL *All) const {
    if (Sum.Pages == 0)
      return;
    count(&All->Pages, Sum.Pages);
    count(&All->Touches, Sum.Touches);
    count(&All->Reached, Sum.Reached);
    count(&All->Twice, Sum.Twice);
  }
};

/// Behind a slice: a page in a frame. What is to be known of it in the next
/// one.
INLINE unsigned char noteFrame(unsigned Frame, const PageFrame GLOBAL *Held,
                               const PageControl GLOBAL *Control,
                               Seen &Sample) {
  const unsigned Number = Held[Frame].Entry, Touches = Held[Frame].Touches;
  if (Frame < Control->Begun || !sourceOf(Number, Control).IsRead)
    return 0;
  if (dragon::isSampled(Number))
    Sample.add(Number, Touches, Control);
  return Control->BreakEven && Touches >= Control->BreakEven
             ? dragon::PageWanted
             : 0;
}

/// Behind a slice: a page in a frame that the host has to store, or need not.
INLINE void noteStored(unsigned Frame, bool IsDirty,
                       const PageControl GLOBAL *Control) {
  PageFrame GLOBAL *Held = (PageFrame GLOBAL *)Control->Held + Frame;
  const unsigned Touches = Held->Touches & ~dragon::PageToStore;
  const bool Stores = IsDirty && sourceOf(Held->Entry, Control).IsStored;
  Held->Touches = Stores ? Touches | dragon::PageToStore : Touches;
}
/// Its page has gone, and may be in another frame.
INLINE void noteGone(unsigned Frame, const PageControl GLOBAL *Control) {
  ((PageFrame GLOBAL *)Control->Held)[Frame].Touches = 0;
}

/// A frame for a page that nobody wants yet; NumFrames: there is none. Some are
/// left for what is not foreseen.
INLINE unsigned takeFrameAhead(PageControl GLOBAL *Control) {
  if (entryNow(&Control->Next) >= Control->NumFrames - Control->NumFrames / 8)
    return Control->NumFrames;
  const unsigned Frame = count(&Control->Next);
  return Frame < Control->NumFrames ? Frame : Control->NumFrames;
}
/// Its page is there.
INLINE void publishAhead(unsigned Frame, unsigned long Page, unsigned Number,
                         unsigned GLOBAL *Entries,
                         PageControl GLOBAL *Control) {
  noteFetch(Number, Control);
  count(&Control->Ahead);
  ((PageFrame GLOBAL *)Control->Held)[Frame] = {Page, Number, 0};
  publish(Entries + Number, Frame + dragon::PageFirstFrame);
}

/// Before a slice: pages that it is expected to want come into frames, by
/// `Workers`, this one with fetch(address, entry). Those by which demand is
/// judged stay where they are.
template <typename Function>
INLINE void fetchAhead(const unsigned GLOBAL *Entries, unsigned Shift,
                       unsigned Worker, unsigned Workers,
                       const PageControl GLOBAL *Control, Function fetch) {
  const auto *Tracks = (const PageTrack GLOBAL *)Control->Tracks;
  const auto *Regions = (const PageRegion GLOBAL *)Control->Regions;
  for (unsigned Which = 0; Which < Control->NumRegions; ++Which) {
    const unsigned Ahead = Tracks[Which].Ahead,
                   Behind = Ahead + Tracks[Which].NumAhead;
    for (unsigned Page = Ahead + Worker; Page < Behind; Page += Workers) {
      const unsigned Number = Regions[Which].First + Page;
      if (Entries[Number] != dragon::PageAbsent || dragon::isSampled(Number) ||
          !sourceOf(Number, Control).IsRead)
        continue;
      fetch(Regions[Which].Address + ((unsigned long)Page << Shift), Number);
    }
  }
}

/// Behind a slice: pages without frames; what it has found out of them is
/// forgotten. `Direct`: those too that did not get one.
INLINE void forgetOthers(unsigned GLOBAL *Entries, unsigned Count, bool Direct,
                         const PageControl GLOBAL *Control, Seen &Sample) {
  auto *Marks = (unsigned char GLOBAL *)Control->Marks;
  const unsigned Threads = numberOfThreads(), BreakEven = Control->BreakEven;
  for (unsigned I = threadNumber(); I < Count; I += Threads) {
    const unsigned Entry = Entries[I];
    if ((int)Entry < 0) {
      const unsigned Touches = touchesOf(Entry);
      if (dragon::isSampled(I))
        Sample.add(I, Touches, Control);
      if (BreakEven && Touches >= BreakEven)
        Marks[I] |= dragon::PageWanted;
    } else if (!Direct || Entry != dragon::PageDirect) {
      continue;
    }
    Entries[I] = dragon::PageAbsent;
  }
}

} // namespace

extern "C" KERNEL void __dragon_pages_recycle(PageControl GLOBAL *Control,
                                              unsigned Limit) {
  if (threadNumber() != 0)
    return;
  Control->InUse = framesInUse(Control);
  if (dragon::recyclesFrames(Control->Next, Control->Again, Limit)) {
    Control->Recycled += framesInUse(Control);
    Control->Next = Control->Again = 0;
  }
  Control->Begun = Control->Next;
  const PageSample Sample = Control->Sample;
  Control->EnoughTouches =
      dragon::nextEnough(Control->EnoughTouches, Control->BreakEven, Sample);
  Control->Sample = {0, 0, 0, 0};
  auto *Tracks = (PageTrack GLOBAL *)Control->Tracks;
  const auto *Regions = (const PageRegion GLOBAL *)Control->Regions;
  for (unsigned I = 0; I < Control->NumRegions; ++I) {
    PageTrack Track = Tracks[I];
    dragon::foresee(Track, Regions[I].Count, Control->BreakEven);
    Tracks[I] = Track;
  }
}

/// All threads of a block, first of all.
extern "C" void __dragon_page_begin();

/// A page that is neither on the device nor in a frame, of that entry: fetches
/// it, if there is a frame left. The address to access instead of `Address`.
extern "C" unsigned long
__dragon_page_fetch(unsigned long Address, unsigned Number,
                    unsigned GLOBAL *Entries, unsigned Shift,
                    unsigned long Frames, PageControl GLOBAL *Control);

namespace {

INLINE unsigned long lookUp(unsigned long Address, unsigned GLOBAL *Entries,
                            unsigned Number, unsigned Shift,
                            unsigned long Frames, PageControl GLOBAL *Control,
                            bool Writes) {
  if (Number == NoEntry)
    return Address;
  const unsigned Entry = entrySeen(Entries + Number);
  if (Entry == dragon::PageResident)
    return Address;
  if (Writes) // many threads of one page: all say the same
    __scoped_atomic_store_n((unsigned char GLOBAL *)Control->Marks + Number,
                            (unsigned char)dragon::PageDirty, __ATOMIC_RELAXED,
                            __MEMORY_SCOPE_DEVICE);
  if (!isFrame(Entry))
    return __dragon_page_fetch(Address, Number, Entries, Shift, Frames,
                               Control);
  return inFrame(Address, Entry, Shift, Frames);
}

} // namespace

/// The address to access instead of `Address`, for a load. `IsResident`: it is
/// that of memory which is where it should be.
extern "C" unsigned long
__dragon_page_read(unsigned long Address, unsigned GLOBAL *Entries,
                   unsigned long Base, unsigned long Count, unsigned Shift,
                   unsigned long Frames, PageControl GLOBAL *Control,
                   const PageCell GLOBAL *Cells, unsigned CellShift,
                   unsigned long IsResident) {
  if (IsResident)
    return Address;
  return lookUp(Address, Entries,
                entryOf(Address, Base, Count, Shift, Cells, CellShift), Shift,
                Frames, Control, /*Writes=*/false);
}

/// The same for a store or an atomic operation: the page is dirty then.
extern "C" unsigned long
__dragon_page_write(unsigned long Address, unsigned GLOBAL *Entries,
                    unsigned long Base, unsigned long Count, unsigned Shift,
                    unsigned long Frames, PageControl GLOBAL *Control,
                    const PageCell GLOBAL *Cells, unsigned CellShift,
                    unsigned long IsResident) {
  if (IsResident)
    return Address;
  return lookUp(Address, Entries,
                entryOf(Address, Base, Count, Shift, Cells, CellShift), Shift,
                Frames, Control, /*Writes=*/true);
}

#endif // DRAGON_PASSES_PAGING_DEVICE_PAGEACCESS_H
