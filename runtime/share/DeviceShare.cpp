//===- DeviceShare.cpp - this program's part of a device's memory ---------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/share/DeviceShare.h"

#include "runtime/base/ThreadPool.h"
#include "runtime/share/Segment.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <errno.h>
#include <utility>

namespace dragon {

namespace {

/// How long nobody looks for the dead, in milliseconds.
constexpr unsigned LookEvery = 400;
/// The same while somebody has to give back, or waits for that.
constexpr unsigned AskAgainAfter = 20;
/// Who does not use the device for so long waits for something else.
constexpr auto IdleAfter = std::chrono::seconds(1);

} // namespace

std::vector<SeenShare> lookAtShares(const std::string &directory) {
  std::vector<SeenShare> all;
  for (const auto &[device, books] : readAllBooks(directory))
    all.push_back({device, books.total, books.mostHeld, books.present()});
  return all;
}

StatusOr<std::unique_ptr<DeviceShare>>
DeviceShare::join(const std::string &directory, const std::string &device,
                  const Terms &terms) {
  DRAGON_ASSIGN(std::unique_ptr<ShareSegment> segment,
                ShareSegment::open(directory, device));
  std::unique_ptr<DeviceShare> share(new DeviceShare(std::move(segment)));
  ShareSegment::Locked books(*share->Segment);
  ShareProgram &own = share->Segment->own();
  // The newest program knows best what there is: what is free, and what the
  // others hold.
  const uint64_t others = terms.freeIsShared ? books->held() : 0;
  const uint64_t there = terms.free + others;
  const uint64_t total =
      there > 2 * terms.reserve ? there - terms.reserve : there / 2;
  // Who says how much it takes may have the reserve, if it has a claim at all.
  const uint64_t asked =
      terms.spareBeside ? 0 : std::min(terms.most.value_or(0), there);
  books->total = terms.total.value_or(std::max(total, asked));
  own.weight = std::max<uint64_t>(terms.weight, 1);
  own.most = share->Most =
      std::min(terms.most.value_or(UINT64_MAX), books->total);
  own.spare = terms.spareBeside.has_value();
  share->SpareBeside = terms.spareBeside;
  std::strncpy(own.name, program_invocation_short_name, sizeof own.name - 1);
  books->divideAnew();
  share->Segment->tell();
  return share;
}

DeviceShare::DeviceShare(std::unique_ptr<ShareSegment> segment)
    : Segment(std::move(segment)) {}

DeviceShare::~DeviceShare() { stop(); }

uint64_t DeviceShare::ownLimit(ShareBooks &books) {
  const uint64_t limit = Segment->own().limit;
  if (!SpareBeside)
    return limit;
  const bool wanted =
      std::any_of(std::begin(books.programs), std::end(books.programs),
                  [](const ShareProgram &one) {
                    return one.pid && !one.spare && one.wanted;
                  });
  return wanted ? std::min(limit, *SpareBeside) : limit;
}

uint64_t DeviceShare::limit() {
  ShareSegment::Locked books(*Segment);
  return ownLimit(*books);
}

bool DeviceShare::reserve(uint64_t bytes) {
  ShareSegment::Locked books(*Segment);
  if (bytes > books->room())
    return false;
  Segment->own().held += bytes;
  countStep();
  books->mostHeld = std::max(books->mostHeld, books->held());
  return true;
}

void DeviceShare::release(uint64_t bytes) {
  ShareSegment::Locked books(*Segment);
  Segment->own().held -= bytes;
  countStep();
  const auto waits = [](const ShareProgram &one) {
    return one.pid && one.waitsFor;
  };
  if (std::any_of(std::begin(books->programs), std::end(books->programs),
                  waits))
    Segment->tell();
}

void DeviceShare::refused(uint64_t bytes) {
  ShareSegment::Locked books(*Segment);
  Segment->own().held -= bytes;
  books->total = std::min(books->total, books->held());
  books->divideAnew();
  Segment->tell();
}

template <typename Change> uint64_t DeviceShare::divideAfter(Change &&change) {
  ShareSegment::Locked books(*Segment);
  ShareProgram &own = Segment->own();
  change(own);
  if (books->divideAnew())
    Segment->tell();
  return ownLimit(*books);
}

uint64_t DeviceShare::wants(uint64_t bytes) {
  return divideAfter(
      [&](ShareProgram &own) { own.wanted = std::min(bytes, Most); });
}

uint64_t DeviceShare::needs(uint64_t bytes) {
  return divideAfter([&](ShareProgram &own) {
    own.least = std::max(own.least, std::min(bytes, Most));
  });
}

/// Of who waits for others: it begins anew when one of them gets on. A program
/// that is stopped, by a debugger or a user, does not stop all others.
class DeviceShare::Patience {
public:
  explicit Patience(unsigned seconds)
      : Within(seconds), Begin(std::chrono::steady_clock::now()) {}

  /// With the books' lock. True: none of the others has got on.
  bool endsWith(ShareBooks &books, const ShareProgram &own) {
    uint64_t steps = 0;
    for (ShareProgram &other : books.programs)
      if (other.pid && &other != &own)
        steps += std::atomic_ref(other.steps).load(std::memory_order_relaxed) +
                 uint64_t(other.pid);
    const auto now = std::chrono::steady_clock::now();
    if (std::exchange(Steps, steps) != steps)
      Begin = now;
    return now - Begin > Within;
  }

private:
  const std::chrono::seconds Within;
  std::chrono::steady_clock::time_point Begin;
  uint64_t Steps = 0;
};

DeviceShare::Room DeviceShare::waitForRoom(uint64_t bytes, unsigned seconds) {
  Patience patience(seconds);
  while (true) {
    const uint32_t seen = Segment->news();
    {
      ShareSegment::Locked books(*Segment);
      Segment->dropDead();
      ShareProgram &own = Segment->own();
      const bool there = bytes <= books->room();
      const bool owed =
          own.held + bytes <= own.limit &&
          std::any_of(std::begin(books->programs), std::end(books->programs),
                      [](const ShareProgram &one) {
                        return one.pid && one.held > one.limit;
                      });
      const bool stuck = patience.endsWith(*books, own);
      own.waitsFor = !there && owed && !stuck ? bytes : 0;
      if (!own.waitsFor)
        return there ? Room::There : owed ? Room::Stuck : Room::NotMine;
    }
    Segment->waitForNews(seen, AskAgainAfter);
  }
}

// -- Claims ------------------------------------------------------------------

void DeviceShare::countStep() {
  std::atomic_ref(Segment->own().steps).fetch_add(1, std::memory_order_relaxed);
}

void DeviceShare::tellIfAsked(ShareBooks &books) {
  const bool changed = books.divideAnew();
  if (changed || books.anyAsks())
    Segment->tell();
}

bool DeviceShare::take(ShareBooks &books, uint64_t bytes) {
  ShareProgram &own = Segment->own();
  if (books.answer(own, bytes) != ShareBooks::Answer::Now)
    return false;
  own.asksFor = 0;
  own.claim = Claimed = bytes;
  tellIfAsked(books); // who asked behind it may have room, too
  return true;
}

bool DeviceShare::claimNow(uint64_t bytes) {
  if (bytes <= Claimed)
    return true;
  ShareSegment::Locked books(*Segment);
  Segment->dropDead();
  return take(*books, bytes);
}

bool DeviceShare::claim(uint64_t bytes, unsigned seconds,
                        const std::function<void()> &giveBack) {
  if (claimNow(bytes))
    return true;
  Patience patience(seconds);
  while (true) {
    const uint32_t seen = Segment->news();
    {
      ShareSegment::Locked books(*Segment);
      Segment->dropDead();
      if (take(*books, bytes))
        return true;
      ShareProgram &own = Segment->own();
      const bool hopeless =
          books->answer(own, bytes) == ShareBooks::Answer::Never ||
          patience.endsWith(*books, own);
      const bool gaveUp = own.claim || (hopeless && own.asksFor);
      own.claim = Claimed = 0;
      if (!own.asksFor)
        own.askedAt = ++books->asked;
      own.asksFor = hopeless ? 0 : bytes;
      if (gaveUp)
        tellIfAsked(*books);
      if (hopeless)
        return false;
    }
    giveBack();
    Segment->waitForNews(seen, AskAgainAfter);
  }
}

void DeviceShare::endCall(uint64_t stays) {
  if (!Claimed && stays == Stays)
    return;
  ShareSegment::Locked books(*Segment);
  ShareProgram &own = Segment->own();
  own.claim = Claimed = 0;
  own.stays = Stays = stays;
  countStep();
  tellIfAsked(*books);
}

void DeviceShare::lowerClaim(uint64_t bytes) {
  if (Claimed <= bytes)
    return;
  ShareSegment::Locked books(*Segment);
  Segment->own().claim = Claimed = bytes;
  tellIfAsked(*books);
}

void DeviceShare::getsOn() { countStep(); }

uint32_t DeviceShare::news() const { return Segment->news(); }

void DeviceShare::yields() { setYields(true); }

void DeviceShare::setYields(bool yields) {
  if (Yields.exchange(yields) == yields)
    return;
  divideAfter([&](ShareProgram &own) { own.yields = yields; });
}

void DeviceShare::start(Program program) {
  Watcher =
      startThread([this, program = std::move(program)] { watch(program); });
}

void DeviceShare::stop() {
  if (!Watcher.joinable())
    return;
  Ends = true;
  Segment->tell();
  Watcher.join();
}

void DeviceShare::watch(const Program &program) {
  using Clock = std::chrono::steady_clock;
  uint64_t followed = UINT64_MAX, active = 0;
  auto lastActive = Clock::now();
  while (!Ends) {
    if (const uint64_t now = program.activity(); now != active) {
      active = now;
      lastActive = Clock::now();
      goesOn();
    } else if (Clock::now() - lastActive > IdleAfter) {
      yields();
    }
    const uint32_t seen = Segment->news();
    uint64_t limit;
    {
      ShareSegment::Locked books(*Segment);
      Segment->dropDead();
      limit = ownLimit(*books);
    }
    bool owes = false;
    if (limit != followed) {
      owes = !program.follow();
      followed = owes ? UINT64_MAX : limit;
    }
    if (!Ends)
      Segment->waitForNews(seen, owes ? AskAgainAfter : LookEvery);
  }
}

std::vector<ShareProgram> DeviceShare::programs() {
  ShareSegment::Locked books(*Segment);
  Segment->dropDead();
  return books->present();
}

uint64_t DeviceShare::total() { return ShareSegment::Locked(*Segment)->total; }
uint64_t DeviceShare::mostHeld() {
  return ShareSegment::Locked(*Segment)->mostHeld;
}

} // namespace dragon
