//===- exchanges.h - compare-and-swap without an order ----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CUDA's atomicCAS orders nothing (CUDA C++ Programming Guide, "Atomic
// Functions"). Clang's header writes it with a builtin of the strictest order,
// which is a fence of the whole system in front of each one and drops what the
// caches hold behind it. This stands in front of that header. The orders are a
// mark for the compiler's plugin, which takes them away when the optimiser has
// done its work (passes/codegen/RelaxedExchanges.h).
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_NVCC_EXCHANGES_H
#define DRAGON_NVCC_EXCHANGES_H

#define DRAGON_COMPARE_AND_SWAP(type, to, expected, desired)                   \
  __extension__({                                                              \
    type dragonFound = (expected);                                             \
    __scoped_atomic_compare_exchange_n((to), &dragonFound, (desired), 0,       \
                                       __ATOMIC_RELEASE, __ATOMIC_SEQ_CST,     \
                                       __MEMORY_SCOPE_DEVICE);                 \
    dragonFound;                                                               \
  })
#define __nvvm_atom_cas_gen_us(to, expected, desired)                          \
  DRAGON_COMPARE_AND_SWAP(unsigned short, to, expected, desired)
#define __nvvm_atom_cas_gen_i(to, expected, desired)                           \
  DRAGON_COMPARE_AND_SWAP(int, to, expected, desired)
#define __nvvm_atom_cas_gen_ll(to, expected, desired)                          \
  DRAGON_COMPARE_AND_SWAP(long long, to, expected, desired)

#endif // DRAGON_NVCC_EXCHANGES_H
