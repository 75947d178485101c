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
//   rows     if (i < n) p[i] = base + i * step, words of 64 bits; it is known
//            that it follows its arguments
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
//   lookUp, put: see PagedKernels.h
//   walk     for (; i < n; i += all threads) c[i] = a[i]
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TEST_UNIT_SUPPORT_LAUNCH_TESTKERNELS_H
#define DRAGON_TEST_UNIT_SUPPORT_LAUNCH_TESTKERNELS_H

#include "dragon/SummaryBuilder.h"
#include "runtime/launch/LaunchCall.h"

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

constexpr int BlendCount = 3 << 20;

/// The module's summary and its kernels, ready to launch.
class TestKernels {
public:
  TestKernels();
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

  /// It has a copy `<name> paged`.
  void findPaged(const char *name);

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
