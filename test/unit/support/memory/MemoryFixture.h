//===- MemoryFixture.h - the parts that move contents -----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts of runtime/memory, wired as core does it, on the cpu device, with
// one buffer and what its contents should be. Files and launches are not there:
// when a chunk is needed next is what the test says.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_UNIT_SUPPORT_MEMORY_MEMORYFIXTURE_H
#define DRAGON_TEST_UNIT_SUPPORT_MEMORY_MEMORYFIXTURE_H

#include "runtime/memory/Allocator.h"
#include "runtime/memory/CopiedContents.h"
#include "runtime/memory/Discards.h"
#include "runtime/memory/HostFaults.h"
#include "runtime/memory/Transfers.h"
#include "runtime/trace/Log.h"
#include "test/unit/support/tier/FolderFixture.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <vector>

namespace dragon::test {

struct MemoryParts {
  MemoryParts(Settings settings, std::unique_ptr<Device> device, Budget budget)
      : Ctx{std::move(settings), std::move(device), budget}, Time(*Ctx.device),
        Store(Ctx), Slabs(Ctx, Time, Store), Reads(Ctx, Slabs, Store),
        Writes(Ctx, Slabs, Store), Host(Ctx, Time, Slabs, Reads, Writes, Next),
        Data(Time, Store, Writes, Host),
        OnDevice(Ctx, Time, Space, Slabs, Writes, Host, Next), Pinned(Ctx),
        Resident(Ctx, Time, Space, Slabs, Store, Reads, Writes, Host, Data,
                 OnDevice, Pinned),
        Driver(Ctx, Space),
        Discarded(Ctx, Time, Space, Store, Data, OnDevice, Driver),
        Mapping(Ctx, Time, Slabs, Writes, Host, OnDevice),
        Moves(Ctx, Time, Space, Slabs, Store, Data, OnDevice, Resident, Next),
        Copied(Time, Data),
        Alloc(Ctx, Time, Space, Slabs, Reads, Host, Data, OnDevice, Driver),
        Faults(Ctx, Space, Data, Slabs, Host, Resident, Mapping) {
    Store.setDetach([](const BackingFile &, int64_t, int64_t, const Buffer *,
                       int64_t) { return Status(); });
    Alloc.setEndSinks([](Buffer &) { return Status(); });
  }
  ~MemoryParts() {
    if (Ctx.caps().asynchronous)
      Ctx.device->synchronizeAll().ignore();
    while (!Space.Buffers.empty())
      Alloc.destroyBuffer(*Space.Buffers.front()).ignore();
    for (Queue queue : {Ctx.copyIn, Ctx.copyOut})
      if (queue)
        Ctx.device->destroyQueue(queue).ignore();
  }
  Status start() {
    setNotices(!Ctx.config.quiet);
    DRAGON_TRY(Store.start());
    DRAGON_ASSIGN(Ctx.copyIn, Ctx.device->createQueue(Device::NonBlocking, 0));
    DRAGON_ASSIGN(Ctx.copyOut, Ctx.device->createQueue(Device::NonBlocking, 0));
    return {};
  }

  struct AsTold final : NextUsePredictor {
    Forecast nextUseOf(Chunk &chunk) override { return chunk.nextUse; }
    void overwritten(uintptr_t, uintptr_t) override {}
  };

  Context Ctx;
  WorkTracker Time;
  AddressSpace Space;
  AsTold Next;
  StorageIo Store;
  HostSlabs Slabs;
  ReadAhead Reads;
  WriteBehind Writes;
  HostMemory Host;
  Contents Data;
  DeviceChunks OnDevice;
  ProgramPins Pinned;
  Residency Resident;
  DriverMoved Driver;
  Discards Discarded;
  HostMapping Mapping;
  Transfers Moves;
  CopiedContents Copied;
  Allocator Alloc;
  HostFaults Faults;
};

/// Parts of memory, or of a folder above it that has those besides.
template <typename Parts> class PartsFixture : public FolderFixture {
protected:
  static constexpr size_t Words = 2 * MiB / 4; ///< of a chunk

  /// With a buffer of so many chunks of 2 MiB.
  void startParts(size_t chunks) {
    auto cpu = makeDevice();
    ASSERT_TRUE(cpu);
    std::unique_ptr<Device> device = inFrontOf(std::move(cpu));
    auto budget = chooseBudget(settings, device->caps(), 1024 * MiB);
    ASSERT_TRUE(budget.ok());
    parts = std::make_unique<Parts>(settings, std::move(device), *budget);
    ASSERT_OK(parts->start());
    Whole = makeBuffer(chunks, "whole");
    ASSERT_TRUE(Whole);
    for (Chunk &chunk : Whole->chunks)
      Chunks.push_back(&chunk);
    Data.assign(chunks * Words, 0);
  }
  void TearDown() override { parts.reset(); }

  /// The device of the test, given the cpu device.
  virtual std::unique_ptr<Device> inFrontOf(std::unique_ptr<Device> cpu) {
    return cpu;
  }

  Buffer *makeBuffer(size_t chunks, const char *name, unsigned flags = 0) {
    AllocateOptions options;
    options.flags = flags;
    auto made = parts->Alloc.makeBuffer(chunks * 2 * MiB, options);
    EXPECT_TRUE(made.ok()) << made.takeStatus().message();
    if (!made.ok())
      return nullptr;
    parts->Space.Allocations.insert(
        {(*made)->base, (*made)->bytes, flags, false, name, *made});
    return *made;
  }
  uintptr_t allocate(size_t bytes, const AllocateOptions &options = {}) {
    auto made = parts->Alloc.allocate(bytes, options);
    EXPECT_TRUE(made.ok()) << made.takeStatus().message();
    return made.ok() ? *made : 0;
  }
  const Allocation &allocationAt(uintptr_t base) {
    return *parts->Space.Allocations.find(base);
  }
  Buffer &bufferAt(uintptr_t base) { return *allocationAt(base).buffer; }
  Status freeAt(uintptr_t base, QueueOrder order = std::nullopt) {
    const Allocation gone = allocationAt(base);
    return parts->Alloc.free(gone, order);
  }
  Status free(Buffer &buffer) {
    return parts->Alloc.free(*parts->Space.Allocations.find(buffer.base));
  }
  /// Writes the words to the buffer, and to what its contents should be.
  void write(size_t at, const std::vector<int32_t> &data) {
    parts->Ctx.pins.next();
    ASSERT_OK(parts->Moves.toBuffer(*Whole, Whole->base + at * 4,
                                    reinterpret_cast<const char *>(data.data()),
                                    data.size() * 4, nullptr,
                                    {/*pageable=*/true}));
    std::copy(data.begin(), data.end(), Data.begin() + long(at));
  }
  /// What a copy finds, wherever that is.
  std::vector<int32_t> contents() {
    std::vector<int32_t> result(Data.size());
    EXPECT_OK(parts->Moves.fromBuffer(
        *Whole, reinterpret_cast<char *>(result.data()), Whole->base,
        Whole->bytes, nullptr, {/*pageable=*/false}));
    return result;
  }
  /// What a launch would find, which has it brought to the device.
  std::vector<int32_t> contentsBroughtIn() {
    for (Chunk *chunk : Chunks)
      EXPECT_OK(bringIn(*chunk, LaunchNeed::Read));
    return contents();
  }
  Status bringIn(Chunk &chunk, LaunchNeed need) {
    const ChunkUse use = useOfAll(chunk, need);
    parts->Ctx.pins.next();
    return parts->Resident.bringIn({&use, 1}, nullptr, Cause::Demand);
  }
  /// To host memory, where the contents change.
  Status writeOnHost(Chunk &chunk) {
    parts->Ctx.pins.next();
    DRAGON_TRY(parts->Resident.bringToHost(chunk, LaunchNeed::Write,
                                           Cause::HostAccess));
    return parts->Data.wroteHost(chunk);
  }
  /// Those that are on the device.
  Status evict(size_t first, size_t count) {
    std::vector<Chunk *> victims;
    std::copy_if(Chunks.begin() + long(first),
                 Chunks.begin() + long(first + count),
                 std::back_inserter(victims),
                 [](const Chunk *chunk) { return chunk->device.id != 0; });
    parts->Ctx.pins.next();
    return parts->OnDevice.evict(victims, Cause::Eviction);
  }
  /// The buffer's contents are in the file, from its first byte on.
  void storeIn(const std::shared_ptr<BackingFile> &file) {
    for (Chunk *chunk : Chunks) {
      const auto offset = int64_t(chunk->va() - Whole->base);
      chunk->storage.put({0, chunk->used(), PieceKind::File, file, offset});
      Whole->noteBacking(*file, chunk->va(), offset);
      Whole->note(*chunk, ChunkEvent::Ended);
    }
  }
  /// Others hold all of host memory but for what is kept for transit.
  void fillHost() {
    const uint64_t transit = parts->Ctx.limits.transitBytes;
    while (parts->Slabs.Pool.hasRoom(2 * MiB, transit)) {
      auto slab = parts->Slabs.Pool.take(2 * MiB, transit);
      ASSERT_TRUE(slab.ok());
      Others.push_back(*slab);
    }
  }
  void giveHost() {
    for (const Physical &slab : Others)
      parts->Slabs.Pool.give(slab);
    Others.clear();
  }
  uint64_t moved(Direction direction) {
    return parts->Ctx.ledger.bytes(direction);
  }
  uint64_t moved(Direction direction, Cause cause) {
    return parts->Ctx.ledger.bytes(direction, cause);
  }

  std::unique_ptr<Parts> parts;
  Buffer *Whole = nullptr;
  std::vector<Chunk *> Chunks;
  std::vector<int32_t> Data;
  std::vector<Physical> Others;
};

using MemoryFixture = PartsFixture<MemoryParts>;

} // namespace dragon::test

#endif // DRAGON_TEST_UNIT_SUPPORT_MEMORY_MEMORYFIXTURE_H
