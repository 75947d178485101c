//===- StagingCopy.cpp - copies with one side in a staging buffer ---------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/capture/Capture.h"
#include "runtime/cudart/copies/Copy.h"
#include "runtime/cudart/front/CompilerHints.h"
#include "runtime/cudart/launches/HostFunctions.h"
#include "runtime/cudart/staging/Staging.h"

#include <cuda_runtime_api.h>

using namespace dragon;

namespace dragon {

Result StagingCopies::copy(Front &front, void *to, const void *from,
                           size_t bytes, cudaMemcpyKind kind,
                           cudaStream_t stream, bool async,
                           const dragon_reason *why) {
  auto target = reinterpret_cast<uintptr_t>(to);
  auto source = reinterpret_cast<uintptr_t>(from);
  if (capturing() && async) {
    // The copy will be made by a graph, who knows when.
    if (Status status = Buffers.materialise(from, bytes); !status.ok())
      return status;
    if (Status status = Buffers.beforeOverwrite(to, bytes, false); !status.ok())
      return status;
    return cudaMemcpyAsync(to, from, bytes, kind, stream);
  }
  DRAGON_CHECK(checkCopy(front, to, from, bytes, kind));
  if (bytes == 0)
    return cudaSuccess;
  waitForHostFunctions(front, stream);
  auto toBuffer = front.runtime.buffers().find(target);
  auto fromBuffer = front.runtime.buffers().find(source);
  // The host can change memory that it has access to without telling us.
  bool hostMayChange = fromBuffer && fromBuffer->hostAccessible;
  if (fromBuffer && !toBuffer && !hostMayChange && worthStaging(bytes))
    return copyOut(front, to, from, bytes, stream, async, why);
  if (toBuffer && !fromBuffer && Buffers.deferred(from, bytes))
    return copyIn(front, to, from, bytes, stream, async);
  if (!fromBuffer)
    if (Status status = Buffers.materialise(from, bytes); !status.ok())
      return status;
  if (!toBuffer)
    if (Status status = Buffers.beforeOverwrite(to, bytes, true); !status.ok())
      return status;
  if (toBuffer && !fromBuffer)
    if (const std::optional<Result> later =
            copyProtected(front, to, from, bytes, stream, async))
      return *later;
  DRAGON_CHECK(copyBytes(front, to, from, bytes, stream, async));
  if (!toBuffer)
    Buffers.overwritten(to, bytes);
  return cudaSuccess;
}

Result StagingCopies::copyOut(Front &front, void *to, const void *from,
                              size_t bytes, cudaStream_t stream, bool async,
                              const dragon_reason *why) {
  // A copy also waits for the work before it, and reports what failed there.
  if (!async)
    if (Status status = synchronizeStream(front, stream); !status.ok())
      return status;
  const auto guard = Contents.lock();
  Origin origin;
  origin.kind = Origin::Device;
  origin.address = reinterpret_cast<uintptr_t>(from);
  origin.queue = front.queue(stream);
  origin.why = why;
  auto begin = reinterpret_cast<uintptr_t>(to);
  Contents.Map.assign(begin, begin + bytes, origin);
  Contents.Dead.erase(begin, begin + bytes);
  Contents.changed();
  return cudaSuccess;
}

Result StagingCopies::mapPart(Front &front, void *to, size_t bytes,
                              const std::shared_ptr<BackingFile> &file,
                              int64_t offset) {
  Status status = file->checkUnchanged();
  if (status.ok())
    status = front.runtime.files().mapFileRange(reinterpret_cast<uintptr_t>(to),
                                                bytes, file, offset);
  if (!status.ok())
    return status;
  front.runtime.ledger().avoided(Avoided::Staging, bytes);
  return cudaSuccess;
}

std::optional<Result> StagingCopies::copyMapped(Front &front, void *to,
                                                const void *from, size_t bytes,
                                                cudaMemcpyKind kind,
                                                cudaStream_t stream,
                                                bool async) {
  auto target = reinterpret_cast<uintptr_t>(to);
  auto source = reinterpret_cast<uintptr_t>(from);
  if (!Mapped.worthAsking(source, bytes) || !front.runtime.settings().elide ||
      (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDefault) ||
      !front.runtime.buffers().find(target) ||
      front.runtime.buffers().find(source))
    return std::nullopt;
  const std::optional<OpenFilePlace> place = Mapped.placeOf(source, bytes);
  if (!place)
    return std::nullopt;
  waitForHostFunctions(front, stream);
  {
    const auto guard = Contents.lockWhenStill(target, target + bytes);
    const std::shared_ptr<BackingFile> file =
        Contents.Files.input(place->file.get());
    if (!file)
      return std::nullopt;
    if (Status status =
            Contents.materialise(Contents.Map.ofDevice(target, target + bytes));
        !status.ok())
      return status;
    DRAGON_CHECK(mapPart(front, to, bytes, file, place->offset));
    if (Status status = front.runtime.buffers().prefetchInCore(
            target, bytes, front.queue(stream));
        !status.ok())
      return status;
  }
  if (!async)
    return synchronizeStream(front, stream);
  return cudaSuccess;
}

Result StagingCopies::copyIn(Front &front, void *to, const void *from,
                             size_t bytes, cudaStream_t stream, bool async) {
  auto target = reinterpret_cast<uintptr_t>(to);
  auto source = reinterpret_cast<uintptr_t>(from);
  const auto guard = Contents.lockWhenStill(target, target + bytes);
  // What stems from the bytes that are about to change comes first; it may be
  // in the very range that is copied from. What comes back to where it is does
  // not change them.
  std::vector<Segment> changing = Contents.Map.ofDevice(target, target + bytes);
  std::erase_if(changing, [&](const Segment &segment) {
    return source <= segment.begin && segment.end <= source + bytes &&
           segment.origin.address == target + (segment.begin - source);
  });
  if (Status status = Contents.materialise(changing); !status.ok())
    return status;
  const std::vector<Segment> parts =
      Contents.Map.segments(source, source + bytes);
  auto isMapped = [](const Segment &segment) {
    return segment.origin.kind == Origin::File &&
           segment.bytes() >= MinimumStagedBytes;
  };
  auto targetOf = [&](const Segment &segment) {
    return static_cast<char *>(to) + (segment.begin - source);
  };
  // Files first: a chunk that holds other bytes already would go and come back.
  for (const Segment &segment : parts)
    if (isMapped(segment))
      DRAGON_CHECK(mapPart(front, targetOf(segment), segment.bytes(),
                           segment.origin.file, segment.origin.offset));
  for (const Segment &segment : parts) {
    auto *part = targetOf(segment);
    auto *host = reinterpret_cast<void *>(segment.begin);
    if (isMapped(segment)) {
      if (Status status = front.runtime.buffers().prefetchInCore(
              reinterpret_cast<uintptr_t>(part), segment.bytes(),
              front.queue(stream));
          !status.ok())
        return status;
    } else if (segment.origin.kind == Origin::Device) {
      // Never through the host: within the device, or wherever the chunks are.
      Queue queue = front.queue(stream);
      if (segment.origin.queue != queue)
        if (Status status = front.device.synchronize(segment.origin.queue);
            !status.ok())
          return status;
      const auto *from = reinterpret_cast<const char *>(segment.origin.address);
      if (from != part)
        if (Status status = front.runtime.buffers().copy(
                part, from, segment.bytes(), queue, async);
            !status.ok())
          return status;
      front.runtime.ledger().avoided(Avoided::Staging, segment.bytes());
    } else {
      if (segment.origin.kind == Origin::File)
        if (Status status = Contents.materialise({segment}); !status.ok())
          return status;
      DRAGON_CHECK(
          copyBytes(front, part, host, segment.bytes(), stream, async));
    }
  }
  // As cudaMemcpy from pageable memory: done when it returns.
  if (!async)
    return synchronizeStream(front, stream);
  return cudaSuccess;
}

} // namespace dragon

extern "C" {

int __dragon_stage_memcpy(void *to, const void *from, size_t bytes, int kind) {
  const dragon_reason *why = takeReason();
  return withDevice([&](Front &front) {
    return staging().copies.copy(front, to, from, bytes, cudaMemcpyKind(kind),
                                 nullptr, false, why);
  });
}

int __dragon_stage_memcpy_async(void *to, const void *from, size_t bytes,
                                int kind, void *stream) {
  const dragon_reason *why = takeReason();
  return withDevice([&](Front &front) {
    return staging().copies.copy(front, to, from, bytes, cudaMemcpyKind(kind),
                                 static_cast<cudaStream_t>(stream), true, why);
  });
}

} // extern "C"
