//===- Judge.cpp - measures the runtime against others --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/oracle/Judge.h"
#include "runtime/oracle/AccessRecorder.h"
#include "runtime/oracle/FootprintTable.h"
#include "runtime/oracle/Oracle.h"
#include "runtime/oracle/ReferencePager.h"

#include <cstdlib>
#include <cxxabi.h>
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

class Judge : public Observer, AccessRecorder::Consumer {
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
    setAccessSink(&Recorder);
  }
  ~Judge() override { setAccessSink(nullptr); }
  Judge(const Judge &) = delete;
  Judge &operator=(const Judge &) = delete;

  void allocated(AddressRange range) override { Recorder.addBuffer(range); }
  void freed(AddressRange range) override {
    Recorder.removeBuffer(range);
    forPagers([&](ReferencePager &pager) { pager.freed(range); });
    if (Best)
      Best->filled(range);
  }
  void hostWrote(AddressRange range) override {
    forPagers([&](ReferencePager &pager) { pager.hostWrote(range); });
    if (Best)
      Best->hostWrote(range);
  }
  void hostRead(AddressRange range) override {
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
  void filled(AddressRange range) override {
    forPagers([&](ReferencePager &pager) { pager.used(range); });
    if (Best)
      Best->filled(range);
  }
  void discarded(AddressRange range) override {
    forPagers([&](ReferencePager &pager) { pager.discarded(range); });
  }
  void prefetched(AddressRange range) override {
    forPagers([&](ReferencePager &pager) { pager.used(range); });
  }
  void launchBegins(const char *kernel) override {
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

/// `void f<int>(int *, int)` -> `f<int>`; what is no such name stays. Static
/// kernels that were linked with others have their unit's name at the end.
std::string shortName(const std::string &symbol) {
  int status = 0;
  std::string plain = symbol.substr(0, symbol.rfind("__intern__"));
  std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(plain.c_str(), nullptr, nullptr, &status),
      &std::free);
  if (!text)
    return symbol;
  std::string name = text.get();
  // The parameters are the last parenthesis on the outermost level.
  int depth = 0;
  for (size_t i = name.size(); i-- > 0;) {
    depth += name[i] == ')' ? 1 : name[i] == '(' ? -1 : 0;
    if (name[i] == '(' && depth == 0) {
      name.resize(i);
      break;
    }
  }
  if (name.starts_with("void "))
    name.erase(0, 5);
  return name;
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
  const char *asked = !settings.pager.empty() ? "DRAGON_PAGER"
                      : settings.oracle       ? "DRAGON_ORACLE"
                      : settings.footprints   ? "DRAGON_FOOTPRINTS"
                                              : nullptr;
  if (!asked)
    return std::unique_ptr<Observer>();
  if (device.name != std::string_view("cpu"))
    return Status::error(DRAGON_ERROR_SETTING,
                         "{}: the {} device cannot watch single accesses; set "
                         "DRAGON_BACKEND=cpu",
                         asked, device.name);
  return std::unique_ptr<Observer>(
      std::make_unique<Judge>(settings, deviceBytes));
}

} // namespace dragon
