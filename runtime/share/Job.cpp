//===- Job.cpp - programs that were started together ----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/share/Job.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <iterator>
#include <sys/stat.h>
#include <unistd.h>

namespace dragon {

/// What only ranks are told.
static constexpr const char *OfRanks[] = {
    "PMI_RANK", "PMI_ID", "MPI_LOCALRANKID", "OMPI_COMM_WORLD_RANK",
    "MV2_COMM_WORLD_RANK"};

uint64_t jobOf(const std::function<const char *(const char *)> &variable,
               const std::string &parent) {
  std::string name;
  if (const char *space = variable("PMIX_NAMESPACE")) {
    name = space;
  } else if (const char *step = variable("SLURM_STEP_ID")) {
    const char *job = variable("SLURM_JOB_ID");
    name = fmt::format("{}.{}", job ? job : "", step);
  } else if (std::any_of(std::begin(OfRanks), std::end(OfRanks), variable)) {
    name = parent;
  } else {
    return 0;
  }
  // The numbers above are those of programs that are none's.
  return std::max<uint64_t>(std::hash<std::string>()(name) >> 1, 1);
}

uint64_t ownJob() {
  // Process numbers are those of a name space.
  struct stat space{};
  (void)::stat("/proc/self/ns/pid", &space);
  return jobOf([](const char *name) { return std::getenv(name); },
               fmt::format("{} {}", space.st_ino, ::getppid()));
}

} // namespace dragon
