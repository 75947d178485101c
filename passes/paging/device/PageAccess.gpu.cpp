//===- PageAccess.gpu.cpp - pages for GPUs
//---------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The threads of a warp that come together fetch the pages that they need one
// after the other, each with all of them: the link wants many requests at a
// time, and in order. Often they are few. So where the GPU has a unit that
// copies (sm_90), one of them lets that do it, by way of shared memory. A page
// takes one thread 61 us, three 22, eight 6, a warp 1.6, and that unit 1.7
// (H100); it needs no registers, either.
//
//===----------------------------------------------------------------------===//

#include "passes/paging/device/PageAccess.h"

namespace {

typedef unsigned long Words __attribute__((ext_vector_type(2)));

INLINE unsigned entrySeen(const unsigned GLOBAL *Entry) { return *Entry; }
INLINE unsigned entryNow(const unsigned GLOBAL *Entry) {
  unsigned Value;
  asm volatile("ld.relaxed.gpu.u32 %0, [%1];"
               : "=r"(Value)
               : "l"(Entry)
               : "memory");
  return Value;
}
INLINE void publish(unsigned GLOBAL *Entry, unsigned Value) {
  asm volatile("st.relaxed.gpu.u32 [%0], %1;" ::"l"(Entry), "r"(Value)
               : "memory");
}

INLINE void pauseForHost() { asm volatile("nanosleep.u32 1000;" ::: "memory"); }

INLINE unsigned activeLanes() {
  unsigned Mask;
  asm volatile("activemask.b32 %0;" : "=r"(Mask)::"memory");
  return Mask;
}

INLINE unsigned lanesBelow() {
  unsigned Mask;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(Mask));
  return Mask;
}

/// Of the lanes, one for each line of 128 bytes: what they access there comes
/// with one request.
INLINE unsigned requestsOf(unsigned Lanes, unsigned long Address) {
  const unsigned Same = __nvvm_match_any_sync_i64(Lanes, (long)(Address / 128));
  return __nvvm_vote_ballot_sync(Lanes, !(Same & lanesBelow()));
}

/// All of the lanes go to sources.
INLINE void countDirect(unsigned Lanes, unsigned long Address,
                        PageControl GLOBAL *Control) {
  const unsigned Requests = requestsOf(Lanes, Address);
  if (!(Lanes & lanesBelow()))
    count(&Control->Direct, (unsigned long)__builtin_popcount(Requests));
}

INLINE unsigned shuffled(unsigned Lanes, unsigned Value, int From) {
  return (unsigned)__nvvm_shfl_sync_idx_i32(Lanes, (int)Value, From, 31);
}
INLINE unsigned long shuffled(unsigned Lanes, unsigned long Value, int From) {
  const unsigned Low = shuffled(Lanes, (unsigned)Value, From);
  const unsigned High = shuffled(Lanes, (unsigned)(Value >> 32), From);
  return (unsigned long)High << 32 | Low;
}

/// By so many threads, of which this is the `Rank`-th.
INLINE void copyPage(unsigned long To, unsigned long From, unsigned Shift,
                     unsigned Rank, unsigned Together) {
  auto *Into = (Words GLOBAL *)To;
  const auto *Of = (const Words GLOBAL *)From;
  const unsigned Count = (1U << Shift) / sizeof(Words);
  constexpr unsigned AtOnce = 8;
  unsigned I = Rank;
  for (; I + (AtOnce - 1) * Together < Count; I += AtOnce * Together) {
    Words Some[AtOnce];
#pragma unroll
    for (unsigned K = 0; K < AtOnce; ++K)
      Some[K] = __builtin_nontemporal_load(Of + I + K * Together);
#pragma unroll
    for (unsigned K = 0; K < AtOnce; ++K)
      Into[I + K * Together] = Some[K];
  }
  for (; I < Count; I += Together)
    Into[I] = __builtin_nontemporal_load(Of + I);
}

/// The same from a request's page, which the host has just written: not out of
/// a cache.
INLINE void copyAnswer(unsigned long To, unsigned long From, unsigned Shift,
                       unsigned Rank, unsigned Together) {
  auto *Into = (Words GLOBAL *)To;
  const auto *Of = (const volatile Words GLOBAL *)From;
  for (unsigned I = Rank; I < (1U << Shift) / sizeof(Words); I += Together)
    Into[I] = Of[I];
}

/// Lanes that fetch pages of storage ask for all of them at once. The number of
/// this one's request, if it does.
INLINE unsigned long askForStored(unsigned Lanes, bool Asks, unsigned long Page,
                                  PageControl GLOBAL *Control) {
  const unsigned Asking = __nvvm_vote_ballot_sync(Lanes, Asks);
  if (!Asking)
    return 0;
  const int First = __builtin_ctz(Asking);
  unsigned long Number = 0;
  if (Asks && !(Asking & lanesBelow()))
    Number = count(&Control->Asked, (unsigned long)__builtin_popcount(Asking));
  Number = shuffled(Lanes, Number, First) +
           __builtin_popcount(Asking & lanesBelow());
  if (Asks)
    Question(Number, Control).ask(Page);
  __nvvm_bar_warp_sync(Lanes);
  return Number;
}

/// As enoughFor(), for lanes that would copy the page together. Without the
/// unit few of them take many times as long as all.
INLINE unsigned enoughForLanes([[maybe_unused]] unsigned Lanes, unsigned Number,
                               const PageControl GLOBAL *Control) {
  const unsigned Enough = enoughFor(Number, Control);
#if !DRAGON_BULK_COPIES
  constexpr int Few = 8;
  const unsigned Reluctant = Control->BreakEven * dragon::PageReluctance;
  if (__builtin_popcount(Lanes) < Few && Enough < Reluctant)
    return Reluctant;
#endif
  return Enough;
}

#if DRAGON_BULK_COPIES
#define SHARED __attribute__((address_space(3)))

/// Pages on their way, in the shared memory of a block.
constexpr unsigned Buffers = 4;
constexpr unsigned MostBytes = 4096;

struct __attribute__((aligned(128))) Bulk {
  unsigned char Page[Buffers][MostBytes];
  unsigned long Arrived[Buffers]; ///< an mbarrier each
  unsigned Phase[Buffers];
  unsigned Taken[Buffers];
};

SHARED Bulk InBulk;

INLINE unsigned sharedAddress(const SHARED void *Object) {
  return (unsigned)(unsigned long)Object;
}

/// One thread's.
INLINE void copyInBulk(unsigned long To, unsigned long From, unsigned Shift) {
  unsigned Which = 0;
  for (unsigned Expected = 0;; Expected = 0, Which = (Which + 1) % Buffers) {
    if (__scoped_atomic_compare_exchange_n(
            &InBulk.Taken[Which], &Expected, 1U, false, __ATOMIC_ACQUIRE,
            __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP))
      break;
    if (Which == Buffers - 1)
      asm volatile("nanosleep.u32 100;" ::: "memory");
  }
  const unsigned Bytes = 1U << Shift;
  const unsigned Arrived = sharedAddress(&InBulk.Arrived[Which]);
  const unsigned Page = sharedAddress(&InBulk.Page[Which]);
  const unsigned Phase = InBulk.Phase[Which];
  asm volatile(
      "mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(Arrived),
      "r"(Bytes)
      : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
               "bytes [%0], [%1], %2, [%3];" ::"r"(Page),
               "l"(From), "r"(Bytes), "r"(Arrived)
               : "memory");
  for (unsigned Done = 0; !Done;)
    asm volatile("{\n\t.reg .pred done;\n\t"
                 "mbarrier.try_wait.parity.shared.b64 done, [%1], %2;\n\t"
                 "selp.u32 %0, 1, 0, done;\n\t}"
                 : "=r"(Done)
                 : "r"(Arrived), "r"(Phase)
                 : "memory");
  InBulk.Phase[Which] = Phase ^ 1;
  asm volatile(
      "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(To),
      "r"(Page), "r"(Bytes)
      : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  asm volatile("fence.proxy.async;" ::: "memory");
  __scoped_atomic_store_n(&InBulk.Taken[Which], 0U, __ATOMIC_RELEASE,
                          __MEMORY_SCOPE_WRKGRP);
}
#endif

/// What a lane fetches.
struct Fetch {
  unsigned long Page;
  unsigned long Asked; ///< the number of its request, if it is stored
  unsigned Number, Frame, Touches;
};

/// Those of the lanes in `Left` fetch a page each, all of them together.
INLINE void fetchTogether(unsigned Lanes, unsigned Left, const Fetch &Mine,
                          unsigned GLOBAL *Entries, unsigned Shift,
                          unsigned long Frames, PageControl GLOBAL *Control) {
  const unsigned Rank = __builtin_popcount(Lanes & lanesBelow());
  const unsigned Together = __builtin_popcount(Lanes);
  while (Left) {
    const int Lane = __builtin_ctz(Left);
    Left &= Left - 1;
    const unsigned long Fetched = shuffled(Lanes, Mine.Page, Lane);
    const unsigned Which = shuffled(Lanes, Mine.Number, Lane);
    const unsigned Into = shuffled(Lanes, Mine.Frame, Lane);
    const unsigned Wanted = shuffled(Lanes, Mine.Touches, Lane);
    const unsigned long To = Frames + ((unsigned long)Into << Shift);
    const Source Its = sourceOf(Which, Control);
    if (Its.IsStored) {
      const Question Answered(shuffled(Lanes, Mine.Asked, Lane), Control);
      if (Rank == 0)
        Answered.waitForAnswer();
      __nvvm_bar_warp_sync(Lanes);
      copyAnswer(To, Answered.Page, Shift, Rank, Together);
      __nvvm_bar_warp_sync(Lanes);
      if (Rank == 0)
        Answered.end();
    } else {
#if DRAGON_BULK_COPIES
      if (Rank == 0)
        copyInBulk(To, Fetched + Its.Delta, Shift);
#else
      copyPage(To, Fetched + Its.Delta, Shift, Rank, Together);
#endif
    }
    __nvvm_membar_gl();
    __nvvm_bar_warp_sync(Lanes);
    if (Rank == 0) {
      ((PageFrame GLOBAL *)Control->Held)[Into] = {Fetched, Which, Wanted};
      publish(Entries + Which, Into + dragon::PageFirstFrame);
    }
  }
}

} // namespace

extern "C" __attribute__((noinline)) unsigned long
__dragon_page_fetch(unsigned long Address, unsigned Number,
                    unsigned GLOBAL *Entries, unsigned Shift,
                    unsigned long Frames, PageControl GLOBAL *Control) {
  const unsigned long Page = Address >> Shift << Shift;
  const Source From = sourceOf(Number, Control);
  for (;;) {
    const unsigned Entry = entryNow(Entries + Number);
    if (isFrame(Entry))
      return inFrame(Address, Entry, Shift, Frames);
    if (Entry == dragon::PageResident)
      return Address;
    // Where most of each page is wanted, it costs least to wait for it.
    if (Entry == dragon::PageDirect ||
        (Entry == dragon::PageFilling && From.IsRead &&
         Control->EnoughTouches > 1)) {
      countDirect(activeLanes(), Address, Control);
      return Address + From.Delta;
    }
    const unsigned Lanes = activeLanes();
    const unsigned Same = __nvvm_match_any_sync_i32(Lanes, (int)Number);
    const bool IsFirst = !(Same & lanesBelow());
    const unsigned Touches =
        touchesOf(Entry) +
        __builtin_popcount(Same & requestsOf(Lanes, Address));
    const bool Waits = Entry == dragon::PageFilling;
    const bool Passes = From.IsRead && !Waits &&
                        Touches < enoughForLanes(Lanes, Number, Control);
    unsigned Frame = 0;
    bool Fetches = false, Ends = false;
    // Who is not counted asks again: where many warps come to a page at once,
    // it would else never look wanted.
    const bool Lost =
        IsFirst && Passes &&
        !change(Entries + Number, Entry, dragon::PageTouched | Touches);
    const unsigned LostLanes = __nvvm_vote_ballot_sync(Lanes, Lost);
    const bool Again = Passes && (LostLanes >> __builtin_ctz(Same) & 1);
    if (IsFirst && !Passes && !Waits &&
        change(Entries + Number, Entry, dragon::PageFilling)) {
      Frame = count(&Control->Next);
      Fetches = Frame < Control->NumFrames;
      if (Fetches)
        noteFetch(Number, Control);
      else if (From.NeedsFrame)
        giveUp(Entries + Number, Control);
      else
        publish(Entries + Number, dragon::PageDirect);
      Ends = !Fetches && From.NeedsFrame;
    }
    const unsigned Left = __nvvm_vote_ballot_sync(Lanes, Fetches);
    if (!Left && Waits)
      asm volatile("nanosleep.u32 200;" ::: "memory");
    const Fetch Mine = {
        Page, askForStored(Lanes, Fetches && From.IsStored, Page, Control),
        Number, Frame, Touches};
    fetchTogether(Lanes, Left, Mine, Entries, Shift, Frames, Control);
    if (Ends)
      __nvvm_exit();
    if (Passes && !Again) {
      countDirect(activeLanes(), Address, Control);
      return Address + From.Delta;
    }
  }
}

extern "C" void __dragon_page_begin() {
#if DRAGON_BULK_COPIES
  if (__nvvm_read_ptx_sreg_tid_x() == 0 && __nvvm_read_ptx_sreg_tid_y() == 0 &&
      __nvvm_read_ptx_sreg_tid_z() == 0)
    for (unsigned I = 0; I < Buffers; ++I) {
      InBulk.Phase[I] = InBulk.Taken[I] = 0;
      asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(
                       sharedAddress(&InBulk.Arrived[I]))
                   : "memory");
    }
  asm volatile("fence.proxy.async;" ::: "memory");
  __nvvm_bar_sync(0);
#endif
}

extern "C" KERNEL void __dragon_page_write_back(unsigned GLOBAL *Entries,
                                                unsigned Count, unsigned Shift,
                                                unsigned long Frames,
                                                PageControl GLOBAL *Control,
                                                unsigned Limit) {
  auto *Marks = (unsigned char GLOBAL *)Control->Marks;
  const auto *Held = (const PageFrame GLOBAL *)Control->Held;
  const unsigned Used = framesInUse(Control), Threads = numberOfThreads();
  const bool Leave =
      dragon::recyclesFrames(Control->Next, Control->Again, Limit);
  const unsigned Lane = threadNumber() % 32;
  Seen Sample;
  for (unsigned Frame = threadNumber() / 32; Frame < Used;
       Frame += Threads / 32) {
    const unsigned Number = Held[Frame].Entry;
    if (Entries[Number] != Frame + dragon::PageFirstFrame) {
      if (Lane == 0)
        noteGone(Frame, Control);
      continue;
    }
    const bool IsDirty = Marks[Number] & dragon::PageDirty;
    const Source From = sourceOf(Number, Control);
    if (IsDirty && !From.IsStored)
      copyPage(Held[Frame].Address + From.Delta,
               Frames + ((unsigned long)Frame << Shift), Shift, Lane, 32);
    __nvvm_bar_warp_sync(~0U);
    if (Lane == 0) {
      const unsigned char Wanted = noteFrame(Frame, Held, Control, Sample);
      noteStored(Frame, IsDirty, Control);
      if (IsDirty) {
        Marks[Number] = 0;
        count(&Control->Written);
      }
      if (Leave) {
        Marks[Number] = dragon::PageLeft | Wanted;
        Entries[Number] = dragon::PageAbsent;
      }
    }
  }
  forgetOthers(Entries, Count, Leave, Control, Sample);
  Sample.tell(&Control->Sample);
}

extern "C" KERNEL void __dragon_pages_ahead(unsigned GLOBAL *Entries,
                                            unsigned Shift,
                                            unsigned long Frames,
                                            PageControl GLOBAL *Control) {
  const unsigned Lane = threadNumber() % 32;
  fetchAhead(Entries, Shift, threadNumber() / 32, numberOfThreads() / 32,
             Control, [&](unsigned long Page, unsigned Number) {
               unsigned Frame = Lane == 0 ? takeFrameAhead(Control) : 0;
               Frame = shuffled(~0U, Frame, 0);
               if (Frame == Control->NumFrames)
                 return;
               copyPage(Frames + ((unsigned long)Frame << Shift),
                        Page + sourceOf(Number, Control).Delta, Shift, Lane,
                        32);
               if (Lane == 0)
                 publishAhead(Frame, Page, Number, Entries, Control);
             });
}
