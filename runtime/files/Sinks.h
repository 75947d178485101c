//===- Sinks.h - places in files for contents that are to be written *- C++
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program that will write a buffer to a file says so before (setSink): what
// is evicted until then goes to its place in the file instead of to swap. The
// write that was announced may not happen, or not there: then the file is what
// the program made of it.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_FILES_SINKS_H
#define DRAGON_RUNTIME_FILES_SINKS_H

#include "runtime/memory/AddressSpace.h"
#include "runtime/memory/Contents.h"

#include <atomic>
#include <functional>
#include <memory>

namespace dragon {

class Sinks {
public:
  Sinks(AddressSpace &space, HostSlabs &slabs, StorageIo &store,
        WriteBehind &writes, HostMemory &host, Contents &data)
      : Space(space), Slabs(slabs), Store(store), Writes(writes), Host(host),
        Data(data) {}

  /// Dirty chunks of the range may be evicted to their place in the file.
  Status set(uintptr_t address, size_t bytes, std::shared_ptr<BackingFile> file,
             int64_t fileOffset, bool permanent,
             const dragon_reason *why = nullptr);
  /// Some range has had a sink. May be asked without the lock.
  bool any() const { return AnySinks; }
  /// The announced write will not happen, or not there: what was evicted to the
  /// place goes elsewhere and the file is what the program made of it: it ends
  /// where it did, or at `keepTo` if that is further.
  Status abandon(const Sink &sink, uint64_t keepTo = 0);
  /// The same for the sinks that `which` accepts, which end.
  Status abandon(Buffer &buffer,
                 const std::function<bool(const Sink &)> &which);
  /// The program writes [begin, end) of the file from another buffer than the
  /// one that it announced: no buffer but `writer` has its place there any
  /// more. To be called before the write.
  Status abandonOthers(const BackingFile &file, int64_t begin, int64_t end,
                       const Buffer &writer);
  /// The program has made the file at least this long: an abandoned place does
  /// not cut it shorter.
  void fileEndsBehind(const BackingFile &file, uint64_t end);
  /// The announced write has happened: the sink's file is no place for the
  /// buffer's contents any more.
  void leaveFile(Buffer &buffer, const Sink &sink);
  /// Contents that are stored in [begin, end) of the file go elsewhere, but
  /// for those of `except` with this distance of offset and address.
  Status detach(const BackingFile &file, int64_t begin, int64_t end,
                const Buffer *except, int64_t exceptDelta);
  Status detach(dev_t deviceId, ino_t inode, int64_t begin, int64_t end,
                const Buffer *except, int64_t exceptDelta);

private:
  Status moveToSwap(Chunk &chunk);
  uint64_t endOfUsed(const BackingFile &file) const;

  AddressSpace &Space;
  HostSlabs &Slabs;
  StorageIo &Store;
  WriteBehind &Writes;
  HostMemory &Host;
  Contents &Data;
  std::atomic<bool> AnySinks{false};
};

} // namespace dragon

#endif // DRAGON_RUNTIME_FILES_SINKS_H
