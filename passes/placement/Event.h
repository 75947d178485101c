//===- Event.h - what happens to buffers, one by one ---------- -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An event is an action with what all actions have: the buffers that it may
// touch, the pointers by which, its stream, its name and place. What only some
// actions have stands in their own types:
//
//   if (E.is<CopyInEvent, CopyOutEvent>()) ...
//   if (const auto *Launch = E.as<LaunchEvent>(); Launch && Launch->Sliceable)
//   ...
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_PLACEMENT_EVENT_H
#define DRAGON_PASSES_PLACEMENT_EVENT_H

#include "passes/placement/CountedLoops.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <variant>

namespace dragon {

/// A place in the user's source; line 0: unknown.
struct Position {
  std::string File;
  unsigned Line = 0;
  unsigned Column = 0;
};

/// "line 33", or "util.h:33" if that is another file than From's.
std::string describe(const Position &Where, const Position &From);

/// Equal numbers: equal sizes at run time. 0: unknown.
using SizeId = unsigned;

/// One buffer that an event may touch.
struct BufferUse {
  unsigned Buffer;
  bool Reads = false;
  bool Writes = false;
  /// The pointer surely is this buffer's, and begins where it begins.
  bool Must = false;
  /// If Must: all bytes of the buffer are touched.
  bool Whole = false;
  /// Launches, if Must or MustElement; copies and fills of another size, if
  /// Must: whether all of them are overwritten, before any read, can be tested
  /// at run time once the call's numbers are known.
  bool Testable = false;
  /// Of the event's call, if Testable or with a cursor: the pointer; if
  /// Testable, of copies and fills the number of bytes.
  int Operand = -1;
  /// Of an array, the one element that it may be.
  std::optional<ElementIndex> Element = std::nullopt;
  /// The pointer surely is this element's, and begins where it begins.
  bool MustElement = false;
  /// Reads: the pointer is this cursor's, or lies Above bytes above it. Copies
  /// read nothing below their pointer; whether a launch does can be tested at
  /// run time.
  int Cursor = -1;
  uint64_t Above = 0;
  /// Only by the event's Pointers.
  bool ByPointer = false;
};

/// One pointer by which an event may touch buffers.
struct UseByPointer {
  unsigned Pointer;
  bool Reads = false;
  bool Writes = false;
  /// All bytes of the buffer that it points to are touched.
  bool Whole = false;
};

/// Equal positive numbers: equal streams.
using StreamId = int;
enum : StreamId { DefaultStream = 0, UnknownStream = -1, Synchronous = -2 };

/// Actions that move or make a number of bytes.
struct SizedAction {
  SizeId Bytes = 0;
  /// Known to be so few that the runtime moves them at once.
  bool Few = false;
};

/// Actions on a file: which, or -1 for "any file".
struct FileAction {
  int File = -1;
};

/// Contents become undefined.
struct AllocateEvent : SizedAction {
  static constexpr llvm::StringLiteral Verb = "alloc";
};

/// The buffer ends.
struct FreeEvent {
  static constexpr llvm::StringLiteral Verb = "free";
};

/// Host -> device.
struct CopyInEvent : SizedAction {
  static constexpr llvm::StringLiteral Verb = "copy-in";
};

/// Device -> host.
struct CopyOutEvent : SizedAction {
  static constexpr llvm::StringLiteral Verb = "copy-out";
};

/// Device -> device, host -> host, and parts that have no staging twin.
struct CopyEvent : SizedAction {
  static constexpr llvm::StringLiteral Verb = "copy";
};

/// memset.
struct FillEvent : SizedAction {
  static constexpr llvm::StringLiteral Verb = "fill";
};

/// File -> staging buffer.
struct FileReadEvent : FileAction, SizedAction {
  static constexpr llvm::StringLiteral Verb = "file-read";
};

/// Staging buffer -> file.
struct FileWriteEvent : FileAction, SizedAction {
  static constexpr llvm::StringLiteral Verb = "file-write";
};

/// The file's handle comes to be.
struct FileOpenEvent : FileAction {
  static constexpr llvm::StringLiteral Verb = "open";
  /// The file is made if there is none, else emptied, and its path is no string
  /// that is put together in between.
  bool IsNew = false;
};

/// Anything else that depends on, or changes, a file's state.
struct FileUseEvent : FileAction {
  static constexpr llvm::StringLiteral Verb = "use-file";
};

/// A kernel.
struct LaunchEvent {
  static constexpr llvm::StringLiteral Verb = "launch";
  bool Sliceable = false; ///< may run slice by slice
};

/// Host code looks at or changes contents.
struct HostAccessEvent {
  static constexpr llvm::StringLiteral Verb = "host-access";
  /// Happens again and again between transfers of the same buffer, so that
  /// elision would have nothing to elide.
  bool Repeated = false;
  bool OnlyReads = false;
  /// It stands for accesses in a loop right behind its block: a point at the
  /// end of the block is in front of them.
  bool InLoop = false;
  /// Not below 0: it reads a part of the buffer, whose number this is to who
  /// made the program.
  int Part = -1;
};

/// Touches no buffer, but waits for the device, is ordered with its work, or
/// may take long.
struct BarrierEvent {
  static constexpr llvm::StringLiteral Verb = "barrier";
};

/// A call that nothing is known of.
struct OpaqueEvent {
  static constexpr llvm::StringLiteral Verb = "opaque";
};

using EventAction =
    std::variant<OpaqueEvent, AllocateEvent, FreeEvent, CopyInEvent,
                 CopyOutEvent, CopyEvent, FillEvent, FileReadEvent,
                 FileWriteEvent, FileOpenEvent, FileUseEvent, LaunchEvent,
                 HostAccessEvent, BarrierEvent>;

struct Event {
  EventAction What;
  llvm::SmallVector<BufferUse, 2> Uses;
  llvm::SmallVector<UseByPointer, 0> Pointers;
  StreamId Stream = Synchronous;
  /// The host side may also be memory that is no buffer of the program.
  bool OtherMemory = false;
  /// Which allocation of a summary it touches, or where, would have to be known
  /// and is not.
  bool Unresolved = false;
  /// Of the kernel or function, for the user; host accesses, barriers: any
  /// words.
  std::string Name;
  Position Where;

  /// Whether it is one of these.
  template <typename... Actions> bool is() const {
    return (std::holds_alternative<Actions>(What) || ...);
  }
  /// Null: it is another action.
  template <typename Action> const Action *as() const {
    return std::get_if<Action>(&What);
  }
  template <typename Action> Action *as() { return std::get_if<Action>(&What); }
  /// Null: an action without.
  const SizedAction *sized() const { return asBase<const SizedAction>(What); }
  SizedAction *sized() { return asBase<SizedAction>(What); }
  const FileAction *onFile() const { return asBase<const FileAction>(What); }
  FileAction *onFile() { return asBase<FileAction>(What); }

  const BufferUse *find(unsigned Buffer) const;
  /// Adds the use, or to that of the same buffer what this one may do as well.
  void add(const BufferUse &U);
  bool reads(unsigned Buffer) const;
  bool writes(unsigned Buffer) const;

private:
  template <typename Base, typename Variant> static Base *asBase(Variant &V) {
    return std::visit(
        [](auto &Action) -> Base * {
          if constexpr (std::is_convertible_v<decltype(&Action), Base *>)
            return &Action;
          else
            return nullptr;
        },
        V);
  }
};

/// The word for it in the text form.
llvm::StringRef verbOf(const EventAction &What);

/// For the user, of an event that does something to a buffer.
std::string nameOf(const Event &E);

/// Between a staging buffer and a file or the device.
inline bool isTransfer(const Event &E) {
  return E.is<CopyInEvent, CopyOutEvent, FileReadEvent, FileWriteEvent>();
}

} // namespace dragon

#endif // DRAGON_PASSES_PLACEMENT_EVENT_H
