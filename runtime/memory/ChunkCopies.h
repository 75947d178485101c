//===- ChunkCopies.h - which copies of a chunk's contents are valid *- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A chunk's contents can be in three copies: on the device, in host memory, in
// storage. What happens to a chunk changes which of them are valid, by one
// table; nothing else does. Its law: but for writes and the end of contents, no
// event takes the last valid copy.
//
// Pure.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_MEMORY_CHUNKCOPIES_H
#define DRAGON_RUNTIME_MEMORY_CHUNKCOPIES_H

#include <cstdint>
#include <optional>

namespace dragon {

struct Copies {
  bool device = false;
  bool host = false;
  bool storage = true; ///< also of undefined contents: any bytes will do

  constexpr bool any() const { return device || host || storage; }
  bool onDeviceOnly() const { return device && !host && !storage; }
  bool inMemory() const { return device || host; }
  bool operator==(const Copies &) const = default;
};

enum class ChunkEvent : uint8_t {
  ReachedDevice,   ///< a copy of the contents is there, too
  ReachedHost,     ///< the same
  Stored,          ///< the same
  LeftDevice,      ///< the copy there is given up
  LeftHost,        ///< the same
  LeftStorage,     ///< the same
  WrittenOnDevice, ///< new contents
  WrittenOnHost,   ///< the same
  Ended            ///< undefined, or in storage anew
};
constexpr unsigned NumChunkEvents = 9;

/// Nothing: the event cannot happen to such a chunk.
constexpr std::optional<Copies> after(Copies now, ChunkEvent event) {
  Copies then = now;
  switch (event) {
  case ChunkEvent::ReachedDevice:
    then.device = true;
    return now.any() ? std::optional(then) : std::nullopt;
  case ChunkEvent::ReachedHost:
    then.host = true;
    return now.any() ? std::optional(then) : std::nullopt;
  case ChunkEvent::Stored:
    then.storage = true;
    return now.any() ? std::optional(then) : std::nullopt;
  case ChunkEvent::LeftDevice:
    then.device = false;
    return then.any() ? std::optional(then) : std::nullopt;
  case ChunkEvent::LeftHost:
    then.host = false;
    return then.any() ? std::optional(then) : std::nullopt;
  case ChunkEvent::LeftStorage:
    then.storage = false;
    return then.any() ? std::optional(then) : std::nullopt;
  case ChunkEvent::WrittenOnDevice:
    return Copies{true, false, false};
  case ChunkEvent::WrittenOnHost:
    return Copies{false, true, false};
  case ChunkEvent::Ended:
    return Copies{};
  }
  return std::nullopt;
}

} // namespace dragon

#endif // DRAGON_RUNTIME_MEMORY_CHUNKCOPIES_H
