//===- InterleavingsTest.cpp - threads that share a runtime ---------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each test runs short sequences of calls in two or three threads, in all
// interleavings with a bounded number of preemptions (Scheduler.h). The device
// puts off all that it can (LateDevice.h), so that who did not wait finds what
// was there before. Buffers are one chunk each and exceed the device together;
// kernels touch a few words of them.
//
// DRAGON_INTERLEAVINGS_BOUND and _MOST explore more than the tests do by
// themselves; each test prints how many schedules it has run.
//
//===----------------------------------------------------------------------===//

#include "test/unit/interleavings/Scheduler.h"
#include "test/unit/support/core/RuntimeFixture.h"
#include "test/unit/support/device/LateDevice.h"

#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <sched.h>
#include <thread>

using namespace dragon;
using namespace dragon::test;

namespace {

constexpr int N = 1024; ///< words that a kernel touches: a block
constexpr size_t BufferBytes = 2 * MiB; ///< a chunk

uint64_t fromEnvironment(const char *name, uint64_t otherwise) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// Others may go on in front of each call.
class ScheduledDevice final : public LateDevice {
public:
  explicit ScheduledDevice(std::unique_ptr<Device> inner)
      : LateDevice(std::move(inner), /*lateLaunches=*/true) {}

private:
  void called() override {
    if (Scheduler *run = Scheduler::ofThisThread())
      run->point();
  }
};

class InterleavingsTest : public RuntimeFixture {
protected:
  void SetUp() override {
    // One processor, so that the runtime does all by the calling threads, and
    // a baton is passed without waking another one.
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(size_t(sched_getcpu()), &one);
    sched_setaffinity(0, sizeof(one), &one);
    RuntimeFixture::SetUp();
    settings.poison = false; // the device is asynchronous
    settings.strict = false;
    settings.cpuThreads = 1;
    settings.ioUring = false;
    settings.deviceMemory = 8 * MiB;
    settings.hostMemory = 64 * MiB;
    settings.wavefront = Wavefront::Always;
  }

  using Body = std::function<void()>;

  /// Explores: a new runtime, `before` in one thread, then one thread for each
  /// of `threads`, and `after` in one thread again.
  /// At most `most` schedules are run.
  void explore(unsigned preemptions, const Body &before,
               const std::vector<Body> &threads, const Body &after = nothing,
               uint64_t most = 20000) {
    ExploreOptions options;
    options.preemptions =
        unsigned(fromEnvironment("DRAGON_INTERLEAVINGS_BOUND", preemptions));
    options.schedules = fromEnvironment("DRAGON_INTERLEAVINGS_MOST", most);
    auto run = [&] {
      Failure.clear();
      makeRuntime();
      before();
      std::vector<std::thread> others;
      for (size_t i = 1; i < threads.size(); ++i)
        others.emplace_back(threads[i]);
      threads[0]();
      for (std::thread &other : others)
        other.join();
      after();
      if (Late->misused())
        fail("memory was given away while work on it was queued");
      runtime.reset();
      return Failure;
    };
    std::string notes;
    auto device = createDevice(settings, notes);
    ASSERT_TRUE(device.ok()) << device.takeStatus().message();
    Cpu = std::move(*device);
    run(); // what is made once in a process is made here
    ASSERT_EQ(Failure, "");
    const Explored explored = test::explore(options, run);
    EXPECT_EQ(explored.failure, "");
    std::printf("%llu schedules%s, up to %u preemptions, at most %zu "
                "decisions\n",
                static_cast<unsigned long long>(explored.schedules),
                explored.complete ? "" : " (there are more)",
                options.preemptions, explored.longest);
  }

  /// On a device whose memory is made once: that takes most of the time.
  void makeRuntime() {
    auto late = std::make_unique<ScheduledDevice>(std::move(Cpu));
    late->returnInnerTo(Cpu);
    Late = late.get();
    start(std::move(late));
  }

  // -- What threads do. One of them runs at a time: no lock is needed.
  void fail(std::string what) {
    if (Failure.empty())
      Failure = std::move(what);
  }
  void good(Status status, const char *what) {
    if (!status.ok())
      fail(std::string(what) + ": " + status.message());
  }
  uintptr_t buffer(bool hostAccessible = false) {
    auto made =
        runtime->buffers().allocate(BufferBytes, {0, hostAccessible, nullptr});
    if (made.ok())
      return *made;
    good(made.takeStatus(), "allocate");
    return 0;
  }
  Queue newQueue() {
    auto made = runtime->device().createQueue(0, 0);
    if (made.ok())
      return *made;
    good(made.takeStatus(), "createQueue");
    return nullptr;
  }
  void fill(Queue queue, uintptr_t to, int seed) {
    good(kernels.launchOn(*runtime, queue, "iota", N, pointer(to), N, seed),
         "fill");
  }
  void step(Queue queue, uintptr_t to, uintptr_t from) {
    good(kernels.launchOn(*runtime, queue, "stencil", N, pointer(to),
                          pointer(from), N),
         "step");
  }
  /// cudaStreamSynchronize. So many launches were made in the queue, of one
  /// block each: they are done then.
  void synchronize(Queue queue, uint64_t launches) {
    good(runtime->launches().runWaiting(), "runWaiting");
    good(runtime->device().synchronize(queue), "synchronize");
    if (Late->launchesDone(queue) < launches)
      fail("launches that were waited for have not run");
  }
  void destroy(Queue queue) { // cudaStreamDestroy
    good(runtime->launches().runWaiting(), "runWaiting");
    good(runtime->launches().destroyQueue(queue), "destroyQueue");
  }
  void free(uintptr_t buffer) { good(runtime->buffers().free(buffer), "free"); }
  void expect(uintptr_t buffer, const std::vector<int32_t> &wanted) {
    std::vector<int32_t> found(N, -1);
    good(runtime->buffers().copy(found.data(), pointer(buffer), N * 4, nullptr,
                                 false),
         "copy");
    if (found != wanted)
      fail("wrong contents");
  }

  /// Fill, step, step, in a queue of its own that ends with it.
  void round(int seed) {
    const Queue queue = newQueue();
    const uintptr_t a = buffer(), b = buffer();
    fill(queue, a, seed);
    step(queue, b, a);
    step(queue, a, b);
    synchronize(queue, 3);
    destroy(queue);
    expect(a, stepped(stepped(filled(seed))));
    free(a);
    free(b);
  }

  static std::vector<int32_t> filled(int k) {
    std::vector<int32_t> c(N);
    for (int i = 0; i < N; ++i)
      c[size_t(i)] = scaled(i, k);
    return c;
  }
  static std::vector<int32_t> stepped(const std::vector<int32_t> &a) {
    std::vector<int32_t> c(a.size());
    for (size_t i = 0; i < a.size(); ++i)
      c[i] = sum(sum(a[i ? i - 1 : 0], a[i]), a[std::min(i + 1, a.size() - 1)]);
    return c;
  }
  static void nothing() {}

  std::unique_ptr<Device> Cpu; ///< between two runs
  LateDevice *Late = nullptr;
  std::string Failure;
};

TEST_F(InterleavingsTest, ThreadsWithStreamsOfTheirOwn) {
  struct Own {
    Queue queue;
    uintptr_t buffer;
  } own[2];
  auto work = [&](Own &mine, int seed) {
    fill(mine.queue, mine.buffer, seed);
    synchronize(mine.queue, 1);
    destroy(mine.queue);
  };
  explore(
      2,
      [&] {
        for (Own &one : own)
          one = {newQueue(), buffer()};
      },
      {[&] { work(own[0], 3); }, [&] { work(own[1], 5); }},
      [&] {
        expect(own[0].buffer, filled(3));
        expect(own[1].buffer, filled(5));
      });
}

TEST_F(InterleavingsTest, ThreadsWithBuffersOfTheirOwn) {
  explore(1, nothing, {[&] { round(3); }, [&] { round(5); }});
}

TEST_F(InterleavingsTest, WhereLaunchesDoNotWait) {
  settings.wavefront = Wavefront::Off;
  explore(1, nothing, {[&] { round(3); }, [&] { round(5); }});
}

TEST_F(InterleavingsTest, ThreeThreads) {
  Queue queues[3];
  uintptr_t buffers[3];
  auto thread = [&](int i) {
    return [&, i] {
      fill(queues[i], buffers[i], i);
      synchronize(queues[i], 1);
    };
  };
  explore(
      1,
      [&] {
        for (int i = 0; i < 3; ++i) {
          queues[i] = newQueue();
          buffers[i] = buffer();
        }
      },
      {thread(0), thread(1), thread(2)},
      [&] {
        for (int i = 0; i < 3; ++i)
          expect(buffers[i], filled(i));
      });
}

TEST_F(InterleavingsTest, BuffersComeAndGo) {
  explore(1, nothing,
          {[&] { round(3); },
           [&] {
             const std::vector<int32_t> data = numbers(N, 9);
             for (int i = 0; i < 2; ++i) {
               const uintptr_t a = buffer();
               good(runtime->buffers().copy(pointer(a), data.data(), N * 4,
                                            nullptr, false),
                    "copy in");
               expect(a, data);
               free(a);
             }
           }});
}

/// A launch in core runs while another thread waits for files (RuntimeLock.h).
/// The threads that read the files multiply the schedules: some are run.
TEST_F(InterleavingsTest, LaunchesInCoreBesidesFiles) {
  settings.wavefront = Wavefront::Off;
  const std::vector<int32_t> data = numbers(N, 9);
  writeFile("in", data);
  uintptr_t own = 0, in = 0, out = 0;
  Queue queues[2];
  explore(
      1,
      [&] {
        for (uintptr_t *each : {&own, &in, &out})
          *each = buffer();
        for (Queue &queue : queues)
          queue = newQueue();
        fill(nullptr, own, 1);
        synchronize(nullptr, 1);
        good(runtime->files().mapFileRange(in, N * 4, open("in"), 0), "map");
      },
      {[&] { step(queues[0], out, in); }, [&] { fill(queues[1], own, 3); }},
      [&] {
        for (Queue queue : queues) {
          synchronize(queue, 1);
          destroy(queue);
        }
        expect(out, stepped(data));
        expect(own, filled(3));
      },
      2000);
}

TEST_F(InterleavingsTest, TheHostTouchesWhatADeviceBufferIsBesides) {
  explore(1, nothing,
          {[&] { round(3); },
           [&] {
             const uintptr_t m = buffer(/*hostAccessible=*/true), b = buffer();
             auto *words = static_cast<int32_t *>(pointer(m));
             fill(nullptr, m, 7);
             synchronize(nullptr, 1);
             if (words[5] != filled(7)[5])
               fail("the host sees something else");
             words[5] = 1; // where a fault happens in a thread
             std::vector<int32_t> wanted = filled(7);
             wanted[5] = 1;
             step(nullptr, b, m);
             expect(b, stepped(wanted));
           }});
}

TEST_F(InterleavingsTest, WhatBothOnlyRead) {
  uintptr_t shared = 0;
  auto reader = [&] {
    const uintptr_t own = buffer();
    const Queue queue = newQueue();
    step(queue, own, shared);
    synchronize(queue, 1);
    destroy(queue);
    expect(own, stepped(filled(3)));
    free(own);
  };
  explore(1,
          [&] {
            shared = buffer();
            fill(nullptr, shared, 3);
            synchronize(nullptr, 1);
          },
          {reader, reader});
}

TEST_F(InterleavingsTest, OneThreadHandsOverToTheOtherByAnEvent) {
  uintptr_t a = 0, b = 0;
  Event event = nullptr;
  std::mutex lock;
  std::condition_variable changed;
  bool recorded = false;
  explore(2,
          [&] {
            a = buffer();
            b = buffer();
            recorded = false;
            auto made = runtime->device().createEvent(false);
            event = made.ok() ? *made : nullptr;
          },
          {[&] {
             const Queue queue = newQueue();
             fill(queue, a, 3);
             good(runtime->launches().runWaiting(), "runWaiting");
             good(runtime->device().record(event, queue), "record");
             {
               std::lock_guard guard(lock);
               recorded = true;
             }
             changed.notify_one();
             destroy(queue);
           },
           [&] {
             const Queue queue = newQueue();
             {
               std::unique_lock guard(lock);
               changed.wait(guard, [&] { return recorded; });
             }
             good(runtime->launches().runWaiting(), "runWaiting");
             good(runtime->device().wait(queue, event), "wait");
             step(queue, b, a);
             synchronize(queue, 1);
             destroy(queue);
             expect(b, stepped(filled(3)));
           }});
}

TEST_F(InterleavingsTest, TheDeviceEndsWhileAnotherThreadWorks) {
  explore(
      2,
      [&] {
        // Launches of the same kind, so that the next ones wait.
        const uintptr_t a = buffer();
        fill(nullptr, a, 3);
        synchronize(nullptr, 1);
      },
      {[&] {
         // Each call works, or says that the process is ending.
         auto made = runtime->buffers().allocate(BufferBytes, {});
         if (!made.ok())
           return;
         const uintptr_t a = *made;
         Status filled = kernels.launch(*runtime, "iota", N, pointer(a), N, 5);
         Status ran = runtime->launches().runWaiting();
         std::vector<int32_t> found(N, -1);
         Status copied = runtime->buffers().copy(found.data(), pointer(a),
                                                 N * 4, nullptr, false);
         if (filled.ok() && ran.ok() && copied.ok() && found != this->filled(5))
           fail("wrong contents");
       },
       [&] { good(runtime->quiesce(/*last=*/true), "quiesce"); }});
}

} // namespace
