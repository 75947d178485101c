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
#include <variant>
#include <vector>

namespace dragon {

/// A discard Before an event comes behind the selects that are made there.
enum class Anchor { Before, After, BlockEntry };

/// Allocate with these flags (dragon.h); At: the allocation.
struct MapDirective {
  unsigned Flags = 0;
};

/// The buffer's file and copy events become staging calls; At: nowhere.
struct ElideDirective {};

/// Fill the staging buffer in front of At.
struct MaterialiseDirective {};

/// The copy At, from Buffer, which holds nothing, fills with zeros.
struct ZeroDirective {};

/// The copy At, from Buffer, may be made later.
struct DeferDirective {};

/// What deferred copies need of the host buffer is copied in front of At.
struct SettleDirective {};

/// The staging buffer's deferred contents are dead.
struct ForgetDirective {};

/// All of the buffer.
struct WholeBuffer {};

/// What lies below the place where the cursor will be in the next iteration of
/// its loop.
struct BelowCursor {
  unsigned Cursor;
};

/// What this is, instead of Buffer, which it may be.
struct PointedTo {
  NameId Name;
};

/// By a predecessor, or as a select's condition is 1 or 0.
struct DeadOnEdge {
  unsigned From;
  NameId Name;
};

/// What is dead on each edge to the block At, or with a select, a pointer, as
/// its condition is. Nothing on others.
struct DeadOnEdges {
  std::vector<DeadOnEdge> Edges;
  int Select = -1;
};

/// An ElementIndex is of an array: this element.
using DiscardedPart = std::variant<WholeBuffer, ElementIndex, BelowCursor,
                                   PointedTo, DeadOnEdges>;

/// The device buffer's contents are dead.
struct DiscardDirective {
  /// In the order of this stream (that of the event at At).
  StreamId Stream = DefaultStream;
  DiscardedPart Of = WholeBuffer{};
  /// The memory is not used again soon, and others want it.
  bool Eager = false;
  /// Only if a test says of each of these launches, all of which are still to
  /// come, that it overwrites the buffer; below a cursor: that it reads nothing
  /// below its pointer; of an element: those of the iteration that comes to it.
  std::vector<EventRef> Tests = {};

  /// Null: another part.
  template <typename Part> const Part *of() const {
    return std::get_if<Part>(&Of);
  }
};

/// In front of At: the buffer will be written as Write, a FileWrite, does.
struct SinkDirective {
  EventRef Write;
  /// What makes the file, if it is not open yet: the write is at its beginning.
  std::optional<EventRef> Open = std::nullopt;
};

/// The file that a sink announced may be used in front of the announced write,
/// which does not come on this path: what was evicted to its place there leaves
/// it.
struct SinkEndsDirective {
  bool Dead = false; ///< nobody needs the buffer's contents
};

/// In front of At: all of the buffer will be copied to the host buffer as Copy,
/// a CopyOut, does, and nothing looks at that before.
struct ResultDirective {
  unsigned Host;
  EventRef Copy;
};

/// When the device needs the contents again.
struct NextUseDirective {
  /// Other launches that come first, or NextNeed::NeverAgain.
  unsigned Launches = 0;
};

/// The launch At is followed by Next; Buffer: one that they share.
struct FollowsDirective {
  EventRef Next;
};

using DirectiveAction =
    std::variant<MapDirective, ElideDirective, MaterialiseDirective,
                 ZeroDirective, DeferDirective, SettleDirective,
                 ForgetDirective, DiscardDirective, SinkDirective,
                 SinkEndsDirective, ResultDirective, NextUseDirective,
                 FollowsDirective>;

struct Directive {
  unsigned Buffer;
  /// Where: an event; Before: also the end of a block; BlockEntry: index 0.
  EventRef At;
  DirectiveAction What;
  Anchor Where = Anchor::Before;
  /// The finding that tells of it, or -1: no use to tell if it cannot be done.
  int Finding = -1;
  /// What to tell instead if the tests cannot be made.
  std::optional<Reason> Otherwise = std::nullopt;

  /// Whether it is one of these.
  template <typename... Actions> bool is() const {
    return (std::holds_alternative<Actions>(What) || ...);
  }
  /// Null: it is another action.
  template <typename Action> const Action *as() const {
    return std::get_if<Action>(&What);
  }
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
  bool Zeros = true;     ///< copies of what is not written may be fills
  bool Deferral = true;  ///< copies to the device may come later
  bool NextUses = true;  ///< say when contents are needed again
  bool Wavefront = true; ///< run launches together
};

/// Decides. Whatever is not proved is left out.
Placement place(const BufferProgram &Program,
                const PlacementOptions &Options = {});

} // namespace dragon

#endif // DRAGON_PASSES_PLACEMENT_DIRECTIVE_H
