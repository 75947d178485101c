//===- Directive.h - what is to be inserted, and why ---------- -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The result of placement, as data: what to insert where, with the reason, and
// what was not done, with the reason. passes/rewrite turns it into code.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_PLACEMENT_DIRECTIVE_H
#define DRAGON_PASSES_PLACEMENT_DIRECTIVE_H

#include "passes/Remarks.h"
#include "passes/placement/BufferProgram.h"

#include <optional>
#include <vector>

namespace dragon {

enum class DirectiveKind {
  Map,         ///< allocate with Flags (dragon.h); At: the allocation
  Elide,       ///< the buffer's file and copy events become staging calls
  Materialise, ///< fill the staging buffer in front of At
  Forget,      ///< the staging buffer's deferred contents are dead
  Discard,     ///< the device buffer's contents are dead
  Sink,        ///< in front of At: the buffer will be written as Write does
  NextUse,     ///< when the device needs the contents again
  Follows      ///< the launch At is followed by Next; Buffer: one they share
};

/// A discard Before an event comes behind the selects that are made there.
enum class Anchor { Before, After, BlockEntry };

/// By a predecessor, or as a select's condition is 1 or 0.
struct DeadOnEdge {
  unsigned From;
  NameId Name;
};

struct Directive {
  DirectiveKind Kind;
  unsigned Buffer;
  /// Where: an event; Before: also the end of a block; BlockEntry: index 0.
  EventRef At;
  Anchor Where = Anchor::Before;
  unsigned Flags = 0;
  /// Sink: the FileWrite.
  EventRef Write = {};
  /// Follows: the other launch.
  EventRef Next = {};
  /// Discard: in the order of this stream (that of the event at At).
  StreamId Stream = DefaultStream;
  /// Discard: the memory is not used again soon, and others want it.
  bool Eager = false;
  /// Discard: only if a test says of each of these launches, all of which are
  /// still to come, that it overwrites the buffer; with a cursor: that it reads
  /// nothing below its pointer.
  std::vector<EventRef> Tests = {};
  /// Discard, of an array: this element. Tests then are not the next launches,
  /// but those of the iteration that comes to the element.
  std::optional<ElementIndex> Element = std::nullopt;
  /// Discard: only what lies below the place where this cursor will be in the
  /// next iteration of its loop; or -1.
  int Cursor = -1;
  /// Discard: what this is, instead of Buffer, which it may be.
  std::optional<NameId> Name = std::nullopt;
  /// Discard: what is dead on each edge to the block At, or with a select, a
  /// pointer, as its condition is. Nothing on others.
  std::vector<DeadOnEdge> Edges = {};
  int Select = -1;
  /// NextUse: other launches that come first, or NeverAgain.
  unsigned Launches = 0;
  /// The finding that tells of it, or -1: no use to tell if it cannot be done.
  int Finding = -1;
  /// What to tell instead if the tests cannot be made.
  std::optional<Reason> Otherwise = std::nullopt;
};

/// Something to tell the user.
struct Finding {
  unsigned Buffer;
  Position Where;
  Reason Why;
};

struct Placement {
  std::vector<Directive> Directives;
  std::vector<Finding> Findings;
};

struct PlacementOptions {
  bool Staging = true;
  bool NextUses = true;  ///< say when contents are needed again
  bool Wavefront = true; ///< run launches together
};

/// Decides. Whatever is not proved is left out.
Placement place(const BufferProgram &Program,
                const PlacementOptions &Options = {});

} // namespace dragon

#endif // DRAGON_PASSES_PLACEMENT_DIRECTIVE_H
