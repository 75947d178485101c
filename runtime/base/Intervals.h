//===- Intervals.h - sets and maps of ranges --------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Boost.ICL's ordered containers, with ranges [begin, end) of numbers. Ranges
// that overlap or touch become one in a set; in a map they become one if their
// values are equal. So removing a part of a range leaves what is in front of it
// and behind it.
//
//   IntervalSet<uintptr_t> guarded;
//   guarded += HalfOpen<uintptr_t>(begin, end);   // or -=
//   IntervalMap<uintptr_t, Owner *> owners;
//   owners.set({HalfOpen<uintptr_t>(begin, end), owner});   // overwrites
//   for (const auto &[range, owner] : owners) use(range.lower(),
//   range.upper());
//
// All take logarithmic time, and linear time in the ranges that they change. An
// empty range changes nothing; look-ups must not be given one. Not thread-safe.
//
// Ranges that must stay apart, as allocations that are freed one by one, belong
// into a std::map by their beginnings.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_BASE_INTERVALS_H
#define DRAGON_RUNTIME_BASE_INTERVALS_H

#include <boost/icl/interval_map.hpp>
#include <boost/icl/interval_set.hpp>
#include <boost/icl/right_open_interval.hpp>

#include <functional>

namespace dragon {

template <typename Number>
using HalfOpen = boost::icl::right_open_interval<Number>;

template <typename Number>
using IntervalSet =
    boost::icl::interval_set<Number, std::less, HalfOpen<Number>>;

/// Keeps default values as well; Value has operator==.
template <typename Number, typename Value>
using IntervalMap =
    boost::icl::interval_map<Number, Value, boost::icl::partial_enricher,
                             std::less, boost::icl::inplace_identity,
                             boost::icl::inter_section, HalfOpen<Number>>;

/// Whether the set or map has something in [begin, end), which is not empty.
template <typename Container, typename Number>
bool overlaps(const Container &container, Number begin, Number end) {
  return container.find(HalfOpen<Number>(begin, end)) != container.end();
}

} // namespace dragon

#endif // DRAGON_RUNTIME_BASE_INTERVALS_H
