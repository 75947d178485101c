//===- ZoneReader.cpp - the zones of arrays in buffers --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/launch/ZoneReader.h"

#include "runtime/base/ThreadPool.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace dragon {

namespace {

/// So many bytes are looked at in one go; what has to be copied has memory for
/// as many.
constexpr uint64_t PieceBytes = uint64_t(32) << 20;
/// Zones that a thread takes at a time.
constexpr size_t ZonesAtATime = 32;

/// body(chunk, begin, end) for the parts of [begin, end) in their chunks.
template <typename Body>
void forChunks(Buffer &buffer, uintptr_t begin, uintptr_t end, Body body) {
  while (begin < end) {
    Chunk &chunk = buffer.chunkAt(begin);
    const uintptr_t stop = std::min(end, chunk.va() + chunk.bytes());
    body(chunk, begin, stop);
    begin = stop;
  }
}

} // namespace

bool ZoneReader::isAtHand(AddressRange range) {
  Buffer &buffer = *Space.Allocations.find(range.begin)->buffer;
  Data.adoptMapped(buffer);
  bool all = true;
  forChunks(buffer, range.begin, range.end,
            [&](const Chunk &chunk, uintptr_t from, uintptr_t to) {
              all &= find(chunk, from, to) != Found::Elsewhere;
            });
  return all;
}

Status ZoneReader::copyOut(uintptr_t begin, uintptr_t end, char *to,
                           Queue queue) {
  Buffer &buffer = *Space.Allocations.find(begin)->buffer;
  if (isAtHand({begin, end})) {
    std::vector<AddressRange> copied;
    DRAGON_TRY(copyMissing(buffer, begin, end, queue, copied));
    const ProtectedMemory::Reading program;
    Views views;
    if (copied.empty() && findViews(buffer, {begin, end}, {}, program, views)) {
      for (const View &view : views)
        std::memcpy(to + (view.begin - begin), view.at, view.end - view.begin);
      return {};
    }
  }
  return fetch(buffer, begin, end, to, queue);
}

Status ZoneReader::fetch(Buffer &buffer, uintptr_t begin, uintptr_t end,
                         char *to, Queue queue) {
  HostSide side;
  side.pageable = true;
  DRAGON_TRY(Moves.fromBuffer(buffer, to, begin, end - begin, queue, side));
  return Ctx.device->synchronize(queue);
}

ZoneReader::Found ZoneReader::find(const Chunk &chunk, uintptr_t begin,
                                   uintptr_t end) const {
  if (Copied.find({begin, end}))
    return Found::Copied;
  if (chunk.copies.host)
    return chunk.host.place == Place::Peer ? Found::Elsewhere : Found::Host;
  if (chunk.copies.inMemory() || !chunk.copies.storage ||
      chunk.transit.reading || !chunk.storage.inProgramMemory())
    return Found::Elsewhere;
  return chunk.storage.covers(begin - chunk.va(), end - chunk.va())
             ? Found::InProgram
             : Found::Elsewhere;
}

Status ZoneReader::copyMissing(Buffer &buffer, uintptr_t begin, uintptr_t end,
                               Queue queue, std::vector<AddressRange> &copied) {
  std::vector<Chunk *> onHost;
  forChunks(buffer, begin, end,
            [&](Chunk &chunk, uintptr_t from, uintptr_t to) {
              const Found found = find(chunk, from, to);
              if (found == Found::Host)
                onHost.push_back(&chunk);
              if (found != Found::Elsewhere)
                return;
              if (!copied.empty() && copied.back().end == from)
                copied.back().end = to;
              else
                copied.push_back({from, to});
            });
  if (!copied.empty() && ScratchBytes < end - begin) {
    ScratchBytes = end - begin;
    Scratch = std::make_unique_for_overwrite<char[]>(ScratchBytes);
  }
  for (const AddressRange &range : copied)
    DRAGON_TRY(fetch(buffer, range.begin, range.end,
                     Scratch.get() + (range.begin - begin), queue));
  for (const Chunk *chunk : onHost)
    DRAGON_TRY(Time.settle(*chunk));
  return {};
}

void ZoneReader::add(Views &views, uintptr_t begin, uintptr_t end,
                     const char *at) {
  if (!views.empty() && views.back().end == begin &&
      views.back().at + (begin - views.back().begin) == at)
    views.back().end = end;
  else
    views.push_back({begin, end, at});
}

void ZoneReader::setZones(NumberZones &zones, size_t begin, size_t end,
                          const Views &views) {
  const size_t groups = (end - begin + ZonesAtATime - 1) / ZonesAtATime;
  auto setOne = [&](size_t number, std::vector<char> &gathered) {
    const NumberPlaces places = zones.zone(number);
    auto view = std::upper_bound(
        views.begin(), views.end(), places.First,
        [](uint64_t at, const View &other) { return at < other.end; });
    if (places.end() <= view->end)
      return zones.set(number, view->at + (places.First - view->begin));
    gathered.clear();
    for (uint64_t at = places.First; at < places.end(); ++view) {
      const uint64_t stop = std::min<uint64_t>(places.end(), view->end);
      const char *from = view->at + (at - view->begin);
      gathered.insert(gathered.end(), from, from + (stop - at));
      at = stop;
    }
    zones.set(number, gathered.data());
  };
  hostThreads().forEach(groups, groups, [&](size_t group) {
    std::vector<char> gathered;
    const size_t first = begin + group * ZonesAtATime;
    for (size_t i = first; i < std::min(end, first + ZonesAtATime); ++i)
      setOne(i, gathered);
  });
}

bool ZoneReader::findViews(Buffer &buffer, AddressRange range,
                           std::span<const AddressRange> copied,
                           const ProtectedMemory::Reading &program,
                           Views &views) const {
  bool complete = true;
  auto next = copied.begin();
  auto ofProgram = [&](const Chunk &chunk, uintptr_t from, uintptr_t to) {
    for (const Piece &piece : chunk.storage.pieces()) {
      const uintptr_t begin = std::max(from, chunk.va() + piece.begin);
      const uintptr_t end = std::min(to, chunk.va() + piece.end);
      if (begin < end)
        program.forParts(
            uintptr_t(piece.offset) + (begin - (chunk.va() + piece.begin)),
            end - begin, [&](size_t done, const void *at, size_t bytes) {
              add(views, begin + done, begin + done + bytes,
                  static_cast<const char *>(at));
            });
    }
  };
  forChunks(buffer, range.begin, range.end,
            [&](Chunk &chunk, uintptr_t from, uintptr_t to) {
              while (next != copied.end() && next->end <= from)
                ++next;
              const Found found = next != copied.end() && next->begin <= from
                                      ? Found::Elsewhere
                                      : find(chunk, from, to);
              if (found == Found::Host)
                add(views, from, to,
                    static_cast<const char *>(chunk.host.hostView) +
                        (from - chunk.va()));
              else if (found == Found::Copied)
                add(views, from, to, Copied.find({from, to}));
              else if (found == Found::InProgram)
                ofProgram(chunk, from, to);
              else if (next != copied.end() && next->begin <= from)
                add(views, from, to, Scratch.get() + (from - range.begin));
              else
                complete = false;
            });
  return complete;
}

Status ZoneReader::readPiece(NumberZones &zones, size_t begin, size_t end,
                             Queue queue) {
  const AddressRange range{zones.zone(begin).First, zones.zone(end - 1).end()};
  Buffer &buffer = *Space.Allocations.find(range.begin)->buffer;
  std::vector<AddressRange> copied;
  DRAGON_TRY(copyMissing(buffer, range.begin, range.end, queue, copied));
  {
    // Nothing waits here, so nothing goes elsewhere. Stores to the program's
    // memory do wait.
    const ProtectedMemory::Reading program;
    Views views;
    if (findViews(buffer, range, copied, program, views)) {
      setZones(zones, begin, end, views);
      return {};
    }
  }
  // Some has left host memory while other chunks were copied.
  std::vector<char> all(range.end - range.begin);
  DRAGON_TRY(fetch(buffer, range.begin, range.end, all.data(), queue));
  setZones(zones, begin, end, {{range.begin, range.end, all.data()}});
  return {};
}

Status ZoneReader::read(NumberZones &zones, size_t begin, size_t end,
                        Queue queue) {
  if (begin == end)
    return {};
  const uint64_t zoneBytes =
      (zones.zone(end - 1).end() - zones.zone(begin).First) / (end - begin);
  const size_t piece =
      std::max<uint64_t>(PieceBytes / std::max<uint64_t>(zoneBytes, 1), 1);
  Data.adoptMapped(*Space.Allocations.find(zones.zone(begin).First)->buffer);
  Status status;
  for (size_t at = begin; at < end && status.ok(); at += piece)
    status = readPiece(zones, at, std::min(at + piece, end), queue);
  Scratch.reset();
  ScratchBytes = 0;
  return status;
}

} // namespace dragon
