//===- ProgressLineTest.cpp - where a run is, in a line -------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/ProgressLine.h"

#include <gtest/gtest.h>

using namespace dragon;

namespace {

constexpr size_t Wide = 500;

ProgressFigures someFigures() {
  ProgressFigures figures;
  figures.seconds = 75.2;
  figures.launch = 7;
  figures.place = {"grow", 0, 3, 12, {}};
  figures.placeSeconds = 4;
  figures.toDevice = {21.4e9, 53e9};
  figures.diskRead = {2.1e9, 3e9};
  figures.deviceHeld = 16 << 20;
  figures.hostHeld = 64 << 20;
  return figures;
}

TEST(ProgressLineTest, SaysWhereTheProgramIsAndWhatMoves) {
  // 2 slices took 4 s; 10 are left.
  EXPECT_EQ(progressLine(someFigures(), Wide),
            "dragon: 75 s, launch 7 'grow', slice 3 of 12, 20 s left; "
            "to the device 21 of 53 GB/s, disk read 2.1 of 3.0 GB/s; "
            "held 16 MiB, on the host 64 MiB");
}

TEST(ProgressLineTest, WhatIsNotKnownIsNotSaid) {
  ProgressFigures figures = someFigures();
  figures.place.slice = 1; // nothing tells how long one takes
  figures.place.more = 2;
  figures.toDevice = {0, 53e9};
  figures.diskRead = {};
  EXPECT_EQ(progressLine(figures, Wide),
            "dragon: 75 s, launch 7 'grow' with 2 behind it, slice 1 of 12; "
            "nothing moves; held 16 MiB, on the host 64 MiB");
  figures.place = {};
  figures.fromDevice = {0.5e9, 0};
  EXPECT_EQ(progressLine(figures, Wide),
            "dragon: 75 s, launch 7; from it 0.5 GB/s; held 16 MiB, on the "
            "host 64 MiB");
}

TEST(ProgressLineTest, ALimitThatIsExceededIsNone) {
  ProgressFigures figures = someFigures();
  figures.toDevice = {60e9, 53e9}; // measured on a busier link
  EXPECT_NE(progressLine(figures, Wide).find("to the device 60 of 60 GB/s"),
            std::string::npos);
}

TEST(ProgressLineTest, TimesAreRounded) {
  ProgressFigures figures = someFigures();
  auto begins = [&](double seconds) {
    figures.seconds = seconds;
    const std::string line = progressLine(figures, Wide);
    return line.substr(8, line.find(',') - 8);
  };
  EXPECT_EQ(begins(0.04), "0.0 s");
  EXPECT_EQ(begins(9.94), "9.9 s");
  EXPECT_EQ(begins(9.96), "10 s");
  EXPECT_EQ(begins(119), "119 s");
  EXPECT_EQ(begins(121), "2 min");
  EXPECT_EQ(begins(7300), "2 h 1 min");
}

TEST(ProgressLineTest, FitsIntoTheTerminal) {
  EXPECT_EQ(progressLine(someFigures(), 20), "dragon: 75 s, launch");
  EXPECT_EQ(progressLine(someFigures(), 0), "");
}

} // namespace
