//===- StagingBuffers.h - buffers that need not be filled -------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiler has proved that nobody looks at a staging buffer but the calls
// it rewrote (dragon/CompilerABI.h, "Staging elision"). So they only write down
// where the buffer's contents are (DeferredMap):
//
//   fread                 [h ..) is at this offset of the file; position moves
//   cudaMemcpy to d       d's contents become that part of the file: nothing
//                         is read before a kernel needs it
//   cudaMemcpy from d     [h ..) is in d
//   fwrite                d goes to the file, from wherever its chunks are
//
// Deferred contents are materialised, that is, really brought to the staging
// buffer, before what they stem from changes: a device buffer (the runtime
// tells us), a file (InputFiles.h). Whatever is small, no regular file, or
// otherwise out of the ordinary is done as the program says.
//
// Threads: one lock over the map (DeferredContents.h). It is held while
// contents are materialised or mapped, and released while they are written to a
// file.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CUDART_STAGING_STAGINGBUFFERS_H
#define DRAGON_RUNTIME_CUDART_STAGING_STAGINGBUFFERS_H

#include "runtime/cudart/front/ErrorMap.h"
#include "runtime/cudart/staging/DeferredContents.h"

namespace dragon {

/// Transfers below this are not worth the bookkeeping.
constexpr size_t MinimumStagedBytes = 64 << 10;
/// DRAGON_ELIDE, and the transfer is large enough.
bool worthStaging(size_t bytes);

/// What becomes deferred, and how that ends.
class StagingBuffers {
public:
  explicit StagingBuffers(DeferredContents &contents) : Contents(contents) {}

  /// Called once, when there is a runtime.
  void attach(Runtime &runtime);

  // -- Files
  /// The file for deferred reads from `fd`, or null.
  std::shared_ptr<BackingFile> inputFile(int fd);
  std::shared_ptr<BackingFile> outputFile(int fd);
  /// The file is about to be changed by other means.
  Status detachFile(dev_t device, ino_t inode);

  // -- A range of memory
  /// Something in the range is deferred.
  bool deferred(const void *buffer, size_t bytes);
  /// The range is bytes [offset ..) of the file.
  void deferRead(void *buffer, size_t bytes, std::shared_ptr<BackingFile> file,
                 int64_t offset, const dragon_reason *why);
  /// The range is about to be written for real, surely all of it or perhaps
  /// only a part: then the rest must be what it would be.
  Status beforeOverwrite(void *buffer, size_t bytes, bool surely);
  void overwritten(void *buffer, size_t bytes);
  Status materialise(const void *buffer, size_t bytes);
  /// `why`: the directive's; one without a name where the memory is freed.
  void forget(const void *buffer, size_t bytes, const dragon_reason *why);
  /// Host code is about to touch the memory. If that is deferred, or was and is
  /// dead by a directive, who watches is told. 0 bytes: it gives the address to
  /// a function that is not watched.
  void hostTouches(const void *memory, size_t bytes, ObservedHostCode code);

  // -- The device
  /// False: nothing here stands for contents of buffers.
  bool anyOfDevice() const { return Contents.anyOfDevice(); }
  /// The compiler knows that nobody needs what is in the device range any more,
  /// and so nobody reads what stands for it here.
  void contentsEnd(uintptr_t begin, uintptr_t stop, const dragon_reason *why);
  Status streamEnds(Queue queue);
  Status reset(); ///< everything that is in device memory
  /// The device goes away with the process: what nobody has used yet is
  /// brought. The rest is not worth a transfer.
  Status processEnds();

private:
  static void beforeWrite(void *context, uintptr_t begin, uintptr_t end);
  static bool stillWanted(void *context, uintptr_t begin, uintptr_t end);
  Status deviceChanges(uintptr_t begin, uintptr_t end);

  DeferredContents &Contents;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_CUDART_STAGING_STAGINGBUFFERS_H
