//===- Watching.cpp - observers that hear kernels' accesses ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/oracle/Watching.h"

#include <utility>

namespace dragon::oracle {

namespace {

class Both : public Watching, AccessSink, AccessRecorder::Consumer {
public:
  Both(std::unique_ptr<Watching> first, std::unique_ptr<Watching> second)
      : First(std::move(first)), Second(std::move(second)),
        Gathers(First->gathered() && Second->gathered()),
        Recorder(AccessRecorder::NoSteps, *this) {}

  AccessSink &sink() override { return *this; }

  void allocated(const ObservedBuffer &buffer) override {
    Recorder.addBuffer(buffer.range);
    tell([&](Watching &one) { one.allocated(buffer); });
  }
  void freed(AddressRange range) override {
    Recorder.removeBuffer(range);
    tell([&](Watching &one) { one.freed(range); });
  }
  void hostWrote(AddressRange range, HostAccess how,
                 const void *contents) override {
    tell([&](Watching &one) { one.hostWrote(range, how, contents); });
  }
  void hostRead(AddressRange range, HostAccess how,
                const void *contents) override {
    tell([&](Watching &one) { one.hostRead(range, how, contents); });
  }
  void copied(uintptr_t to, uintptr_t from, size_t bytes) override {
    tell([&](Watching &one) { one.copied(to, from, bytes); });
  }
  void filled(AddressRange range, uint32_t value, unsigned width) override {
    tell([&](Watching &one) { one.filled(range, value, width); });
  }
  void discarded(const ObservedEnd &end) override {
    tell([&](Watching &one) { one.discarded(end); });
  }
  void prefetched(AddressRange range) override {
    tell([&](Watching &one) { one.prefetched(range); });
  }
  void unseen(AddressRange range) override {
    tell([&](Watching &one) { one.unseen(range); });
  }
  void touchesElided(const ObservedHostCode &code) override {
    tell([&](Watching &one) { one.touchesElided(code); });
  }
  void launchBegins(const char *kernel, uint64_t number) override {
    tell([&](Watching &one) { one.launchBegins(kernel, number); });
  }
  void blocksRun(const ObservedBlocks &blocks,
                 std::span<const AddressRange> remote) override {
    tell([&](Watching &one) { one.blocksRun(blocks, remote); });
  }
  void launchEnds() override {
    tell([&](Watching &one) { one.launchEnds(); });
  }
  bool wantsFootprints() const override {
    return First->wantsFootprints() || Second->wantsFootprints();
  }
  void report(Stats &stats) override {
    tell([&](Watching &one) { one.report(stats); });
  }
  int verdict() override {
    const int first = First->verdict(), second = Second->verdict();
    return first ? first : second;
  }

private:
  void blockBegins(uint64_t threads) override {
    hear([&](AccessSink &one) { one.blockBegins(threads); });
  }
  void access(uintptr_t address, uint64_t bytes, uint32_t kind) override {
    if (Gathers)
      Recorder.access(address, bytes, kind);
    else
      hear([&](AccessSink &one) { one.access(address, bytes, kind); });
  }
  void blocksEnd(bool completed) override {
    Recorder.finish();
    hear([&](AccessSink &one) { one.blocksEnd(completed); });
  }
  void processEnds() override {
    Recorder.finish();
    hear([&](AccessSink &one) { one.processEnds(); });
  }

  void firstRead(uintptr_t address) override {
    tell([&](Watching &one) { one.gathered()->firstRead(address); });
  }
  void step(std::span<const PageAccess> accesses) override {
    tell([&](Watching &one) { one.gathered()->step(accesses); });
  }

  template <typename Fn> void tell(Fn fn) {
    fn(*First);
    fn(*Second);
  }
  template <typename Fn> void hear(Fn fn) {
    fn(First->sink());
    fn(Second->sink());
  }

  std::unique_ptr<Watching> First, Second;
  const bool Gathers; ///< each access is recorded once, for both
  AccessRecorder Recorder;
};

} // namespace

std::unique_ptr<Watching> both(std::unique_ptr<Watching> first,
                               std::unique_ptr<Watching> second) {
  return std::make_unique<Both>(std::move(first), std::move(second));
}

} // namespace dragon::oracle
