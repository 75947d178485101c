//===- NumberZones.cpp - what a long array's numbers are ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dragon/NumberZones.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <type_traits>

namespace dragon {

namespace {

/// What a zone's numbers are sorted into to find gaps between them.
constexpr unsigned NumBins = 64;

/// Gaps of this part of a range tell too little to be looked at apart, as those
/// between the ends of rows.
constexpr uint64_t SmallGap = 16;

int64_t numberAt(const char *At, unsigned Bits) {
  uint64_t Raw = 0;
  std::memcpy(&Raw, At, Bits / 8);
  const unsigned Unused = 64 - Bits;
  return int64_t(Raw << Unused) >> Unused;
}

uint64_t distance(int64_t Lo, int64_t Hi) {
  return uint64_t(Hi) - uint64_t(Lo);
}

/// No two neighbours among some of them, in order, are further apart than a
/// small gap: no gap between all of them is larger. At(I): number I of Count.
template <typename Number>
bool areClose(size_t Count, int64_t Lo, int64_t Hi, Number At) {
  constexpr size_t Samples = 64;
  if (Count < 2 * Samples)
    return false;
  int64_t Some[Samples + 2];
  for (size_t I = 0; I < Samples; ++I)
    Some[I] = At(I * Count / Samples);
  Some[Samples] = Lo;
  Some[Samples + 1] = Hi;
  std::sort(Some, Some + Samples + 2);
  for (size_t I = 1; I < Samples + 2; ++I)
    if (distance(Some[I - 1], Some[I]) > distance(Lo, Hi) / SmallGap)
      return false;
  return true;
}

/// One range tells as much as several: they are as near to one another as so
/// many numbers can be, or have no gaps between them.
template <typename Number>
bool areOneRange(size_t Count, int64_t Lo, int64_t Hi, Number At) {
  return distance(Lo, Hi) <= 2 * Count || areClose(Count, Lo, Hi, At);
}

/// Numbers that ascend: a new range behind each gap of more than that.
template <typename Number>
std::vector<NumberRange> splitAtGaps(size_t Count, uint64_t Gap, Number At) {
  std::vector<NumberRange> Ranges;
  for (size_t I = 0; I < Count; ++I)
    if (I == 0 || distance(At(I - 1), At(I)) > Gap)
      Ranges.push_back({At(I), At(I)});
    else
      Ranges.back().Hi = At(I);
  return Ranges;
}

/// One range for each of the bins that has numbers.
template <typename Number>
std::vector<NumberRange> rangesOfBins(size_t Count, int64_t Lo, int64_t Hi,
                                      Number At) {
  const uint64_t Width = distance(Lo, Hi) / NumBins + 1;
  NumberRange Bins[NumBins];
  bool Used[NumBins] = {};
  for (size_t I = 0; I < Count; ++I) {
    const int64_t Of = At(I);
    const uint64_t Bin = distance(Lo, Of) / Width;
    if (!Used[Bin]) {
      Used[Bin] = true;
      Bins[Bin] = {Of, Of};
      continue;
    }
    Bins[Bin].Lo = std::min(Bins[Bin].Lo, Of);
    Bins[Bin].Hi = std::max(Bins[Bin].Hi, Of);
  }
  std::vector<NumberRange> Ranges;
  for (unsigned Bin = 0; Bin < NumBins; ++Bin)
    if (Used[Bin])
      Ranges.push_back(Bins[Bin]);
  return Ranges;
}

/// Ranges that hold all numbers, with gaps between them: as many as bins at
/// most. At(I): number I of Count, in its own type.
template <typename Number>
std::vector<NumberRange> rangesOf(size_t Count, Number At) {
  if (!Count)
    return {};
  using T = decltype(At(0));
  using Distance = std::make_unsigned_t<T>;
  T Lo = At(0), Hi = Lo, Before = Lo;
  Distance Step = 0; // the longest from one to the next
  bool Ascends = true;
  for (size_t I = 1; I < Count; ++I) {
    const T Of = At(I);
    Lo = std::min(Lo, Of);
    Hi = std::max(Hi, Of);
    Ascends &= Of >= Before;
    Step = std::max(Step, Of < Before ? Distance(Before) - Distance(Of)
                                      : Distance(Of) - Distance(Before));
    Before = Of;
  }
  // No gap between all of them is longer than that step.
  const uint64_t Gap = distance(Lo, Hi) / SmallGap;
  if (Step <= Gap || (!Ascends && areOneRange(Count, Lo, Hi, At)))
    return {{Lo, Hi}};
  return Ascends ? splitAtGaps(Count, Gap, At)
                 : rangesOfBins(Count, Lo, Hi, At);
}

/// Numbers side by side, in memory.
template <typename T> struct SideBySide {
  const char *From;

  T operator()(size_t I) const {
    T Number;
    std::memcpy(&Number, From + I * sizeof(T), sizeof(T));
    return Number;
  }
};

/// Numbers side by side, as most arrays have them.
template <typename T>
void read(const char *From, std::vector<int64_t> &Numbers) {
  const SideBySide<T> At{From};
  for (size_t I = 0; I < Numbers.size(); ++I)
    Numbers[I] = At(I);
}

bool areSideBySide(const NumberPlaces &Places) {
  return Places.Inner == 1 && Places.Step * 8 == Places.Bits &&
         Places.Base == Places.First;
}

std::vector<NumberRange> rangesIn(const NumberPlaces &Places,
                                  const char *Contents) {
  if (areSideBySide(Places) && Places.Bits == 64)
    return rangesOf(Places.records(), SideBySide<int64_t>{Contents});
  if (areSideBySide(Places) && Places.Bits == 32)
    return rangesOf(Places.records(), SideBySide<int32_t>{Contents});
  const std::vector<int64_t> Numbers = numbersIn(Places, Contents);
  return rangesOf(Numbers.size(), [&](size_t I) { return Numbers[I]; });
}

bool readSideBySide(const NumberPlaces &Places, const char *Contents,
                    std::vector<int64_t> &Numbers) {
  if (!areSideBySide(Places))
    return false;
  Numbers.resize(Places.records());
  if (Places.Bits == 64)
    read<int64_t>(Contents, Numbers);
  else if (Places.Bits == 32)
    read<int32_t>(Contents, Numbers);
  else if (Places.Bits == 16)
    read<int16_t>(Contents, Numbers);
  else
    read<int8_t>(Contents, Numbers);
  return true;
}

} // namespace

std::vector<int64_t> numbersIn(const NumberPlaces &Places,
                               const char *Contents) {
  std::vector<int64_t> Numbers;
  if (readSideBySide(Places, Contents, Numbers))
    return Numbers;
  const uint64_t Records = Places.records();
  Numbers.reserve(Records * Places.Inner);
  for (uint64_t Record = 0; Record < Records; ++Record) {
    uint64_t At = Places.Base + Record * Places.Step;
    for (uint64_t I = 0; I < Places.Inner; ++I, At += Places.InnerStep)
      if (At >= Places.First && At <= Places.Last)
        Numbers.push_back(
            numberAt(Contents + (At - Places.First), Places.Bits));
  }
  return Numbers;
}

/// Ascending and disjoint; gaps of so much and less are closed.
static void closeGaps(std::vector<NumberRange> &Ranges, uint64_t Gap) {
  size_t Out = 0;
  for (size_t I = 1; I < Ranges.size(); ++I) {
    NumberRange &Before = Ranges[Out];
    if (Ranges[I].Lo <= Before.Hi || distance(Before.Hi, Ranges[I].Lo) <= Gap)
      Before.Hi = std::max(Before.Hi, Ranges[I].Hi);
    else
      Ranges[++Out] = Ranges[I];
  }
  Ranges.resize(Out + 1);
}

void joinRanges(std::vector<NumberRange> &Ranges, size_t Most,
                uint64_t SmallGap) {
  if (Ranges.empty())
    return;
  std::sort(
      Ranges.begin(), Ranges.end(),
      [](const NumberRange &A, const NumberRange &B) { return A.Lo < B.Lo; });
  closeGaps(Ranges, 1);
  if (SmallGap && Ranges.size() > 1)
    closeGaps(Ranges, distance(Ranges.front().Lo, Ranges.back().Hi) / SmallGap);
  if (Ranges.size() <= Most)
    return;
  std::vector<uint64_t> Gaps;
  for (size_t I = 1; I < Ranges.size(); ++I)
    Gaps.push_back(distance(Ranges[I - 1].Hi, Ranges[I].Lo));
  const auto Largest = Gaps.begin() + ptrdiff_t(Most - 1);
  std::nth_element(Gaps.begin(), Largest, Gaps.end(), std::greater<>());
  closeGaps(Ranges, *Largest);
}

NumberZones::NumberZones(const NumberPlaces &Places, uint64_t PerZone)
    : Places(Places), ZoneRecords(std::max<uint64_t>(
                          PerZone / std::max<uint64_t>(Places.Inner, 1), 1)) {
  Levels.emplace_back((Places.records() + ZoneRecords - 1) / ZoneRecords);
}

NumberPlaces NumberZones::zone(size_t Zone) const {
  NumberPlaces Of = Places;
  Of.Base += Zone * ZoneRecords * Places.Step;
  Of.First = std::max(Of.First, Of.Base);
  if (Zone + 1 < zones())
    Of.Last = Of.Base + (ZoneRecords - 1) * Places.Step +
              (Places.Inner - 1) * Places.InnerStep;
  return Of;
}

NumberZones::Zone NumberZones::zoneOf(std::vector<NumberRange> &Ranges) {
  joinRanges(Ranges, MostRanges, SmallGap);
  Zone Of;
  Of.Count = unsigned(Ranges.size());
  std::copy(Ranges.begin(), Ranges.end(), Of.Ranges);
  return Of;
}

void NumberZones::set(size_t Zone, const char *Contents) {
  std::vector<NumberRange> Ranges = rangesIn(zone(Zone), Contents);
  Levels.front()[Zone] = zoneOf(Ranges);
}

void NumberZones::finish() {
  while (Levels.back().size() > 1) {
    const std::vector<Zone> &Below = Levels.back();
    std::vector<Zone> Above;
    for (size_t I = 0; I < Below.size(); I += Fan) {
      std::vector<NumberRange> Ranges;
      for (size_t J = I; J < std::min(I + Fan, Below.size()); ++J)
        Ranges.insert(Ranges.end(), Below[J].Ranges,
                      Below[J].Ranges + Below[J].Count);
      Above.push_back(zoneOf(Ranges));
    }
    Levels.push_back(std::move(Above));
  }
}

bool NumberZones::has(const NumberPlaces &Asked) const {
  if (Asked.Bits != Places.Bits || Asked.First < Places.First ||
      Asked.Last > Places.Last || Asked.Base < Places.Base)
    return false;
  if (Places.Inner == 1 && Places.Step)
    return (Asked.Base - Places.Base) % Places.Step == 0 &&
           Asked.Step % Places.Step == 0 &&
           (Asked.Inner == 1 || Asked.InnerStep % Places.Step == 0);
  const uint64_t Offset = Places.Step ? (Asked.Base - Places.Base) % Places.Step
                                      : Asked.Base - Places.Base;
  // One number of each record that lies at Offset, or at a multiple of
  // InnerStep behind it.
  auto Within = [this](uint64_t At, uint64_t Count, uint64_t Apart) {
    if (At == 0 && Count == 1)
      return true;
    return Places.InnerStep && At % Places.InnerStep == 0 &&
           (Count == 1 || Apart % Places.InnerStep == 0) &&
           At + (Count - 1) * Apart <= (Places.Inner - 1) * Places.InnerStep;
  };
  if (!Asked.Step || (Places.Step && Asked.Step % Places.Step == 0))
    return Within(Offset, Asked.Inner, Asked.InnerStep);
  // Its records are numbers of one of ours.
  return Asked.Inner == 1 && Within(Offset, Asked.records(), Asked.Step);
}

bool NumberZones::find(const NumberPlaces &Asked, size_t Most,
                       std::vector<NumberRange> &Ranges) const {
  if (!has(Asked))
    return false;
  size_t Lo = recordOf(Asked.First) / ZoneRecords;
  size_t Hi = recordOf(Asked.Last) / ZoneRecords + 1;
  Ranges.clear();
  auto Add = [&Ranges](const Zone &Z) {
    Ranges.insert(Ranges.end(), Z.Ranges, Z.Ranges + Z.Count);
  };
  // Those that are no whole zone of the level above, at both ends.
  for (const std::vector<Zone> &Level : Levels) {
    for (; Lo < Hi && (Lo % Fan || Lo + Fan > Hi); ++Lo)
      Add(Level[Lo]);
    for (; Lo < Hi && Hi % Fan; --Hi)
      Add(Level[Hi - 1]);
    Lo /= Fan;
    Hi /= Fan;
  }
  joinRanges(Ranges, Most, SmallGap);
  return true;
}

void NumberZones::guess() {
  std::vector<Zone> &All = Levels.front();
  const Zone *Before = nullptr;
  size_t Behind = 0; // of those that are not set, the first
  for (size_t I = 0; I < All.size(); ++I) {
    if (All[I].Count == 0)
      continue;
    for (size_t J = Behind; J < I; ++J)
      All[J] = Before && J - Behind < (I - Behind) / 2 ? *Before : All[I];
    Before = &All[I];
    Behind = I + 1;
  }
  for (; Before && Behind < All.size(); ++Behind)
    All[Behind] = *Before;
  finish();
}

} // namespace dragon
