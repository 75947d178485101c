//===- MatrixProducts.cpp - products of matrices by a warp ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The lanes' fragments of two factors are on their stacks; when all lanes have
// met, each computes its own elements of the product, and nobody goes on before
// all have read. Sums of floats are made in one order, in float; a GPU's order
// is its own.
//
//===----------------------------------------------------------------------===//

#include "dragon/CompilerABI.h"
#include "runtime/device/cpu/kernels/BlockScheduler.h"
#include "runtime/device/cpu/kernels/KernelRun.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#define DRAGON_EXPORT extern "C" __attribute__((visibility("default")))

using namespace dragon;

namespace {

constexpr uint32_t Lanes = 32;

unsigned bytesOf(uint32_t type) {
  switch (type) {
  case DRAGON_MATRIX_F16:
  case DRAGON_MATRIX_BF16:
    return 2;
  case DRAGON_MATRIX_S8:
  case DRAGON_MATRIX_U8:
    return 1;
  case DRAGON_MATRIX_F64:
    return 8;
  default:
    return 4;
  }
}

template <typename T> T element(const void *fragment, uint32_t slot) {
  T value;
  std::memcpy(&value, static_cast<const char *>(fragment) + slot * sizeof(T),
              sizeof(T));
  return value;
}

/// Every type but integers and doubles is exact in a float.
template <typename Number>
Number number(uint32_t type, const void *fragment, uint32_t slot) {
  switch (type) {
  case DRAGON_MATRIX_F16:
    return static_cast<Number>(element<_Float16>(fragment, slot));
  case DRAGON_MATRIX_BF16:
    return static_cast<Number>(std::bit_cast<float>(
        uint32_t(element<uint16_t>(fragment, slot)) << 16));
  case DRAGON_MATRIX_F32:
    return static_cast<Number>(element<float>(fragment, slot));
  case DRAGON_MATRIX_F64:
    return static_cast<Number>(element<double>(fragment, slot));
  case DRAGON_MATRIX_S8:
    return static_cast<Number>(element<int8_t>(fragment, slot));
  case DRAGON_MATRIX_U8:
    return static_cast<Number>(element<uint8_t>(fragment, slot));
  default:
    return static_cast<Number>(element<int32_t>(fragment, slot));
  }
}

template <typename Number>
void put(uint32_t type, void *fragment, uint32_t slot, Number value) {
  auto store = [&](auto as) {
    std::memcpy(static_cast<char *>(fragment) + slot * sizeof(as), &as,
                sizeof(as));
  };
  if (type == DRAGON_MATRIX_F16)
    store(static_cast<_Float16>(value));
  else if (type == DRAGON_MATRIX_F64)
    store(static_cast<double>(value));
  else if (type == DRAGON_MATRIX_S32)
    store(static_cast<int32_t>(value));
  else
    store(static_cast<float>(value));
}

struct Factors {
  const void *a;
  const void *b;
};

/// The lane's elements of a * b + c; `of(lane)` are the lanes' factors.
template <typename Number, typename Of>
void multiply(uint32_t lane, uint32_t shape, uint32_t types, Of &&of,
              const void *c, void *d) {
  const uint32_t n = shape >> 8 & 255, k = shape >> 16 & 255;
  const uint32_t count = (shape & 255) * n;
  const uint32_t factor = types & 15, addend = types >> 4 & 15;
  for (uint32_t slot = 0; slot * Lanes < count; ++slot) {
    uint32_t at = slot * Lanes + lane, row = at / n, column = at % n;
    Number sum = number<Number>(addend, c, slot);
    for (uint32_t i = 0; i < k; ++i) {
      uint32_t inA = row * k + i, inB = i * n + column;
      sum += number<Number>(factor, of(inA % Lanes).a, inA / Lanes) *
             number<Number>(factor, of(inB % Lanes).b, inB / Lanes);
    }
    if constexpr (std::is_same_v<Number, int64_t>)
      if (types >> 12 & 1)
        sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
    put(types >> 8 & 15, d, slot, sum);
  }
}

/// Calls visit(address in the fragment, address in memory) for each slot.
template <typename Visit>
void eachElement(const dragon_cpu_context *ctx, uint32_t shape, unsigned bytes,
                 uint32_t stride, Visit &&visit) {
  const uint32_t rows = shape & 255, columns = shape >> 8 & 255;
  const uint32_t slots = shape >> 16 & 255, own = rows * columns / Lanes;
  const uint32_t lane = BlockScheduler::laneOf(ctx);
  for (uint32_t slot = 0; slot < slots; ++slot) {
    uint32_t at = slot % own * Lanes + lane;
    uint32_t row = at / columns, column = at % columns;
    bool byColumn = shape >> 24 & 1;
    size_t where = byColumn ? size_t(column) * stride + row
                            : size_t(row) * stride + column;
    visit(size_t(slot) * bytes, where * bytes);
  }
}

} // namespace

DRAGON_EXPORT void dragon_cpu_matrix_load(dragon_cpu_context *ctx,
                                          uint32_t shape, uint32_t type,
                                          const void *from, uint32_t stride,
                                          void *fragment) {
  unsigned bytes = bytesOf(type);
  eachElement(ctx, shape, bytes, stride, [&](size_t inFragment, size_t at) {
    std::memcpy(static_cast<char *>(fragment) + inFragment,
                static_cast<const char *>(from) + at, bytes);
  });
}

DRAGON_EXPORT void dragon_cpu_matrix_store(dragon_cpu_context *ctx,
                                           uint32_t shape, uint32_t type,
                                           void *to, uint32_t stride,
                                           const void *fragment) {
  unsigned bytes = bytesOf(type);
  eachElement(ctx, shape, bytes, stride, [&](size_t inFragment, size_t at) {
    std::memcpy(static_cast<char *>(to) + at,
                static_cast<const char *>(fragment) + inFragment, bytes);
  });
}

DRAGON_EXPORT void dragon_cpu_matrix_multiply(dragon_cpu_context *ctx,
                                              uint32_t shape, uint32_t types,
                                              const void *a, const void *b,
                                              const void *c, void *d) {
  if (!ctx->block) {
    KernelThread *thread = KernelThread::current();
    thread->run().failIn(*ctx, KernelLaunchFailure,
                         "a product of matrices without a warp");
    thread->stop();
  }
  auto &scheduler = *static_cast<BlockScheduler *>(ctx->block);
  const Factors own{a, b};
  constexpr uint32_t All = ~0u;
  BlockScheduler::Meeting &meeting = scheduler.meet(
      ctx, WarpOp::Matrix, All, reinterpret_cast<uintptr_t>(&own));
  // Lanes that the block does not have hold nothing that is defined.
  auto of = [&](uint32_t lane) -> const Factors & {
    return meeting.present >> lane & 1
               ? *reinterpret_cast<const Factors *>(
                     uintptr_t(meeting.value[lane])) // NOLINT: what it is
               : own;
  };
  const uint32_t lane = BlockScheduler::laneOf(ctx), result = types >> 8 & 15;
  if (result == DRAGON_MATRIX_S32)
    multiply<int64_t>(lane, shape, types, of, c, d);
  else if (result == DRAGON_MATRIX_F64)
    multiply<double>(lane, shape, types, of, c, d);
  else
    multiply<float>(lane, shape, types, of, c, d);
  scheduler.endMeeting(meeting);
  // Nobody's fragments change before all have read them.
  scheduler.endMeeting(scheduler.meet(ctx, WarpOp::Sync, All, 0));
}
