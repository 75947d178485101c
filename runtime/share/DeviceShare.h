//===- DeviceShare.h - this program's part of a device's memory -*- C++ -*-===//
//-*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs on one device agree on who may hold how much of its memory, and, in
// books of their own, of the host's. Each says what it wants, and gets a limit
// by its weight (Division.h):
//
//   reserve   before memory is made, so that all together never have more than
//             there is; release when it is gone
//   wants     what the program's buffers need: a change divides the memory anew
//   follow    the limit has changed: a thread of ours calls it, so that a
//             program gives back what is called back also while it computes on
//             the host. It gives back as soon as its runtime's lock is free
//   waitForRoom  who is below its limit waits for those that are above theirs
//   claim    a call is about to hold so much at once. All claims have room
//            beside each other, so what calls hold never keeps a call waiting:
//             who waits for its claim holds none, and gives back meanwhile.
//             Programs that do not fit together take turns (Turns.cpp)
//   yields    the program waits for something else than the device (a message,
//             a file, its user): others come first, until it goes on
//
// A program that ends, in whatever way, is found within a second, and its part
// divided. The thread-safety: all may be called by any thread, but for start
// and stop.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_SHARE_DEVICESHARE_H
#define DRAGON_RUNTIME_SHARE_DEVICESHARE_H

#include "runtime/base/Status.h"
#include "runtime/share/ShareProgram.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace dragon {

class ShareSegment;
struct ShareBooks;

/// A device's books as somebody sees them who takes no part.
struct SeenShare {
  std::string device;
  uint64_t total = 0, mostHeld = 0; ///< bytes
  std::vector<ShareProgram> programs;
};
/// Of all devices whose books are in the directory (empty: those of this user),
/// and of host memory behind them.
std::vector<SeenShare> lookAtShares(const std::string &directory);
/// Books with this name, or with it and "-", are those of host memory that the
/// programs divide in the same way.
constexpr std::string_view HostMemoryBooks = "host";
bool isHostMemory(const SeenShare &share);

/// What a program has done for others, in bytes.
struct GivenToOthers {
  std::atomic<uint64_t> lent{0};       ///< memory given while it yielded
  std::atomic<uint64_t> calledBack{0}; ///< memory given otherwise
  std::atomic<uint64_t> swapped{0};    ///< contents that were copied out for it
};

class DeviceShare {
public:
  GivenToOthers given;

  struct Terms {
    uint64_t weight = 1;
    /// What this program takes at most; none: what there is.
    std::optional<uint64_t> most;
    /// What all may hold together, as the user has said.
    std::optional<uint64_t> total;
    /// What is free now, and, of the device's memory, to be left to others.
    uint64_t free = 0, reserve = 0;
    /// What others hold is not free: false where the device is simulated.
    bool freeIsShared = true;
    /// It has no claim against others: it takes what none of them wants, even
    /// of those that yield, and at most that while one wants anything.
    std::optional<uint64_t> spareBeside;
    /// How long its turn lasts at least, where programs do not fit together;
    /// 0: it takes no turns.
    std::chrono::nanoseconds turn{0};
    /// Programs with the same number wait for each other, and have their turns
    /// together; 0: the program is alone.
    uint64_t job = 0;
  };

  static StatusOr<std::unique_ptr<DeviceShare>>
  join(const std::string &directory, const std::string &device,
       const Terms &terms);
  ~DeviceShare();

  /// What this program would have if it were alone.
  uint64_t most() const { return Most; }
  /// What it may hold now.
  uint64_t limit();
  /// False: all together would have more than there is.
  bool reserve(uint64_t bytes);
  void release(uint64_t bytes);
  /// All together have more than there should be, for a while.
  void reserveBeyond(uint64_t bytes);
  /// The driver has no such memory, although it was reserved: somebody else has
  /// it. All together have what they hold now, until another program comes.
  void refused(uint64_t bytes);
  /// The limit is what it is now.
  uint64_t wants(uint64_t bytes);
  /// Until it goes on.
  void yields();
  /// It uses the device. A load, if it does not yield; true if it did.
  bool goesOn() {
    const bool yielded = Yields.load(std::memory_order_relaxed);
    if (yielded)
      setYields(false);
    return yielded;
  }
  bool isYielding() const { return Yields.load(std::memory_order_relaxed); }
  /// It cannot work with less than that, from now on: so much comes before what
  /// others want beyond their own least.
  uint64_t needs(uint64_t bytes);
  enum class Room {
    There,
    NotMine, ///< it would be above its limit
    Stuck    ///< whoever owes it does not give it back
  };
  /// Waits while others owe what this program may have, as long as one of them
  /// gets on within `seconds`, and for `longest` seconds at most.
  Room waitForRoom(uint64_t bytes, unsigned seconds,
                   std::optional<unsigned> longest = std::nullopt);

  /// A call is about to hold so much at once, what stays() among it: the limit
  /// is not less until it ends. It waits for other programs' calls, in the
  /// order in which they ask, and has no claim while it does: `giveBack` is
  /// called then, again and again, with nothing in use by the call. False: it
  /// has no claim, as others keep too much for ever, or none of them gets on in
  /// `seconds`.
  bool claim(uint64_t bytes, unsigned seconds,
             const std::function<void()> &giveBack);
  /// The same, if it need not wait; otherwise its claim is as before.
  bool claimNow(uint64_t bytes);
  /// The call has ended. So much stays, and is never given back.
  void endCall(uint64_t stays);
  uint64_t claimed() const { return Claimed; }
  uint64_t stays() const { return Stays; }
  /// A slice of the call has run. True: others have the turn by now, and its
  /// next claim waits.
  bool losesTurn();
  /// How many times it has got the turn.
  uint64_t turns();
  /// The pause after which a program gives its turn to others that wait for it,
  /// where its buffers take so long to come and go; 0: not known.
  static std::chrono::nanoseconds pauseWithin(std::chrono::nanoseconds turn,
                                              std::chrono::nanoseconds moves);
  /// The call needs no more than that from now on.
  void lowerClaim(uint64_t bytes);
  /// It gets on: who waits for it goes on waiting.
  void getsOn();
  /// A number that changes when a limit may have.
  uint32_t news() const;

  struct Program {
    /// Called when limit() is another one. It asks for it with its own locks
    /// held: while it waits for them, the limit may become yet another one.
    /// False: the program still holds more, and it is called again.
    std::function<bool()> follow;
    /// A number that changes while the program uses the device. If it does not
    /// for a second, the program yields.
    std::function<uint64_t()> activity;
    /// Seconds that a byte takes to the device and back, as measured; 0: not
    /// known. May be left out.
    std::function<double()> secondsPerByte = {};
  };
  void start(Program program);
  /// No more calls; waits for one that runs. Not with a lock that it takes.
  void stop();

  std::vector<ShareProgram> programs();
  /// The program that holds most of those that do not run.
  std::optional<ShareProgram> stopped();
  uint64_t total();
  /// What all hold together.
  uint64_t held();
  /// The most that all have held together.
  uint64_t mostHeld();

private:
  explicit DeviceShare(std::unique_ptr<ShareSegment> segment);
  void watch(const Program &program);
  void setYields(bool yields);
  template <typename Change> uint64_t divideAfter(Change &&change);
  /// How long its turn lasts, by what its buffers take to come and go. After
  /// which pause it yields.
  std::chrono::nanoseconds setTurn(ShareBooks &books, double secondsPerByte);

  const std::unique_ptr<ShareSegment> Segment;
  /// What it may hold now. With the books' lock.
  uint64_t ownLimit(ShareBooks &books);

  /// The claim is this program's. With the books' lock, as the next two.
  bool take(ShareBooks &books, uint64_t bytes);
  /// It holds so much more. With the lock, too.
  void hold(ShareBooks &books, uint64_t bytes);
  /// Somebody may be waiting for what has been given up.
  void tellIfAsked(ShareBooks &books);
  void countStep();
  class Patience;

  uint64_t Most = 0;
  std::optional<uint64_t> SpareBeside;
  std::chrono::nanoseconds LeastTurn{0};
  // Of the thread that makes a call.
  uint64_t Claimed = 0, Stays = 0;
  std::atomic<bool> Ends{false};
  std::atomic<bool> Yields{false};
  std::thread Watcher;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_SHARE_DEVICESHARE_H
