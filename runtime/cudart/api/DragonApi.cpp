//===- DragonApi.cpp - dragon.h -------------------------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dragon/dragon.h"

#include "runtime/base/PerThread.h"
#include "runtime/cudart/api/ApiCalls.h"
#include "runtime/cudart/front/ProcessState.h"
#include "runtime/cudart/staging/Staging.h"

#include <algorithm>
#include <cstring>
#include <cuda_runtime_api.h>

using namespace dragon;

std::string &dragon::lastApiMessage() {
  return PerThread<std::string, struct LastApiMessage>::get();
}

/// The codes of dragon.h say more than CUDA's; where only CUDA's is known, the
/// message carries its name.
dragon_error dragon::apiEnterError(cudaError_t error) {
  lastApiMessage() =
      fmt::format("{}: {}", cudaGetErrorName(error), cudaGetErrorString(error));
  switch (error) {
  case cudaErrorNoDevice:
  case cudaErrorInitializationError:
  case cudaErrorInsufficientDriver:
    if (auto runtime = Runtime::get(); !runtime.ok() && !inForkedChild()) {
      Status why = runtime.takeStatus();
      lastApiMessage() = why.message();
      return why.code();
    }
    return DRAGON_ERROR_NO_DEVICE;
  default:
    return DRAGON_ERROR_DEVICE;
  }
}

Status dragon::bufferAt(Front &front, const void *address, const char *call,
                        BufferInfo &info) {
  auto found =
      front.runtime.buffers().find(reinterpret_cast<uintptr_t>(address));
  if (!found || found->base != reinterpret_cast<uintptr_t>(address))
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "{}: {} is not the address of a map or buffer", call,
                         fmt::ptr(address));
  info = *found;
  return {};
}

namespace {

Status rangeAt(Front &front, const void *address, size_t bytes,
               const char *call) {
  auto at = reinterpret_cast<uintptr_t>(address);
  auto found = front.runtime.buffers().find(at);
  if (!found)
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                         "{}: {} is in no map or buffer", call,
                         fmt::ptr(address));
  if (bytes > found->bytes - (at - found->base))
    return Status::error(
        DRAGON_ERROR_INVALID_ARGUMENT,
        "{}: {} bytes at {} go beyond the end of the map or buffer ({} bytes)",
        call, bytes, fmt::ptr(address), found->bytes);
  return {};
}

constexpr unsigned AllFlags = D_READ | D_WRITE | D_CREATE | D_VOLATILE;

Status checkMap(const char *path, size_t size, int64_t offset, unsigned flags,
                void **addr) {
  auto invalid = [](const char *what) {
    return Status::error(DRAGON_ERROR_INVALID_ARGUMENT, "dragon_map: {}", what);
  };
  if (!addr)
    return invalid("addr is null");
  if (size == 0)
    return invalid("size is 0");
  if (offset < 0)
    return invalid("offset is negative");
  if (size > size_t(INT64_MAX) - size_t(offset))
    return invalid("offset + size is beyond the largest file");
  if (flags & ~AllFlags)
    return invalid("unknown flags");
  if (!path && (!(flags & D_VOLATILE) || (flags & D_READ)))
    return invalid("filename is null, which needs D_VOLATILE without D_READ");
  if (!(flags & (D_READ | D_WRITE | D_VOLATILE)))
    return invalid("neither D_READ nor D_WRITE is set");
  return {};
}

} // namespace

extern "C" {

dragon_error dragon_map(const char *path, size_t size, int64_t offset,
                        unsigned flags, void **addr) {
  return apiCall([&](Front &front) -> Status {
    DRAGON_TRY(checkMap(path, size, offset, flags, addr));
    if (!path || (flags & (D_READ | D_VOLATILE)) == D_VOLATILE) {
      AllocateOptions options;
      options.flags = flags;
      options.hostAccessible = true;
      DRAGON_ASSIGN(uintptr_t base,
                    front.runtime.buffers().allocate(size, options));
      *addr = reinterpret_cast<void *>(base);
      return {};
    }
    DRAGON_ASSIGN(uintptr_t base,
                  front.runtime.files().mapFile(path, size, offset, flags));
    *addr = reinterpret_cast<void *>(base);
    return {};
  });
}

dragon_error dragon_sync(void *addr) {
  return apiCall([&](Front &front) -> Status {
    BufferInfo info;
    DRAGON_TRY(bufferAt(front, addr, "dragon_sync", info));
    DRAGON_TRY(front.device.synchronizeAll());
    return front.runtime.files().sync(info.base);
  });
}

dragon_error dragon_unmap(void *addr) {
  return apiCall([&](Front &front) -> Status {
    BufferInfo info;
    DRAGON_TRY(bufferAt(front, addr, "dragon_unmap", info));
    return front.runtime.buffers().free(info.base); // syncs D_WRITE maps first
  });
}

dragon_error dragon_malloc(size_t size, void **addr) {
  return apiCall([&](Front &front) -> Status {
    if (!addr || size == 0)
      return Status::error(DRAGON_ERROR_INVALID_ARGUMENT, "dragon_malloc: {}",
                           addr ? "size is 0" : "addr is null");
    AllocateOptions options;
    options.flags = D_VOLATILE;
    options.hostAccessible = true;
    DRAGON_ASSIGN(uintptr_t base,
                  front.runtime.buffers().allocate(size, options));
    *addr = reinterpret_cast<void *>(base);
    return {};
  });
}

dragon_error dragon_free(void *addr) {
  return apiCall([&](Front &front) -> Status {
    if (!addr)
      return {};
    BufferInfo info;
    DRAGON_TRY(bufferAt(front, addr, "dragon_free", info));
    return front.runtime.buffers().free(info.base);
  });
}

dragon_error dragon_prefetch(const void *addr, size_t bytes) {
  return apiCall([&](Front &front) -> Status {
    DRAGON_TRY(rangeAt(front, addr, bytes, "dragon_prefetch"));
    return bytes ? front.runtime.buffers().prefetch(
                       reinterpret_cast<uintptr_t>(addr), bytes, nullptr)
                 : Status();
  });
}

dragon_error dragon_discard(void *addr, size_t bytes) {
  return apiCall([&](Front &front) -> Status {
    DRAGON_TRY(rangeAt(front, addr, bytes, "dragon_discard"));
    return bytes ? front.runtime.buffers().discard(
                       reinterpret_cast<uintptr_t>(addr), bytes, nullptr)
                 : Status();
  });
}

dragon_error dragon_yield(void) {
  return apiCall([](Front &front) -> Status {
    front.runtime.yield();
    return {};
  });
}

dragon_error dragon_advise(const void *addr, size_t bytes,
                           dragon_advice advice) {
  return apiCall([&](Front &front) -> Status {
    if (advice < DRAGON_ADVISE_READ_MOSTLY || advice > DRAGON_ADVISE_NORMAL)
      return Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                           "dragon_advise: unknown advice {}", int(advice));
    DRAGON_TRY(rangeAt(front, addr, bytes, "dragon_advise"));
    return bytes ? front.runtime.buffers().advise(
                       reinterpret_cast<uintptr_t>(addr), bytes, advice)
                 : Status();
  });
}

dragon_error dragon_stats(dragon_stats_t *stats) {
  return apiCall([&](Front &front) -> Status {
    if (!stats || stats->size < sizeof stats->size)
      return Status::error(DRAGON_ERROR_INVALID_ARGUMENT, "dragon_stats: {}",
                           stats ? "size must be set to sizeof(dragon_stats_t)"
                                 : "stats is null");
    const Ledger &ledger = front.runtime.ledger();
    dragon_stats_t now{};
    now.swap_in = ledger.bytes(Direction::SwapToHost);
    now.swap_out = ledger.bytes(Direction::HostToSwap);
    now.file_to_host = ledger.bytes(Direction::FileToHost) + now.swap_in;
    now.host_to_file = ledger.bytes(Direction::HostToFile) + now.swap_out;
    now.host_to_device = ledger.bytes(Direction::HostToDevice);
    now.device_to_host = ledger.bytes(Direction::DeviceToHost);
    now.avoided_read_only = ledger.avoided(Avoided::ReadOnly);
    now.avoided_write_only = ledger.avoided(Avoided::WriteOnly);
    now.avoided_discard = ledger.avoided(Avoided::Discard);
    now.avoided_clean = ledger.avoided(Avoided::Clean);
    now.avoided_staging = ledger.avoided(Avoided::Staging);
    now.launches = ledger.counter(Counter::Launches);
    now.sliced_launches = ledger.counter(Counter::SlicedLaunches);
    now.slices = ledger.counter(Counter::Slices);
    now.host_mapped_launches = ledger.counter(Counter::HostMappedLaunches);
    // Programs built against an older header know a shorter structure.
    now.size = stats->size;
    std::memcpy(stats, &now, std::min(stats->size, sizeof now));
    return {};
  });
}

const char *dragon_error_string(dragon_error error) {
  switch (error) {
  case DRAGON_OK:
    return "no error";
  case DRAGON_ERROR_INVALID_ARGUMENT:
    return "invalid argument";
  case DRAGON_ERROR_FILE:
    return "a file could not be opened, read or written";
  case DRAGON_ERROR_NO_SPACE:
    return "no space left in a file system, the swap or the budget";
  case DRAGON_ERROR_OUT_OF_MEMORY:
    return "out of memory";
  case DRAGON_ERROR_FILE_CHANGED:
    return "a file changed while it was mapped";
  case DRAGON_ERROR_DEVICE:
    return "the device reported an error";
  case DRAGON_ERROR_NO_DEVICE:
    return "no usable device";
  case DRAGON_ERROR_UNSUPPORTED:
    return "not supported by this back end";
  case DRAGON_ERROR_SETTING:
    return "a DRAGON_ variable is malformed";
  }
  return "unknown error";
}

const char *dragon_last_error_message() { return lastApiMessage().c_str(); }

} // extern "C"
