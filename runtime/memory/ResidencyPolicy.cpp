//===- ResidencyPolicy.cpp - what is to happen to a chunk -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/ResidencyPolicy.h"

namespace dragon {

namespace {

Move decideFetch(const ChunkState &now, LaunchNeed need) {
  Move move;
  if (now.onDevice)
    return move;
  if (need == LaunchNeed::Overwrite) {
    if (now.onHost || now.stored == Stored::File || now.stored == Stored::Swap)
      move.avoided = Avoided::WriteOnly;
    return move;
  }
  if (now.onHost)
    move.fetch = Fetch::FromHost;
  else if (now.stored == Stored::File || now.stored == Stored::Swap)
    move.fetch = Fetch::FromStorage;
  else if (now.stored == Stored::Zero)
    move.fetch = Fetch::Zero;
  else
    move.fetch = Fetch::Undefined;
  return move;
}

Move decideRemoval(const ChunkState &now, NextUse next, Pressure pressure) {
  Move move;
  bool fromHost = pressure == Pressure::Host;
  bool here = fromHost ? now.onHost : now.onDevice;
  bool elsewhere = fromHost ? now.onDevice : now.onHost;
  move.removal = Removal::Drop;
  if (!here)
    return move;
  if (next == NextUse::Never) {
    if (!elsewhere && now.stored == Stored::Stale)
      move.avoided = Avoided::Discard;
    return move;
  }
  if (now.stored == Stored::Undefined)
    return move;
  if (elsewhere || now.stored != Stored::Stale) {
    move.avoided = now.readOnly ? Avoided::ReadOnly : Avoided::Clean;
    return move;
  }
  if (pressure == Pressure::Device)
    move.removal = Removal::ToHost;
  else
    move.removal = now.hasSink ? Removal::ToSink : Removal::ToSwap;
  return move;
}

/// Where not everything fits, uploads fill so much less than the device's
/// budget.
constexpr uint64_t UploadShare = 2;

} // namespace

UploadPlace placeUpload(const UploadState &upload) {
  if (!upload.hostHasRoom)
    return UploadPlace::Device;
  // What no kernel changes never needs to come back, if the host keeps it. Of
  // the rest, what the next launches bring with them would push out more than
  // that before it was used.
  if (upload.pageable && upload.outOfCore && upload.overwrites &&
      (upload.readOnly ||
       (!upload.onDevice && upload.held > upload.budget / UploadShare)))
    return UploadPlace::Host;
  return UploadPlace::DeviceIfFree;
}

Move decide(const ChunkState &now, LaunchNeed need, NextUse next,
            Pressure pressure) {
  if (need != LaunchNeed::None)
    return decideFetch(now, need);
  if (pressure != Pressure::None)
    return decideRemoval(now, next, pressure);
  return {};
}

} // namespace dragon
