//===- PerfettoWriter.cpp - zones as trace events -------------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Zones are kept in memory (about 100 bytes each) and written a few thousand at
// a time, so that tracing disturbs the timing little.
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/Trace.h"

#include <algorithm>
#include <array>
#include <boost/algorithm/string/join.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fmt/format.h>
#include <mutex>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace dragon {

namespace detail {
std::atomic<bool> tracing{false};
} // namespace detail

namespace {

struct Zone {
  const char *name;
  uint64_t begin;
  uint64_t end;
  uint64_t bytes;
  long thread;
  std::string detail;
  detail::Notes notes;
};

/// Of each memory.
using Held = std::array<uint64_t, NumTracedMemories>;
constexpr const char *HeldNames[NumTracedMemories] = {"device memory",
                                                      "host memory", "swap"};
struct HeldAt {
  uint64_t time;
  Held bytes;
};

constexpr size_t FlushAt = 4096;

/// A zone that worked on more names no others.
constexpr size_t MostNames = 4;

/// Lanes are shown as threads, with numbers that no thread has.
constexpr long FirstLane = 1l << 30;

// Never destroyed: zones may end during static destruction.
struct Writer {
  std::mutex lock;
  std::FILE *file = nullptr;
  bool first = true;
  uint64_t origin = 0;
  std::vector<Zone> zones;
  std::vector<std::pair<unsigned, std::string>> lanes; ///< not written yet
  Held now{};
  std::vector<HeldAt> held; ///< not written yet
};
Writer &writer() {
  static Writer *instance = new Writer;
  return *instance;
}

/// Of the thread, for handlers of signals that meet it; not allocated when they
/// ask.
__attribute__((
    tls_model("initial-exec"))) thread_local volatile bool isWriting = false;
__attribute__((
    tls_model("initial-exec"))) thread_local volatile int owedSignal = 0;

/// The writer's lock, which the thread lets go of before it is killed.
class Locked {
public:
  explicit Locked(Writer &writer) : Of(writer) {
    isWriting = true;
    Of.lock.lock();
  }
  ~Locked() {
    Of.lock.unlock();
    isWriting = false;
    if (const int signal = owedSignal) {
      owedSignal = 0;
      ::raise(signal);
    }
  }
  Locked(const Locked &) = delete;
  Locked &operator=(const Locked &) = delete;

private:
  Writer &Of;
};

std::string escape(const std::string &text) {
  std::string out;
  for (char c : text) {
    if (c == '"' || c == '\\')
      out += '\\';
    if (static_cast<unsigned char>(c) >= 0x20)
      out += c;
  }
  return out;
}

/// Frees nothing.
void write(Writer &w) {
  for (const auto &[lane, name] : w.lanes) {
    const long thread = FirstLane + long(lane);
    fmt::print(w.file,
               "{}\n{{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":{},"
               "\"tid\":{},\"args\":{{\"name\":\"{}\"}}}}",
               w.first ? "" : ",", ::getpid(), thread, escape(name));
    w.first = false;
  }
  for (const Zone &zone : w.zones) {
    std::string arguments;
    auto add = [&arguments](const char *name, const std::string &value) {
      arguments +=
          fmt::format("{}\"{}\":{}", arguments.empty() ? "" : ",", name, value);
    };
    auto quoted = [](const std::string &text) {
      return '"' + escape(text) + '"';
    };
    if (zone.bytes)
      add("bytes", std::to_string(zone.bytes));
    if (!zone.detail.empty())
      add("on", quoted(zone.detail));
    for (const auto &[name, text, number] : zone.notes)
      add(name, number ? text : quoted(text));
    fmt::print(w.file,
               "{}\n{{\"name\":\"{}\",\"cat\":\"dragon\",\"ph\":\"X\","
               "\"ts\":{:.3f},\"dur\":{:.3f},\"pid\":{},\"tid\":{},"
               "\"args\":{{{}}}}}",
               w.first ? "" : ",", zone.name,
               double(zone.begin - w.origin) / 1000,
               double(zone.end - zone.begin) / 1000, ::getpid(), zone.thread,
               arguments);
    w.first = false;
  }
  for (const HeldAt &at : w.held) {
    std::string arguments;
    for (unsigned i = 0; i < NumTracedMemories; ++i)
      arguments +=
          fmt::format("{}\"{}\":{}", i ? "," : "", HeldNames[i], at.bytes[i]);
    fmt::print(w.file,
               "{}\n{{\"name\":\"memory held\",\"cat\":\"dragon\",\"ph\":\"C\","
               "\"ts\":{:.3f},\"pid\":{},\"args\":{{{}}}}}",
               w.first ? "" : ",", double(at.time - w.origin) / 1000,
               ::getpid(), arguments);
    w.first = false;
  }
}

void flush(Writer &w) {
  write(w);
  w.lanes.clear();
  w.zones.clear();
  w.held.clear();
}

void add(Writer &w, Zone zone) {
  if (!w.file || zone.begin < w.origin)
    return;
  w.zones.push_back(std::move(zone));
  if (w.zones.size() >= FlushAt)
    flush(w);
}

} // namespace

uint64_t traceClock() {
  return uint64_t(std::chrono::duration_cast<std::chrono::nanoseconds>(
                      std::chrono::steady_clock::now().time_since_epoch())
                      .count());
}

bool startTrace(const std::string &path) {
  Writer &w = writer();
  const Locked locked(w);
  if (w.file)
    return true;
  w.file = std::fopen(path.c_str(), "we");
  if (!w.file)
    return false;
  w.first = true;
  w.origin = traceClock();
  w.now = {};
  w.held = {{w.origin, w.now}};
  std::fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", w.file);
  detail::tracing.store(true);
  return true;
}

bool stopTrace() {
  detail::tracing.store(false);
  Writer &w = writer();
  const Locked locked(w);
  if (!w.file)
    return true;
  flush(w);
  std::fputs("\n]}\n", w.file);
  bool good = !std::ferror(w.file);
  good &= std::fclose(w.file) == 0;
  w.file = nullptr;
  return good;
}

bool putOffByTrace(int signal) {
  if (!isWriting)
    return false;
  owedSignal = signal;
  return true;
}

bool stopTraceWithin(std::chrono::milliseconds patience) {
  detail::tracing.store(false);
  Writer &w = writer();
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!w.lock.try_lock()) {
    if (std::chrono::steady_clock::now() >= deadline)
      return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::lock_guard guard(w.lock, std::adopt_lock);
  if (!w.file)
    return true;
  // To free memory takes the lock of who has allocated it, which a thread that
  // was stopped in the middle of malloc() may hold.
  write(w);
  std::fputs("\n]}\n", w.file);
  const bool good = std::fflush(w.file) == 0 && !std::ferror(w.file);
  w.file = nullptr; // open, until the process is gone
  return good;
}

void nameTraceLane(unsigned lane, const std::string &name) {
  Writer &w = writer();
  const Locked locked(w);
  if (w.file)
    w.lanes.emplace_back(lane, name);
}

void recordInLane(unsigned lane, const char *name, uint64_t begin, uint64_t end,
                  uint64_t bytes, std::string detail) {
  Writer &w = writer();
  const Locked locked(w);
  add(w,
      {name, begin, end, bytes, FirstLane + long(lane), std::move(detail), {}});
}

void detail::recordHeld(unsigned memory, uint64_t bytes) {
  Writer &w = writer();
  const Locked locked(w);
  if (!w.file || w.now[memory] == bytes)
    return;
  w.now[memory] = bytes;
  w.held.push_back({traceClock(), w.now});
  if (w.held.size() >= FlushAt)
    flush(w);
}

void detail::addName(std::vector<std::string> &names, const std::string &name) {
  if (names.size() > MostNames ||
      std::find(names.begin(), names.end(), name) != names.end())
    return;
  names.push_back(names.size() < MostNames ? name : "others");
}

void detail::recordZone(const char *name, uint64_t begin, uint64_t end,
                        uint64_t bytes, const std::vector<std::string> &on,
                        Notes notes) {
  thread_local long thread = ::syscall(SYS_gettid);
  Writer &w = writer();
  const Locked locked(w);
  add(w, {name, begin, end, bytes, thread, boost::algorithm::join(on, ", "),
          std::move(notes)});
}

} // namespace dragon
