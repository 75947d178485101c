//===- Judge.cpp - measures the runtime against others --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/oracle/Judge.h"
#include "runtime/base/SymbolNames.h"
#include "runtime/oracle/AccessRecorder.h"
#include "runtime/oracle/Check.h"
#include "runtime/oracle/FootprintTable.h"
#include "runtime/oracle/Oracle.h"
#include "runtime/oracle/ReferencePager.h"
#include "runtime/oracle/Watching.h"
#include "runtime/trace/Log.h"

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace dragon {

namespace {

using namespace oracle;

/// Steps are small beside the memory: what one uses counts for nothing.
constexpr uint64_t StepsPerMemory = 64;

class Judge : public Watching, AccessRecorder::Consumer {
public:
  Judge(const Settings &settings, uint64_t deviceBytes)
      : DeviceBytes(deviceBytes),
        Recorder(std::max<uint64_t>(deviceBytes / StepsPerMemory, PageBytes),
                 *this) {
    if (!settings.pager.empty()) {
      Plain.emplace(deviceBytes, false);
      Directed.emplace(deviceBytes, true);
    }
    if (settings.oracle)
      Best.emplace();
    if (settings.footprints)
      Footprints.emplace();
  }

  AccessSink &sink() override { return Recorder; }
  AccessRecorder::Consumer *gathered() override {
    return Best || Plain ? nullptr : this;
  }
  void allocated(const ObservedBuffer &buffer) override {
    Recorder.addBuffer(buffer.range);
  }
  void freed(AddressRange range) override {
    Recorder.removeBuffer(range);
    forPagers([&](ReferencePager &pager) { pager.freed(range); });
    if (Best)
      Best->filled(range);
  }
  void hostWrote(AddressRange range, HostAccess, const void *) override {
    forPagers([&](ReferencePager &pager) { pager.hostWrote(range); });
    if (Best)
      Best->hostWrote(range);
  }
  void hostRead(AddressRange range, HostAccess, const void *) override {
    forPagers([&](ReferencePager &pager) { pager.hostRead(range); });
    if (Best)
      Best->hostRead(range);
  }
  void copied(uintptr_t to, uintptr_t from, size_t bytes) override {
    forPagers([&](ReferencePager &pager) {
      pager.used({from, from + bytes});
      pager.used({to, to + bytes});
    });
    if (Best)
      Best->copied(to, from, bytes);
  }
  void filled(AddressRange range, uint32_t, unsigned) override {
    forPagers([&](ReferencePager &pager) { pager.used(range); });
    if (Best)
      Best->filled(range);
  }
  void discarded(const ObservedEnd &end) override {
    forPagers([&](ReferencePager &pager) { pager.discarded(end.range); });
  }
  void unseen(AddressRange) override {}
  void touchesElided(const ObservedHostCode &) override {}
  void prefetched(AddressRange range) override {
    forPagers([&](ReferencePager &pager) { pager.used(range); });
  }
  void launchBegins(const char *kernel, uint64_t) override {
    if (Footprints)
      Footprints->launchBegins(kernel);
  }
  void blocksRun(const ObservedBlocks &blocks,
                 std::span<const AddressRange> remote) override {
    Recorder.finish();
    if (Footprints)
      Footprints->blocksRun(blocks);
    Remote.assign(remote.begin(), remote.end());
  }
  void launchEnds() override {
    Recorder.finish();
    Remote.clear();
    if (Footprints)
      Footprints->launchEnds();
  }
  bool wantsFootprints() const override { return Footprints.has_value(); }
  void report(Stats &stats) override;
  int verdict() override { return 0; }

private:
  template <typename Fn> void forPagers(Fn fn) {
    if (Plain)
      fn(*Plain);
    if (Directed)
      fn(*Directed);
  }
  void step(std::span<const PageAccess> accesses) override;
  void wave(std::span<const uint64_t> pages) override;

  const uint64_t DeviceBytes;
  std::optional<ReferencePager> Plain, Directed;
  std::optional<Oracle> Best;
  std::optional<FootprintTable> Footprints;
  AccessRecorder Recorder;
  std::vector<AddressRange> Remote; ///< what runs now sees in host memory
  Traffic Mapped;                   ///< through it
};

void Judge::step(std::span<const PageAccess> accesses) {
  for (const PageAccess &access : accesses) {
    const uintptr_t begin = access.page * PageBytes;
    for (const AddressRange &range : Remote)
      if (begin >= range.begin && begin < range.end) {
        Mapped.hostToDevice += access.read.count();
        Mapped.deviceToHost += access.write.count();
      }
  }
  if (Best)
    Best->step(accesses);
  if (Footprints)
    Footprints->step(accesses);
}

void Judge::wave(std::span<const uint64_t> pages) {
  // Each block once, with all of its pages.
  constexpr uint64_t PagesPerBlock = ReferencePager::BlockBytes / PageBytes;
  std::unordered_map<uint64_t, size_t> places;
  std::vector<std::vector<uint64_t>> blocks;
  for (uint64_t page : pages) {
    auto [place, isNew] = places.emplace(page / PagesPerBlock, blocks.size());
    if (isNew)
      blocks.emplace_back();
    blocks[place->second].push_back(page);
  }
  forPagers([&](ReferencePager &pager) {
    for (const std::vector<uint64_t> &block : blocks)
      for (uint64_t page : block)
        pager.used({page * PageBytes, (page + 1) * PageBytes});
  });
}

void Judge::report(Stats &stats) {
  auto add = [&](const char *who, const Traffic &traffic) {
    stats.traffic.push_back({who, traffic.hostToDevice, traffic.deviceToHost});
  };
  if (!Plain) // which runs everything in core
    add("host-mapped accesses", Mapped);
  if (Plain)
    add("reference pager", Plain->traffic());
  if (Directed)
    add("reference pager with directives", Directed->traffic());
  if (Best)
    add("oracle", Best->leastTraffic(DeviceBytes));
  if (Footprints)
    for (const auto &[kernel, row] : Footprints->rows()) {
      stats.footprints.push_back(row);
      stats.footprints.back().kernel = shortName(kernel);
    }
}

} // namespace

StatusOr<std::unique_ptr<Observer>> makeJudge(const Settings &settings,
                                              const DeviceCaps &device,
                                              uint64_t deviceBytes) {
  const char *asked = settings.check            ? "DRAGON_CHECK"
                      : !settings.pager.empty() ? "DRAGON_PAGER"
                      : settings.oracle         ? "DRAGON_ORACLE"
                      : settings.footprints     ? "DRAGON_FOOTPRINTS"
                                                : nullptr;
  if (!asked)
    return std::unique_ptr<Observer>();
  if (device.name != std::string_view("cpu"))
    return Status::error(DRAGON_ERROR_SETTING,
                         "{}: the {} device cannot watch single accesses; set "
                         "DRAGON_BACKEND=cpu",
                         asked, device.name);
  std::unique_ptr<Watching> judge, check;
  if (settings.judged())
    judge = std::make_unique<Judge>(settings, deviceBytes);
  if (settings.check)
    check = std::make_unique<Check>(detail::printLine, settings.quiet);
  if (judge && check)
    judge = both(std::move(judge), std::move(check));
  else if (check)
    judge = std::move(check);
  setAccessSink(&judge->sink());
  return std::unique_ptr<Observer>(std::move(judge));
}

} // namespace dragon
