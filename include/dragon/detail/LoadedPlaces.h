//===- LoadedPlaces.h - where the numbers that are loaded lie ---*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From the address of a load, a linear form, to the places of what all threads
// of a box load there: one number after the other, or records with several
// numbers in each,
//
//   near[blockIdx.x].cell[k].number      k < 26, of structures
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_DETAIL_LOADEDPLACES_H
#define DRAGON_DETAIL_LOADEDPLACES_H

#include "dragon/KnownMemory.h"
#include "dragon/detail/LinearSystem.h"
#include "dragon/detail/LoadedCases.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace dragon {
namespace detail {

/// A term of an address: Count multiples of Step, one after the other.
struct AddressTerm {
  Wide Step, Count;
};

/// The terms with more than one value, and in Base the least address; false: a
/// variable has no bounds.
inline bool termsOf(const Linear &Address, const LinearSystem &System,
                    std::vector<AddressTerm> &Terms, Wide &Base) {
  Base = Address.C;
  for (const Linear::Term &T : Address) {
    const Interval Of = System.bounds(Linear::variable(T.Var));
    if (!isFinite(Of.Lo) || !isFinite(Of.Hi) || Of.Lo > Of.Hi)
      return false;
    Base += scaleBound(T.Coefficient, T.Coefficient > 0 ? Of.Lo : Of.Hi);
    if (Of.Lo < Of.Hi)
      Terms.push_back({T.Coefficient < 0 ? -Wide(T.Coefficient) : T.Coefficient,
                       Of.Hi - Of.Lo + 1});
  }
  return true;
}

/// Numbers of records, if the terms make them: in ascending order they are two
/// progressions, the second beyond the first.
inline bool recordsOf(std::vector<AddressTerm> All, Wide Base,
                      const Interval &Bounds, NumberPlaces &Places) {
  std::vector<AddressTerm> Levels;
  std::sort(All.begin(), All.end(),
            [](const AddressTerm &A, const AddressTerm &B) {
              return A.Step < B.Step;
            });
  for (const AddressTerm &T : All) {
    if (!Levels.empty() && T.Step % Levels.back().Step == 0 &&
        T.Step <= scaleBound(Levels.back().Step, Levels.back().Count))
      Levels.back().Count += T.Step / Levels.back().Step * (T.Count - 1);
    else
      Levels.push_back(T);
    if (!isFinite(scaleBound(Levels.back().Step, Levels.back().Count)))
      return false;
  }
  if (Levels.size() != 2)
    return false;
  const Wide Length = Levels[0].Step * (Levels[0].Count - 1);
  if (Length >= Levels[1].Step || Levels[1].Step != int64_t(Levels[1].Step))
    return false;
  // Guards may leave fewer than the variables have.
  const Wide Skipped =
      std::max<Wide>(ceilDiv(Bounds.Lo - Base - Length, Levels[1].Step), 0);
  Base += Skipped * Levels[1].Step;
  if (Base < 0 || Base > Bounds.Hi)
    return false;
  Places.Base = uint64_t(Base);
  Places.First = uint64_t(std::max(Base, Bounds.Lo));
  Places.Last = uint64_t(Bounds.Hi);
  Places.Step = uint64_t(Levels[1].Step);
  Places.Inner = uint64_t(Levels[0].Count);
  Places.InnerStep = uint64_t(Levels[0].Step);
  return true;
}

/// False: they are not known to be between two addresses.
inline bool placesOf(const Linear &Address, const LinearSystem &System,
                     unsigned Bits, NumberPlaces &Places) {
  const Interval Bounds = System.bounds(Address);
  if (!isFinite(Bounds.Lo) || !isFinite(Bounds.Hi) || Bounds.Lo < 0 ||
      Bounds.Lo > Bounds.Hi || Bounds.Hi > Wide(INT64_MAX - 8))
    return false;
  Places.Bits = Bits;
  std::vector<AddressTerm> Terms;
  Wide C; // plus multiples of Step
  int64_t Step = 0;
  if (termsOf(Address, System, Terms, C)) {
    if (recordsOf(Terms, C, Bounds, Places))
      return true;
    for (const AddressTerm &T : Terms)
      Step = int64_t(std::gcd(Step, int64_t(T.Step)));
  } else {
    C = Address.C;
    for (const Linear::Term &T : Address)
      Step = std::gcd(Step, T.Coefficient);
  }
  const Wide First = Step ? C + ceilDiv(Bounds.Lo - C, Step) * Step : Bounds.Lo;
  if (First > Bounds.Hi)
    return false;
  Places.First = Places.Base = uint64_t(First);
  Places.Last =
      uint64_t(Step ? C + floorDiv(Bounds.Hi - C, Step) * Step : First);
  Places.Step = uint64_t(Step);
  return true;
}

/// Ascending ranges of neighbours among the numbers.
inline std::vector<NumberRange> rangesOfAll(std::vector<int64_t> Numbers) {
  std::vector<NumberRange> Values;
  if (Numbers.empty())
    return Values;
  const auto Add = [&Values](int64_t Number) {
    if (!Values.empty() && uint64_t(Number) - uint64_t(Values.back().Hi) <= 1)
      Values.back().Hi = Number;
    else
      Values.push_back({Number, Number});
  };
  const auto [Least, Largest] =
      std::minmax_element(Numbers.begin(), Numbers.end());
  // Rows of a table are close together: to mark them is quicker than to sort.
  constexpr uint64_t Sparse = 64;
  const int64_t Lo = *Least;
  const uint64_t Length = uint64_t(*Largest) - uint64_t(Lo);
  if (Length / Sparse < Numbers.size()) {
    std::vector<bool> Seen(size_t(Length) + 1);
    for (int64_t Number : Numbers)
      Seen[uint64_t(Number) - uint64_t(Lo)] = true;
    for (size_t I = 0; I < Seen.size(); ++I)
      if (Seen[I])
        Add(int64_t(uint64_t(Lo) + I));
    return Values;
  }
  std::sort(Numbers.begin(), Numbers.end());
  for (int64_t Number : Numbers)
    Add(Number);
  return Values;
}

/// False: what lies there is not known.
inline bool knownValues(const KnownMemory &Memory, const NumberPlaces &Places,
                        std::vector<NumberRange> &Values) {
  const char *Contents = Places.bytes() <= MostWanted
                             ? Memory.find(Places.First, Places.end())
                             : nullptr;
  if (!Contents)
    return Memory.find(Places, MostLoadedRanges, Values);
  Values = rangesOfAll(numbersIn(Places, Contents));
  return true;
}

} // namespace detail
} // namespace dragon

#endif // DRAGON_DETAIL_LOADEDPLACES_H
