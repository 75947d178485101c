//===- Budget.cpp - how much memory, in what chunks -----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/memory/Budget.h"

#include "runtime/share/Job.h"
#include "runtime/trace/Bytes.h"

#include <algorithm>
#include <bit>
#include <fstream>
#include <sstream>
#include <sys/stat.h>

namespace dragon {

namespace {

constexpr uint64_t MiB = 1 << 20;
constexpr uint64_t MaxChunkBytes = 32 * MiB;
constexpr uint64_t MaxByDataChunkBytes = 12 * MiB;
constexpr uint64_t MaxTransitBytes = 256 * MiB;
constexpr uint64_t MinAheadBytes = 256 * MiB;
constexpr uint64_t MaxAheadBytes = 1024 * MiB;

uint64_t roundDown(uint64_t value, uint64_t unit) {
  return value / unit * unit;
}

/// A number in a file, or the maximum: absent, "max".
uint64_t readLimit(const std::string &path) {
  std::ifstream file(path);
  uint64_t value;
  return file >> value ? value : UINT64_MAX;
}

} // namespace

void Budget::limitHost(uint64_t bytes) {
  hostBytes = bytes;
  transitBytes = std::max(
      chunkBytes, roundDown(std::min(bytes / 4, MaxTransitBytes), chunkBytes));
  aheadBytes = std::clamp(bytes / 16, MinAheadBytes, MaxAheadBytes);
}

uint64_t deviceReserve(const DeviceCaps &caps) {
  return reserveOf(caps.totalMemory);
}

std::optional<DeviceShare::Terms> shareTerms(const Settings &settings,
                                             const DeviceCaps &caps) {
  // A simulated device is one program's, unless it is said to be shared.
  const uint64_t weight =
      settings.share.value_or(caps.deviceIsHostVisible ? 0 : 1);
  if (!weight || caps.migrates || caps.identity.empty())
    return std::nullopt;
  DeviceShare::Terms terms;
  terms.weight = weight;
  terms.most = settings.deviceMemory;
  terms.total = settings.shareMemory;
  terms.free = caps.freeMemory;
  terms.reserve = caps.deviceIsHostVisible ? 0 : deviceReserve(caps);
  terms.freeIsShared = !caps.deviceIsHostVisible;
  // Several times what the buffers of most programs take to come and go.
  terms.turn = std::chrono::milliseconds(
      settings.shareQuantum.value_or(caps.deviceIsHostVisible ? 500 : 2000));
  terms.job = ownJob();
  return terms;
}

uint64_t hostReserve(uint64_t hostFree) {
  return std::max(1024 * MiB, hostFree / 8);
}

DeviceShare::Terms hostShareTerms(const Settings &settings,
                                  const DeviceShare::Terms &device,
                                  uint64_t hostFree) {
  DeviceShare::Terms terms;
  terms.weight = device.weight;
  terms.most = settings.hostMemory;
  terms.total = settings.shareHostMemory;
  terms.free = hostFree;
  terms.reserve = hostReserve(hostFree);
  return terms; // no turns: data that leave go to files, which takes long
}

StatusOr<Budget> chooseBudget(const Settings &settings, const DeviceCaps &caps,
                              uint64_t hostFree, std::optional<uint64_t> shared,
                              std::optional<uint64_t> sharedHost) {
  Budget budget{};
  uint64_t unit = caps.granularity;
  const uint64_t reserve = deviceReserve(caps);
  const uint64_t ofHost = hostReserve(hostFree);
  budget.deviceBytes = settings.deviceMemory.value_or(
      shared                          ? *shared
      : caps.freeMemory > 2 * reserve ? caps.freeMemory - reserve
                                      : caps.freeMemory / 2);
  budget.hostBytes =
      settings.hostMemory.value_or(sharedHost              ? *sharedHost
                                   : hostFree > 2 * ofHost ? hostFree - ofHost
                                                           : hostFree / 2);

  if (settings.chunkBytes) {
    budget.chunkBytes = *settings.chunkBytes;
    if (budget.chunkBytes % unit)
      return Status::error(DRAGON_ERROR_SETTING,
                           "DRAGON_CHUNK_SIZE is {}: the {} device needs a "
                           "multiple of {}",
                           formatBytes(budget.chunkBytes), caps.name,
                           formatBytes(unit));
  } else {
    budget.chunkBytes = std::clamp(
        std::bit_floor(std::max<uint64_t>(budget.deviceBytes / 64, 1)), unit,
        std::max(unit, MaxChunkBytes));
    // Many chunks must fit in host memory, too.
    while (budget.chunkBytes > unit &&
           budget.hostBytes / budget.chunkBytes < 16)
      budget.chunkBytes = std::max(unit, budget.chunkBytes / 2);
  }
  budget.byDataChunkBytes =
      settings.chunkBytes
          ? budget.chunkBytes
          : std::min(budget.chunkBytes, std::max(unit, MaxByDataChunkBytes));
  if (budget.deviceBytes < budget.chunkBytes)
    return Status::error(
        settings.deviceMemory ? DRAGON_ERROR_SETTING
                              : DRAGON_ERROR_OUT_OF_MEMORY,
        "device memory of {} holds no chunk of {}; raise DRAGON_DEVICE_MEMORY "
        "to {} or more{}",
        formatBytes(budget.deviceBytes), formatBytes(budget.chunkBytes),
        formatBytes(budget.chunkBytes),
        settings.chunkBytes ? ", or lower DRAGON_CHUNK_SIZE" : "");
  if (budget.hostBytes < MinHostChunks * budget.chunkBytes)
    return Status::error(
        settings.hostMemory ? DRAGON_ERROR_SETTING : DRAGON_ERROR_OUT_OF_MEMORY,
        "host memory of {} is less than {} chunks of {}; raise "
        "DRAGON_HOST_MEMORY to {} or more{}",
        formatBytes(budget.hostBytes), MinHostChunks,
        formatBytes(budget.chunkBytes),
        formatBytes(MinHostChunks * budget.chunkBytes),
        settings.chunkBytes ? ", or lower DRAGON_CHUNK_SIZE" : "");
  budget.deviceBytes = roundDown(budget.deviceBytes, unit);
  budget.limitHost(roundDown(budget.hostBytes, unit));
  return budget;
}

namespace {

/// What a control group of this process may have, and has.
struct MemoryGroup {
  std::string folder;
  uint64_t limit, used;
};

/// Those that have a limit, of versions 2 (nested) and 1, the innermost first.
std::vector<MemoryGroup> limitedGroups() {
  std::vector<MemoryGroup> found;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    size_t slash = line.find(":/");
    if (slash == std::string::npos)
      continue;
    bool unified = line.rfind("0::", 0) == 0;
    bool memory = line.find(":memory:") != std::string::npos;
    if (!unified && !memory)
      continue;
    std::string root = unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    std::string path = line.substr(slash + 1);
    while (true) {
      std::string folder = root + (path == "/" ? "" : path);
      uint64_t limit = readLimit(
          folder + (unified ? "/memory.max" : "/memory.limit_in_bytes"));
      uint64_t used = readLimit(
          folder + (unified ? "/memory.current" : "/memory.usage_in_bytes"));
      if (limit != UINT64_MAX && used != UINT64_MAX)
        found.push_back({folder, limit, used});
      size_t last = path.rfind('/');
      if (path.empty() || path == "/" || last == std::string::npos)
        break;
      path = last == 0 ? "/" : path.substr(0, last);
    }
  }
  return found;
}

} // namespace

uint64_t availableHostMemory() {
  uint64_t available = 0;
  std::ifstream meminfo("/proc/meminfo");
  for (std::string line; std::getline(meminfo, line);)
    if (line.rfind("MemAvailable:", 0) == 0) {
      std::istringstream(line.substr(13)) >> available;
      available *= 1024;
    }
  for (const MemoryGroup &group : limitedGroups())
    available = std::min(
        available, group.limit > group.used ? group.limit - group.used : 0);
  return available;
}

std::string hostMemoryName() {
  // Version 1 says that there is no limit by a number beyond all memory.
  constexpr uint64_t NoLimit = uint64_t(1) << 62;
  for (const MemoryGroup &group : limitedGroups()) {
    struct stat status;
    if (group.limit < NoLimit && stat(group.folder.c_str(), &status) == 0)
      return fmt::format("{}-{}", HostMemoryBooks, status.st_ino);
  }
  return std::string(HostMemoryBooks);
}

} // namespace dragon
