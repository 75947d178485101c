//===- Trace.h - zones in time, for Perfetto --------------------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// DRAGON_TRACE=file writes what the runtime did when, in the trace-event format
// that ui.perfetto.dev and chrome://tracing open. A zone is the lifetime of a
// TraceZone; when tracing is off it costs one branch.
//
//   TraceZone zone("fetch", bytes);
//
// A zone says what it worked on, where that is known, and its bytes, where
// there are any.
//
// Zones show what the host waited for or issued, a lane for each thread. Work
// that runs on a device after the call returned has lanes of its own, which are
// told when it was done (device/Timeline.h). Counters show how much memory is
// held. Thread-safe. The file is complete
// once stopTrace() returned.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_TRACE_TRACE_H
#define DRAGON_RUNTIME_TRACE_TRACE_H

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace dragon {

namespace detail {
extern std::atomic<bool> tracing;
struct Note {
  const char *name;
  std::string text;
  bool number = false; ///< the text is one
};
using Notes = std::vector<Note>;
/// Adds it if it is not there. Of many there are only the first few.
void addName(std::vector<std::string> &names, const std::string &name);
void recordZone(const char *name, uint64_t begin, uint64_t end, uint64_t bytes,
                const std::vector<std::string> &on, Notes notes);
void recordHeld(unsigned memory, uint64_t bytes);
} // namespace detail

/// Nanoseconds of a steady clock.
uint64_t traceClock();

/// Opens the file; false (with errno) if that fails.
bool startTrace(const std::string &path);
/// Writes what was recorded and closes the file. False if a write failed.
bool stopTrace();
/// The same where a thread that will not go on may be in the middle of a
/// record: false as well if that keeps the file for so long.
bool stopTraceWithin(std::chrono::milliseconds patience);
/// In the handler of a signal that ends the process: the thread is writing to
/// the trace, which would be lost; it raises the signal again when it is done.
bool putOffByTrace(int signal);

/// A lane that is no thread's: what somebody else did. Lanes are 0, 1, ...
void nameTraceLane(unsigned lane, const std::string &name);
void recordInLane(unsigned lane, const char *name, uint64_t begin, uint64_t end,
                  uint64_t bytes, std::string detail);

/// Memory whose size is told over time.
enum class TracedMemory : uint8_t { Device, Host, Swap };
constexpr unsigned NumTracedMemories = 3;

/// So many bytes of it are held from now on.
inline void traceHeld(TracedMemory memory, uint64_t bytes) {
  if (detail::tracing.load(std::memory_order_relaxed))
    detail::recordHeld(unsigned(memory), bytes);
}

class TraceZone {
public:
  /// `name` is a literal.
  explicit TraceZone(const char *name, uint64_t bytes = 0)
      : Name(name), Bytes(bytes) {
    if (detail::tracing.load(std::memory_order_relaxed))
      Begin = traceClock();
  }
  ~TraceZone() {
    if (Begin)
      detail::recordZone(Name, Begin, traceClock(), Bytes, On,
                         std::move(Notes));
  }
  TraceZone(const TraceZone &) = delete;
  TraceZone &operator=(const TraceZone &) = delete;

  /// What the zone worked on: a kernel's name, or those of buffers.
  void on(const std::string &name) {
    if (Begin)
      detail::addName(On, name);
  }
  void add(uint64_t bytes) { Bytes += bytes; }
  /// Somebody will see what is said of it.
  bool recorded() const { return Begin != 0; }
  /// Something else that is to be seen with it; `name` is a literal.
  void note(const char *name, std::string text) {
    if (Begin)
      Notes.push_back({name, std::move(text)});
  }
  void note(const char *name, uint64_t number) {
    if (Begin)
      Notes.push_back({name, std::to_string(number), true});
  }

private:
  const char *Name;
  uint64_t Bytes;
  uint64_t Begin = 0;
  std::vector<std::string> On;
  detail::Notes Notes;
};

} // namespace dragon

#endif // DRAGON_RUNTIME_TRACE_TRACE_H
