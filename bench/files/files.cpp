//===- files.cpp - files read and written, plain and registered -----------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime's file tier as the runtime uses it: chunks of 32 MiB, read and
// written by O_DIRECT on a few threads, a few chunks ahead. Each line is one
// way of doing so, by plain requests and by those of registered memory in turn,
// and prints the medians.
//
//===----------------------------------------------------------------------===//

#include "runtime/base/Ledger.h"
#include "runtime/tier/BackgroundIo.h"
#include "runtime/trace/Log.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

using namespace dragon;

namespace {

constexpr size_t MiB = 1 << 20;
constexpr size_t Chunk = 32 * MiB;
/// Memory in transit, and what of it is under way.
constexpr size_t Transit = 8 * Chunk;
constexpr size_t Ahead = 4;

[[noreturn]] void fail(const std::string &what) {
  fmt::print(stderr, "error: {}\n", what);
  std::exit(1);
}

void check(Status status) {
  if (!status.ok())
    fail(status.message());
}

/// Chunks one after the other, all of whose pages are there.
class Memory {
public:
  /// Huge pages, as the pinned memory of a GPU's host; else those of a memfd,
  /// as the cpu device has them.
  Memory(size_t bytes, bool huge) : Room(bytes + 2 * MiB) {
    const int fd = huge ? -1 : ::memfd_create("files", MFD_CLOEXEC);
    if (fd >= 0 && ::ftruncate(fd, off_t(Room)) != 0)
      fail("no memory");
    void *pages =
        ::mmap(nullptr, Room, PROT_READ | PROT_WRITE,
               fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);
    if (pages == MAP_FAILED)
      fail("no memory");
    if (fd >= 0)
      ::close(fd);
    Pages = static_cast<char *>(pages);
    const size_t skew = reinterpret_cast<uintptr_t>(Pages) % (2 * MiB);
    data = Pages + (skew ? 2 * MiB - skew : 0);
    if (huge)
      ::madvise(data, bytes, MADV_HUGEPAGE);
    std::memset(data, 1, bytes);
  }
  ~Memory() { ::munmap(Pages, Room); }
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;
  char *data;

private:
  size_t Room;
  char *Pages;
};

struct Figures {
  double rate; ///< MiB a second
  double cpu;  ///< seconds of the processor for a GiB
};

double cpuSeconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  auto seconds = [](const timeval &time) {
    return double(time.tv_sec) + 1e-6 * double(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// Goes over the file once, if there is memory for all of it, else several
/// times.
Figures measure(BackingFile &file, size_t size, Memory &memory, size_t room,
                bool write, bool registered) {
  const size_t bytes = room == size ? size : 4 * size;
  Settings settings;
  settings.directIo = DirectIo::On;
  Ledger ledger;
  auto tier = FileTier::create(settings, ledger);
  check(tier.takeStatus());
  BackgroundIo io(**tier, Chunk);
  using Clock = std::chrono::steady_clock;
  const double cpu = cpuSeconds();
  const auto begin = Clock::now();
  if (registered)
    for (size_t at = 0; at < room; at += Chunk)
      (*tier)->remember(memory.data + at, Chunk);
  std::deque<std::shared_ptr<BackgroundIo::Job>> jobs;
  for (size_t at = 0; at < bytes; at += Chunk) {
    if (jobs.size() == Ahead) {
      check(io.wait(*jobs.front()));
      jobs.pop_front();
    }
    jobs.push_back(io.start({{&file,
                              memory.data + at % room,
                              Chunk,
                              int64_t(at % size),
                              write,
                              {}}}));
  }
  for (auto &job : jobs)
    check(io.wait(*job));
  if (registered)
    for (size_t at = 0; at < room; at += Chunk)
      (*tier)->forget(memory.data + at);
  const double seconds =
      std::chrono::duration<double>(Clock::now() - begin).count();
  return {double(bytes) / double(MiB) / seconds,
          (cpuSeconds() - cpu) / (double(bytes) / double(1024 * MiB))};
}

double median(std::vector<Figures> all, double Figures::*what) {
  auto middle = all.begin() + long(all.size() / 2);
  std::nth_element(
      all.begin(), middle, all.end(),
      [what](const Figures &a, const Figures &b) { return a.*what < b.*what; });
  return (*middle).*what;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2 || argc > 4) {
    fmt::print(stderr, "usage: bench-files FOLDER [MIB [TIMES]]\n");
    return 2;
  }
  const size_t asked = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 2048;
  const size_t bytes = std::max(asked * MiB / Chunk * Chunk, 2 * Transit);
  const int times =
      argc > 3 ? std::max(int(std::strtol(argv[3], nullptr, 10)), 1) : 5;
  setLogLevel(LogLevel::Debug); // why memory is not registered
  const std::string path = std::string(argv[1]) + "/bench-files.data";
  auto file = BackingFile::open(path, true, true);
  check(file.takeStatus());
  ::unlink(path.c_str());
  if (!(*file)->extend(bytes))
    fail("no room for " + std::to_string(bytes / MiB) + " MiB in '" +
         std::string(argv[1]) + "', or no O_DIRECT");
  fmt::print("{} MiB, {} times       MiB/s             CPU seconds a GiB\n"
             "pages  memory           plain registered  plain  registered\n",
             bytes / MiB, times);
  for (bool huge : {true, false})
    for (size_t room : {Transit, bytes}) {
      Memory memory(room, huge);
      for (bool write : {true, false}) {
        std::vector<Figures> plain, registered;
        for (int i = 0; i < times; ++i) {
          plain.push_back(measure(**file, bytes, memory, room, write, false));
          registered.push_back(
              measure(**file, bytes, memory, room, write, true));
        }
        fmt::print("{:6} {:6} {:5}  {:8.0f} {:8.0f}     {:8.4f} {:8.4f}\n",
                   huge ? "huge" : "small", room == bytes ? "once" : "again",
                   write ? "write" : "read", median(plain, &Figures::rate),
                   median(registered, &Figures::rate),
                   median(plain, &Figures::cpu),
                   median(registered, &Figures::cpu));
        std::fflush(stdout);
      }
    }
  return 0;
}
