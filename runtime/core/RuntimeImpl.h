//===- RuntimeImpl.h - what the parts of the Runtime share ------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The Runtime's state and its inner operations, by concern:
//   Allocation.cpp   buffers, arenas, addresses
//   Residency.cpp    bringing chunks in and moving them out
//   Staging.cpp      storage <-> host memory <-> device
//   ReadAhead.cpp    reads of storage that run meanwhile
//   WriteBehind.cpp  writes of evicted contents that do
//   Transfers.cpp    the program's copies and fills
//   LaunchFootprint, Launch.cpp   what a launch needs, and running it
//   HostMapped.cpp   ... with a part of it in host memory
//   CountedHeat.cpp  ... which part, by what launches access
//   FileMaps.cpp, WriteOut.cpp    files under buffers
//   HostAccess.cpp   faults of the host
//   KeepResident.cpp buffers that may not leave the device
//   DriverMoved.cpp  buffers that the driver moves by itself
//   LibraryCalls.cpp ... while a library function is called
//   Shutdown.cpp     statistics and the end
//
// One lock protects everything. It is held during I/O (a second thread waits),
// never while user code or the BeforeWrite listener runs. Threads get it in the
// order of their calls: one that calls in a loop keeps no other out.
//
// Time on the device: three queues of work touch a chunk: the program's queues
// (tickets of `Work`), CopyIn (tickets of `Fetches`) and CopyOut (tickets of
// `Departures`). An unmap, and a use of the host's copy, wait for the chunk's
// tickets (settle); copies wait for them in their queues. A host copy counts as
// valid from when the copy to it is queued; the device's stays mapped until
// that is done.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_CORE_RUNTIMEIMPL_H
#define DRAGON_RUNTIME_CORE_RUNTIMEIMPL_H

#include "runtime/base/FairMutex.h"
#include "runtime/base/SignalsHeldOff.h"
#include "runtime/core/BackgroundIo.h"
#include "runtime/core/Budget.h"
#include "runtime/core/Buffer.h"
#include "runtime/core/Eviction.h"
#include "runtime/core/HeatLog.h"
#include "runtime/core/LaunchCache.h"
#include "runtime/core/LaunchFootprint.h"
#include "runtime/core/LaunchHistory.h"
#include "runtime/core/Runtime.h"
#include "runtime/core/SliceQueues.h"
#include "runtime/core/WaitingLaunch.h"
#include "runtime/core/Wavefront.h"
#include "runtime/core/WorkLog.h"
#include "runtime/oracle/Observer.h"
#include "runtime/tier/SlabPool.h"

#include <atomic>
#include <deque>
#include <functional>
#include <list>
#include <optional>
#include <span>
#include <unordered_map>

namespace dragon {

/// A chunk and what the next work does to it.
struct Want {
  Chunk *chunk;
  LaunchNeed need;
};

/// The kernel's, for messages.
const char *nameOf(const LaunchCall &call);

struct Reading;
struct Writing;
class TraceZone;
class SliceUses;

struct Runtime::Impl {
  Impl(Settings settings, std::unique_ptr<Device> device, Budget budget);
  ~Impl();
  Status start();
  StatusOr<Physical> createOnHost(size_t bytes, Place place);
  Status destroyOnHost(const Physical &slab);

  // -- Locking
  class Guard {
  public:
    explicit Guard(const Impl &impl);
    ~Guard();

  private:
    const SignalsHeldOff HeldOff;
    const Impl &Locked;
  };
  /// The calling thread holds the lock or waits for it: to wait for it now, in
  /// a fault, would take for ever.
  static bool lockedByThisThread();

  // -- Allocation.cpp
  StatusOr<uintptr_t> allocate(size_t bytes, const AllocateOptions &options);
  /// `name`: the program's, of one that is no arena.
  StatusOr<Buffer *> makeBuffer(size_t bytes, unsigned flags,
                                bool hostAccessible,
                                const std::string *name = nullptr);
  Status free(uintptr_t base);
  Status destroyBuffer(Buffer &buffer);
  /// What does not fit on the device will need host memory: it is made ahead.
  void expectHostMemory();
  /// Maps a new buffer that fits without moving anything.
  Status mapEagerly(Buffer &buffer);
  bool sharesChunks(const AllocateOptions &options) const;
  StatusOr<uintptr_t> allocateSmall(size_t bytes,
                                    const AllocateOptions &options);

  // -- Residency.cpp
  /// Makes the wants accessible on the device for work that is queued next:
  /// room, maps, contents. Does not mark what the work writes: wrote() does.
  /// What is filled alone is filled in the queue `fills`, if there is one:
  /// there it does not come behind what is fetched for later work.
  Status bringIn(std::span<const Want> wants, Queue queue, Cause cause,
                 std::optional<Queue> fills = {});
  /// The same, but the work's queue has to wait for Chunk::arrival.
  Status startBringingIn(std::span<const Want> wants, Cause cause,
                         std::optional<Queue> fills = {});
  /// What no contents will come for: zeros, as a GPU's memory is when a program
  /// has just begun and many programs rely on, or poison.
  Status fillUndefined(const Chunk &chunk, Queue queue);
  /// A host copy that is valid (Overwrite: allocated, not yet valid).
  Status bringToHost(Chunk &chunk, LaunchNeed need, Cause cause);
  /// The one line that says that not everything fits.
  void noticeOnce();
  /// Device slabs for `bytes` can be taken without exceeding the budget.
  Status makeDeviceRoom(uint64_t bytes);
  /// The chunks on the device, as they are now; not those pinned in this round.
  /// `later`: for when all that uses them now is done.
  std::vector<EvictionCandidate> candidates(bool later = false);
  /// Queues the copy of the chunk's contents to host memory, if that is where
  /// they would be evicted to. False: it is not, or there is nothing to copy.
  StatusOr<bool> copyOut(Chunk &chunk, Cause cause);
  /// Later copies in the queue come after all that uses the chunk now.
  Status queueWaitsFor(Queue queue, Chunk &chunk);
  /// Evicts.
  Status evictFromDevice(std::span<Chunk *const> victims, Cause cause);
  /// dropOnly: only by host copies that others hold as well; not an error if
  /// that is not enough.
  Status makeHostRoom(uint64_t bytes, bool forTransit, bool dropOnly = false);
  Status evictFromHost(Chunk &chunk, Cause cause);
  /// The only valid copy is now that on the device (or on the host). `part`
  /// is what may have been written.
  Status wroteDevice(Chunk &chunk, ChunkPart part);
  Status wroteHost(Chunk &chunk, ChunkPart part);
  Status wroteDevice(Chunk &chunk) { return wroteDevice(chunk, chunk.whole()); }
  Status wroteHost(Chunk &chunk) { return wroteHost(chunk, chunk.whole()); }
  void define(Chunk &chunk, ChunkPart part);
  /// Contents become undefined.
  Status forget(Chunk &chunk);
  Status releaseDevice(Chunk &chunk); ///< unmaps, gives the slab back
  Status releaseHost(Chunk &chunk);
  /// Its host slab can be mapped then.
  Status makeMappable(Chunk &chunk);
  Status unmapHost(Chunk &chunk); ///< if it is mapped; the slab stays
  void dropStorage(Chunk &chunk); ///< its pieces and swap slot
  Status mapDevice(Chunk &chunk);
  /// Waits until no queued work uses the chunk.
  Status settle(Chunk &chunk);
  Status synchronizeAll();
  void pollWork(); ///< asks the device what has ended
  bool isBusy(const Chunk &chunk);
  bool wasBusy(const Chunk &chunk) const; ///< as of the last poll
  void pin(Chunk &chunk) { chunk.pinned = Round; }
  void listDevice(Chunk &chunk, bool present);
  void listHost(Chunk &chunk, bool present);

  // -- Staging.cpp
  struct ReadPlan {
    std::vector<FileRequest> requests;
    std::vector<std::shared_ptr<BackingFile>> inputs;
    uint64_t fileBytes = 0;
    uint64_t swapBytes = 0;
  };
  /// Reads bytes [begin, end) of the chunk's storage to `memory`; what needs no
  /// I/O is done at once, the rest by runRead().
  Status planRead(const Chunk &chunk, size_t begin, size_t end, char *memory,
                  ReadPlan &plan);
  Status runRead(ReadPlan &plan, Cause cause);
  /// What came in is what was mapped; and in the books.
  Status checkRead(ReadPlan &plan, Cause cause, uint64_t nanoseconds);
  /// Contents from storage to the device, through transit slabs.
  Status fetchFromStorage(std::span<Chunk *const> chunks, Cause cause);
  /// A chunk whose contents are at `memory`, to be stored.
  struct WritePlan {
    Chunk *chunk;
    const void *memory;
    Removal target; ///< ToSink or ToSwap; a full sink falls back to swap
    Piece piece;
    SwapFile::Slot slot;
  };
  /// Finds a place for it.
  Status planWrite(WritePlan &plan, FileRequest &request);
  /// It is there: storage is valid.
  void commitWrite(WritePlan &plan, Cause cause, uint64_t nanoseconds);
  /// Storage is valid then, for each chunk that could be written.
  Status writeToStorage(std::span<WritePlan> plans, Cause cause);
  StatusOr<Physical> takeTransit(size_t bytes, Place place = Place::Pinned);
  /// Room for a copy that stays.
  StatusOr<Physical> takeHost(size_t bytes);
  /// The host refuses memory that is in the budget: others use it, too. From
  /// now on the budget is what is held. False, and it stays as it is, if that
  /// is too little to go on with.
  bool lowerHostBudget(const Status &refusal);
  void giveTransit(const Physical &slab, uint64_t fetchTicket);
  Status recycleTransit(bool wait);
  StatusOr<SwapFile *> swapFile();
  static void poisonMemory(void *memory, size_t bytes);
  /// What of the chunk's copy at `memory` is undefined.
  static void poisonOutside(const Chunk &chunk, void *memory);

  // -- ReadAhead.cpp
  /// Begins to read the storage of chunks that will be brought in, in this
  /// order, into transit memory, as far as half of that goes; the others are
  /// left for later calls. Evicts nothing and waits for nothing. Chunks whose
  /// contents are not in storage are left out.
  Status startReading(std::span<Chunk *const> chunks);
  /// The chunk's contents in a slab of transit memory, which is the caller's;
  /// they are read now if nobody has begun to.
  Status finishReading(Chunk &chunk, Cause cause, Physical &slab);
  Status beginReading(Chunk &chunk, const Physical &slab);
  /// What was begun to be read and nobody needs any more; waits for the read.
  void dropReading(Chunk &chunk);
  void dropAllReadings();

  // -- WriteBehind.cpp
  /// Begins to write the chunk's host copy, which is dirty and not mapped, to
  /// give its memory to others then.
  Status startWriting(Chunk &chunk, Removal target, Cause cause);
  /// Waits: its storage is valid, and its host copy gone, but for a chunk that
  /// is pinned. On failure it has its host copy, and no write.
  Status finishWriting(Chunk &chunk);
  /// Its contents change or die: the write is not wanted any more, nor is its
  /// host copy.
  void callOffWriting(Chunk &chunk);
  /// Those that need not be waited for.
  void finishDoneWritings();
  /// The one that began first. What began when only so many had is tried again
  /// if it has failed: not an error.
  Status finishFirstWriting(uint64_t begunBefore = 0);
  Status finishAllWritings();
  /// Those to these bytes of the file.
  void finishWritingsTo(dev_t deviceId, ino_t inode, int64_t begin,
                        int64_t end);
  /// Bytes of slabs that may be written at a time.
  uint64_t mostWriting() const;
  Writing takeWriting(Chunk &chunk);
  void giveUpHostCopy(Chunk &chunk);

  // -- KeepResident.cpp
  /// All of it comes to the device and is not evicted any more.
  Status keepResident(Buffer &buffer);
  uint64_t keptBytes() const;

  // -- DriverMoved.cpp
  /// The driver is to move the new buffer.
  void leaveToDriver(Buffer &buffer);
  void setAway(Chunk &chunk, bool away);
  /// Hints in front of a launch, and what it uses of such buffers.
  Status prefetchForLaunch(const LaunchCall &call,
                           const LaunchPointers &pointers);
  void noteLaunchOnDriverMoved();
  Status discardDriverMoved(Buffer &buffer, const AddressRange &range,
                            Queue queue);
  Status prefetchDriverMoved(Buffer &buffer, const AddressRange &range,
                             Place place, Queue queue);
  /// The driver is to read and write the file under the buffer, from its first
  /// byte on. False: it cannot, which is the runtime's to do then.
  StatusOr<bool> giveToDriver(Buffer &buffer,
                              const std::shared_ptr<BackingFile> &file,
                              int64_t offset, unsigned flags);
  Status remapDriverFile(Buffer &buffer, unsigned flags);
  /// What the driver would lose, unseen, is refused.
  static Status checkWritable(const Buffer &buffer, std::string_view what);
  Status checkDriverFiles(const LaunchCall &call,
                          const LaunchPointers &pointers);
  Status adviseDriver(const AddressRange &range, dragon_advice advice);

  // -- LibraryCalls.cpp
  Status beginLibraryCall(const LibraryCall &call, LibraryHold &hold);
  Status endLibraryCall(const LibraryHold &hold);
  /// Says to who watches what the function may do from now on.
  void tellUses(const LibraryCall &call);
  Status keepReachable(uintptr_t address, std::vector<Buffer *> &done);

  // -- Transfers.cpp
  /// `mayBePinned`: work that is queued may touch the host memory, too.
  Status copyToBuffer(Buffer &buffer, uintptr_t to, const char *from,
                      size_t bytes, Queue queue, bool pageable,
                      bool mayBePinned = false);
  Status copyFromBuffer(Buffer &buffer, char *to, uintptr_t from, size_t bytes,
                        Queue queue, bool pageable, bool mayBePinned = false);
  /// It is outside of all buffers.
  Status checkHostMemory(const void *memory, size_t bytes);
  Status copyBetween(Buffer &toBuffer, uintptr_t to, Buffer &fromBuffer,
                     uintptr_t from, size_t bytes, Queue queue);
  Status fillBuffer(Buffer &buffer, uintptr_t to, uint32_t value,
                    unsigned width, size_t count, Queue queue);
  /// Chunks of the range can be written on the device without evicting others.
  bool fitsOnDevice(const Chunk &chunk);
  /// On the device, without moving or waiting for anything.
  bool hasRoomForFree(uint64_t bytes);
  Status noteUse(std::span<Chunk *const> chunks, Queue queue);

  // -- Launch.cpp
  /// What dies makes a difference, if only to who watches.
  bool mayMove() const {
    return Tracking || Watcher || LiveBytes > DevicePool.budget();
  }
  Status launch(const LaunchCall &call);
  Status launchInCore(const LaunchCall &call, const LaunchPointers &pointers);
  /// How the launch runs in slices of this size. What is found is kept in
  /// `planned`.
  const Slicing &slicingOf(const LaunchCall &call, PlannedLaunch &planned,
                           SliceSize size = {});
  /// Runs it now, on its own, and ends the contents that it uses last.
  Status runPlanned(const LaunchCall &call, PlannedLaunch &planned);
  Status runAsPlanned(const LaunchCall &call, PlannedLaunch &planned);
  /// Of the contents that it uses last.
  Status endLastUses(const LaunchCall &call);
  /// Says so to who watches.
  void tellLastUses(const LaunchCall &call);
  /// But for those of some chunks.
  Status endLastUse(const LastUse &use, Queue queue,
                    const std::function<bool(const Chunk &)> &except);
  Status discardChunk(Chunk &chunk, Queue queue);
  Status discardPart(Chunk &chunk, ChunkPart part, Queue queue);
  Status runSlices(SliceUses &uses);
  /// Says how it runs and why, in the log and in the trace.
  void explain(const LaunchCall &call, PlannedLaunch &planned,
               const LaunchPlan &plan, TraceZone &zone) const;
  std::vector<AddressRange> dyingOf(const LaunchCall &call);

  // -- What a launch may take, for who plans it and who runs it
  /// Device memory: what nobody else holds for longer.
  uint64_t deviceBytesFor(const PlannedLaunch &planned) const;
  /// Host memory for chunks that kernels see there: all but what is in transit.
  /// What others have of it can leave, to files and swap.
  uint64_t mappedBytes() const;

  // -- HostMapped.cpp
  /// Blocks see a part of what they use in host memory.
  Status launchHostMapped(const LaunchCall &call, PlannedLaunch &planned);
  /// Slices see these chunks there.
  Status runMixed(SliceUses &uses, const LaunchChunks &mapped);
  /// Contents come to host memory and are mapped there. Where that is full,
  /// the first of `wants` go to the device meanwhile, and give up what they
  /// have there; `arrived` counts them. The uses must be pinned, and those of
  /// the wants that are on the device: they come first.
  Status mapOnHost(std::span<const ChunkUse *const> uses,
                   std::span<const Want> wants, size_t &arrived, Queue queue);
  /// A slab in host memory for a chunk that has none.
  Status takeMapped(Chunk &chunk, std::span<const Want> wants, size_t &arrived,
                    Queue queue);
  /// The chunk comes to the device, and nothing of it stays in host memory.
  Status moveToDevice(const Want &want, Queue queue);
  Status mapOnHost(Chunk &chunk);
  /// Host memory that can be mapped, for those of the chunks that have none,
  /// and their contents in it if they are in host memory; by several threads
  /// and as far as there is room. makeMappable() sees to the rest.
  Status makeMappable(std::span<const ChunkUse *const> uses);
  /// By use in planned.whole.
  const std::vector<double> &heatOf(const LaunchCall &call,
                                    PlannedLaunch &planned);

  // -- CountedHeat.cpp
  /// The launch is to count its accesses; none: it need not, or cannot now.
  std::optional<HeatCounters> beginCounting(const LaunchCall &call,
                                            const LaunchChunks &whole);
  /// Runs it, on the device, and queues what brings the counters.
  Status runCounting(const LaunchCall &call, const HeatCounters &counters,
                     std::vector<AddressRange> touched, bool anything);
  /// What was counted, once it is there.
  void collectHeat();
  Status makeCounters();
  /// Their memory goes back, once it is idle.
  void dropCounters();
  /// As measured, or as is usual.
  LinkRates linkRates();
  static PlacedChunk placedOf(const ChunkUse &use, double heat);

  // -- SlicePipeline.cpp
  /// Queues the copies of what the slices from `next` on will evict.
  Status prepare(const SliceUses &uses, size_t next);

  // -- LaunchTogether.cpp
  /// Nobody can tell whether it has run who does not call something else.
  bool mayWait(const LaunchCall &call, const LaunchPointers &pointers) const;
  Status runWaiting();
  Status runOne(const WaitingLaunch &launch);
  Status runTogether(std::span<const WaitingLaunch> launches,
                     const WaveCut &cut);
  /// In slices or at once, together with others.
  bool mayBeCut(const WaitingLaunch &launch);
  /// While nobody knows yet who runs together: what the first of them reads
  /// first, into memory that nobody uses.
  Status fetchForFirst(const WaitingLaunch &launch);
  WaveCut cutOf(std::span<const WaitingLaunch> launches, SliceSize size);
  /// The slices of launches that run together; of their own if there is no
  /// smaller way.
  const Slicing &fineSlicingOf(const WaitingLaunch &launch, const WaveCut &cut);
  /// Equal pieces, if they use different parts; else one that cannot run.
  const Slicing &evenSlicingOf(const LaunchCall &call, PlannedLaunch &planned,
                               uint32_t pieces);
  /// Their slices and the chunks of these, by number.
  struct Wave {
    std::unordered_map<const PlannedLaunch *, WaveSlices> slices;
    std::vector<WaveLaunch> launches; ///< refer to `slices`
    std::vector<uint64_t> chunkBytes;
  };
  Wave waveOf(std::span<const WaitingLaunch> launches, const WaveCut &cut);
  Waves howTogether(std::span<const WaitingLaunch> launches);
  /// The launch before this one was followed by it, or was not.
  void noteFollower(Queue queue);

  Status runBox(const LaunchCall &call, const BlockBox &box,
                std::span<const AddressRange> touched, bool anything,
                const KernelHandle *handle = nullptr);
  void beginLaunchTime();
  /// Remembers the launch; what follows it may be foreseen then.
  void foresee(const LaunchCall &call, const LaunchPointers &pointers,
               const LaunchChunks &whole);
  /// The chunk's next use, by what was seen, else by what the compiler said.
  Forecast nextUseOf(Chunk &chunk) const;
  Forecast foreseenUse(const Chunk &chunk) const;
  /// The program is about to overwrite the addresses by a copy or a fill.
  void noteOverwritten(uintptr_t begin, uintptr_t end);
  /// The clock of the next use by what the compiler said; 0: nothing.
  uint64_t announcedUse(const Buffer &buffer) const;
  /// As far as there is room that nothing needs.
  Status prefetch(Buffer &buffer, uintptr_t address, size_t bytes, Queue queue);
  /// All at once, whatever the budget: on a device that migrates, what it has
  /// no room for leaves by itself.
  Status runBeyondBudget(const LaunchCall &call, PlannedLaunch &planned,
                         uint64_t wholeBytes);
  Status cannotRun(const LaunchCall &call, uint64_t wholeBytes,
                   uint64_t smallestBytes) const;

  // -- FileMaps.cpp, WriteOut.cpp
  Status mapFileRange(uintptr_t address, size_t bytes,
                      const std::shared_ptr<BackingFile> &file,
                      int64_t fileOffset);
  Status mapChunkRange(Chunk &chunk, size_t begin, size_t end,
                       const std::shared_ptr<BackingFile> &file,
                       int64_t fileOffset);
  Status setSink(uintptr_t address, size_t bytes,
                 std::shared_ptr<BackingFile> file, int64_t fileOffset,
                 bool permanent, const dragon_reason *why = nullptr);
  Status writeToFile(uintptr_t address, size_t bytes,
                     std::shared_ptr<BackingFile> file, int64_t fileOffset,
                     size_t &written);
  struct WriteOut;
  /// The announced write will not happen, or not there: what was evicted to the
  /// place goes elsewhere and the file is what the program made of it: it ends
  /// where it did, or at `keepTo` if that is further.
  Status abandonSink(const Sink &sink, uint64_t keepTo = 0);
  /// The same for the sinks that `which` accepts, which end.
  Status abandonSinks(Buffer &buffer,
                      const std::function<bool(const Sink &)> &which);
  /// Contents that are stored in [begin, end) of the file go elsewhere, but
  /// for those of `except` with this distance of offset and address.
  Status detach(dev_t deviceId, ino_t inode, int64_t begin, int64_t end,
                const Buffer *except, int64_t exceptDelta);
  /// The sink's file is no place for the buffer's contents any more.
  void leaveFile(Buffer &buffer, const Sink &sink);
  Status discard(uintptr_t address, size_t bytes, Queue queue,
                 bool eager = false);
  /// The chunk holds nothing: its memory goes back once it is idle.
  Status giveBack(Chunk &chunk);
  /// That of the chunks that have become idle since.
  Status giveBackIdle();
  Status sync(Buffer &buffer);

  // -- HostAccess.cpp
  static bool onFault(void *context, uintptr_t address, bool write);
  Status hostAccess(uintptr_t address);

  // -- Shutdown.cpp
  Status quiesce();
  /// An error once the device has gone away.
  Status usable() const;
  /// The same, and what was kept back runs: every call begins with it that
  /// could tell whether it has.
  Status ready();
  Status shutdown();
  /// `locked`: with the lock; what is behind it is left out otherwise.
  void printStats(bool locked);

  StatusOr<Allocation *> rangeOf(uintptr_t address, size_t bytes,
                                 const char *call);

  // -- State
  const Settings Config;
  std::unique_ptr<Device> Dev;
  Budget Limits;                     ///< of the host: lowerHostBudget()
  std::unique_ptr<Observer> Watcher; ///< null: nobody
  Ledger Bytes;
  mutable FairMutex Lock;

  std::unique_ptr<FileTier> Files;
  std::unique_ptr<BackgroundIo> Background;
  std::unique_ptr<SwapFile> Swap; ///< made when first needed
  SlabPool DevicePool;
  SlabPool HostPool;

  AddressIndex Allocations;
  std::list<std::unique_ptr<Buffer>> Buffers;
  uint64_t NumBuffersMade = 0;
  uint64_t Preparation = 0;      ///< calls of prepare()
  std::vector<Chunk *> OnDevice; ///< chunks with a device slab
  std::vector<Chunk *> OnHost;   ///< chunks with a host slab
  /// Of all buffers, but for those that the driver moves.
  uint64_t LiveBytes = 0;
  size_t NumDriverMoved = 0;   ///< how many these are
  bool ToldOfReadOnly = false; ///< that what a driver may lose can be written
  size_t NotOnDevice = 0;
  std::deque<Chunk *> Dying; ///< in the order of giveBack(), or dying no more

  /// Free space in arenas, by address.
  struct Hole {
    Buffer *arena;
    size_t bytes;
  };
  std::map<uintptr_t, Hole> Holes;

  Queue CopyIn = nullptr;
  Queue CopyOut = nullptr;
  WorkLog Work;
  WorkLog Fetches;
  WorkLog Departures;
  SliceQueues AtATime; ///< for slices that run so
  /// Once data has to move, work gets tickets; before, one synchronisation of
  /// everything serves (and costs launches nothing).
  bool Tracking = false;
  uint64_t Clock = 1; ///< see LaunchTime
  /// While slices run: what was used since then is in use.
  uint64_t InUseSince = UINT64_MAX;
  uint64_t LaunchClock = 0;  ///< when the last launch began
  uint64_t LaunchNumber = 0; ///< counts launches from 1
  LaunchHistory History;
  LaunchCache Plans;
  double MappingRate = 0; ///< as measured; 0: not yet
  HeatLog Heat;
  /// For launches that count, one at a time.
  struct Counting {
    uintptr_t va = 0;                    ///< of `slab`; 0: there are none
    Physical slab;                       ///< on the device
    Physical results;                    ///< on the host
    bool failed = false;                 ///< the device refused
    std::optional<HeatCounters> pending; ///< of a launch that has counted
    uint64_t shape = 0;                  ///< and what that was
    uint64_t ticket = 0;                 ///< when its results are there
  } Counters;
  uint64_t HeatGeneration = 0; ///< of the allocations that Heat is of
  /// Launches of that shape with chunks in host memory.
  std::unordered_map<uint64_t, uint32_t> HostMappedTimes;
  LaunchPointers Reached; ///< of the launch that is being made
  WaitingLaunches Waiting;
  uint64_t Epoch = 1; ///< the next one begins when all work is done
  uint64_t Round = 1;
  uint64_t LastFetch = 0; ///< ticket that later work in any queue waits for

  struct InTransit {
    uint64_t ticket;
    Physical slab;
  };
  std::deque<InTransit> Transit;
  std::list<Reading> Readings;
  uint64_t ReadingBytes = 0;   ///< of their slabs
  std::list<Writing> Writings; ///< in the order in which they began
  uint64_t WritingBytes = 0;
  uint64_t WritingsBegun = 0;

  std::atomic<bool> AnySinks{false};
  bool Noticed = false;
  bool ShutDown = false;
  std::atomic<bool> Reported{false}; ///< the statistics, or somebody is at it
  bool Closed = false;               ///< the device has gone away
  BeforeWrite Listener = nullptr;
  void *ListenerContext = nullptr;
  const std::atomic<bool> *ListenerWanted = nullptr;
  /// Null: nobody wants to hear now.
  BeforeWrite listener() const;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_CORE_RUNTIMEIMPL_H
