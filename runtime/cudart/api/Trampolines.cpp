//===- Trampolines.cpp - the calls that are NVIDIA's ----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Forwarded.def lists the exports of NVIDIA's libcudart that this library does
// not implement. Each becomes a few instructions that know only its name: they
// ask dragonForwardTarget where to go, with the caller's arguments untouched,
// whatever their types are, and jump there. On a GPU that is the function of
// the same name, on the cpu device one that says "not supported".
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/front/Forward.h"
#include "runtime/cudart/front/Front.h"
#include "runtime/cudart/modules/Module.h"

#include <cuda_runtime_api.h>

#if !defined(__x86_64__)
#error "the trampolines are written for x86-64"
#endif

using namespace dragon;

namespace {

enum Kind : uint64_t {
  Plain = 0,  ///< works on no memory of the program
  Memory = 1, ///< works, or lets work, on device memory that we manage
};

struct Entry {
  const char *name;
  uint64_t kind;
};

cudaError_t fails(cudaError_t error) { return leave(error); }
cudaError_t failsNotSupported() { return fails(cudaErrorNotSupported); }
cudaError_t failsInitialization() {
  return fails(cudaErrorInitializationError);
}
cudaError_t failsMemory() { return fails(cudaErrorMemoryAllocation); }
cudaError_t failsLoading() { return fails(cudaErrorSharedObjectInitFailed); }
cudaError_t failsSticky() { return fails(stickyError()); }
cudaError_t failsUnloading() { return fails(cudaErrorCudartUnloading); }

void *address(cudaError_t (*function)()) {
  return reinterpret_cast<void *>(function);
}

} // namespace

extern "C" __attribute__((used, visibility("hidden"))) void *
dragonForwardTarget(const Entry *entry) {
  Front *front;
  switch (Front::enter(front)) {
  case cudaSuccess:
    break;
  case cudaErrorInitializationError:
    return address(failsInitialization);
  case cudaErrorCudartUnloading:
    return address(failsUnloading);
  default:
    return address(stickyError() ? failsSticky : failsInitialization);
  }
  if (!front->gpu) {
    printErrorOnce(
        fmt::format("{} is not supported on the cpu device", entry->name));
    return address(failsNotSupported);
  }
  // What the other side looks up by symbol it must have been told of.
  if (modules().initialise(*front).error() != cudaSuccess)
    return address(failsLoading);
  if (entry->kind == Memory && keepAllResident(*front).error() != cudaSuccess)
    return address(failsMemory);
  void *function = nvidiaFunction(entry->name);
  return function ? function : address(failsLoading);
}

// All registers that may hold arguments are kept: six integers, eight vectors
// (no call of the API has wider ones), and al, the number of vectors of a
// variadic call. The stack is 16-byte aligned at the inner call.
asm(R"(
  .text
  .p2align 4
  .type dragonForward, @function
dragonForward:
  .cfi_startproc
  pushq %rbp
  .cfi_adjust_cfa_offset 8
  movq %rsp, %rbp
  pushq %rdi
  pushq %rsi
  pushq %rdx
  pushq %rcx
  pushq %r8
  pushq %r9
  pushq %rax
  andq $-16, %rsp
  subq $128, %rsp
  .cfi_def_cfa %rbp, 16
  movaps %xmm0, 0(%rsp)
  movaps %xmm1, 16(%rsp)
  movaps %xmm2, 32(%rsp)
  movaps %xmm3, 48(%rsp)
  movaps %xmm4, 64(%rsp)
  movaps %xmm5, 80(%rsp)
  movaps %xmm6, 96(%rsp)
  movaps %xmm7, 112(%rsp)
  movq %r11, %rdi
  call dragonForwardTarget
  movq %rax, %r11
  movaps 0(%rsp), %xmm0
  movaps 16(%rsp), %xmm1
  movaps 32(%rsp), %xmm2
  movaps 48(%rsp), %xmm3
  movaps 64(%rsp), %xmm4
  movaps 80(%rsp), %xmm5
  movaps 96(%rsp), %xmm6
  movaps 112(%rsp), %xmm7
  movq -8(%rbp), %rdi
  movq -16(%rbp), %rsi
  movq -24(%rbp), %rdx
  movq -32(%rbp), %rcx
  movq -40(%rbp), %r8
  movq -48(%rbp), %r9
  movq -56(%rbp), %rax
  movq %rbp, %rsp
  popq %rbp
  .cfi_def_cfa %rsp, 8
  jmpq *%r11
  .cfi_endproc
  .size dragonForward, .-dragonForward
)");

#define DRAGON_FORWARD(name, kind)                                             \
  asm(".section .rodata.str1.1,\"aMS\",@progbits,1\n"                          \
      ".Ldragon_name_" #name ": .asciz \"" #name "\"\n"                        \
      ".section .data.rel.ro,\"aw\",@progbits\n"                               \
      ".p2align 3\n"                                                           \
      ".Ldragon_entry_" #name ": .quad .Ldragon_name_" #name ", " #kind "\n"   \
      ".text\n"                                                                \
      ".globl " #name "\n"                                                     \
      ".type " #name ", @function\n"                                           \
      ".p2align 4\n" #name ":\n"                                               \
      ".cfi_startproc\n"                                                       \
      "endbr64\n"                                                              \
      "leaq .Ldragon_entry_" #name "(%rip), %r11\n"                            \
      "jmp dragonForward\n"                                                    \
      ".cfi_endproc\n"                                                         \
      ".size " #name ", .-" #name "\n");
#include "runtime/cudart/api/Forwarded.def"
