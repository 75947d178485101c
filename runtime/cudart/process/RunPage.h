//===- RunPage.h - the page that a run makes of itself ----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// DRAGON_REPORT=file: when the run has ended, dragon-report makes a page of its
// statistics, its trace and what the compiler has left in the program. It is
// looked for beside this library (lib/../bin), then in PATH. What goes wrong is
// a line on stderr: neither the run nor its exit status depends on it.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_PROCESS_RUNPAGE_H
#define DRAGON_RUNTIME_CUDART_PROCESS_RUNPAGE_H

#include <chrono>
#include <optional>

namespace dragon {

class Runtime;
struct Settings;

/// The file that has this at run time, an executable or a library, is one of
/// those that the page is about. From any thread.
void noteProgramOf(const void *module);

/// What is needed for the page: so that it is said at once if something is
/// missing. Called once.
void prepareRunPage(const Settings &settings);

/// Makes the page of what Runtime::shutdown or reportBeforeDeath has left, once
/// in a process. With `patience` the process is about to be killed: who makes
/// the page is in a session of its own, and goes on if it takes longer.
void makeRunPage(const Runtime &runtime,
                 std::optional<std::chrono::milliseconds> patience = {});

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_PROCESS_RUNPAGE_H
