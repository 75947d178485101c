//===- FileTier.cpp - batches of file requests ----------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/tier/FileTier.h"

#include "runtime/base/Ledger.h"
#include "runtime/tier/MemoryCopies.h"
#include "runtime/tier/Transfer.h"
#include "runtime/trace/Log.h"
#include "runtime/trace/Trace.h"

#include <algorithm>
#include <map>
#include <utility>

namespace dragon {

namespace {

/// Requests of the program's memory.
void copyMemory(std::span<const FileRequest> requests) {
  if (requests.empty())
    return;
  TraceZone zone(requests.front().write ? "write to the program's memory"
                                        : "read of the program's memory");
  MemoryCopies copies;
  for (const FileRequest &request : requests) {
    zone.add(request.bytes);
    copies.add(request);
  }
  copies.makeAll();
  for (const FileRequest &request : requests)
    if (request.done)
      request.done({}, request.bytes);
}

class EngineTier final : public FileTier {
public:
  /// `ring`: null if there is none.
  EngineTier(std::unique_ptr<IoEngine> ring, DirectIo direct, Ledger &ledger,
             IoFaults *faults)
      : Ring(std::move(ring)), Direct(direct), Bytes(ledger), Faults(faults) {}

  Status run(std::span<FileRequest> all) override {
    const auto memory =
        std::partition(all.begin(), all.end(), [](const FileRequest &request) {
          return !request.file->isMemory();
        });
    copyMemory({memory, all.end()});
    const std::span<FileRequest> requests(all.begin(), memory);
    if (requests.empty())
      return {};
    TraceZone zone(requests.front().write ? "file write" : "file read");
    for (const FileRequest &request : requests)
      zone.add(request.bytes);
    zone.on(requests.front().file->path());
    std::map<BackingFile *, BackingFile::OwnWrite> writes;
    for (const FileRequest &request : requests)
      if (request.write)
        writes.try_emplace(request.file, *request.file);
    Transfer transfer(requests, Direct, Bytes, Faults);
    // io_uring copies from the page cache on the thread that asks for it.
    IoEngine &engine = Ring && !transfer.isCopying() ? *Ring : *Threads;
    Status driven = engine.drive(transfer);
    Status status = transfer.finish();
    return driven.ok() ? std::move(status) : std::move(driven);
  }

  void remember(void *memory, size_t bytes) override {
    if (Ring)
      Ring->remember(memory, bytes);
  }
  void forget(void *memory) override {
    if (Ring)
      Ring->forget(memory);
  }

private:
  std::unique_ptr<IoEngine> Ring;
  std::unique_ptr<IoEngine> Threads = createThreadedIo();
  DirectIo Direct;
  Ledger &Bytes;
  IoFaults *Faults;
};

} // namespace

StatusOr<std::unique_ptr<FileTier>>
createFileTier(const Settings &settings, Ledger &ledger, IoFaults *faults) {
  std::unique_ptr<IoEngine> ring;
  if (settings.ioUring) {
    auto opened = createIoRing(faults);
    if (opened.ok()) {
      ring = std::move(*opened);
    } else {
      ledger.count(Counter::BufferedFallbacks);
      log(LogLevel::Info, "{}; files are read and written by threads",
          opened.takeStatus().message());
    }
  }
  return std::unique_ptr<FileTier>(std::make_unique<EngineTier>(
      std::move(ring), settings.directIo, ledger, faults));
}

StatusOr<std::unique_ptr<FileTier>> FileTier::create(const Settings &settings,
                                                     Ledger &ledger) {
  return createFileTier(settings, ledger, nullptr);
}

Status FileTier::read(BackingFile &file, void *memory, size_t bytes,
                      int64_t offset) {
  FileRequest request{&file, memory, bytes, offset, false, {}};
  return run({&request, 1});
}

Status FileTier::write(BackingFile &file, const void *memory, size_t bytes,
                       int64_t offset) {
  FileRequest request{&file, const_cast<void *>(memory), bytes, offset, true,
                      {}};
  return run({&request, 1});
}

} // namespace dragon
