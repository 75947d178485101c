//===- Libraries.h - buffers under library calls ----------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For calls that compiled code has not announced (ForeignCalls.h); its own
// announcements are in dragon/CompilerABI.h, "Library calls".
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_LIBRARIES_LIBRARIES_H
#define DRAGON_RUNTIME_CUDART_LIBRARIES_LIBRARIES_H

#include "dragon/LibraryCallABI.h"

#include <cstdint>
#include <span>

namespace dragon {

/// A use as __dragon_library_begin is told of it.
struct AnnouncedUse {
  const void *pointer;
  int64_t bytes;
  uint32_t mode;
};

/// __dragon_library_begin for a call in the stream, which may be made in
/// pieces.
void *beginLibraryCall(const dragon_library_call &call, void *stream,
                       std::span<const AnnouncedUse> uses,
                       dragon_library_pieces *pieces);

/// Whether this thread is in a call that has been announced, or makes the one
/// to `function` of which the compiler has just said what it is given.
bool isAnnounced(const char *function);

/// In front of a call whose arguments have these words. Buffers that they point
/// into are on the device until leaveForeignCall, or if they `stay`, from now
/// on, as is what can be reached from there. False: they do not fit, the call
/// must not be made, and the error has been told.
bool enterForeignCall(const char *function, std::span<const uintptr_t> words,
                      bool stay, void *&token);
void leaveForeignCall(void *token);

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_LIBRARIES_LIBRARIES_H
