//===- Job.h - programs that were started together --------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ranks of an MPI program wait for each other. Where programs take turns
// (Turns.cpp) they need theirs together: one that had the turn alone would wait
// for the message of one that has none. Launchers of ranks tell them by
// variables what they are:
//
//   PMIX_NAMESPACE               the job's name: Open MPI, PRRTE, Slurm by PMIx
//   SLURM_JOB_ID, SLURM_STEP_ID  the same of srun
//   PMI_RANK, ...                a rank, of whom the launcher is the parent:
//                                MPICH and its kin, Open MPI before 4
//
// Source: the PMIx standard, "Reserved keys"; the manuals of srun and mpiexec.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_SHARE_JOB_H
#define DRAGON_RUNTIME_SHARE_JOB_H

#include <cstdint>
#include <functional>
#include <string>

namespace dragon {

/// The same for all ranks of a job on this machine, and not 0; 0: the program
/// is none's. `variable` gives an environment variable's value, null: it is not
/// set; `parent` tells parents apart.
uint64_t jobOf(const std::function<const char *(const char *)> &variable,
               const std::string &parent);
/// This process's.
uint64_t ownJob();

} // namespace dragon

#endif // DRAGON_RUNTIME_SHARE_JOB_H
