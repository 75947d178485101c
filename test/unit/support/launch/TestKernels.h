//===- TestKernels.h - kernels and their summaries, by hand -----*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the compiler would make of a few kernels on int32 arrays:
//
//   add      if (i < n) c[i] = a[i] + b[i]
//   scale    if (i < n) a[i] = a[i] * k + 1
//   iota     if (i < n) c[i] = i * k
//   stencil  if (i < n) c[i] = a[max(i-1,0)] + a[i] + a[min(i+1,n-1)]
//   copyRest if (i < n && i >= k) c[i] = a[i]
//   mix      p[h(i)] += k for i < n, everything unknown ("anything")
//   gather   if (i < n) c[i] = a[(i * k) % n], not sliceable
//   blend    if (i < n) c[i] = a[i] + b[(i * k) % BlendCount], of which it is
//            known that each block may read all of b
//   spread   the same with c[(i * k) % BlendCount] = a[i] + b[i]
//   hops     if (i < n) out[i] = data[index[i]]; data may be read anywhere, and
//            it has a copy that counts
//   pick     if (i < n) c[i] = a[16 * i]
//   spill    if (i < n) c[16 * i] = a[i]
//   count    atomicAdd(&bins[a[i] & 255], 1), not sliceable
//   walk     for (; i < n; i += all threads) c[i] = a[i]
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_UNIT_SUPPORT_LAUNCH_TESTKERNELS_H
#define DRAGON_TEST_UNIT_SUPPORT_LAUNCH_TESTKERNELS_H

#include "dragon/SummaryBuilder.h"
#include "runtime/launch/LaunchCall.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>

namespace dragon::test {

template <typename T> T argument(void *const *args, unsigned index) {
  T value;
  std::memcpy(&value, args[index], sizeof(T));
  return value;
}

/// Calls fn(i) for the threads of the block.
template <typename Fn> void eachThread(dragon_cpu_context *ctx, Fn fn) {
  for (uint32_t t = 0; t < ctx->ntid[0]; ++t)
    fn(int64_t(ctx->ctaid[0]) * ctx->ntid[0] + t);
}

// The arithmetic wraps, as the model's does.
inline int32_t scaled(int32_t value, int32_t k) {
  return int32_t(uint32_t(value) * uint32_t(k) + 1u);
}
inline int32_t sum(int32_t a, int32_t b) {
  return int32_t(uint32_t(a) + uint32_t(b));
}

inline void addEntry(dragon_cpu_context *ctx, void *const *args) {
  auto *c = argument<int32_t *>(args, 0);
  auto *a = argument<const int32_t *>(args, 1);
  auto *b = argument<const int32_t *>(args, 2);
  int n = argument<int>(args, 3);
  eachThread(ctx, [&](int64_t i) {
    if (i < n)
      c[i] = sum(a[i], b[i]);
  });
}
inline void scaleEntry(dragon_cpu_context *ctx, void *const *args) {
  auto *a = argument<int32_t *>(args, 0);
  int n = argument<int>(args, 1), k = argument<int>(args, 2);
  eachThread(ctx, [&](int64_t i) {
    if (i < n)
      a[i] = scaled(a[i], k);
  });
}
inline void iotaEntry(dragon_cpu_context *ctx, void *const *args) {
  auto *c = argument<int32_t *>(args, 0);
  int n = argument<int>(args, 1), k = argument<int>(args, 2);
  eachThread(ctx, [&](int64_t i) {
    if (i < n)
      c[i] = scaled(int32_t(i), k);
  });
}
inline void stencilEntry(dragon_cpu_context *ctx, void *const *args) {
  auto *c = argument<int32_t *>(args, 0);
  auto *a = argument<const int32_t *>(args, 1);
  int n = argument<int>(args, 2);
  eachThread(ctx, [&](int64_t i) {
    if (i < n)
      c[i] = sum(sum(a[std::max<int64_t>(i - 1, 0)], a[i]),
                 a[std::min<int64_t>(i + 1, n - 1)]);
  });
}
inline void copyRestEntry(dragon_cpu_context *ctx, void *const *args) {
  auto *c = argument<int32_t *>(args, 0);
  auto *a = argument<const int32_t *>(args, 1);
  int n = argument<int>(args, 2), k = argument<int>(args, 3);
  eachThread(ctx, [&](int64_t i) {
    if (i < n && i >= k)
      c[i] = a[i];
  });
}
inline void mixEntry(dragon_cpu_context *ctx, void *const *args) {
  auto *p = argument<int32_t *>(args, 0);
  int n = argument<int>(args, 1), k = argument<int>(args, 2);
  eachThread(ctx, [&](int64_t i) {
    if (i < n)
      __atomic_fetch_add(&p[(i * 7919) % n], k, __ATOMIC_RELAXED);
  });
}
inline void gatherEntry(dragon_cpu_context *ctx, void *const *args) {
  auto *c = argument<int32_t *>(args, 0);
  auto *a = argument<const int32_t *>(args, 1);
  int n = argument<int>(args, 2), k = argument<int>(args, 3);
  eachThread(ctx, [&](int64_t i) {
    if (i < n)
      c[i] = a[(i * k) % n];
  });
}
constexpr int BlendCount = 3 << 20;
inline void blendEntry(dragon_cpu_context *ctx, void *const *args) {
  auto *c = argument<int32_t *>(args, 0);
  auto *a = argument<const int32_t *>(args, 1);
  auto *b = argument<const int32_t *>(args, 2);
  int n = argument<int>(args, 3), k = argument<int>(args, 4);
  eachThread(ctx, [&](int64_t i) {
    if (i < n)
      c[i] = sum(a[i], b[(i * k) % BlendCount]);
  });
}
inline void spreadEntry(dragon_cpu_context *ctx, void *const *args) {
  auto *c = argument<int32_t *>(args, 0);
  auto *a = argument<const int32_t *>(args, 1);
  auto *b = argument<const int32_t *>(args, 2);
  int n = argument<int>(args, 3), k = argument<int>(args, 4);
  eachThread(ctx, [&](int64_t i) {
    if (i < n)
      c[(i * k) % BlendCount] = sum(a[i], b[i]);
  });
}
inline void hopsEntry(dragon_cpu_context *ctx, void *const *args) {
  auto *out = argument<int32_t *>(args, 0);
  auto *data = argument<const int32_t *>(args, 1);
  auto *index = argument<const int32_t *>(args, 2);
  int n = argument<int>(args, 3);
  eachThread(ctx, [&](int64_t i) {
    if (i < n)
      out[i] = data[index[i]];
  });
}
/// What the compiler makes of it, for all blocks and threads of the sample.
inline void hopsCountingEntry(dragon_cpu_context *ctx, void *const *args) {
  auto *out = argument<int32_t *>(args, 0);
  auto *data = argument<const int32_t *>(args, 1);
  auto *index = argument<const int32_t *>(args, 2);
  int n = argument<int>(args, 3);
  auto *counters = argument<uint32_t *>(args, 4);
  auto base = argument<uint64_t>(args, 5), most = argument<uint64_t>(args, 6);
  auto shift = argument<uint32_t>(args, 7),
       blocks = argument<uint32_t>(args, 8),
       lanes = argument<uint32_t>(args, 9);
  eachThread(ctx, [&](int64_t i) {
    if (i >= n)
      return;
    const bool counts = !(ctx->ctaid[0] & blocks) && !(i & lanes);
    for (const void *at : {static_cast<const void *>(&index[i]),
                           static_cast<const void *>(&data[index[i]]),
                           static_cast<const void *>(&out[i])})
      if (const uint64_t k = (reinterpret_cast<uint64_t>(at) - base) >> shift;
          counts && k < most)
        __atomic_fetch_add(&counters[k], 1, __ATOMIC_RELAXED);
    out[i] = data[index[i]];
  });
}
inline void countEntry(dragon_cpu_context *ctx, void *const *args) {
  auto *bins = argument<int32_t *>(args, 0);
  auto *a = argument<const int32_t *>(args, 1);
  int n = argument<int>(args, 2);
  eachThread(ctx, [&](int64_t i) {
    if (i < n)
      __atomic_fetch_add(&bins[a[i] & 255], 1, __ATOMIC_RELAXED);
  });
}

inline void pickEntry(dragon_cpu_context *ctx, void *const *args) {
  auto *c = argument<int32_t *>(args, 0);
  auto *a = argument<const int32_t *>(args, 1);
  int n = argument<int>(args, 2);
  eachThread(ctx, [&](int64_t i) {
    if (i < n)
      c[i] = a[16 * i];
  });
}
inline void spillEntry(dragon_cpu_context *ctx, void *const *args) {
  auto *c = argument<int32_t *>(args, 0);
  auto *a = argument<const int32_t *>(args, 1);
  int n = argument<int>(args, 2);
  eachThread(ctx, [&](int64_t i) {
    if (i < n)
      c[16 * i] = a[i];
  });
}

inline void walkEntry(dragon_cpu_context *ctx, void *const *args) {
  auto *c = argument<int32_t *>(args, 0);
  auto *a = argument<const int32_t *>(args, 1);
  int n = argument<int>(args, 2);
  eachThread(ctx, [&](int64_t i) {
    for (; i < n; i += int64_t(ctx->nctaid[0]) * ctx->ntid[0])
      c[i] = a[i];
  });
}

/// The module's summary and its kernels, ready to launch.
class TestKernels {
public:
  TestKernels() {
    ExprPool &e = Module.Exprs;
    uint32_t block = e.launchValue(ExprOp::BlockIdx, 0);
    uint32_t size = e.launchValue(ExprOp::BlockDim, 0);
    uint32_t thread = e.launchValue(ExprOp::ThreadIdx, 0);
    I = e.binary(
        ExprOp::Add,
        e.binary(ExprOp::Mul, block, size, NoSignedWrap | NoUnsignedWrap),
        thread, NoSignedWrap | NoUnsignedWrap);

    make("add", addEntry, KernelSliceable, {8, 8, 8, 4},
         {pointer(0, {write(I, 3)}), pointer(1, {read(I, 3)}),
          pointer(2, {read(I, 3)})});
    make("scale", scaleEntry, KernelSliceable, {8, 4, 4},
         {pointer(0, {read(I, 1), write(I, 1)}, PointerReadBeforeWrite)});
    make("iota", iotaEntry, KernelSliceable, {8, 4, 4},
         {pointer(0, {write(I, 1)})});
    uint32_t n = e.argument(2, 32);
    uint32_t one = e.constant(1, 32), zero = e.constant(0, 32);
    uint32_t before = e.binary(
        ExprOp::SMax, e.binary(ExprOp::Sub, I, one, NoSignedWrap), zero);
    uint32_t after =
        e.binary(ExprOp::SMin, e.binary(ExprOp::Add, I, one, NoSignedWrap),
                 e.binary(ExprOp::Sub, n, one, NoSignedWrap));
    make("stencil", stencilEntry, KernelSliceable, {8, 8, 4},
         {pointer(0, {write(I, 2)}),
          pointer(1, {read(before, 2, I), read(I, 2), read(after, 2, I)})});
    AccessSummary rest = write(I, 2);
    rest.Guards.push_back(guard(e.argument(3, 32), I, GuardPred::SLE));
    AccessSummary source = rest;
    source.Flags = AccessRead;
    make("copyRest", copyRestEntry, KernelSliceable, {8, 8, 4, 4},
         {pointer(0, {rest}), pointer(1, {source})});
    make("mix", mixEntry, KernelTouchesAnything | KernelUnknown, {8, 4, 4}, {});
    AccessSummary anywhere;
    anywhere.Flags = AccessRead | AccessUnbounded;
    anywhere.Width = 4;
    anywhere.Offset = I;
    make("gather", gatherEntry, 0, {8, 8, 4, 4},
         {pointer(0, {write(I, 2)}), pointer(1, {anywhere})});
    AccessSummary within;
    within.Flags = AccessRead;
    within.Width = 4;
    within.Offset =
        e.opaque(64, e.constant(0), e.constant(int64_t(BlendCount - 1) * 4));
    make("blend", blendEntry, KernelSliceable, {8, 8, 8, 4, 4},
         {pointer(0, {write(I, 3)}), pointer(1, {read(I, 3)}),
          pointer(2, {within})});
    within.Flags = AccessWrite;
    make("spread", spreadEntry, KernelSliceable, {8, 8, 8, 4, 4},
         {pointer(0, {within}), pointer(1, {read(I, 3)}),
          pointer(2, {read(I, 3)})});
    make("hops", hopsEntry, 0, {8, 8, 8, 4},
         {pointer(0, {write(I, 3)}), pointer(1, {anywhere}),
          pointer(2, {read(I, 3)})});
    Entries.emplace(
        "hops counting",
        dragon_cpu_kernel{"hops counting", hopsCountingEntry, 0, 0});
    AccessSummary bins;
    bins.Width = 4;
    bins.Offset = e.opaque(64, e.constant(0), e.constant(255 * 4));
    bins.Flags = AccessRead | AccessWrite | AccessAtomic;
    make(
        "count", countEntry, 0, {8, 8, 4},
        {pointer(0, {bins}, PointerReadBeforeWrite), pointer(1, {read(I, 2)})});
    uint32_t wide = e.binary(ExprOp::Mul, I, e.constant(16, 32), NoSignedWrap);
    make("pick", pickEntry, KernelSliceable, {8, 8, 4},
         {pointer(0, {write(I, 2)}), pointer(1, {read(wide, 2, I)})});
    make("spill", spillEntry, KernelSliceable, {8, 8, 4},
         {pointer(0, {write(wide, 2, I)}), pointer(1, {read(I, 2)})});
    uint32_t grid = e.launchValue(ExprOp::GridDim, 0);
    uint32_t all = e.cast(
        ExprOp::ZExt, e.binary(ExprOp::Mul, grid, size, NoUnsignedWrap), 64);
    uint32_t loop = e.loop(0);
    uint32_t at =
        e.binary(ExprOp::Add, e.cast(ExprOp::SExt, I, 64),
                 e.binary(ExprOp::Mul, loop, all, NoSignedWrap), NoSignedWrap);
    AccessSummary walked = read(at, 2);
    walked.Guards = {guard(at, e.cast(ExprOp::SExt, n, 64), GuardPred::SLT)};
    walked.Guards[0].Loop = loop;
    AccessSummary put = walked;
    put.Flags = AccessWrite | AccessExact;
    make("walk", walkEntry, KernelSliceable, {8, 8, 4},
         {pointer(0, {put}), pointer(1, {walked})});

    Blob = Module.write();
    Aligned.resize((Blob.size() + 7) / 8);
    std::memcpy(Aligned.data(), Blob.data(), Blob.size());
    std::string error;
    Good = SummaryView::open(Aligned.data(), Blob.size(), View, error);
    if (!Good)
      Error = error;
    for (auto &[name, cpu] : Entries) {
      KernelInfo info{};
      info.handle.image = {cpu.name, &cpu, {}, {}};
      info.summary = &View;
      info.record = View.findKernel(name.c_str());
      if (info.record)
        info.footprints = std::make_shared<FootprintCache>(View, *info.record);
      Infos.emplace(name, info);
    }
    Infos.at("hops").counting = Infos.at("hops counting").handle;
  }
  TestKernels(const TestKernels &) = delete;

  bool followed = false; ///< of the launches: another one follows
  bool Good = false;
  std::string Error;
  KernelInfo *find(const std::string &name) { return &Infos.at(name); }

  /// Launches over n threads, 1024 a block. `Runtime` is the class of that
  /// name, of a room above that of launches.
  template <typename Runtime, typename... Args>
  Status launch(Runtime &runtime, const char *name, int n, Args... values) {
    return launchOn(runtime, nullptr, name, n, values...);
  }
  template <typename Runtime, typename... Args>
  Status launchOn(Runtime &runtime, Queue queue, const char *name, int n,
                  Args... values) {
    // Words, as launches that are put off copy them.
    uint64_t words[sizeof...(values)] = {};
    void *args[sizeof...(values)];
    size_t count = 0;
    auto add = [&](const auto &value) {
      std::memcpy(&words[count], &value, sizeof(value));
      args[count] = &words[count];
      ++count;
    };
    (add(values), ...);
    LaunchCall call{};
    call.kernel = find(name);
    call.grid[0] = uint32_t((n + 1023) / 1024);
    call.grid[1] = call.grid[2] = 1;
    call.block[0] = 1024;
    call.block[1] = call.block[2] = 1;
    call.args = args;
    call.numArgs = sizeof...(values);
    call.queue = queue;
    call.followed = followed;
    return runtime.launches().launch(call);
  }

private:
  GuardRecord guard(uint32_t lhs, uint32_t rhs, GuardPred pred) {
    GuardRecord record{};
    record.Lhs = lhs;
    record.Rhs = rhs;
    record.Loop = NoIndex;
    record.Pred = pred;
    return record;
  }
  /// a[index], index < argument `limit`; `guarded` < limit instead if given.
  AccessSummary access(uint32_t index, uint32_t limit, uint8_t flags,
                       uint32_t guarded) {
    ExprPool &e = Module.Exprs;
    AccessSummary a;
    a.Offset = e.binary(ExprOp::Mul, e.cast(ExprOp::SExt, index, 64),
                        e.constant(4), NoSignedWrap);
    a.Width = 4;
    a.Flags = flags;
    a.Guards.push_back(guard(guarded == NoIndex ? index : guarded,
                             e.argument(limit, 32), GuardPred::SLT));
    return a;
  }
  AccessSummary read(uint32_t index, uint32_t limit,
                     uint32_t guarded = NoIndex) {
    return access(index, limit, AccessRead | AccessExact, guarded);
  }
  AccessSummary write(uint32_t index, uint32_t limit,
                      uint32_t guarded = NoIndex) {
    return access(index, limit, AccessWrite | AccessExact, guarded);
  }
  PointerSummary pointer(uint32_t arg, std::vector<AccessSummary> accesses,
                         uint8_t flags = 0) {
    PointerSummary p;
    p.ArgIndex = arg;
    p.Flags = flags;
    uint8_t all = 0;
    for (const AccessSummary &a : accesses)
      all |= a.Flags;
    p.Mode = (all & AccessRead) && (all & AccessWrite) ? AccessMode::ReadWrite
             : all & AccessWrite                       ? AccessMode::Write
                                                       : AccessMode::Read;
    p.Accesses = std::move(accesses);
    return p;
  }
  void make(const char *name, dragon_cpu_entry entry, uint32_t flags,
            std::vector<uint32_t> sizes, std::vector<PointerSummary> pointers) {
    KernelSummary k;
    k.Name = name;
    k.Flags = flags | (flags & KernelSliceable ? KernelActsOnBuffersOnly : 0u);
    k.ArgSizes = std::move(sizes);
    k.Pointers = std::move(pointers);
    if (!(flags & KernelSliceable))
      k.WhyNotSliceable = "blocks depend on each other";
    Module.Kernels.push_back(std::move(k));
    Entries.emplace(name, dragon_cpu_kernel{name, entry, 0, 0});
  }

  ModuleSummary Module;
  uint32_t I;
  std::vector<char> Blob;
  std::vector<uint64_t> Aligned;
  SummaryView View;
  std::map<std::string, dragon_cpu_kernel> Entries;
  std::map<std::string, KernelInfo> Infos;
};

} // namespace dragon::test

#endif // DRAGON_TEST_UNIT_SUPPORT_LAUNCH_TESTKERNELS_H
