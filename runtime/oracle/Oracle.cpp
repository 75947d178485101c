//===- Oracle.cpp - the least traffic that a trace allows -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/oracle/Oracle.h"

namespace dragon::oracle {

void Oracle::dropEmpty(std::vector<Charge> &charges) {
  std::erase_if(charges,
                [](const Charge &charge) { return !charge.bytes.any(); });
}

void Oracle::end(Page &page, const PageMask &bytes) {
  page.hostOnly -= bytes;
  page.device -= bytes;
  page.dirty -= bytes;
  for (Charge &charge : page.charges)
    charge.bytes -= bytes;
  dropEmpty(page.charges);
}

void Oracle::hostWrote(AddressRange range) {
  forEachPage(range.begin, range.end,
              [&](uint64_t number, size_t begin, size_t stop) {
                Page &page = at(number);
                const PageMask bytes = maskOf(begin, stop);
                end(page, bytes);
                page.hostOnly |= bytes;
              });
}

void Oracle::hostRead(AddressRange range) {
  forEachPage(range.begin, range.end,
              [&](uint64_t number, size_t begin, size_t stop) {
                auto found = Pages.find(number);
                if (found == Pages.end())
                  return;
                Page &page = found->second;
                const PageMask bytes = maskOf(begin, stop) & page.dirty;
                Unavoidable.deviceToHost += bytes.count();
                page.dirty -= bytes;
                // They had to go out once, whether the page stayed in its gaps
                // or not.
                for (Charge &charge : page.charges) {
                  Gaps[charge.gap].written -= (charge.bytes & bytes).count();
                  charge.bytes -= bytes;
                }
                dropEmpty(page.charges);
              });
}

void Oracle::filled(AddressRange range) {
  forEachPage(range.begin, range.end,
              [&](uint64_t number, size_t begin, size_t stop) {
                auto found = Pages.find(number);
                if (found != Pages.end())
                  end(found->second, maskOf(begin, stop));
              });
}

void Oracle::copied(uintptr_t to, uintptr_t from, size_t bytes) {
  // Each byte is then where the one that it is a copy of was. Overlapping
  // copies are not allowed by CUDA.
  for (size_t i = 0; i < bytes; ++i) {
    const Page *source = nullptr;
    if (auto found = Pages.find(pageOf(from + i)); found != Pages.end())
      source = &found->second;
    const size_t in = (from + i) % PageBytes, out = (to + i) % PageBytes;
    const bool hostOnly = source && source->hostOnly.test(in);
    const bool device = source && source->device.test(in);
    const bool dirty = source && source->dirty.test(in);
    Page &target = at(pageOf(to + i));
    if (!target.charges.empty()) {
      PageMask one;
      one.add(out, out + 1);
      end(target, one);
    }
    target.hostOnly.set(out, hostOnly);
    target.device.set(out, device);
    target.dirty.set(out, dirty);
    target.lastStep = Step;
  }
}

void Oracle::step(std::span<const PageAccess> accesses) {
  ++Step;
  for (const PageAccess &access : accesses) {
    Page &page = at(access.page);
    const PageMask again = access.read & page.device;
    if (page.lastStep && again.any()) {
      // Any gap of a version that is not bridged costs its way out, once. That
      // is charged to the longest, which is the likeliest.
      PageMask out = again & page.dirty;
      for (Charge &charge : page.charges) {
        const PageMask both = charge.bytes & out;
        Gap &gap = Gaps[charge.gap];
        if (gap.to - gap.from < Step - page.lastStep) {
          gap.written -= both.count();
          charge.bytes -= both;
        } else {
          out -= both;
        }
      }
      dropEmpty(page.charges);
      if (out.any())
        page.charges.push_back({Gaps.size(), out});
      Gaps.push_back({page.lastStep, Step, again.count(), out.count()});
    }
    const PageMask first = access.read & page.hostOnly;
    Unavoidable.hostToDevice += first.count();
    page.hostOnly -= first;
    page.device |= first;
    end(page, access.write);
    page.device |= access.write;
    page.dirty |= access.write;
    page.lastStep = Step;
  }
}

Traffic Oracle::leastTraffic(uint64_t deviceBytes) const {
  Traffic least = leastCost(Gaps, deviceBytes / PageBytes);
  least.hostToDevice += Unavoidable.hostToDevice;
  least.deviceToHost += Unavoidable.deviceToHost;
  return least;
}

} // namespace dragon::oracle
