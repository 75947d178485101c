//===- Wavefront.h - slices of several launches together --------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Time steps of a stencil on data that does not fit move all of it for each
// step. But a part of the next step needs only the neighbouring parts of this
// one, which are on the device just now. So slices of consecutive launches run
// in an order in which each does as soon as what it needs is done, the latest
// launch first: a wavefront that goes through the data once for all steps.
//
//   launch 0   slice 0  1     3     6
//   launch 1               2     5            slice 1 of launch 1 needs
//   launch 2                  4               slices 0, 1 and 2 of launch 0
//
// Temporal blocking as done by hand for stencils (HHRT, Endo and Jin, CLUSTER
// 2014), from the footprints, for any kernels. Two slices keep the order of
// their launches if one writes a part of a chunk that the other uses: small
// buffers, such as a value for each row, are a chunk or two. What waits for
// nothing, such as a launch that clears the result of another, runs when others
// need it, or in step with those that use the same chunks. How many launches
// together move the least is found out by going through their chunks: more
// share more, until what lies between the first and the last slice of the
// wave does not fit. Steps of a loop run in waves of one length; of launches
// that differ, such as the layers of a network, each wave has its own.
//
// Pure.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_LAUNCH_WAVEFRONT_H
#define DRAGON_RUNTIME_LAUNCH_WAVEFRONT_H

#include "runtime/memory/ChunkPart.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace dragon {

struct WaveUse {
  uint32_t chunk; ///< 0, 1, ...
  bool writes;
  bool overwritten; ///< by the launch as a whole, before any read
  ChunkPart touched{0, SIZE_MAX};
  ChunkPart written{0, SIZE_MAX}; ///< if it writes
};
/// The chunks of one slice; each once.
using WaveSlice = std::vector<WaveUse>;
/// The slices of a launch, neighbours behind one another.
using WaveSlices = std::vector<WaveSlice>;

struct WaveLaunch {
  const WaveSlices *slices;    ///< those of equal launches may be one object
  std::vector<uint32_t> dying; ///< chunks that nobody needs behind it
};
using WaveLaunches = std::span<const WaveLaunch>;

struct WaveStep {
  uint32_t launch;
  uint32_t slice;
  bool operator==(const WaveStep &) const = default;
};

/// Who overwrites a chunk that several launches use in turns. A launch that
/// overwrites all of it drops what is there with its first slice, unless a
/// launch before it has not used its part yet.
template <typename Use> class Overwriters {
public:
  /// In the order of the slices. Calls stillNeeded(use) for those who cannot
  /// drop the contents.
  template <typename Fn> void used(uint32_t launch, Fn stillNeeded) {
    for (; !Turns.empty() && Turns.back().launch > launch; Turns.pop_back())
      stillNeeded(Turns.back().use);
  }
  /// By the launch's first slice that uses the chunk.
  void overwritten(uint32_t launch, Use use) { Turns.push_back({launch, use}); }

private:
  struct Turn {
    uint32_t launch;
    Use use;
  };
  std::vector<Turn> Turns; ///< ascending
};

/// All slices of the launches in the order of the wave.
std::vector<WaveStep> wavefront(WaveLaunches launches);

/// Appends the wave of `length` launches from `first` on.
void appendWave(std::vector<WaveStep> &order, WaveLaunches launches,
                size_t first, size_t length);

/// All slices of consecutive waves of these lengths.
std::vector<WaveStep> wavefronts(WaveLaunches launches,
                                 std::span<const size_t> lengths);

/// Bytes that running the slices in this order moves to and from the device, if
/// nothing is there before and all that was written and lives leaves it in the
/// end. UINT64_MAX: a slice does not fit.
uint64_t bytesMoved(WaveLaunches launches, std::span<const WaveStep> order,
                    std::span<const uint64_t> chunkBytes, uint64_t budget);

/// How the launches should run: the lengths of consecutive waves, all 1 unless
/// longer ones move clearly less.
std::vector<size_t> wavesOf(WaveLaunches launches,
                            std::span<const uint64_t> chunkBytes,
                            uint64_t budget);

} // namespace dragon

#endif // DRAGON_RUNTIME_LAUNCH_WAVEFRONT_H
