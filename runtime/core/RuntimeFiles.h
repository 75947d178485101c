//===- RuntimeFiles.h - files under buffers ---------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of the runtime that puts files under buffers, and contents of
// buffers into files.
//
// Thread-safe. A call with a queue takes effect in that queue's order. Where
// chunks must move (out of core), a call may block until earlier work on them
// ended.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CORE_RUNTIMEFILES_H
#define DRAGON_RUNTIME_CORE_RUNTIMEFILES_H

#include "dragon/CompilerABI.h"
#include "dragon/dragon.h"
#include "runtime/base/Status.h"
#include "runtime/oracle/Observer.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace dragon {

/// A part of a file that backs bytes of a buffer. Shared: the descriptor is
/// closed with the last reference.
class BackingFile; // runtime/tier/FileTier.h
struct FileRange;

struct RuntimeImpl;
class RuntimeBuffers;

class RuntimeFiles {
public:
  RuntimeFiles(RuntimeImpl &impl, RuntimeBuffers &buffers)
      : State(impl), Buffers(buffers) {}

  /// Contents of the range become bytes [fileOffset, ...) of the file, read
  /// only when needed and dropped instead of written back. The file must not
  /// change until the range is overwritten or freed.
  Status mapFileRange(uintptr_t address, size_t bytes,
                      const std::shared_ptr<BackingFile> &file,
                      int64_t fileOffset);
  /// Contents of the range become the bytes at `from`, which are fetched from
  /// there only when needed. The memory must not change or be freed before it
  /// is settled. False: nothing has been done, as everything fits on the
  /// device.
  StatusOr<bool> mapProgramMemory(uintptr_t address, size_t bytes,
                                  const void *from,
                                  const dragon_reason *why = nullptr);
  /// For who watches: the directive that lets a copy of some of the memory be
  /// made later (Source), or results come to some of it early (Place); null:
  /// there is none, or the memory has been settled since.
  const dragon_reason *keptBy(const void *memory, size_t bytes,
                              ObservedHostCode::Rule rule) const;
  /// The range will be copied to `to`, at which nobody looks before that, or
  /// before it is settled: what is evicted goes there. A hint.
  Status announceCopyOut(uintptr_t address, size_t bytes, void *to,
                         const dragon_reason *why = nullptr);
  /// The memory may change or be freed from now on. Costs next to nothing if
  /// nothing is mapped there. After an error contents may be lost.
  Status settleProgramMemory(const void *memory, size_t bytes);
  /// So large a copy to the device is better made where it is needed, and no
  /// results come to the memory.
  bool isWorthDeferring(const void *from, size_t bytes) const;
  /// The memory is about to be mapped: what there are copies of, of something
  /// that was there before, is settled.
  Status settleCopied(const void *memory, size_t bytes);
  /// As settleProgramMemory, for memory that is protected: it is writable.
  /// What cannot be settled is saved. Costs next to nothing if nothing is.
  Status releaseProgramMemory(const void *memory, size_t bytes);
  /// Somebody else is about to copy from the memory or to it, or to ask what it
  /// is: to them it is as the program has it (memory/ProgramPins.h). Costs next
  /// to nothing if nothing of it is pinned.
  void unpinProgramMemory(const void *memory, size_t bytes);
  /// The program frees memory, of which some is protected. False: it is ready
  /// for that. True: it is needed still, and freed by `release` later.
  bool keepProgramMemory(void *memory, size_t bytes, void (*release)(void *));
  /// Dirty chunks of the range may be evicted to their place in the file
  /// instead of to swap.
  Status setSink(uintptr_t address, size_t bytes,
                 std::shared_ptr<BackingFile> file, int64_t fileOffset,
                 const dragon_reason *why = nullptr);
  /// The announced write of the range does not happen, and the program is about
  /// to use the file. `dead`: nobody needs the contents.
  Status endSink(uintptr_t address, size_t bytes, bool dead);
  /// Some range has had a sink.
  bool hasSinks() const;
  /// Begin and end of the range whose sink announces a write from the address
  /// to this place in the file. Its contents end with that.
  std::optional<std::pair<uintptr_t, uintptr_t>>
  announcedWrite(uintptr_t address, const BackingFile &file, int64_t offset);
  /// Writes the contents of the range to the file at fileOffset: from wherever
  /// they are, once; bytes that are there already (setSink) are not written
  /// again. `written` = bytes from the start that are in the file, also on
  /// failure (a full disk).
  Status writeToFile(uintptr_t address, size_t bytes,
                     std::shared_ptr<BackingFile> file, int64_t fileOffset,
                     size_t &written);
  /// The write that the sink of this range has announced is complete. Where its
  /// last bytes came from buffers it has ended with them; else it ends now.
  Status endWrite(uintptr_t begin, uintptr_t end);
  /// The program has made the file at least this long by other means.
  Status fileEndsBehind(const BackingFile &file, uint64_t end);
  /// The program is about to change the file by other means: contents of
  /// buffers that are stored in it (mapFileRange, setSink) move elsewhere.
  Status detachFile(dev_t deviceId, ino_t inode);
  /// Somebody else may be about to change the file: what buffers have nowhere
  /// else, and the ranges, are saved (BackingFile::save).
  Status saveInput(const std::shared_ptr<BackingFile> &file,
                   std::vector<FileRange> ranges);
  /// D_WRITE maps: contents to the file, then fdatasync.
  Status sync(uintptr_t base);

  /// A buffer over a file, for dragon_map; flags: those of dragon.h, and
  /// MapHostBuffer.
  StatusOr<uintptr_t> mapFile(const char *path, size_t bytes, int64_t offset,
                              unsigned flags);
  /// Gives a map other flags (D_READ, D_WRITE, D_VOLATILE). What was D_WRITE is
  /// in the file then. Contents stay, but those of D_VOLATILE: they become the
  /// file's with D_READ, else zeros. `file`: the map's from its first byte on,
  /// writable for D_WRITE; null for D_VOLATILE.
  Status remapFile(uintptr_t base, unsigned flags,
                   const std::shared_ptr<BackingFile> &file);

private:
  RuntimeImpl &State;
  RuntimeBuffers &Buffers;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_CORE_RUNTIMEFILES_H
