//===- Segment.h - the books of all programs on a device --------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A file that is mapped by all programs of one user on one device, usually in
// /dev/shm. There is no daemon: whoever changes the books divides the memory
// anew.
//
//   file     dragon-<user>-<device>      mode 0600
//   lock     a mutex that is robust and between processes: one that dies with
//            it leaves single words, each of which is right before and after
//   news     a futex: counts changes that somebody may wait for
//   programs a place for each. Its owner holds the file's lock of one byte (an
//            open file description lock), which the kernel drops when the
//            process ends, however it ends: so the dead are found without
//            process numbers, also between containers.
//   beats    a thread of each program counts them. Whose do not change for some
//            seconds is stopped: others do not count on what it holds, and do
//            not wait for it. When it goes on it says so.
//
// Sources: pthread_mutexattr_setrobust(3), futex(2), fcntl(2) on
// F_OFD_SETLK.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_SHARE_SEGMENT_H
#define DRAGON_RUNTIME_SHARE_SEGMENT_H

#include "runtime/base/Descriptor.h"
#include "runtime/base/Status.h"
#include "runtime/share/ShareProgram.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <pthread.h>
#include <string>
#include <vector>

namespace dragon {

struct ShareWish;

struct ShareBooks {
  static constexpr uint32_t Version = 6;
  static constexpr unsigned MostPrograms = 120;

  char magic[8];
  uint32_t version;
  uint32_t news;
  uint64_t total;     ///< what all may hold together
  uint64_t mostHeld;  ///< the most that they ever held together
  uint64_t asked;     ///< how many claims had to wait
  uint64_t holder;    ///< the gang that has the turn; 0: none
  uint64_t turnBegan; ///< when, in nanoseconds of the machine's clock
  uint64_t turnUsed;  ///< 1: a call of it, or a slice, has ended since
  uint64_t lockedBy;  ///< who has the lock, or had it last; for people only
  pthread_mutex_t lock;
  ShareProgram programs[MostPrograms];

  uint64_t held() const;
  /// What nobody holds.
  uint64_t room() const;
  /// Those in whose places somebody is.
  std::vector<ShareProgram> present() const;
  /// They are books, and of this version.
  bool readable() const;
  /// Whether the program's claim has room beside those of others. Never: not
  /// even when their calls have ended.
  enum class Answer { Now, Later, Never };
  Answer answer(const ShareProgram &program, uint64_t claim) const;
  /// Somebody waits for a claim, and not for its turn.
  bool anyAsks() const;
  /// Everybody's limit, by what they want and whose turn it is. True if one has
  /// changed.
  bool divideAnew();
  /// The program is about to claim: the turn passes to who asked first, if it
  /// is over, or to the program, if nobody has it. True if it has passed.
  bool passTurn(const ShareProgram &program);
  /// A call of the program has ended: its turn, if it has just come, begins
  /// now. Its data have come by then, and the ones before it have gone.
  void useTurn(const ShareProgram &program);
  /// Who gets the turn next; null: nobody waits for it.
  const ShareProgram *nextInTurn() const;

private:
  bool turnIsOver() const;
  void giveTurn(uint64_t gang);
  /// Who of those, with these shares, takes turns; the turn of one that does no
  /// more ends.
  void findCrowd(const std::vector<ShareProgram *> &those,
                 const std::vector<uint64_t> &shares);
  /// Which of those wait for their turn, where somebody has it.
  void findWaiting(const std::vector<ShareProgram *> &those,
                   std::vector<ShareWish> &wishes) const;
};

/// The books of all devices in the directory, by the devices' names, as they
/// are in that moment; places of the dead are empty.
std::vector<std::pair<std::string, ShareBooks>>
readAllBooks(const std::string &directory);

class ShareSegment {
public:
  /// The one of `device` (a name that may be part of a file's) in `directory`,
  /// made if it is not there. Null, with an error: it cannot be used.
  static StatusOr<std::unique_ptr<ShareSegment>>
  open(const std::string &directory, const std::string &device);
  ~ShareSegment();
  ShareSegment(const ShareSegment &) = delete;
  ShareSegment &operator=(const ShareSegment &) = delete;

  /// With the lock of the books, while it lives. Those of the dead are free;
  /// after some seconds a line on stderr says who does not give it away.
  class Locked {
  public:
    explicit Locked(ShareSegment &segment);
    ~Locked();
    Locked(const Locked &) = delete;
    Locked &operator=(const Locked &) = delete;
    ShareBooks *operator->() { return Segment.Books; }
    ShareBooks &operator*() { return *Segment.Books; }

  private:
    ShareSegment &Segment;
  };

  /// This process's place, which it has until the end of this object.
  ShareProgram &own() { return Books->programs[Own]; }
  unsigned ownPlace() const { return Own; }
  /// Places of processes that have ended become free. True if there were any.
  /// With the lock.
  bool dropDead();
  /// The same, and who does not run is known as such, as seen from here; this
  /// process runs.
  void lookAround() { lookAround(std::chrono::steady_clock::now()); }
  void lookAround(std::chrono::steady_clock::time_point now);
  /// Says that something has changed; with or without the lock.
  void tell();
  /// How many times that was said.
  uint32_t news() const;
  /// Until it is said more often than `seen`, or for so long.
  void waitForNews(uint32_t seen, unsigned milliseconds);

private:
  ShareSegment(Descriptor places, ShareBooks *books, std::string path)
      : Places(std::move(places)), Books(books), Path(std::move(path)) {}
  // With the lock.
  unsigned takePlace();
  void leavePlace();

  Descriptor Places; ///< the file, for its locks
  ShareBooks *const Books;
  const std::string Path;
  unsigned Own = ShareBooks::MostPrograms;
  /// What was seen last of each place's program.
  struct Pulse {
    uint64_t beats = 0;
    std::chrono::steady_clock::time_point since;
  };
  std::array<Pulse, ShareBooks::MostPrograms> Pulses; ///< with the lock
};

} // namespace dragon

#endif // DRAGON_RUNTIME_SHARE_SEGMENT_H
