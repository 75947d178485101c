//===- Check.h - finds directives that change a program ---------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// DRAGON_CHECK: does this run show that some directive of the compiler, or the
// runtime, has changed what the program does? alive2 asks whether a function
// after a transformation refines the one before it; this asks the same of one
// execution. Beside the run goes a shadow (Shadow.h): the contents that the
// unmodified program would have at this point. It is kept up to date by what is
// written, byte by byte, and each read is held against it:
//
//   ended       a directive said that nobody needs the bytes any more. That is
//               wrong in itself, even if they are still there.
//   lost        they are not what was written: something between the last
//               writer and this reader has lost or moved them.
//   unannounced the kernel's summary says that it does not touch or write them:
//               whatever keeps them elsewhere, or drops them, is right to.
//   kept        the summary says that the kernel overwrites them all before it
//               reads any, so that they are not fetched; and it does not.
//   mapped      the buffer was said to be read only, and is written; or never
//               to come from the host or go to it, and does.
//   elided      a staging buffer was not filled, and host code looks at it.
//   order       launches that ran together read or wrote them in another order
//               than that of the program.
//
// For example: `init` (launch 1) writes d_a, the compiler believes that launch
// 2 overwrites it all and discards it in between, and launch 2 reads its
// border. The discard marks d_a's bytes as ended after launch 1 with its
// remark; launch 2's first read of a byte with that mark, which it has not
// written before, is what is reported, with the line of the directive.
//
// A kernel's accesses are gathered by page while its blocks run, one after
// another. The first time that one reads a page, the page's real contents are
// compared with the shadow's: later its own writes would stand in the way. What
// was written is copied into the shadow when the blocks have ended, while the
// memory can still be read.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_ORACLE_CHECK_H
#define DRAGON_RUNTIME_ORACLE_CHECK_H

#include "runtime/oracle/CheckReport.h"
#include "runtime/oracle/Shadow.h"
#include "runtime/oracle/Watching.h"

#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace dragon::oracle {

/// The process's exit status after the check has found something.
constexpr int CheckFailedStatus = 87;

class Check final : public Watching, AccessSink, AccessRecorder::Consumer {
public:
  /// `print` takes a line for the user; `quiet`: none if nothing is wrong.
  Check(CheckReport::Print print, bool quiet);

  AccessSink &sink() override { return *this; }
  AccessRecorder::Consumer *gathered() override { return this; }
  void allocated(const ObservedBuffer &buffer) override;
  void freed(AddressRange range) override;
  void hostWrote(AddressRange range, HostAccess how,
                 const void *contents) override;
  void hostRead(AddressRange range, HostAccess how,
                const void *contents) override;
  void copied(uintptr_t to, uintptr_t from, size_t bytes) override;
  void filled(AddressRange range, uint32_t value, unsigned width) override;
  void discarded(const ObservedEnd &end) override;
  void prefetched(AddressRange) override {}
  void unseen(AddressRange range) override;
  void touchesElided(const ObservedHostCode &code) override;
  void launchBegins(const char *kernel, uint64_t number) override;
  void blocksRun(const ObservedBlocks &blocks,
                 std::span<const AddressRange> remote) override;
  void launchEnds() override { Launch = 0; }
  bool wantsFootprints() const override { return true; }
  void report(Stats &) override {}
  int verdict() override;

private:
  /// What the running blocks did to a page.
  struct Touch {
    ShadowPage *shadow = nullptr; ///< null: nothing is known of the page
    PageAccess access{};
    PageMask differs; ///< what they found other than it ought to be
  };
  struct End {
    uint64_t launch;
    const dragon_reason *why;
  };
  struct Written {
    std::string what; ///< "'init' (launch 3)"
    uint64_t launch;  ///< 0: none
  };
  using Masks = std::unordered_map<uint64_t, PageMask>;

  void blockBegins(uint64_t) override {}
  void access(uintptr_t address, uint64_t bytes, uint32_t kind) override {
    Recorder.access(address, bytes, kind);
  }
  void firstRead(uintptr_t address) override;
  void step(std::span<const PageAccess> accesses) override;
  void blocksEnd(bool completed) override;
  void processEnds() override;

  Touch &touch(uint64_t page);
  void judge(uint64_t page, Touch &touched);
  void judgeMapped(uint64_t page, const PageMask &writes);
  void judgeAnnounced(uint64_t page, const PageAccess &access);
  void judgeOverwritten();
  void judgeEnds(uint64_t page, ShadowPage &shadow, const PageMask &read);
  void judgeOrder(uint64_t page, const ShadowPage &shadow,
                  const PageAccess &access);
  void settle(uint64_t page, Touch &touched);

  /// The page's bytes whose contents have ended in front of launch
  /// `number`.
  PageMask endedFor(const ShadowPage &shadow, uint64_t number) const;
  void clearEnds(ShadowPage &shadow, const PageMask &bytes, uint64_t number);
  /// Bytes of a page are read by something else than a kernel.
  void readByHost(uint64_t page, const PageMask &part, HostAccess how,
                  const unsigned char *memory);
  void written(AddressRange range, uint32_t writer,
               const std::function<void(ShadowPage &, const PageMask &,
                                        uint64_t page)> &how);
  uint32_t writer(std::string what, uint64_t launch = 0);
  std::string lastWriter(const ShadowPage &shadow, const PageMask &bytes) const;

  struct Known {
    ObservedBuffer buffer;
    uint64_t number; ///< of the allocation
    bool unseen = false;
  };
  const Known *knownAt(uintptr_t address) const;
  void problem(CheckReport::Kind kind, uint64_t page, const PageMask &bytes,
               std::string after);
  std::string named(const Known &known) const;

  CheckReport Report;
  const bool Quiet;
  std::map<uintptr_t, Known> Buffers; ///< by their beginnings
  uint64_t Allocations = 0;
  Shadow Contents;
  std::vector<AddressRange> Shared; ///< by the running blocks, with the host
  std::vector<End> Ends;            ///< from number 1
  std::vector<Written> Writers;     ///< from number 1
  std::string Actor;                ///< who reads or writes now
  uint64_t Launch = 0;              ///< the running one's number; 0: none runs
  uint32_t LaunchWriter = 0;        ///< its number among the writers
  uint64_t Latest = 0;              ///< the highest number of a launch so far
  ObservedBlocks Blocks;            ///< that run
  std::unordered_map<uint64_t, Touch> Touched; ///< by them
  AccessRecorder Recorder{AccessRecorder::NoSteps, *this};
  uint64_t Launches = 0, Compared = 0; ///< for the last line
};

} // namespace dragon::oracle

#endif // DRAGON_RUNTIME_ORACLE_CHECK_H
