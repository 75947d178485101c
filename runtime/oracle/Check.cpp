//===- Check.cpp - finds directives that change a program -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/oracle/Check.h"
#include "dragon/CompilerABI.h"
#include "dragon/dragon.h"
#include "runtime/base/SymbolNames.h"
#include "runtime/trace/Bytes.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <utility>

namespace dragon::oracle {

Check::Check(CheckReport::Print print, bool quiet)
    : Report(std::move(print)), Quiet(quiet) {}

const Check::Known *Check::knownAt(uintptr_t address) const {
  auto next = Buffers.upper_bound(address);
  if (next == Buffers.begin())
    return nullptr;
  const Known &known = std::prev(next)->second;
  return address < known.buffer.range.end ? &known : nullptr;
}

std::string Check::named(const Known &known) const {
  const ObservedBuffer &buffer = known.buffer;
  if (!buffer.name.empty())
    return fmt::format("'{}'", buffer.name);
  return fmt::format("buffer {} ({})", known.number,
                     formatBytes(buffer.range.end - buffer.range.begin));
}

uint32_t Check::writer(std::string what, uint64_t launch) {
  Writers.push_back({std::move(what), launch});
  return uint32_t(Writers.size());
}

std::string Check::lastWriter(const ShadowPage &shadow,
                              const PageMask &bytes) const {
  for (const ByteMarks::Mark &mark : shadow.writers.all())
    if ((mark.bytes & bytes).any())
      return Writers[mark.number - 1].what;
  return "nobody";
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

/// Bytes of a page, by the buffers that they are in.
void Check::problem(CheckReport::Kind kind, uint64_t page,
                    const PageMask &bytes, std::string after) {
  const uintptr_t base = page * PageBytes;
  for (size_t i = 0; i < PageBytes;) {
    const Known *known = bytes.test(i) ? knownAt(base + i) : nullptr;
    if (!known || known->unseen) {
      ++i;
      continue;
    }
    const AddressRange &range = known->buffer.range;
    size_t end = i;
    while (end < PageBytes && base + end < range.end && bytes.test(end))
      ++end;
    Report.add(kind, named(*known), base + i - range.begin,
               base + end - range.begin, after);
    i = end;
  }
}

int Check::verdict() {
  const uint64_t problems = Report.problems();
  if (problems)
    Report.print(fmt::format(
        "check: {} {} wrong in {} launches: results cannot be trusted",
        problems, problems == 1 ? "thing is" : "things are", Launches));
  else if (!Quiet)
    Report.print(fmt::format("check: {} launches read {}, nothing is wrong",
                             Launches, formatBytes(Compared)));
  return problems ? CheckFailedStatus : 0;
}

//===----------------------------------------------------------------------===//
// Buffers, and what the host does to them
//===----------------------------------------------------------------------===//

void Check::allocated(const ObservedBuffer &buffer) {
  Contents.forget(buffer.range);
  Buffers[buffer.range.begin] = {buffer, ++Allocations};
  Recorder.addBuffer(buffer.range);
  if (buffer.hostAccessible)
    hostWrote(buffer.range, HostAccess::Fault, nullptr);
}

void Check::freed(AddressRange range) {
  Contents.forget(range);
  Buffers.erase(range.begin);
  Recorder.removeBuffer(range);
}

void Check::unseen(AddressRange range) {
  for (auto &[begin, known] : Buffers)
    if (begin >= range.begin && begin < range.end)
      known.unseen = true;
  Contents.forget(range);
}

void Check::touchesElided(const ObservedHostCode &code) {
  const char *verb = code.writes ? "writes" : "reads", *memory = "";
  switch (code.rule) {
  case ObservedHostCode::Filled:
    memory = "memory that a directive keeps from being filled";
    break;
  case ObservedHostCode::Source:
    verb = "changes";
    memory = "memory that a directive lets be copied later";
    break;
  case ObservedHostCode::Place:
    memory = "memory that a directive lets results come to early";
    break;
  }
  Report.tell(fmt::format("host code at {}:{} {} {}: {}", code.file, code.line,
                          verb, memory, textOf(*code.why)));
}

void Check::written(AddressRange range, uint32_t writer,
                    const std::function<void(ShadowPage &, const PageMask &,
                                             uint64_t page)> &how) {
  const Known *known = knownAt(range.begin);
  if (!known || known->unseen)
    return;
  forEachPage(range.begin, range.end,
              [&](uint64_t page, size_t begin, size_t end) {
                ShadowPage &shadow = Contents.at(page);
                const PageMask part = maskOf(begin, end);
                how(shadow, part, page);
                shadow.writers.set(writer, part);
                shadow.readers.clear(part);
                shadow.ends.clear(part);
              });
}

/// Whether the contents go to the host or come from there as a whole.
static bool isTransfer(HostAccess how) {
  return how == HostAccess::Copy || how == HostAccess::File;
}

void Check::hostWrote(AddressRange range, HostAccess how,
                      const void *contents) {
  const auto *from = static_cast<const unsigned char *>(contents);
  const char *what = how == HostAccess::Copy       ? "a copy from the host"
                     : how == HostAccess::Variable ? "a copy of a variable"
                     : how == HostAccess::File     ? "a file that was mapped"
                                                   : "the host";
  if (const Known *known = knownAt(range.begin);
      known && known->buffer.why && isTransfer(how)) {
    const unsigned flags = known->buffer.flags;
    if (!(flags & D_READ)) {
      Report.actor(what);
      Report.add(CheckReport::Comes, named(*known),
                 range.begin - known->buffer.range.begin,
                 range.end - known->buffer.range.begin,
                 textOf(*known->buffer.why));
      Report.tell();
    }
  }
  written(range, writer(what),
          [&](ShadowPage &shadow, const PageMask &part, uint64_t page) {
            if (!from) {
              shadow.foreign |= part;
              shadow.defined -= part;
              return;
            }
            const uintptr_t base = page * PageBytes;
            const uintptr_t begin = std::max<uintptr_t>(base, range.begin);
            const uintptr_t end =
                std::min<uintptr_t>(base + PageBytes, range.end);
            std::memcpy(shadow.bytes.data() + (begin - base),
                        from + (begin - range.begin), end - begin);
            shadow.defined |= part;
            shadow.foreign -= part;
          });
}

void Check::filled(AddressRange range, uint32_t value, unsigned width) {
  unsigned char pattern[sizeof(value)];
  std::memcpy(pattern, &value, sizeof(value));
  written(range, writer("a fill"),
          [&](ShadowPage &shadow, const PageMask &part, uint64_t page) {
            const uintptr_t base = page * PageBytes;
            const uintptr_t begin = std::max<uintptr_t>(base, range.begin);
            const uintptr_t end =
                std::min<uintptr_t>(base + PageBytes, range.end);
            for (uintptr_t at = begin; at < end; ++at)
              shadow.bytes[at - base] = pattern[(at - range.begin) % width];
            shadow.defined |= part;
            shadow.foreign -= part;
          });
}

void Check::copied(uintptr_t to, uintptr_t from, size_t bytes) {
  Report.actor("a copy between buffers");
  forEachPage(from, from + bytes, [&](uint64_t page, size_t begin, size_t end) {
    readByHost(page, maskOf(begin, end), HostAccess::Copy, nullptr);
  });
  Report.tell();
  const Known *target = knownAt(to), *source = knownAt(from);
  if (!target || target->unseen)
    return;
  if (!source || source->unseen)
    hostWrote({to, to + bytes}, HostAccess::Fault, nullptr);
  else
    Contents.copy(to, from, bytes, writer("a copy between buffers"));
}

void Check::hostRead(AddressRange range, HostAccess how, const void *contents) {
  Report.actor(how == HostAccess::Copy       ? "a copy to the host"
               : how == HostAccess::Variable ? "a copy to a variable"
               : how == HostAccess::File     ? "a write to a file"
                                             : "the host");
  const Known *known = knownAt(range.begin);
  if (!known || known->unseen)
    return;
  if (known->buffer.why && isTransfer(how) &&
      !(known->buffer.flags & D_WRITE) && (known->buffer.flags & D_VOLATILE))
    Report.add(CheckReport::Goes, named(*known),
               range.begin - known->buffer.range.begin,
               range.end - known->buffer.range.begin,
               textOf(*known->buffer.why));
  std::array<unsigned char, PageBytes> memory{};
  const auto *from = static_cast<const unsigned char *>(contents);
  forEachPage(range.begin, range.end,
              [&](uint64_t page, size_t begin, size_t end) {
                if (from) {
                  const uintptr_t at = page * PageBytes + begin;
                  std::memcpy(memory.data() + begin, from + (at - range.begin),
                              end - begin);
                }
                readByHost(page, maskOf(begin, end), how,
                           from ? memory.data() : nullptr);
              });
  Report.tell();
}

/// `memory`: the page's bytes, as far as they are in the part.
void Check::readByHost(uint64_t page, const PageMask &part, HostAccess how,
                       const unsigned char *memory) {
  ShadowPage *shadow = Contents.find(page);
  if (!shadow)
    return;
  const PageMask ended = endedFor(*shadow, UINT64_MAX) & part;
  // Which bytes the processor looks at is not known.
  if (how != HostAccess::Fault)
    judgeEnds(page, *shadow, part);
  if (!memory)
    return;
  const PageMask lost = (shadow->differs(memory) & part) - ended;
  if (!lost.any())
    return;
  problem(CheckReport::ReadsLost, page, lost,
          "last written by " + lastWriter(*shadow, lost));
  shadow->take(lost, memory);
}

//===----------------------------------------------------------------------===//
// Ends of contents
//===----------------------------------------------------------------------===//

void Check::discarded(const ObservedEnd &end) {
  const Known *known = knownAt(end.range.begin);
  if (!known || known->unseen)
    return;
  Ends.push_back({end.launch, end.why});
  const auto number = uint32_t(Ends.size());
  forEachPage(end.range.begin, end.range.end,
              [&](uint64_t page, size_t begin, size_t to) {
                // What was never written may be written before the launch is.
                ByteMarks &ends = Contents.at(page).ends;
                const PageMask part = maskOf(begin, to);
                PageMask known; // by the same directive, in an earlier round
                for (const ByteMarks::Mark &mark : ends.all())
                  if (const End &other = Ends[mark.number - 1];
                      other.why == end.why && other.launch <= Latest)
                    known |= mark.bytes;
                if (const PageMask added = part - known; added.any())
                  ends.add(number, added);
              });
}

PageMask Check::endedFor(const ShadowPage &shadow, uint64_t number) const {
  PageMask ended;
  for (const ByteMarks::Mark &mark : shadow.ends.all())
    if (Ends[mark.number - 1].launch < number)
      ended |= mark.bytes;
  return ended;
}

void Check::clearEnds(ShadowPage &shadow, const PageMask &bytes,
                      uint64_t number) {
  // Others that concern the same bytes are of launches before, too, or else
  // will be told of again.
  if (const PageMask ended = endedFor(shadow, number) & bytes; ended.any())
    shadow.ends.clear(ended);
}

/// Reports reads of contents that have ended: they are undefined.
void Check::judgeEnds(uint64_t page, ShadowPage &shadow, const PageMask &read) {
  const uint64_t number = Launch ? Launch : UINT64_MAX;
  PageMask told;
  for (const ByteMarks::Mark &mark : shadow.ends.all()) {
    const End &end = Ends[mark.number - 1];
    const PageMask bytes = mark.bytes & read;
    if (end.launch >= number || !bytes.any())
      continue;
    told |= bytes;
    // Nobody has ever written the others.
    const PageMask had = bytes & (shadow.defined | shadow.foreign);
    if (end.why && had.any())
      problem(CheckReport::ReadsEnded, page, had,
              fmt::format("{}; last written by {}", textOf(*end.why),
                          lastWriter(shadow, had)));
  }
  if (!told.any())
    return;
  shadow.ends.clear(told);
  shadow.defined -= told;
  shadow.foreign -= told;
}

} // namespace dragon::oracle
