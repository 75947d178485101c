//===- ForeignCalls.h - library calls of other compilers' code --*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A makefile that compiles .cu files with nvcc often compiles its C files with
// gcc, and those call cuBLAS. Nobody tells the runtime of such a call, while
// the library works on memory that may not be on the device, or of which the
// runtime thinks that nothing has changed.
//
// Programs and shared libraries call what is in other shared libraries through
// a table of addresses, which the dynamic linker fills. Where such a table has
// functions of the libraries that are described (share/dragon/summaries), each
// gets the address of a trampoline here instead:
//
//   trampoline: enter(i, arguments)   // brings the buffers in and holds them
//               real function(the same arguments)
//               leave
//
// The types of the arguments are not known here, and need not be: any word of
// them that is an address in a buffer stands for all of that buffer, read and
// written. Compiled code knows better, and tells so itself: in calls between
// its __dragon_library_begin and _end there is nothing to do.
//
// Libraries of NVIDIA's are left alone, among themselves they pass their own
// memory. So are static libraries, whose functions no table has.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_LIBRARIES_FOREIGNCALLS_H
#define DRAGON_RUNTIME_CUDART_LIBRARIES_FOREIGNCALLS_H

#include <span>
#include <string_view>

namespace dragon {

/// A function of this library that stands in front of another's.
struct LedCall {
  std::string_view name;
  void *ours;
  /// Gets the other's, as the first table has it. Null: nobody asks.
  void **real = nullptr;
  /// Of the other's function: whether ours may stand in front of it.
  bool (*fits)(void *real) = nullptr;
};
/// Programs that another linker has linked call the other's, by the same
/// tables: these lead to ours from the next look on. `calls` stays valid.
void leadCallsTo(std::span<const LedCall> calls);
/// Calls of this name are led, to a function that makes what it is given right
/// for the other one.
bool isLed(std::string_view name);

/// Looks at the tables of what has been loaded since the last call. Cheap if
/// that is nothing. Any thread may call it.
void watchForeignCalls();

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_LIBRARIES_FOREIGNCALLS_H
