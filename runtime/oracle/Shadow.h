//===- Shadow.h - the contents that a program ought to have -----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A second copy of the contents of buffers, by pages: what each byte would be
// if no directive had been given and nothing had moved, who wrote it last, and
// which directive has ended it. A byte is
//
//   defined    its value is known; whoever reads it must find it
//   foreign    somebody may have written it unseen (the host, a file that was
//              mapped): the first one to read it tells what it is
//   neither    undefined: any value will do
//
// and, apart from that, it may be ended: a directive said that the launch of
// some number is the last to need it. A later launch that reads it, unless
// something later has written it, shows that the directive is wrong.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_ORACLE_SHADOW_H
#define DRAGON_RUNTIME_ORACLE_SHADOW_H

#include "runtime/device/Device.h"
#include "runtime/oracle/PageMask.h"

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace dragon::oracle {

/// Which of the bytes of a page have which numbers.
class ByteMarks {
public:
  struct Mark {
    uint32_t number;
    PageMask bytes;
  };
  /// Beside those that the bytes have.
  void add(uint32_t number, const PageMask &bytes);
  /// Instead of them.
  void set(uint32_t number, const PageMask &bytes);
  void clear(const PageMask &bytes);
  const std::vector<Mark> &all() const { return Marks; }

private:
  std::vector<Mark> Marks;
};

struct ShadowPage {
  std::array<unsigned char, PageBytes> bytes{};
  PageMask defined;
  PageMask foreign;
  ByteMarks writers; ///< numbers are those of whoever keeps the shadow
  ByteMarks ends;
  ByteMarks readers; ///< the last launch of each byte

  /// Where `memory` (the page's) has other values than are known.
  PageMask differs(const unsigned char *memory) const;
  /// These bytes are what they are at `memory` now.
  void take(const PageMask &which, const unsigned char *memory);
};

class Shadow {
public:
  ShadowPage &at(uint64_t page);
  /// Null: nothing is known of it.
  ShadowPage *find(uint64_t page);
  /// All of the range is undefined.
  void forget(AddressRange range);
  /// As the copy makes it, with everything but the ends.
  void copy(uintptr_t to, uintptr_t from, size_t bytes, uint32_t writer);

private:
  void copyWithinPages(uintptr_t to, uintptr_t from, size_t bytes,
                       uint32_t writer);
  std::unordered_map<uint64_t, std::unique_ptr<ShadowPage>> Pages;
};

} // namespace dragon::oracle

#endif // DRAGON_RUNTIME_ORACLE_SHADOW_H
