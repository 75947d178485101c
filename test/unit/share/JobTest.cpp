//===- JobTest.cpp - programs that were started together ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/share/Job.h"

#include <gtest/gtest.h>
#include <map>

using namespace dragon;

namespace {

uint64_t job(const std::map<std::string, const char *> &variables,
             const std::string &parent = "7") {
  return jobOf(
      [&](const char *name) {
        const auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second;
      },
      parent);
}

TEST(JobTest, AProgramThatNoLauncherHasStartedIsNones) {
  EXPECT_EQ(job({}), 0u);
  EXPECT_EQ(job({{"SLURM_JOB_ID", "12"}, {"SLURM_PROCID", "0"}}), 0u);
}

TEST(JobTest, RanksOfOneJobHaveTheSame) {
  const uint64_t named = job({{"PMIX_NAMESPACE", "a.1"}, {"PMIX_RANK", "0"}});
  EXPECT_NE(named, 0u);
  EXPECT_EQ(named,
            job({{"PMIX_NAMESPACE", "a.1"}, {"PMIX_RANK", "1"}}, "another"));
  EXPECT_NE(named, job({{"PMIX_NAMESPACE", "a.2"}}));
  const uint64_t step = job({{"SLURM_JOB_ID", "1"}, {"SLURM_STEP_ID", "0"}});
  EXPECT_EQ(step, job({{"SLURM_JOB_ID", "1"}, {"SLURM_STEP_ID", "0"}}, "8"));
  EXPECT_NE(step, job({{"SLURM_JOB_ID", "1"}, {"SLURM_STEP_ID", "1"}}));
}

TEST(JobTest, OtherwiseTheLauncherIsTheirParent) {
  EXPECT_EQ(job({{"PMI_RANK", "0"}}), job({{"PMI_RANK", "3"}}));
  EXPECT_NE(job({{"PMI_RANK", "0"}}), job({{"PMI_RANK", "0"}}, "8"));
  EXPECT_EQ(job({{"OMPI_COMM_WORLD_RANK", "1"}}), job({{"PMI_RANK", "0"}}));
}

} // namespace
