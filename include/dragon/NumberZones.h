//===- NumberZones.h - what a long array's numbers are ----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where a launch goes may be written in an array of millions of numbers: the
// ends of a matrix's rows, the neighbours of each cell. A footprint does not
// need each of them. It needs to know, for any part of the array, between
// which bounds its numbers are. So the array is cut into zones of some hundred
// numbers, and of each zone a few ranges are kept that hold all of them: more
// than one, as a zone may have numbers that stand for "none" (-1) among others.
// Ranges of 16 zones together make the zone of the next level, and so on, so
// that a part of any length is looked up in a few steps.
//
// Source: small materialised aggregates (Moerkotte, "Small Materialized
// Aggregates", VLDB 1998), which databases call zone maps.
//
// Thread-safe as long as nobody changes it.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_NUMBERZONES_H
#define DRAGON_NUMBERZONES_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dragon {

/// The numbers from Lo to Hi, both included.
struct NumberRange {
  int64_t Lo;
  int64_t Hi;
};

/// Where numbers lie in device memory: in records at Base, Base + Step, ...; in
/// each one Inner numbers, InnerStep bytes apart. Only those from address First
/// to address Last count. Numbers are signed.
struct NumberPlaces {
  uint64_t First = 0;
  uint64_t Last = 0;
  uint64_t Base = 0; ///< of the first record that has such a number
  uint64_t Step = 0; ///< bytes; 0: there is one record
  uint64_t Inner = 1;
  uint64_t InnerStep = 0; ///< bytes; less than Step
  unsigned Bits = 0;      ///< 8, 16, 32 or 64

  uint64_t end() const { return Last + Bits / 8; }
  uint64_t bytes() const { return end() - First; }
  uint64_t records() const { return Step ? (Last - Base) / Step + 1 : 1; }
};

/// All numbers there. Contents: the bytes from address First on.
std::vector<int64_t> numbersIn(const NumberPlaces &Places,
                               const char *Contents);

/// Joins ranges until at most `Most` (1 or more) are left: those with the
/// smallest gaps, and those with gaps of at most this part of all (0: of no
/// more than 1). Ascending and disjoint then.
void joinRanges(std::vector<NumberRange> &Ranges, size_t Most,
                uint64_t SmallGap = 0);

class NumberZones {
public:
  /// Numbers of a zone, about.
  static constexpr uint64_t ZoneNumbers = 512;

  explicit NumberZones(const NumberPlaces &Places,
                       uint64_t PerZone = ZoneNumbers);

  const NumberPlaces &places() const { return Places; }
  size_t zones() const { return Levels.front().size(); }
  /// The places of a zone's numbers.
  NumberPlaces zone(size_t Zone) const;
  /// Contents: the bytes of zone(Zone). Zones may be set by several threads.
  void set(size_t Zone, const char *Contents);
  /// All zones are set.
  void finish();

  /// At most `Most` ranges that hold all numbers of these places, and perhaps
  /// those of their neighbours; false: the places are not all among ours.
  bool find(const NumberPlaces &Asked, size_t Most,
            std::vector<NumberRange> &Ranges) const;
  /// Instead of finish(), where some zones are set, and at least one: the
  /// others are taken to be as the nearest of those.
  void guess();

private:
  static constexpr unsigned MostRanges = 4;
  static constexpr size_t Fan = 16;
  struct Zone {
    unsigned Count = 0;
    NumberRange Ranges[MostRanges];
  };
  static Zone zoneOf(std::vector<NumberRange> &Ranges);
  bool has(const NumberPlaces &Asked) const;
  uint64_t recordOf(uint64_t Address) const {
    return Places.Step ? (Address - Places.Base) / Places.Step : 0;
  }

  const NumberPlaces Places;
  uint64_t ZoneRecords; ///< of a zone
  std::vector<std::vector<Zone>> Levels;
};

} // namespace dragon

#endif // DRAGON_NUMBERZONES_H
