//===- BufferProgram.h - what a program does to its buffers -----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A buffer program is what is left of a program if one looks at nothing but its
// buffers: a control-flow graph whose blocks are lists of events. It knows no
// IR: passes/lifetime makes it from LLVM IR, tests write it down as text
// (BufferProgramText.h):
//
//   staging h_A bytes
//   buffer d_A bytes
//   file-read h_A in
//   alloc d_A
//   copy-in d_A h_A
//   launch scale read-write(d_A)
//   ...
//
// Everything is a may-statement unless it says must: an event that might touch
// a buffer has a use of it, and only what is sure may end a buffer's contents.
//
// Pointers that are one buffer's address or another's, as in loops that
// exchange buffers, are kept as such beside that: which buffer it is may be
// known on each edge, or does not matter.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_PLACEMENT_BUFFERPROGRAM_H
#define DRAGON_PASSES_PLACEMENT_BUFFERPROGRAM_H

#include "passes/placement/Event.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace dragon {

enum class BufferKind {
  Device,  ///< cudaMalloc
  Managed, ///< cudaMallocManaged: the host may look at it
  Host     ///< malloc, new, cudaMallocHost: perhaps a staging buffer
};

struct Buffer {
  std::string Name;
  BufferKind Kind = BufferKind::Device;
  SizeId Bytes = 0;
  Position Where;
  /// The address is known to code that is not in the program: every opaque
  /// event has a use of it, and at a return its contents are live.
  bool Escapes = false;
  /// The first thing that made it escape, for the user.
  std::string EscapesTo;
  bool EscapesToKernel = false; ///< EscapesTo is a kernel's name
  bool EscapesUnseen = false;   ///< and nothing is known of that kernel
  Position EscapesAt;
  /// A summary object: it stands for several allocations that may exist at a
  /// time. Nothing that happens to "it" is sure to have happened to all.
  bool IsSummary = false;
  /// A summary of an array: each element is allocated once, and is no other's.
  bool IsArray = false;
  /// The allocation call may be given flags.
  bool Mappable = false;
  /// Host buffers: a C++ stream reads into or writes from it, or none.
  std::string StreamedBy;
  Position StreamedAt;
};

/// For the user: the first thing that made the buffer escape.
std::string whoKeeps(const Buffer &B);

/// An open file. Equal indices: the same open file.
struct FileHandle {
  std::string Name;
  /// Opaque events may use it, and it may be the same as others that escape.
  bool Escapes = false;
};

struct Block {
  std::string Name;
  std::vector<Event> Events;
  llvm::SmallVector<unsigned, 2> Successors;
  /// Without successors: the function returns (else the program ends here).
  bool Returns = false;
  /// Whoever gets here reports failure: the program's result is an error.
  bool Fails = false;
};

/// Names an event. Index == number of events: the end of the block.
struct EventRef {
  unsigned Block = 0;
  unsigned Index = 0;
  bool operator==(const EventRef &Other) const {
    return Block == Other.Block && Index == Other.Index;
  }
};

/// A pointer into a buffer that moves through a loop: in each iteration it is
/// as far up as in the one before, or further by the same number of bytes.
/// (That the number is not negative can be tested at run time.) When the loop
/// is entered anew, it may be anywhere.
struct Cursor {
  std::string Name;
  unsigned Buffer = 0;
  unsigned Header = 0; ///< the loop's
};

/// What a pointer is: a buffer's address or that of a Pointer, by its number
/// plus the number of buffers.
using NameId = unsigned;

/// The address of one of several buffers: a phi, which gets it where its block
/// is entered, by the predecessor; or a select, by its condition.
struct Pointer {
  std::string Name; ///< "" if not known
  unsigned Block = 0;
  unsigned Index = 0; ///< selects: made in front of this event
  /// Selects: equal numbers are equal conditions; or -1.
  int Condition = -1;
  struct Incoming {
    unsigned From; ///< predecessor; selects: 1 if the condition is true, or 0
    llvm::SmallVector<NameId, 1> Names; ///< what it may be then
  };
  llvm::SmallVector<Incoming, 2> Incomings;

  bool isPhi() const { return Condition < 0; }
  const Incoming *from(unsigned Where) const;
};

struct BufferProgram {
  std::vector<Buffer> Buffers;
  /// Those of a block in the order in which they are made.
  std::vector<Pointer> Pointers;
  std::vector<Cursor> Cursors;
  std::vector<FileHandle> Files;
  std::vector<Block> Blocks; ///< the first is the entry
  std::vector<CountedLoop> Loops;

  const Event &event(EventRef Ref) const {
    return Blocks[Ref.Block].Events[Ref.Index];
  }
  NameId nameOf(unsigned Pointer) const {
    return static_cast<NameId>(Buffers.size()) + Pointer;
  }
  /// Null: it is a buffer.
  const Pointer *pointer(NameId Name) const {
    return Name < Buffers.size() ? nullptr : &Pointers[Name - Buffers.size()];
  }
  /// Takes the pointers, in this order. Uses and incoming names have numbered
  /// them as
  /// they stand in Found.
  void setPointers(std::vector<Pointer> Found, llvm::ArrayRef<unsigned> Order);
  /// Marks the blocks that lead to nothing but blocks that fail.
  void spreadFailure();
  /// All events that have a use of the buffer, in block order.
  llvm::SmallVector<EventRef, 8> uses(unsigned Buffer) const;
};

} // namespace dragon

#endif // DRAGON_PASSES_PLACEMENT_BUFFERPROGRAM_H
