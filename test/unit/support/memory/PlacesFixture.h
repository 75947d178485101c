//===- PlacesFixture.h - contents in each of their places -------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is done to contents must give the same bytes wherever they are when it
// is done: a test goes through the places, and begins with the same contents in
// each.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_UNIT_SUPPORT_MEMORY_PLACESFIXTURE_H
#define DRAGON_TEST_UNIT_SUPPORT_MEMORY_PLACESFIXTURE_H

#include "test/unit/support/memory/MemoryFixture.h"

namespace dragon::test {

/// Where valid copies of the contents are.
enum class At { Device, Host, Both, File, Swap };
constexpr At Places[] = {At::Device, At::Host, At::Both, At::File, At::Swap};

class PlacesFixture : public MemoryFixture {
protected:
  static constexpr size_t Count = 3; ///< of chunks

  void put(At place) {
    SCOPED_TRACE(int(place));
    ASSERT_NO_FATAL_FAILURE(startParts(Count));
    parts->Time.Tracking = true;
    const std::vector<int32_t> words = numbers(Count * Words, 31);
    if (place == At::File) {
      writeFile("in", words);
      storeIn(FolderFixture::open("in"));
      Data = words;
      return;
    }
    write(0, words);
    if (place == At::Swap) {
      fillHost();
      ASSERT_OK(evict(0, Count));
      ASSERT_OK(parts->Writes.finishAll());
    }
    for (Chunk *chunk : Chunks) {
      parts->Ctx.pins.next();
      if (place == At::Host || place == At::Both)
        ASSERT_OK(parts->Resident.bringToHost(*chunk, LaunchNeed::Read,
                                              Cause::Prefetch));
      if (place == At::Host)
        ASSERT_OK(parts->OnDevice.release(*chunk));
      ASSERT_EQ(chunk->copies, copiesAt(place));
    }
  }
  static Copies copiesAt(At place) {
    return {place == At::Device || place == At::Both,
            place == At::Host || place == At::Both,
            place == At::File || place == At::Swap};
  }
  /// What put() has begun; the next one begins anew.
  void end() {
    giveHost();
    parts.reset();
    Chunks.clear();
  }
};

} // namespace dragon::test

#endif // DRAGON_TEST_UNIT_SUPPORT_MEMORY_PLACESFIXTURE_H
