//===- IntervalsTest.cpp - ranges against single numbers ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/Intervals.h"

#include <array>
#include <gtest/gtest.h>
#include <optional>
#include <random>
#include <string>

using namespace dragon;

namespace {

constexpr size_t Numbers = 60;
constexpr int Rounds = 300, Steps = 100;

/// The same ranges, number by number.
using Model = std::array<std::optional<int>, Numbers>;

class IntervalsTest : public testing::Test {
protected:
  std::mt19937 engine{1};

  size_t pick(size_t lo, size_t hi) {
    return std::uniform_int_distribution<size_t>(lo, hi)(engine);
  }
  std::pair<size_t, size_t> range() {
    const size_t begin = pick(0, Numbers - 1);
    return {begin, pick(begin, Numbers)};
  }
  static void fill(Model &model, size_t begin, size_t end,
                   std::optional<int> value) {
    std::fill(model.begin() + begin, model.begin() + end, value);
  }
  /// The runs of equal values, as text.
  static std::string runs(const Model &model) {
    std::string text;
    for (size_t begin = 0; begin < Numbers;) {
      size_t end = begin + 1;
      while (end < Numbers && model[end] == model[begin])
        ++end;
      if (model[begin])
        text += std::to_string(begin) + "-" + std::to_string(end) + ":" +
                std::to_string(*model[begin]) + " ";
      begin = end;
    }
    return text;
  }
};

TEST_F(IntervalsTest, SetsJoinAndCut) {
  for (int round = 0; round < Rounds; ++round) {
    IntervalSet<size_t> set;
    Model model;
    for (int step = 0; step < Steps; ++step) {
      const auto [begin, end] = range();
      const bool adds = pick(0, 1);
      if (adds)
        set += HalfOpen<size_t>(begin, end);
      else
        set -= HalfOpen<size_t>(begin, end);
      fill(model, begin, end, adds ? std::optional<int>(0) : std::nullopt);
      std::string text;
      for (const auto &part : set)
        text += std::to_string(part.lower()) + "-" +
                std::to_string(part.upper()) + ":0 ";
      ASSERT_EQ(text, runs(model));
      const auto [from, to] = range();
      if (from < to)
        ASSERT_EQ(overlaps(set, from, to),
                  std::any_of(model.begin() + from, model.begin() + to,
                              [](const auto &one) { return one; }));
    }
  }
}

TEST_F(IntervalsTest, MapsJoinEqualValuesAndOverwrite) {
  for (int round = 0; round < Rounds; ++round) {
    IntervalMap<size_t, int> map;
    Model model;
    for (int step = 0; step < Steps; ++step) {
      const auto [begin, end] = range();
      // 0, the default, is kept as well.
      const int value = int(pick(0, 3)) - 1;
      if (value < 0)
        map.erase(HalfOpen<size_t>(begin, end));
      else
        map.set({HalfOpen<size_t>(begin, end), value});
      fill(model, begin, end,
           value < 0 ? std::nullopt : std::optional<int>(value));
      std::string text;
      for (const auto &[part, kept] : map)
        text += std::to_string(part.lower()) + "-" +
                std::to_string(part.upper()) + ":" + std::to_string(kept) + " ";
      ASSERT_EQ(text, runs(model));
    }
  }
}

} // namespace
