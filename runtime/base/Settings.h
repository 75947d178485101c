//===- Settings.h - every DRAGON_ variable, read once -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parsed strictly: a malformed value is an error that names the variable, the
// value and the form expected. Sizes take K, M, G, T (powers of 1024).
// docs/settings.md is checked against Settings.def.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_BASE_SETTINGS_H
#define DRAGON_RUNTIME_BASE_SETTINGS_H

#include "runtime/base/Status.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dragon {

/// Which launches run together, slice by slice.
enum class Wavefront : uint8_t { Off, Auto, Always };

/// What goes to host memory that is not pinned.
enum class Unpinned : uint8_t { Off, Auto, Always };

/// Kernels that fetch pages: where nothing else moves less, or wherever data
/// does not fit.
enum class Paging : uint8_t { Off, Auto, Always };

/// The line on a terminal that tells where a run is; Auto: of one that goes out
/// of core and lasts.
enum class ShowProgress : uint8_t { Off, Auto, Always };

enum class DirectIo : uint8_t { Auto, On, Off };

/// How the dragon driver's files are read ahead.
enum class Readahead : uint8_t { Normal, Aggressive, Disabled };

/// Other devices whose memory is used; all, or those of these numbers.
struct Peers {
  bool all = false;
  std::vector<unsigned> numbers;

  bool any() const { return all || !numbers.empty(); }
  bool has(unsigned number) const {
    return all || std::ranges::find(numbers, number) != numbers.end();
  }
  /// Whether they are of the devices, from 0 to `devices`, and not the
  /// program's own.
  Status check(unsigned own, unsigned devices) const;
};

struct Settings {
  std::optional<uint64_t> deviceMemory; ///< DRAGON_DEVICE_MEMORY, bytes
  std::optional<uint64_t> hostMemory;   ///< DRAGON_HOST_MEMORY, bytes
  std::vector<std::string> swapDirs;    ///< DRAGON_SWAP_DIR, ':'-separated;
                                        ///< default $TMPDIR, else /var/tmp
  std::string backend; ///< DRAGON_BACKEND: vmm, cpu, managed, dragon, "" = auto
  std::optional<uint64_t> managedMemory; ///< DRAGON_MANAGED_MEMORY, bytes
  bool managedOversubscribe = false;     ///< DRAGON_MANAGED_OVERSUBSCRIBE
  // The artifact's, for the dragon device.
  Readahead readahead = Readahead::Normal;    ///< DRAGON_READAHEAD_TYPE
  uint64_t reservedPages = uint64_t(1) << 21; ///< DRAGON_NR_RESERVED_PAGES
  bool enableReadCache = true;                ///< DRAGON_ENABLE_READ_CACHE
  bool enableLazyWrite = true;                ///< DRAGON_ENABLE_LAZY_WRITE
  bool enableAioRead = true;                  ///< DRAGON_ENABLE_AIO_READ
  bool enableAioWrite = true;                 ///< DRAGON_ENABLE_AIO_WRITE
  std::optional<uint64_t> chunkBytes; ///< DRAGON_CHUNK_SIZE, multiple of 64 KiB
  DirectIo directIo = DirectIo::Auto; ///< DRAGON_DIRECT_IO: auto, on, off
  bool ioUring = true;                ///< DRAGON_IO_URING: 1, 0
  bool strict = false;                ///< DRAGON_STRICT (cpu device)
  bool poison = false;                ///< DRAGON_POISON (cpu device)
  bool quiet = false;                 ///< DRAGON_QUIET
  std::optional<uint64_t> share;      ///< DRAGON_SHARE: a weight; 0: none
  std::string shareDir;               ///< DRAGON_SHARE_DIR
  std::optional<uint64_t> shareMemory; ///< DRAGON_SHARE_MEMORY, bytes
  /// DRAGON_SHARE_HOST_MEMORY, bytes
  std::optional<uint64_t> shareHostMemory;
  std::optional<uint64_t> shareQuantum;  ///< DRAGON_SHARE_QUANTUM, milliseconds
  bool startAhead = true;                ///< DRAGON_START_AHEAD
  Wavefront wavefront = Wavefront::Auto; ///< DRAGON_WAVEFRONT
  Unpinned unpinned = Unpinned::Auto;    ///< DRAGON_UNPINNED
  Paging paging = Paging::Auto;          ///< DRAGON_PAGING
  unsigned pageTouches = 0;              ///< DRAGON_PAGE_TOUCHES; 0: chosen
  unsigned sliceQueues = 4;              ///< DRAGON_SLICE_QUEUES
  bool elide = true;   ///< DRAGON_ELIDE: staging elision and deferral
  bool protect = true; ///< DRAGON_PROTECT: deferral without a proof
  std::string stats;   ///< DRAGON_STATS: "-" = table on stderr, else a file
  unsigned statsSeconds = 60; ///< DRAGON_STATS_SECONDS; 0: only at the end
  ShowProgress progress = ShowProgress::Auto; ///< DRAGON_PROGRESS
  std::string pager;       ///< DRAGON_PAGER: "" = none, "fault"
  bool oracle = false;     ///< DRAGON_ORACLE
  bool footprints = false; ///< DRAGON_FOOTPRINTS
  bool check = false;      ///< DRAGON_CHECK
  std::string trace;       ///< DRAGON_TRACE: file
  std::string report;      ///< DRAGON_REPORT: file
  std::string log;         ///< DRAGON_LOG: "" = silent, else "1" / "debug"
  std::optional<uint64_t> cpuDevices; ///< DRAGON_CPU_DEVICES
  Peers peers;                        ///< DRAGON_PEERS
  std::optional<uint64_t> peerMemory; ///< DRAGON_PEER_MEMORY, bytes of each
  unsigned cpuThreads = 0; ///< DRAGON_CPU_THREADS; not set: 0, all cores

  /// The program's accesses are watched, to judge the runtime.
  bool judged() const { return !pager.empty() || oracle || footprints; }

  /// The run leaves a trace.
  bool traced() const { return !trace.empty() || !report.empty(); }
  /// Something is written when it ends.
  bool reported() const { return traced() || !stats.empty(); }

  /// Reads the environment.
  static StatusOr<Settings> fromEnvironment();
};

/// What is to be said of the environment's variables that begin with DRAGON_
/// and are none of ours: "DRAGON_DEVICE_MEM is no setting; did you mean ...".
std::vector<std::string> unknownVariables();

/// A line of Settings.def.
struct SettingDescription {
  const char *variable;
  const char *byDefault;
  const char *help;
};
std::span<const SettingDescription> allSettings();

} // namespace dragon

#endif // DRAGON_RUNTIME_BASE_SETTINGS_H
