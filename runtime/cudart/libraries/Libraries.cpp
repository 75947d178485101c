//===- Libraries.cpp - calls of library functions -------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The entry points of dragon/CompilerABI.h, "Library calls": compiled code
// calls them around cuBLAS and the like, whose kernels are not launched through
// this library.
//
// A function without a summary may be anything. If it is code that uses CUDA
// through this library, all is well without help: its launches are ours. That
// is so for whatever is in the program itself, in the C and C++ libraries, and
// in shared libraries that register kernels here. Others may have a CUDA
// runtime of their own inside, and what they are given stays on the device.
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/libraries/Libraries.h"

#include "dragon/CompilerABI.h"
#include "runtime/base/PinnedRanges.h"
#include "runtime/cudart/capture/Capture.h"
#include "runtime/cudart/capture/LibraryKernels.h"
#include "runtime/cudart/front/Forward.h"
#include "runtime/cudart/front/ProcessState.h"
#include "runtime/cudart/launches/HostFunctions.h"
#include "runtime/cudart/libraries/CublasLtDescriptors.h"
#include "runtime/cudart/libraries/CutCalls.h"
#include "runtime/cudart/libraries/ForeignCalls.h"
#include "runtime/cudart/modules/Module.h"

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <link.h>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

using namespace dragon;

namespace {

/// What `end` is given where nothing is to be done.
char nothingHeld;

struct Token {
  LibraryHold hold;
  std::unique_ptr<CapturedCall> captured;
};

/// Calls of libraries that this thread is in, and that have been announced.
thread_local unsigned depth = 0;

/// The call that this thread makes next, of which the compiler has said what it
/// is given.
thread_local const dragon_library_call *described = nullptr;

/// Nothing if the compiler does not know the call.
std::string placeOf(const dragon_library_call *call) {
  return call && call->file && call->line
             ? fmt::format(" at {}:{}", call->file, call->line)
             : std::string();
}

/// The front, if buffers exist that the call could use.
Front *frontForLibraries() {
  Front *front = Front::existing();
  if (!front || inForkedChild() || refusedAtExit() ||
      stickyError() != cudaSuccess)
    return nullptr;
  return front;
}

/// Whoever calls the library next may not look at its result: all CUDA calls
/// say it from now on.
void fail(Status status) {
  cudaError_t error = report(status);
  makeSticky(error);
  leave(error);
}

const char *fileName(const char *path) {
  const char *slash = path ? std::strrchr(path, '/') : nullptr;
  return slash ? slash + 1 : path;
}

bool isOfTheSystem(std::string_view file) {
  for (std::string_view prefix :
       {"libc.", "libm.", "libstdc++.", "libc++.", "libc++abi.", "libgcc_s.",
        "libpthread.", "libdl.", "librt.", "ld-linux", "libgomp.", "libomp.",
        "libiomp", "libtbb", "libdragonrt."})
    if (file.substr(0, prefix.size()) == prefix)
      return true;
  return false;
}

/// Whether the function is in a shared library that may work on device memory
/// without this one. By its symbol: an address may be one of the program's,
/// that only leads there.
bool isForeign(const char *symbol) {
  static std::mutex lock;
  static auto *known = new std::unordered_map<std::string, bool>;
  std::lock_guard<std::mutex> guard(lock);
  auto [it, isNew] = known->try_emplace(symbol, false);
  if (!isNew)
    return it->second;
  if (isLed(symbol))
    return false;
  void *address = ::dlsym(RTLD_NEXT, symbol);
  if (!address)
    address = ::dlsym(RTLD_DEFAULT, symbol);
  Dl_info where;
  link_map *object = nullptr;
  if (!address ||
      !::dladdr1(address, &where, reinterpret_cast<void **>(&object),
                 RTLD_DL_LINKMAP) ||
      !object)
    return false;
  bool inProgram = !object->l_name || !*object->l_name;
  return it->second = !inProgram && !isOfTheSystem(fileName(object->l_name)) &&
                      !modules().registeredFrom(where.dli_fbase);
}

/// Null: it failed. `call`: null if the compiler does not know it; `pieces`: if
/// it is made all at once.
void *begin(Front &front, const LibraryCall &asked,
            const dragon_library_call *call, dragon_library_pieces *pieces,
            Status status) {
  int before = errno;
  waitForAllHostFunctions(front);
  auto token = std::make_unique<Token>();
  bool again = status.ok() && isLookingForPieces(pieces) &&
               cutCall(front, asked, *pieces);
  if (status.ok() && !again) {
    status = front.runtime.libraries().beginLibraryCall(asked, token->hold);
    again = status.code() == DRAGON_ERROR_OUT_OF_MEMORY && pieces &&
            cutCall(front, asked, *pieces);
  }
  if (again) {
    errno = before;
    return DRAGON_LIBRARY_AGAIN;
  }
  if (!status.ok()) {
    if (pieces)
      endPieces(*pieces);
    fail(std::move(status).within("'{}'{}", asked.function, placeOf(call)));
    errno = before;
    return nullptr;
  }
  errno = before;
  ++depth;
  return token.release();
}

/// False: it failed.
bool keepFor(Front &front, const char *function,
             const dragon_library_call *call, uintptr_t address) {
  Status status = front.runtime.libraries().keepReachable(address);
  if (status.ok())
    return true;
  auto buffer = front.runtime.buffers().find(address);
  fail(std::move(status).within(
      "'{}'{} has no summary, so {} and what can be reached from there must "
      "stay in device memory (describe the function in a file that "
      "--dragon-summaries= names)",
      function, placeOf(call),
      !buffer || buffer->name.empty() ? "a buffer" : "'" + buffer->name + "'"));
  return false;
}

/// What a call is asked for; KEEP and arrays of unknown length are seen to.
LibraryCall askedFor(Front &front, const dragon_library_call &call,
                     std::span<const AnnouncedUse> told, Status &status) {
  LibraryCall asked;
  asked.function = call.function;
  size_t pointers = 0;
  for (const auto &[pointer, bytes, mode] : told) {
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    if (mode == DRAGON_LIBRARY_ARRAY) {
      pointers = size_t(std::max<int64_t>(bytes, 0));
      if (bytes < 0 && status.ok() && !capturing())
        status = front.runtime.libraries().keepReachable(address);
      continue;
    }
    const size_t follows = std::exchange(pointers, 0);
    if (mode != DRAGON_LIBRARY_NOTHING && mode != DRAGON_LIBRARY_READ &&
        status.ok() && !capturing())
      status = deviceMayWriteFrom(front, address);
    if (mode == DRAGON_LIBRARY_NOTHING ||
        (!follows && !front.runtime.buffers().find(address)))
      continue;
    if (mode == DRAGON_LIBRARY_KEEP) {
      if (status.ok() && !capturing())
        status = front.runtime.libraries().keepResident(address);
      continue;
    }
    LaunchNeed need = mode == DRAGON_LIBRARY_READ    ? LaunchNeed::Read
                      : mode == DRAGON_LIBRARY_WRITE ? LaunchNeed::Write
                                                     : LaunchNeed::Overwrite;
    // Nothing can be said of sizes that make no sense.
    if (bytes < 0)
      need = need == LaunchNeed::Read ? need : LaunchNeed::Write;
    if (bytes != 0)
      asked.uses.push_back({address,
                            bytes < 0 ? LibraryUse::Unknown : size_t(bytes),
                            need, follows});
  }
  return asked;
}

/// `stream`: none: it may be any.
void *announce(const dragon_library_call &call,
               std::optional<cudaStream_t> stream,
               std::span<const AnnouncedUse> told,
               dragon_library_pieces *pieces) {
  Front *front = frontForLibraries();
  if (!front) {
    ++depth;
    return &nothingHeld;
  }
  Status status;
  LibraryCall asked = askedFor(*front, call, told, status);
  if (stream)
    asked.queue = front->queue(*stream);
  if (!capturing())
    return begin(*front, asked, &call, pieces, std::move(status));
  if (!front->gpu) {
    ++depth;
    return &nothingHeld;
  }
  // Of pointers in device memory nothing can be read now.
  if (pieces && !asked.followsPointers() && cutCall(*front, asked, *pieces))
    return DRAGON_LIBRARY_AGAIN;
  auto token = std::make_unique<Token>();
  token->captured = beginCapturedCall(std::move(asked));
  ++depth;
  return token.release();
}

} // namespace

bool dragon::isAnnounced(const char *function) {
  const dragon_library_call *call = std::exchange(described, nullptr);
  return depth ||
         (call && call->symbol && std::string_view(call->symbol) == function);
}

bool dragon::enterForeignCall(const char *function,
                              std::span<const uintptr_t> words, bool stay,
                              void *&token) {
  token = nullptr;
  Front *front = frontForLibraries();
  if (!front || capturing())
    return true;
  LibraryCall asked;
  asked.function = function;
  if (stay)
    deviceMayWriteAnywhere(*front).ignore();
  auto use = [&](uintptr_t word) {
    deviceMayWriteFrom(*front, word).ignore();
    if (!front->runtime.buffers().find(word))
      return true;
    asked.uses.push_back({word, LibraryUse::Unknown, LaunchNeed::Write});
    return !stay || keepFor(*front, function, nullptr, word);
  };
  if (!std::all_of(words.begin(), words.end(), use))
    return false;
  if (std::string_view(function) == "cublasLtMatmul")
    for (const AnnouncedUse &beside : light::memoryBeside(words))
      use(reinterpret_cast<uintptr_t>(beside.pointer));
  if (asked.uses.empty())
    return true;
  token = begin(*front, asked, nullptr, nullptr, {});
  return token;
}

void *dragon::beginLibraryCall(const dragon_library_call &call, void *stream,
                               std::span<const AnnouncedUse> uses,
                               dragon_library_pieces *pieces) {
  return announce(call, static_cast<cudaStream_t>(stream), uses, pieces);
}

void dragon::leaveForeignCall(void *token) { __dragon_library_end(token); }

extern "C" {

void *__dragon_library_begin(const dragon_library_call *call, uint32_t stream,
                             void *handle, uint32_t count, ...) {
  std::vector<AnnouncedUse> told;
  told.reserve(count);
  dragon_library_pieces *pieces = nullptr;
  va_list uses;
  va_start(uses, count);
  for (uint32_t i = 0; i < count; ++i) {
    void *pointer = va_arg(uses, void *);
    const int64_t bytes = va_arg(uses, int64_t);
    const uint32_t mode = va_arg(uses, uint32_t);
    if (mode == DRAGON_LIBRARY_PIECES)
      pieces = static_cast<dragon_library_pieces *>(pointer);
    else
      told.push_back({pointer, bytes, mode});
  }
  va_end(uses);
  return announce(*call,
                  stream ? std::optional(static_cast<cudaStream_t>(handle))
                         : std::nullopt,
                  told, pieces);
}

uint32_t __dragon_library_next(void *token, dragon_library_pieces *pieces,
                               uint32_t failed) {
  __dragon_library_end(token);
  return nextPiece(*pieces, failed);
}

uint32_t __dragon_host_zero(const void *scalar, uint64_t bytes) {
  const auto *first = static_cast<const char *>(scalar);
  return scalar && isReadInCall(scalar) &&
         std::all_of(first, first + bytes, [](char byte) { return !byte; });
}

void __dragon_library_end(void *token) {
  if (!token)
    return;
  --depth;
  if (token == &nothingHeld)
    return;
  std::unique_ptr<Token> held(static_cast<Token *>(token));
  int before = errno;
  if (held->captured) {
    endCapturedCall(std::move(held->captured));
    errno = before;
    return;
  }
  if (Front *front = Front::existing())
    if (Status status = front->runtime.libraries().endLibraryCall(held->hold);
        !status.ok())
      fail(std::move(status));
  errno = before;
}

void __dragon_library_unknown(const dragon_library_call *call, uint32_t sure,
                              uint32_t count, ...) {
  described = call;
  Front *front = frontForLibraries();
  // What is captured does nothing now: the graph says later what it uses.
  if (front && front->gpu && capturing())
    noteUnknownCapture();
  if (!front || !count || capturing())
    return;
  int before = errno;
  if (PinnedRanges::get().any() && (sure || isForeign(call->symbol)))
    deviceMayWriteAnywhere(*front).ignore();
  auto keep = [&](uintptr_t address) {
    auto buffer = front->runtime.buffers().find(address);
    if (!buffer || (!sure && !isForeign(call->symbol)))
      return true;
    return keepFor(*front, call->function, call, address);
  };
  va_list pointers;
  va_start(pointers, count);
  bool ok = true;
  for (uint32_t i = 0; i < count && ok; ++i) {
    auto address = reinterpret_cast<uintptr_t>(va_arg(pointers, void *));
    uint64_t bytes = va_arg(pointers, uint64_t);
    ok = keep(address);
    for (uint64_t at = 0; ok && at + sizeof(uintptr_t) <= bytes;
         at += sizeof(uintptr_t)) {
      uintptr_t word;
      std::memcpy(&word, reinterpret_cast<const char *>(address) + at,
                  sizeof word);
      ok = keep(word);
    }
  }
  va_end(pointers);
  errno = before;
}

} // extern "C"
