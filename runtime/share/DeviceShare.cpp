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
#include <tuple>
#include <utility>

namespace dragon {

namespace {

/// How long nobody looks for the dead, in milliseconds.
constexpr unsigned LookEvery = 400;
/// The same while somebody has to give back, or waits for that.
constexpr unsigned AskAgainAfter = 20;
/// Who does not use the device for so long waits for something else.
constexpr auto IdleAfter = std::chrono::seconds(1);
/// A turn is so many times as long as what it takes to move the buffers. Who
/// has it and does not use the device for as long as that takes, while others
/// wait, gives it away: to wait longer for more work costs more than to move
/// (the rule for renting skis).
constexpr unsigned TurnOverMoves = 10;
/// Shorter pauses are those between two launches.
constexpr auto LeastPause = std::chrono::milliseconds(10);
/// Of numbers that are no job's.
constexpr uint64_t AloneInGang = uint64_t(1) << 63;

} // namespace

std::vector<SeenShare> lookAtShares(const std::string &directory) {
  std::vector<SeenShare> all;
  for (const auto &[device, books] : readAllBooks(directory))
    all.push_back({device, books.total, books.mostHeld, books.present()});
  std::ranges::sort(all, {}, [](const SeenShare &one) {
    return std::tuple(isHostMemory(one), one.device);
  });
  return all;
}

bool isHostMemory(const SeenShare &share) {
  const std::string_view name = share.device;
  return name.starts_with(HostMemoryBooks) &&
         (name.size() == HostMemoryBooks.size() ||
          name[HostMemoryBooks.size()] == '-');
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
  own.gang = terms.job ? terms.job : AloneInGang | ++books->asked;
  share->LeastTurn = terms.turn * int64_t(own.weight);
  own.turn = uint64_t(share->LeastTurn.count());
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
  hold(*books, bytes);
  return true;
}

void DeviceShare::reserveBeyond(uint64_t bytes) {
  ShareSegment::Locked books(*Segment);
  hold(*books, bytes);
}

void DeviceShare::hold(ShareBooks &books, uint64_t bytes) {
  Segment->own().held += bytes;
  countStep();
  books.mostHeld = std::max(books.mostHeld, books.held());
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

DeviceShare::Room DeviceShare::waitForRoom(uint64_t bytes, unsigned seconds,
                                           std::optional<unsigned> longest) {
  Patience patience(seconds);
  const auto begin = std::chrono::steady_clock::now();
  while (true) {
    const uint32_t seen = Segment->news();
    {
      ShareSegment::Locked books(*Segment);
      Segment->lookAround();
      ShareProgram &own = Segment->own();
      const bool there = bytes <= books->room();
      // What the call at hand was promised, one that is stopped may hold: it
      // may go on before all patience is lost.
      const bool owed =
          own.held + bytes <= std::max(own.limit, own.claim) &&
          std::any_of(std::begin(books->programs), std::end(books->programs),
                      [&](const ShareProgram &one) {
                        return one.pid && &one != &own && one.held &&
                               (one.stopped || one.held > one.limit);
                      });
      const bool stuck = patience.endsWith(*books, own) ||
                         (longest && std::chrono::steady_clock::now() - begin >
                                         std::chrono::seconds(*longest));
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
  if (books.passTurn(own))
    Segment->tell();
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
  Segment->lookAround();
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
      Segment->lookAround();
      if (take(*books, bytes))
        return true;
      ShareProgram &own = Segment->own();
      const bool hopeless =
          books->answer(own, bytes) == ShareBooks::Answer::Never ||
          patience.endsWith(*books, own);
      const bool gaveUp = own.claim || (hopeless && own.asksFor);
      own.claim = Claimed = 0;
      const bool begins = !own.asksFor;
      if (begins)
        own.askedAt = ++books->asked;
      own.asksFor = hopeless ? 0 : bytes;
      if (gaveUp)
        tellIfAsked(*books);
      else if (begins && own.waits)
        Segment->tell(); // who has the turn looks whether it uses it
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
  books->useTurn(own);
  countStep();
  tellIfAsked(*books);
}

bool DeviceShare::losesTurn() {
  ShareSegment::Locked books(*Segment);
  books->useTurn(Segment->own());
  return Segment->own().waits;
}

uint64_t DeviceShare::turns() {
  ShareSegment::Locked books(*Segment);
  return Segment->own().turns;
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

std::chrono::nanoseconds
DeviceShare::pauseWithin(std::chrono::nanoseconds turn,
                         std::chrono::nanoseconds moves) {
  using std::chrono::nanoseconds;
  return std::clamp<nanoseconds>(moves.count() ? moves : turn / TurnOverMoves,
                                 LeastPause, IdleAfter);
}

std::chrono::nanoseconds DeviceShare::setTurn(ShareBooks &books,
                                              double secondsPerByte) {
  using std::chrono::nanoseconds;
  ShareProgram &own = Segment->own();
  const nanoseconds moves(int64_t(secondsPerByte * 1e9 * double(own.wish())));
  const nanoseconds turn = std::max(LeastTurn, moves * TurnOverMoves);
  own.turn = LeastTurn.count() ? uint64_t(turn.count()) : 0;
  const bool isWaitedFor = books.holder == own.gang && books.nextInTurn();
  return isWaitedFor ? pauseWithin(turn, moves) : IdleAfter;
}

void DeviceShare::start(Program program) {
  {
    const ShareSegment::Locked books(*Segment);
    ++Segment->own().beats;
  }
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
  std::chrono::nanoseconds idleAfter = IdleAfter;
  while (!Ends) {
    if (const uint64_t now = program.activity(); now != active) {
      active = now;
      lastActive = Clock::now();
      goesOn();
    } else if (Clock::now() - lastActive > idleAfter) {
      yields();
    }
    const uint32_t seen = Segment->news();
    uint64_t limit;
    {
      const double perByte =
          program.secondsPerByte ? program.secondsPerByte() : 0;
      ShareSegment::Locked books(*Segment);
      Segment->lookAround();
      limit = ownLimit(*books);
      idleAfter = setTurn(*books, perByte);
      ++Segment->own().beats;
      Segment->own().follows = limit != followed;
    }
    bool owes = false;
    if (limit != followed) {
      owes = !program.follow();
      followed = owes ? UINT64_MAX : limit;
      std::atomic_ref(Segment->own().follows).store(0);
    }
    const bool asksAgain = owes || idleAfter < IdleAfter;
    if (!Ends)
      Segment->waitForNews(seen, asksAgain ? AskAgainAfter : LookEvery);
  }
  ShareSegment::Locked books(*Segment);
  Segment->own().beats = 0;
}

std::vector<ShareProgram> DeviceShare::programs() {
  ShareSegment::Locked books(*Segment);
  Segment->lookAround();
  return books->present();
}

std::optional<ShareProgram> DeviceShare::stopped() {
  std::optional<ShareProgram> most;
  for (const ShareProgram &one : programs())
    if (one.stopped && one.held && (!most || one.held > most->held))
      most = one;
  return most;
}

uint64_t DeviceShare::total() { return ShareSegment::Locked(*Segment)->total; }

uint64_t DeviceShare::held() { return ShareSegment::Locked(*Segment)->held(); }
uint64_t DeviceShare::mostHeld() {
  return ShareSegment::Locked(*Segment)->mostHeld;
}

} // namespace dragon
