//===- Options.h - every knob of the compiler plugin ------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The options of the plugin, with their defaults. They are given to clang as
// `-mllvm -dragon-...` (to both sides of a CUDA compilation at once) and to opt
// directly. There is no cl::opt elsewhere.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_OPTIONS_H
#define DRAGON_PASSES_OPTIONS_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace dragon::options {

/// Whether the plugin adds its passes to clang's pipeline at all.
bool pipeline();

/// Device compilations write `<file>.<arch>`, the host compilation reads those
/// of summaryArchs(). Empty: no summaries.
llvm::StringRef summaryFile();
std::vector<std::string> summaryArchs();

/// Whether the translation unit carries its kernels for the host processor: the
/// host module then refers to dragon_cpu_module_<id>.
bool cpu();
/// Where the device compilation for cpuArch() writes them as bitcode. Empty: it
/// does not.
llvm::StringRef cpuOut();
/// Empty: every device compilation (there is only one then).
llvm::StringRef cpuArch();

/// -flto: the object of the host compilation carries its bitcode for the link.
bool bitcode();
/// What the device compilation wrote as cpuOut(), for that bitcode.
llvm::StringRef cpuIn();

/// -rdc=true: the kernels of the unit are linked with those of others, and what
/// registers them is made then.
bool relocatable();
/// The device link's fat binary, for the module that registers it.
llvm::StringRef fatBinary();

/// The object may be linked by any linker: stand-ins for the functions of the
/// runtime, and where that is. Empty: it is linked at once, with the runtime.
llvm::StringRef standIns();
llvm::StringRef runtimeLibrary();

/// Unique in the program.
llvm::StringRef moduleId();
/// The translation unit, for messages. Empty: the module's own name.
llvm::StringRef source();

/// Lines for dragon-info, which finds them in what is linked.
std::vector<std::string> notes();

/// Whether device code is compiled for a GPU. Else what the device compilation
/// writes beside it is all that is wanted of it.
bool gpuCode();

/// -f[no-]dragon-slicing: sub-grid clones of kernels.
bool slicing();
/// -f[no-]dragon-access-counts: copies of kernels that count their accesses.
bool accessCounts();
/// Larger kernels, as they are optimised, have none.
unsigned accessCountLimit();
/// Of larger kernels, the code for the host processor has none: how many
/// instructions, with those of the functions that they call.
unsigned cpuAccessCountLimit();
/// -f[no-]dragon-paging: copies of kernels that fetch pages; of half as large
/// ones as have copies that count.
bool paging();
/// -f[no-]dragon-restrict: copies of kernels for buffers that do not overlap.
bool restrictCopies();
/// -f[no-]dragon-unroll: loops of device code.
bool unroll();
/// -use_fast_math: quotients of floats take two instructions.
bool approximateDivision();
/// -fdragon-trace-accesses: kernels for the host processor tell their accesses,
/// and directives their reasons.
bool traceAccesses();
/// For tests alone: mistakes to be made. Empty: none.
llvm::StringRef mistakes();
/// -f[no-]dragon-lifetime: directives in host code (maps, discards, sinks).
bool lifetime();
/// -f[no-]dragon-staging: elision of staging buffers.
bool staging();
/// -f[no-]dragon-wavefront: launches are kept back to run together with the
/// next.
bool wavefront();

/// Files that say what library functions do, the user's after those that are
/// installed.
std::vector<std::string> librarySummaries();

/// How many instructions the host analysis may copy together from the functions
/// that one function calls.
unsigned flattenLimit();

} // namespace dragon::options

#endif // DRAGON_PASSES_OPTIONS_H
