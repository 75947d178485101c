//===- DeviceMath.h - arithmetic of device code --*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What lowered kernels call where an instruction of the GPU takes more than a
// few of the host: arithmetic in double precision and conversions that are
// rounded towards zero, down or up, as CUDA's __dadd_rz or __ll2float_rd ask
// for. `mode` is that of dragon::Rounding in passes/cpu/Arithmetic.h.
// Thread-safe; the floating-point environment is as before.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_RUNTIME_DEVICE_CPU_KERNELS_DEVICEMATH_H
#define DRAGON_RUNTIME_DEVICE_CPU_KERNELS_DEVICEMATH_H

#include <cstdint>

extern "C" {
double dragon_cpu_math_add_f64(double x, double y, uint32_t mode);
double dragon_cpu_math_mul_f64(double x, double y, uint32_t mode);
double dragon_cpu_math_div_f64(double x, double y, uint32_t mode);
double dragon_cpu_math_fma_f64(double x, double y, double z, uint32_t mode);
double dragon_cpu_math_sqrt_f64(double x, uint32_t mode);
/// The bits of a half.
uint16_t dragon_cpu_math_f32_to_f16(float x, uint32_t mode);
float dragon_cpu_math_i64_to_f32(int64_t x, uint32_t mode);
float dragon_cpu_math_u64_to_f32(uint64_t x, uint32_t mode);
double dragon_cpu_math_i64_to_f64(int64_t x, uint32_t mode);
double dragon_cpu_math_u64_to_f64(uint64_t x, uint32_t mode);
/// PTX fns: the position of the |offset|-th set bit of mask from base on,
/// upwards for positive offsets, downwards for negative ones; ~0 if there is
/// none.
uint32_t dragon_cpu_math_fns(uint32_t mask, uint32_t base, int32_t offset);
/// What clang calls to round to bfloat16, to nearest, where the processor has
/// no instruction for it: compiler-rt has these, libgcc only from 13 on.
__bf16 dragon_cpu_math_f32_to_bf16(float x) __asm__("__truncsfbf2");
__bf16 dragon_cpu_math_f64_to_bf16(double x) __asm__("__truncdfbf2");
}

#endif // DRAGON_RUNTIME_DEVICE_CPU_KERNELS_DEVICEMATH_H
