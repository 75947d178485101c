//===- PageSlot.h - places of pages in small tables -------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_BASE_PAGESLOT_H
#define DRAGON_RUNTIME_BASE_PAGESLOT_H

#include <bit>
#include <cstddef>
#include <cstdint>

namespace dragon {

/// Where a table of `Slots` entries keeps what it knows of a page. Arrays often
/// begin at multiples of a large power of two, so the lowest bits of pages that
/// are used together are often the same: Fibonacci hashing tells them apart
/// (Knuth, The Art of Computer Programming, volume 3, section 6.4).
template <size_t Slots> constexpr size_t slotOfPage(uint64_t page) {
  static_assert(std::has_single_bit(Slots) && Slots > 1);
  return page * 0x9e3779b97f4a7c15u >> (64 - std::countr_zero(Slots));
}

} // namespace dragon

#endif // DRAGON_RUNTIME_BASE_PAGESLOT_H
