//===- FilesFixture.h - files under a buffer --------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_UNIT_SUPPORT_FILES_FILESFIXTURE_H
#define DRAGON_TEST_UNIT_SUPPORT_FILES_FILESFIXTURE_H

#include "runtime/files/FileMaps.h"
#include "runtime/files/ProgramMemory.h"
#include "runtime/files/WriteOut.h"
#include "test/unit/support/memory/MemoryFixture.h"

#include <memory>

namespace dragon::test {

/// Those of memory, and of files.
struct FilesParts : MemoryParts {
  FilesParts(Settings settings, std::unique_ptr<Device> device, Budget budget)
      : MemoryParts(std::move(settings), std::move(device), budget),
        Announced(Space, Slabs, Store, Writes, Host, Data),
        Maps(Ctx, Time, Space, Store, Host, Data, Resident, Driver, Announced),
        Pinned(Ctx), Program(Ctx, Space, OnDevice, Slabs, Reads, Writes, Data,
                             Resident, Maps, Announced, Pinned),
        Out(Ctx, Time, Space, Slabs, Store, Writes, Host, Data, Announced) {
    Store.setDetach([this](const BackingFile &file, int64_t begin, int64_t end,
                           const Buffer *except, int64_t exceptDelta) {
      return Announced.detach(file, begin, end, except, exceptDelta);
    });
    Alloc.setEndSinks([this](Buffer &buffer) {
      return Announced.abandon(buffer, [](const Sink &) { return true; });
    });
  }
  ~FilesParts() {
    while (!Space.Buffers.empty())
      Alloc.destroyBuffer(*Space.Buffers.front()).ignore();
  }

  Sinks Announced;
  FileMaps Maps;
  ProgramPins Pinned;
  ProgramMemory Program;
  WriteOut Out;
};

using FilesFixture = PartsFixture<FilesParts>;

} // namespace dragon::test

#endif // DRAGON_TEST_UNIT_SUPPORT_FILES_FILESFIXTURE_H
