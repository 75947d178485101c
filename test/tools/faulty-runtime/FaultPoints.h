//===- FaultPoints.h - which call of the runtime fails ----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The faulty runtime is libdragonrt.so with each of its calls that can fail put
// behind a question: does this one? Programs run with it as they are, by
// LD_LIBRARY_PATH. Variables that no other build reads:
//
//   FAULT_CALLS   groups or names of calls, separated by commas; all that are
//                 not named are made and not counted
//   FAULT_AT      the number of the call that fails, from 1; 0 or unset: none
//   FAULT_FOR     how many fail from there on; unset: 1, 0: all
//   FAULT_KILL    1: the process is killed there (SIGKILL) in place of the
//                 failure
//   FAULT_LOG     a file that gets a line for each call that is counted, or,
//                 with FAULT_AT, for each that fails
//
// Groups:
//   device    each call of the device behind core
//   taken     create() of device memory says that there is none left: another
//             process, or the driver, has taken it
//   pinned    the same of host memory
//   io        the results of requests to files and swap
//   files     system calls on files
//   memory    system calls on addresses, and large allocations
//   threads   threads are refused
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_FAULTYRUNTIME_FAULTPOINTS_H
#define DRAGON_TEST_FAULTYRUNTIME_FAULTPOINTS_H

namespace dragon::test {

/// Counts the call if it was asked for; true if it is to fail.
bool fails(const char *group, const char *name);

} // namespace dragon::test

#endif // DRAGON_TEST_FAULTYRUNTIME_FAULTPOINTS_H
