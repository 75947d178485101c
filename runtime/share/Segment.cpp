//===- Segment.cpp - the books of all programs on a device ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/share/Segment.h"

#include "runtime/trace/Log.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <iterator>
#include <linux/futex.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace dragon {

namespace {

constexpr char Magic[8] = {'d', 'r', 'a', 'g', 'o', 'n', 's', 'h'};

Status failed(const std::string &path, const char *what) {
  return Status::error(DRAGON_ERROR_FILE, "'{}': {}: {}", path, what,
                       std::strerror(errno));
}

/// The kernel's lock of the byte that stands for a place.
struct flock byteOf(unsigned place, short type) {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = place;
  lock.l_len = 1;
  return lock;
}

bool isLocked(int file, unsigned place) {
  struct flock lock = byteOf(place, F_WRLCK);
  return ::fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

bool anyLocked(int file) {
  for (unsigned i = 0; i < ShareBooks::MostPrograms; ++i)
    if (isLocked(file, i))
      return true;
  return false;
}

void begin(ShareBooks &books) {
  std::memset(static_cast<void *>(&books), 0, sizeof books);
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&books.lock, &attributes);
  pthread_mutexattr_destroy(&attributes);
  books.version = ShareBooks::Version;
  std::memcpy(books.magic, Magic, sizeof Magic);
}

/// Of who makes or begins the books; a process that is stopped just then does
/// not stop all others.
bool lockToBegin(int file) {
  constexpr int Tries = 2000;
  for (int i = 0; i < Tries; ++i) {
    if (::flock(file, LOCK_EX | LOCK_NB) == 0)
      return true;
    if (errno != EWOULDBLOCK && errno != EINTR)
      return false;
    ::usleep(1000);
  }
  return false;
}

/// Who has the books' lock gives it away in microseconds, if it runs.
constexpr unsigned SecondsForTheLock = 5;

/// Whose beats do not change for so long does not run: they change a few times
/// a second.
constexpr std::chrono::seconds StoppedAfter(3);
/// The same where a call of its own may be in the way, a long copy say.
constexpr std::chrono::seconds StoppedInCallAfter(30);

/// A child has a copy of the file's description, with the locks of its parent:
/// they would outlive that.
std::atomic<int> openFile{-1};
void forgetInChild() {
  if (const int file = openFile.exchange(-1); file >= 0)
    ::close(file);
}

} // namespace

uint64_t ShareBooks::held() const {
  uint64_t bytes = 0;
  for (const ShareProgram &program : programs)
    bytes += program.pid ? program.held : 0;
  return bytes;
}

uint64_t ShareBooks::room() const { return total - std::min(total, held()); }

std::vector<ShareProgram> ShareBooks::present() const {
  std::vector<ShareProgram> all;
  std::copy_if(std::begin(programs), std::end(programs),
               std::back_inserter(all),
               [](const ShareProgram &one) { return one.pid != 0; });
  return all;
}

bool ShareBooks::readable() const {
  return std::memcmp(magic, Magic, sizeof Magic) == 0 && version == Version;
}

/// What the names of all devices' books begin with.
static std::string prefixIn(const std::string &directory) {
  return directory.empty() ? fmt::format("/dev/shm/dragon-{}-", ::geteuid())
                           : fmt::format("{}/dragon-", directory);
}

std::vector<std::pair<std::string, ShareBooks>>
readAllBooks(const std::string &directory) {
  const std::string prefix = prefixIn(directory);
  std::vector<std::pair<std::string, ShareBooks>> all;
  std::error_code failure;
  for (const auto &entry : std::filesystem::directory_iterator(
           std::filesystem::path(prefix).parent_path(), failure)) {
    const std::string path = entry.path().string();
    if (!path.starts_with(prefix))
      continue;
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    ShareBooks books;
    if (!file.valid() ||
        ::pread(file.get(), &books, sizeof books, 0) != sizeof books ||
        !books.readable())
      continue;
    for (unsigned i = 0; i < ShareBooks::MostPrograms; ++i)
      if (!isLocked(file.get(), i))
        books.programs[i] = {};
    all.emplace_back(path.substr(prefix.size()), books);
  }
  return all;
}

StatusOr<std::unique_ptr<ShareSegment>>
ShareSegment::open(const std::string &directory, const std::string &device) {
  // An administrator's directory says by its own mode who may share.
  const bool ofOneUser = directory.empty();
  const std::string path = prefixIn(directory) + device;
  Descriptor file(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.valid())
    return failed(path, "cannot be opened");
  struct stat found{};
  if (!lockToBegin(file.get()) || ::fstat(file.get(), &found))
    return failed(path, "cannot be locked");
  if (ofOneUser && found.st_uid != ::geteuid())
    return Status::error(DRAGON_ERROR_FILE, "'{}' belongs to another user",
                         path);
  if (!ofOneUser && found.st_uid == ::geteuid())
    (void)::fchmod(file.get(), 0666);
  if (found.st_size < off_t(sizeof(ShareBooks)) &&
      ::posix_fallocate(file.get(), 0, sizeof(ShareBooks)))
    return failed(path, "cannot be made large enough");
  void *memory = ::mmap(nullptr, sizeof(ShareBooks), PROT_READ | PROT_WRITE,
                        MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED)
    return failed(path, "cannot be mapped");
  auto *books = static_cast<ShareBooks *>(memory);
  if (!anyLocked(file.get())) {
    begin(*books);
  } else if (!books->readable()) {
    ::munmap(memory, sizeof(ShareBooks));
    return Status::error(DRAGON_ERROR_FILE,
                         "'{}' is in use by programs of another version", path);
  }
  // A mapping keeps its description of the file open, also in children: this is
  // another one.
  Descriptor places(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!places.valid()) {
    ::munmap(memory, sizeof(ShareBooks));
    return failed(path, "cannot be opened again");
  }
  std::unique_ptr<ShareSegment> segment(
      new ShareSegment(std::move(places), books, path));
  {
    // Whoever comes next must find somebody alive.
    Locked locked(*segment);
    if (segment->takePlace() == ShareBooks::MostPrograms)
      return Status::error(DRAGON_ERROR_FILE,
                           "'{}': {} programs share it, "
                           "there is no place for more",
                           path, ShareBooks::MostPrograms);
  }
  ::flock(file.get(), LOCK_UN); // the mapping would keep it
  static const int Registered =
      ::pthread_atfork(nullptr, nullptr, forgetInChild);
  (void)Registered;
  openFile = segment->Places.get();
  return segment;
}

ShareSegment::~ShareSegment() {
  int mine = Places.get();
  openFile.compare_exchange_strong(mine, -1);
  if (Own != ShareBooks::MostPrograms) {
    Locked locked(*this);
    leavePlace();
  }
  ::munmap(Books, sizeof(ShareBooks));
}

ShareSegment::Locked::Locked(ShareSegment &segment) : Segment(segment) {
  ShareBooks &books = *Segment.Books;
  int result = ::pthread_mutex_trylock(&books.lock);
  for (bool told = false; result == EBUSY || result == ETIMEDOUT;) {
    if (result == ETIMEDOUT && !std::exchange(told, true))
      detail::printLine(fmt::format(
          "'{}': locked by process {} for {} s, which is stopped or gets no "
          "processor, and all programs on this device wait for it; continue it "
          "(kill -CONT {}), or end it",
          Segment.Path, books.lockedBy, SecondsForTheLock, books.lockedBy));
    timespec until{};
    ::clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += SecondsForTheLock;
    result = ::pthread_mutex_clocklock(&books.lock, CLOCK_MONOTONIC, &until);
  }
  if (result == EOWNERDEAD)
    ::pthread_mutex_consistent(&books.lock);
  books.lockedBy = uint64_t(::getpid());
}

ShareSegment::Locked::~Locked() {
  ::pthread_mutex_unlock(&Segment.Books->lock);
}

unsigned ShareSegment::takePlace() {
  dropDead();
  for (unsigned i = 0; i < ShareBooks::MostPrograms; ++i) {
    if (Books->programs[i].pid)
      continue;
    struct flock lock = byteOf(i, F_WRLCK);
    if (::fcntl(Places.get(), F_OFD_SETLK, &lock))
      continue;
    ShareProgram &program = Books->programs[i];
    program = {};
    program.pid = ::getpid();
    program.weight = 1;
    return Own = i;
  }
  return ShareBooks::MostPrograms;
}

void ShareSegment::leavePlace() {
  Books->programs[Own] = {};
  Books->divideAnew();
  struct flock lock = byteOf(Own, F_UNLCK);
  (void)::fcntl(Places.get(), F_OFD_SETLK, &lock);
  Own = ShareBooks::MostPrograms;
  tell();
}

bool ShareSegment::dropDead() {
  bool any = false;
  for (unsigned i = 0; i < ShareBooks::MostPrograms; ++i)
    if (Books->programs[i].pid && i != Own && !isLocked(Places.get(), i)) {
      Books->programs[i] = {};
      any = true;
    }
  if (any) {
    Books->divideAnew();
    tell();
  }
  return any;
}

void ShareSegment::lookAround(std::chrono::steady_clock::time_point now) {
  dropDead();
  // Who looks runs.
  bool any = std::exchange(own().stopped, 0);
  for (unsigned i = 0; i < ShareBooks::MostPrograms; ++i) {
    ShareProgram &one = Books->programs[i];
    Pulse &pulse = Pulses[i];
    const uint64_t beats =
        one.beats + std::atomic_ref(one.steps).load(std::memory_order_relaxed);
    if (!one.pid || i == Own || !one.beats || one.stopped ||
        beats != pulse.beats) {
      pulse = {beats, now};
      continue;
    }
    if (now - pulse.since < (one.follows ? StoppedInCallAfter : StoppedAfter))
      continue;
    one.stopped = 1;
    any = true;
  }
  if (any) {
    Books->divideAnew();
    tell();
  }
}

void ShareSegment::tell() {
  std::atomic_ref(Books->news).fetch_add(1, std::memory_order_release);
  ::syscall(SYS_futex, &Books->news, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

uint32_t ShareSegment::news() const {
  return std::atomic_ref(Books->news).load(std::memory_order_acquire);
}

void ShareSegment::waitForNews(uint32_t seen, unsigned milliseconds) {
  timespec within{milliseconds / 1000, long(milliseconds % 1000) * 1000000};
  ::syscall(SYS_futex, &Books->news, FUTEX_WAIT, seen, &within, nullptr, 0);
}

} // namespace dragon
