//===- CallEffects.h - what known calls do to buffers --------- -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The calls of CallEffects.def, looked up by the called function. A function
// that the translation unit defines itself is never one of them.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_LIFETIME_CALLEFFECTS_H
#define DRAGON_PASSES_LIFETIME_CALLEFFECTS_H

#include "passes/placement/BufferProgram.h"

#include "llvm/ADT/StringRef.h"

namespace llvm {
class BasicBlock;
class CallBase;
class Function;
class Module;
} // namespace llvm

namespace dragon {

enum class CallKind {
  AllocateInto,
  Allocate,
  Free,
  Copy,
  Fill,
  FileRead,
  FileWrite,
  StreamTransfer,
  FileOpen,
  FileUse,
  FreeAll,
  Publish,
  Parse,
  Neutral,
  Query
};

struct CallEffect {
  CallKind Kind;
  BufferKind Buffer = BufferKind::Host;
  // Argument positions, or None.
  int Pointer = -1; ///< the buffer; of copies the destination
  int From = -1;
  int Bytes = -1;
  int Count = -1;
  int CopyKind = -1;
  int Stream = -1;
  int File = -1;
  int Offset = -1;
  /// Waits for the device, is ordered with its work, or may take long. Others
  /// than Neutral, Query, Publish and Parse are known to by their kind.
  bool IsBarrier = false;
  bool IsExtraction = false; ///< opaque otherwise: see isExtraction()

  static constexpr int None = -1;
  static constexpr int Default = -2; ///< of Stream
};

/// Null: nothing is known of the call (or it is an intrinsic).
const CallEffect *callEffect(const llvm::CallBase &Call);

/// A call of which nothing is known but that it takes a value out of the C++
/// stream that is its first argument and that it returns, and keeps the address
/// of no other.
bool isExtraction(const llvm::CallBase &Call);

/// The argument through which the call returns a pointer or handle of its own
/// making, or -1.
int outParameter(const llvm::CallBase &Call);

/// Whether the call is of the host stub of a kernel.
bool isLaunch(const llvm::CallBase &Call);
/// `if (!__cudaPushCallConfiguration(...)) stub(...)`: pushing does not fail,
/// and if it did, there would only be less to be careful about, because nothing
/// is sure to happen in a launch. The block of the stub's call, or null if B
/// does not end so.
const llvm::BasicBlock *launchBlock(const llvm::BasicBlock &B);

/// The call that gives the launch its grid and stream, or null. The launch's
/// arguments may be computed in between, by branches, too.
const llvm::CallBase *launchConfiguration(const llvm::CallBase &Launch);
llvm::CallBase *launchConfiguration(llvm::CallBase &Launch);

/// The called function's name for the user.
std::string calleeName(const llvm::CallBase &Call);

} // namespace dragon

#endif // DRAGON_PASSES_LIFETIME_CALLEFFECTS_H
