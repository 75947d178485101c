//===- PageAccess.cpu.cpp - pages for the host processor
//-------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One thread fetches a page. Others that need it meanwhile wait: the thread
// that fetches waits for nobody, and another one of the host processor runs it.
//
//===----------------------------------------------------------------------===//

#include "passes/paging/device/PageAccess.h"

namespace {

INLINE unsigned entrySeen(const unsigned GLOBAL *Entry) {
  return __atomic_load_n(Entry, __ATOMIC_ACQUIRE);
}
INLINE unsigned entryNow(const unsigned GLOBAL *Entry) {
  return __atomic_load_n(Entry, __ATOMIC_ACQUIRE);
}
INLINE void publish(unsigned GLOBAL *Entry, unsigned Value) {
  __atomic_store_n(Entry, Value, __ATOMIC_RELEASE);
}

INLINE void pauseForHost() {} // a loop that waits yields

INLINE void copyPage(unsigned long To, unsigned long From, unsigned Shift) {
  auto *Into = (unsigned long GLOBAL *)To;
  const auto *Of = (const unsigned long GLOBAL *)From;
  for (unsigned long I = 0; I < (1UL << Shift) / sizeof(unsigned long); ++I)
    Into[I] = Of[I];
}

/// Others run while this thread waits for the host.
__attribute__((noinline)) void fetchStored(unsigned long To, unsigned long Page,
                                           unsigned Shift,
                                           PageControl GLOBAL *Control) {
  const Question Asked(count(&Control->Asked), Control);
  Asked.ask(Page);
  Asked.waitForAnswer();
  copyPage(To, Asked.Page, Shift);
  Asked.end();
}

} // namespace

extern "C" __attribute__((noinline)) unsigned long
__dragon_page_fetch(unsigned long Address, unsigned Number,
                    unsigned GLOBAL *Entries, unsigned Shift,
                    unsigned long Frames, PageControl GLOBAL *Control) {
  const Source From = sourceOf(Number, Control);
  for (;;) {
    const unsigned Entry = entryNow(Entries + Number);
    if (isFrame(Entry))
      return inFrame(Address, Entry, Shift, Frames);
    if (Entry == dragon::PageResident)
      return Address;
    if (Entry == dragon::PageDirect ||
        (Entry == dragon::PageFilling && From.IsRead &&
         Control->EnoughTouches > 1)) {
      count(&Control->Direct);
      return Address + From.Delta;
    }
    if (Entry == dragon::PageFilling)
      continue;
    const unsigned Touches = touchesOf(Entry) + 1;
    if (From.IsRead && Touches < enoughFor(Number, Control)) {
      if (!change(Entries + Number, Entry, dragon::PageTouched | Touches))
        continue;
      count(&Control->Direct);
      return Address + From.Delta;
    }
    if (!change(Entries + Number, Entry, dragon::PageFilling))
      continue;
    const unsigned Frame = count(&Control->Next);
    if (Frame >= Control->NumFrames) {
      if (From.NeedsFrame) {
        giveUp(Entries + Number, Control);
        __nvvm_exit();
      }
      publish(Entries + Number, dragon::PageDirect);
      continue;
    }
    noteFetch(Number, Control);
    const unsigned long Page = Address >> Shift << Shift;
    ((PageFrame GLOBAL *)Control->Held)[Frame] = {Page, Number, Touches};
    const unsigned long To = Frames + ((unsigned long)Frame << Shift);
    if (From.IsStored)
      fetchStored(To, Page, Shift, Control);
    else
      copyPage(To, Page + From.Delta, Shift);
    publish(Entries + Number, Frame + dragon::PageFirstFrame);
  }
}

extern "C" void __dragon_page_begin() {}

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
  Seen Sample;
  for (unsigned Frame = threadNumber(); Frame < Used; Frame += Threads) {
    const unsigned Number = Held[Frame].Entry;
    if (Entries[Number] != Frame + dragon::PageFirstFrame) {
      noteGone(Frame, Control);
      continue;
    }
    const unsigned char Wanted = noteFrame(Frame, Held, Control, Sample);
    const bool IsDirty = Marks[Number] & dragon::PageDirty;
    const Source From = sourceOf(Number, Control);
    if (IsDirty && !From.IsStored)
      copyPage(Held[Frame].Address + From.Delta,
               Frames + ((unsigned long)Frame << Shift), Shift);
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
  forgetOthers(Entries, Count, Leave, Control, Sample);
  Sample.tell(&Control->Sample);
}

extern "C" KERNEL void __dragon_pages_ahead(unsigned GLOBAL *Entries,
                                            unsigned Shift,
                                            unsigned long Frames,
                                            PageControl GLOBAL *Control) {
  fetchAhead(Entries, Shift, threadNumber(), numberOfThreads(), Control,
             [&](unsigned long Page, unsigned Number) {
               const unsigned Frame = takeFrameAhead(Control);
               if (Frame == Control->NumFrames)
                 return;
               copyPage(Frames + ((unsigned long)Frame << Shift),
                        Page + sourceOf(Number, Control).Delta, Shift);
               publishAhead(Frame, Page, Number, Entries, Control);
             });
}
