//===- Shadow.cpp - the contents that a program ought to have -------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/oracle/Shadow.h"

#include <algorithm>
#include <cstring>

namespace dragon::oracle {

void ByteMarks::set(uint32_t number, const PageMask &bytes) {
  clear(bytes);
  add(number, bytes);
}

void ByteMarks::add(uint32_t number, const PageMask &bytes) {
  auto same = std::find_if(Marks.begin(), Marks.end(), [&](const Mark &mark) {
    return mark.number == number;
  });
  if (same != Marks.end())
    same->bytes |= bytes;
  else
    Marks.push_back({number, bytes});
}

void ByteMarks::clear(const PageMask &bytes) {
  if (Marks.empty())
    return;
  for (Mark &mark : Marks)
    mark.bytes -= bytes;
  std::erase_if(Marks, [](const Mark &mark) { return !mark.bytes.any(); });
}

PageMask ShadowPage::differs(const unsigned char *memory) const {
  PageMask result;
  if (!defined.any() || std::memcmp(memory, bytes.data(), PageBytes) == 0)
    return result;
  for (size_t i = 0; i < PageBytes; ++i)
    if (memory[i] != bytes[i])
      result.set(i, true);
  return result & defined;
}

void ShadowPage::take(const PageMask &which, const unsigned char *memory) {
  if (which == PageMask::all())
    std::memcpy(bytes.data(), memory, PageBytes);
  else
    for (size_t i = 0; i < PageBytes; ++i)
      if (which.test(i))
        bytes[i] = memory[i];
  defined |= which;
  foreign -= which;
}

ShadowPage &Shadow::at(uint64_t page) {
  std::unique_ptr<ShadowPage> &found = Pages[page];
  if (!found)
    found = std::make_unique<ShadowPage>();
  return *found;
}

ShadowPage *Shadow::find(uint64_t page) {
  auto found = Pages.find(page);
  return found == Pages.end() ? nullptr : found->second.get();
}

void Shadow::forget(AddressRange range) {
  forEachPage(range.begin, range.end,
              [&](uint64_t page, size_t begin, size_t end) {
                if (end - begin == PageBytes) {
                  Pages.erase(page);
                } else if (ShadowPage *there = find(page)) {
                  const PageMask part = maskOf(begin, end);
                  there->defined -= part;
                  there->foreign -= part;
                  there->writers.clear(part);
                  there->ends.clear(part);
                  there->readers.clear(part);
                }
              });
}

void Shadow::copy(uintptr_t to, uintptr_t from, size_t bytes, uint32_t writer) {
  // As memmove: in the direction in which nothing is read that was written.
  const bool backwards = to > from && to < from + bytes;
  while (bytes) {
    const auto rest = [&](uintptr_t at) {
      const size_t inPage = backwards ? (at + bytes - 1) % PageBytes + 1
                                      : PageBytes - at % PageBytes;
      return std::min(inPage, bytes);
    };
    const size_t part = std::min(rest(to), rest(from));
    const size_t skip = backwards ? bytes - part : 0;
    copyWithinPages(to + skip, from + skip, part, writer);
    bytes -= part;
    if (!backwards)
      to += part, from += part;
  }
}

void Shadow::copyWithinPages(uintptr_t to, uintptr_t from, size_t bytes,
                             uint32_t writer) {
  const ShadowPage *source = find(pageOf(from));
  const size_t out = from % PageBytes, in = to % PageBytes;
  const PageMask part = maskOf(in, in + bytes);
  PageMask defined, foreign;
  if (source) {
    for (size_t i = 0; i < bytes; ++i) {
      defined.set(in + i, source->defined.test(out + i));
      foreign.set(in + i, source->foreign.test(out + i));
    }
  } else if (!find(pageOf(to))) {
    return;
  }
  ShadowPage &target = at(pageOf(to));
  if (source)
    std::memmove(target.bytes.data() + in, source->bytes.data() + out, bytes);
  target.defined = (target.defined - part) | defined;
  target.foreign = (target.foreign - part) | foreign;
  target.writers.set(writer, part);
  target.readers.clear(part);
  target.ends.clear(part);
}

} // namespace dragon::oracle
