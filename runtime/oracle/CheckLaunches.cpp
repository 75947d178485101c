//===- CheckLaunches.cpp - what kernels do, held against the shadow -------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dragon/CompilerABI.h"
#include "dragon/dragon.h"
#include "runtime/base/SymbolNames.h"
#include "runtime/oracle/Check.h"

#include <algorithm>
#include <fmt/format.h>

namespace dragon::oracle {

namespace {

const unsigned char *memoryOf(uint64_t page) {
  return reinterpret_cast<const unsigned char *>(page * PageBytes);
}

/// The bytes of the page that lie in one of the ranges, which are sorted.
PageMask within(const std::vector<AddressRange> &ranges, uint64_t page) {
  const uintptr_t begin = page * PageBytes, end = begin + PageBytes;
  PageMask mask;
  auto next = std::partition_point(
      ranges.begin(), ranges.end(),
      [&](const AddressRange &range) { return range.end <= begin; });
  for (; next != ranges.end() && next->begin < end; ++next)
    mask.add(std::max(next->begin, begin) - begin,
             std::min(next->end, end) - begin);
  return mask;
}

void sortRanges(std::vector<AddressRange> &ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const AddressRange &a, const AddressRange &b) {
              return a.begin < b.begin;
            });
}

} // namespace

void Check::launchBegins(const char *kernel, uint64_t number) {
  const std::string name = fmt::format("'{}'", shortName(kernel));
  const std::string which = fmt::format(" (launch {})", number);
  Actor = "kernel " + name;
  LaunchWriter = writer(name + which, number);
  Report.actor(Actor, which);
  Launches += number > Latest;
  Latest = std::max(Latest, number);
  Launch = number;
}

void Check::blocksRun(const ObservedBlocks &blocks,
                      std::span<const AddressRange> remote) {
  Report.actor(Actor, fmt::format(" (launch {})", Launch));
  Touched.clear();
  Blocks = blocks;
  for (auto *ranges : {&Blocks.may, &Blocks.mayWrite, &Blocks.must})
    sortRanges(*ranges);
  // What the host sees it may have changed.
  Shared.clear();
  for (const AddressRange &range : remote)
    if (const Known *known = knownAt(range.begin);
        known && known->buffer.hostAccessible) {
      hostWrote(range, HostAccess::Fault, nullptr);
      Shared.push_back(range);
    }
  sortRanges(Shared);
}

Check::Touch &Check::touch(uint64_t page) {
  auto [there, isNew] = Touched.try_emplace(page);
  if (isNew)
    there->second.shadow = Contents.find(page);
  return there->second;
}

void Check::firstRead(uintptr_t address) {
  Touch &touched = touch(pageOf(address));
  if (!touched.shadow)
    return;
  // Where the kernel may not read, it stops here, at the address that it would
  // stop at, and the page is known to have been touched.
  [[maybe_unused]] const volatile unsigned char probe =
      *reinterpret_cast<const unsigned char *>(address);
  touched.differs = touched.shadow->differs(memoryOf(pageOf(address)));
}

void Check::step(std::span<const PageAccess> accesses) {
  for (const PageAccess &access : accesses)
    touch(access.page).access = access;
}

void Check::blocksEnd(bool completed) {
  Recorder.finish();
  std::vector<uint64_t> pages;
  pages.reserve(Touched.size());
  for (const auto &[page, touched] : Touched)
    pages.push_back(page);
  std::sort(pages.begin(), pages.end());
  for (uint64_t page : pages) {
    Touch &touched = Touched[page];
    judge(page, touched);
    if (completed)
      settle(page, touched);
  }
  if (completed)
    judgeOverwritten();
  Report.tell();
  Touched.clear();
}

/// The launch is over for who reads next, and nothing it wrote can be had.
void Check::processEnds() { blocksEnd(/*completed=*/false); }

void Check::judge(uint64_t page, Touch &touched) {
  const PageAccess &access = touched.access;
  Compared += access.read.count();
  if (!Blocks.anything)
    judgeAnnounced(page, access);
  judgeMapped(page, access.write);
  if (!touched.shadow)
    return;
  ShadowPage &shadow = *touched.shadow;
  const PageMask lost =
      (touched.differs & access.read) - endedFor(shadow, Launch);
  if (lost.any()) {
    problem(CheckReport::ReadsLost, page, lost,
            "last written by " + lastWriter(shadow, lost));
    shadow.defined -= lost; // told once
  }
  judgeEnds(page, shadow, access.read);
  judgeOrder(page, shadow, access);
}

/// Small buffers share pages.
void Check::judgeMapped(uint64_t page, const PageMask &writes) {
  if (!writes.any())
    return;
  const uintptr_t base = page * PageBytes, end = base + PageBytes;
  auto next = Buffers.upper_bound(base);
  if (next != Buffers.begin())
    --next;
  for (; next != Buffers.end() && next->first < end; ++next) {
    const ObservedBuffer &buffer = next->second.buffer;
    if (!buffer.why || buffer.flags != D_READ || buffer.range.end <= base)
      continue;
    const PageMask own =
        maskOf(std::max(base, buffer.range.begin) - base,
               std::min<uintptr_t>(end, buffer.range.end) - base);
    if (const PageMask part = writes & own; part.any())
      problem(CheckReport::WritesMapped, page, part, textOf(*buffer.why));
  }
}

void Check::judgeAnnounced(uint64_t page, const PageAccess &access) {
  const PageMask may = within(Blocks.may, page);
  if (const PageMask reads = access.read - may; reads.any())
    problem(CheckReport::ReadsUnannounced, page, reads, "");
  if (const PageMask writes = access.write - may; writes.any())
    problem(CheckReport::WritesUnannounced, page, writes, "");
  const PageMask writes = (access.write & may) - within(Blocks.mayWrite, page);
  if (writes.any())
    problem(CheckReport::WritesReadOnly, page, writes, "");
}

void Check::judgeOverwritten() {
  for (const AddressRange &range : Blocks.must)
    forEachPage(
        range.begin, range.end, [&](uint64_t page, size_t begin, size_t end) {
          PageMask read, left = maskOf(begin, end);
          if (auto found = Touched.find(page); found != Touched.end()) {
            read = found->second.access.read & left;
            left -= found->second.access.write | read;
          }
          if (read.any())
            problem(CheckReport::ReadsBeforeOverwriting, page, read, "");
          if (left.any())
            problem(CheckReport::NotOverwritten, page, left, "");
        });
}

void Check::judgeOrder(uint64_t page, const ShadowPage &shadow,
                       const PageAccess &access) {
  auto compare = [&](const ByteMarks &marks, const PageMask &bytes,
                     const char *what) {
    for (const ByteMarks::Mark &mark : marks.all()) {
      const Written &other = Writers[mark.number - 1];
      const PageMask wrong = mark.bytes & bytes;
      if (other.launch > Launch && wrong.any())
        problem(CheckReport::OutOfOrder, page, wrong,
                fmt::format("{}, which comes later, has {} them", other.what,
                            what));
    }
  };
  compare(shadow.writers, access.read | access.write, "written");
  compare(shadow.readers, access.write, "read");
}

/// Brings the shadow up to date with what the launch has done to a page.
void Check::settle(uint64_t page, Touch &touched) {
  const PageAccess &access = touched.access;
  const Known *known = knownAt(page * PageBytes);
  if (known && known->unseen)
    return;
  if (access.write.any()) {
    ShadowPage &shadow = Contents.at(page);
    shadow.take(access.write, memoryOf(page));
    clearEnds(shadow, access.write, Launch);
    shadow.writers.set(LaunchWriter, access.write);
    shadow.readers.clear(access.write);
    touched.shadow = &shadow;
  }
  if (ShadowPage *shadow = touched.shadow; shadow && access.read.any()) {
    shadow->take((access.read - access.write) & shadow->foreign,
                 memoryOf(page));
    shadow->readers.set(LaunchWriter, access.read - access.write);
  }
  // The host may change it again, without a fault.
  if (ShadowPage *shadow = touched.shadow) {
    const PageMask shared = within(Shared, page);
    shadow->foreign |= shadow->defined & shared;
    shadow->defined -= shared;
  }
}

} // namespace dragon::oracle
