//===- KernelSummary.h - what a kernel may touch, as plain data -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel-summary ABI: the only thing that the compiler and the runtime
// share. The device pass writes one summary blob per translation unit, the
// host pass embeds it in the object, the runtime evaluates it at each launch.
//
// A blob is position independent plain data, little endian, 8-byte aligned:
//
//   SummaryHeader | KernelRecord[] | PointerRecord[] | AccessRecord[] |
//   GuardRecord[] | ExprNode[] | string table
//
// Records refer to each other by index into the arrays, to strings by byte
// offset into the string table (zero terminated).
//
// Index expressions are a DAG of ExprNodes: nodes refer only to nodes with a
// smaller index. Leaves are constants, scalar kernel arguments, launch
// dimensions (constant during a launch) and *variables*, which range over an
// interval: block and thread indices and loop counters. An example, for
//
//   __global__ void scale(float *a, int n) {
//     int i = blockIdx.x * blockDim.x + threadIdx.x;
//     if (i < n) a[i] = 2 * a[i];
//   }
//
// 'a' has a read and a write of 4 bytes at offset 4*sext64(i) with the guard
// i < n (signed), exact in both: may-footprint and must-write of the blocks
// [lo, hi) are bytes [4*lo*blockDim, min(4*hi*blockDim, 4*n)). The read comes
// first, so must-write is void; without the read it is the same range.
//
// Everything is an over-approximation of what may be touched, and an
// under-approximation of what is surely written: a record that is missing, a
// node that cannot be evaluated or arithmetic that may overflow widens a
// may-footprint to the whole buffer and empties a must-write.
//
// The idea of ranges per pointer parameter is that of LLVM's
// StackSafetyAnalysis; evaluating them for a part of a grid is what DREAM and
// HHRT ask the programmer for.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_KERNELSUMMARY_H
#define DRAGON_KERNELSUMMARY_H

#include <cstdint>

namespace dragon {

constexpr uint32_t SummaryMagic = 0x47415244; // "DRAG"
constexpr uint32_t SummaryVersion = 9;
constexpr uint32_t NoIndex = 0xffffffffu;
/// In front of a kernel's symbol: its copy for KernelHasRestrictCopy.
constexpr char RestrictPrefix[] = "__dragon_restrict_";
/// In front of a kernel's symbol: its slice clone.
constexpr char SlicePrefix[] = "__dragon_slice_";

/// What a kernel does through one pointer. Any = nothing is known: may read
/// and write all of every buffer that the pointer can reach.
enum class AccessMode : uint8_t { None, Read, Write, ReadWrite, Any };

/// How the accesses of a pointer are laid out, for the choice of placement.
enum class AccessPattern : uint8_t {
  Unknown,
  Streaming, ///< each byte once, neighbouring threads touch neighbouring bytes
  Reused,    ///< affine, the same bytes by several threads or iterations
  Strided,   ///< affine, with gaps between neighbouring threads
  Indirect   ///< the address depends on loaded data
};

enum class ExprOp : uint8_t {
  // Leaves. Constant during a launch:
  Const,    ///< Imm
  Arg,      ///< scalar argument: A = argument index, Imm = byte offset in it,
            ///< Bits = its width (value sign-extended to 64 bits)
  BlockDim, ///< Imm = 0, 1, 2 for x, y, z
  GridDim,  ///< Imm = dimension; of the whole launch, not of a slice
  // Variables:
  BlockIdx,  ///< Imm = dimension; ranges over the box
  ThreadIdx, ///< Imm = dimension; 0 .. BlockDim-1
  Loop,      ///< a loop counter 0 .. A, A = node with the backedge-taken count,
             ///< NoIndex = unknown (a guard may bound it);
             ///< Imm = a number unique to the loop within the kernel
  Opaque,    ///< any value in [A, B] (nodes); NoIndex = unbounded on that side
  // Arithmetic on Bits-wide two's complement values (A, B = operands):
  Add,
  Sub,
  Mul,
  SDiv,
  UDiv,
  SRem,
  URem,
  SMin,
  SMax,
  UMin,
  UMax,
  Shl,
  LShr,
  AShr,
  And,
  Or,
  Xor,
  SExt,    ///< A, from node A's Bits to Bits
  ZExt,    ///< A
  Trunc,   ///< A
  Unknown, ///< nothing is known of the value
  /// A variable that a loop carries along: A before the loop, and after each
  /// iteration B, in which node C (an Opaque without bounds, of no other use)
  /// stands for the value of that iteration.
  Carried,
  /// What lies in device memory at the address A (of 64 bits) where the thread
  /// looks: an integer of Bits (8, 16, 32, 64). Imm: a number unique to the
  /// load, since another load of the same address may find something else.
  Loaded
};

/// NoWrap bits in ExprNode::Flags: the compiler proved that the operation
/// does not overflow (nsw, nuw). Without them the evaluator checks.
enum ExprFlags : uint8_t { NoSignedWrap = 1, NoUnsignedWrap = 2 };

struct ExprNode {
  ExprOp Op;
  uint8_t Bits; ///< width of the result: 1 .. 64
  uint8_t Flags;
  uint8_t Reserved;
  uint32_t A;
  uint32_t B;
  uint32_t C; ///< of Carried; 0 elsewhere
  int64_t Imm;
};

enum class GuardPred : uint8_t { EQ, NE, SLT, SLE, ULT, ULE };

/// The access happens only where `Lhs Pred Rhs` (nodes of equal width) holds.
/// Guards stand in the order in which they are tested.
struct GuardRecord {
  uint32_t Lhs;
  uint32_t Rhs;
  /// A Loop node whose counter advances only while this guard holds, so that
  /// the guard bounds the counter; NoIndex for any other condition.
  uint32_t Loop;
  GuardPred Pred;
  uint8_t Reserved[3];
};

enum AccessFlags : uint8_t {
  AccessRead = 1,
  AccessWrite = 2,
  AccessAtomic = 4, ///< an atomic read-modify-write (with Read and Write set)
  /// Each thread of each block performs the access exactly for those values of
  /// the variables that satisfy all guards: no other condition, early exit or
  /// unknown loop stands in front of it. Needed for must-write.
  AccessExact = 8,
  /// Offset is unknown: the whole buffer.
  AccessUnbounded = 16,
  /// The address depends on loaded data (recognised as indirect).
  AccessIndirect = 32,
  /// Whether the access happens depends on loaded data (recognised as such).
  AccessConditional = 64,
  /// Such a condition is not among the guards.
  AccessUnsaid = 128,
};

/// With which iterations an access happens of the loop that the kernel can be
/// cut along (KernelRecord::LoopName).
enum class LoopPlace : uint8_t {
  Any,   ///< with some of them, or in front of each range of them
  First, ///< in front of the loop
  Last,  ///< behind it, and behind those that follow it
};

/// A kernel can be cut along so many loops, one after the other.
constexpr uint32_t MaxLoops = 4;

/// One load, store or atomic (or several merged into one) through a pointer:
/// bytes [Offset, Offset + Width) from the pointer's value.
struct AccessRecord {
  uint32_t Offset; ///< node (64 bits, bytes, signed)
  uint32_t Width;  ///< bytes, > 0
  uint32_t FirstGuard;
  uint16_t NumGuards; ///< all must hold
  uint8_t Flags;      ///< AccessFlags
  LoopPlace Place;
  /// It happens with, or in front of, these of KernelRecord::LoopNumbers.
  uint8_t FirstLoop, LastLoop;
  uint8_t Reserved[2];
};

enum PointerFlags : uint8_t {
  /// The pointer is returned or passed where nobody can see: what is reachable
  /// through it, and through memory, may be touched in any way.
  PointerEscapes = 1,
  /// Some write through this pointer may be preceded by a read of the same
  /// bytes (by any thread of the launch): only what no thread of the launch
  /// may read is must-write.
  PointerReadBeforeWrite = 2,
  /// The pointer is stored in memory: later calls may reach the buffer without
  /// it. This launch touches no more than its accesses say: a kernel that
  /// follows pointers from memory is KernelTouchesAnything.
  PointerKept = 4,
};

/// A pointer among the kernel's parameters: a whole parameter, or a field of a
/// structure passed by value.
struct PointerRecord {
  uint32_t ArgIndex;
  uint32_t ByteOffset; ///< within the argument; 0 for a plain pointer
  uint32_t Name;       ///< string offset; 0 = unnamed
  uint32_t FirstAccess;
  uint32_t NumAccesses;
  AccessMode Mode;
  AccessPattern Pattern;
  uint8_t Flags; ///< PointerFlags
  uint8_t Reserved;
};

enum KernelFlags : uint32_t {
  /// The kernel may reach memory through something other than its pointer
  /// parameters: pointers loaded from memory, device globals that hold
  /// pointers, calls into unknown code. Every buffer may be touched.
  KernelTouchesAnything = 1,
  /// The summary was not computed; treat as KernelTouchesAnything.
  KernelUnknown = 2,
  /// Blocks may run in any order and in separate launches.
  KernelSliceable = 4,
  /// A clone `SliceName` takes six trailing unsigned 32-bit arguments: the
  /// block offset x, y, z and the whole grid's dimensions x, y, z.
  KernelHasSliceClone = 8,
  /// Uses barriers or warp intrinsics (the cpu device needs fibers).
  KernelHasBarrier = 16,
  /// Contains device-side printf, assert or trap.
  KernelHasPrintf = 32,
  /// What the kernel does to memory that others see is in the footprints of its
  /// pointers, all of it: no device variables, textures, output or heap. Blocks
  /// of different launches of such kernels may run in any order that keeps each
  /// write of a byte in order with its other accesses.
  KernelActsOnBuffersOnly = 64,
  /// There may be a copy `RestrictPrefix<name>` with the same parameters,
  /// right if no two of its pointers of which it writes through one lead to the
  /// same allocation, and none leads into no allocation.
  KernelHasRestrictCopy = 128,
  /// Of the copy `LoopName`: it keeps dynamic shared memory, too.
  KernelLoopKeepsDynamic = 256,
  /// The copy `LoopName` is right if no two of the kernel's pointers of which
  /// it writes through one lead to the same allocation, and none leads into no
  /// allocation.
  KernelLoopNeedsDistinct = 512,
  /// There may be a copy that fetches pages (Paging.h).
  KernelHasPagedCopy = 1024,
  /// What a launch writes depends on its arguments, its grid and its block
  /// alone: the next one that is the same writes the same bytes.
  KernelFollowsArguments = 2048,
  /// No thread waits in a loop for what another one does to memory, and none
  /// tries again what another one was quicker to do: but for barriers
  /// (KernelHasBarrier) each may end when it likes.
  KernelNeverWaits = 4096,
  /// Its copy that fetches pages is for launches that cannot run otherwise:
  /// blocks go through all of a buffer, a little of each part, in a loop along
  /// which the kernel is not cut.
  KernelFetchesAtLast = 8192,
};

struct KernelRecord {
  uint32_t Name;      ///< device symbol, string offset
  uint32_t SliceName; ///< symbol of the slice clone; 0 = none
  uint32_t Flags;     ///< KernelFlags
  uint32_t NumArgs;
  uint32_t FirstArgSize; ///< index into ArgSizes
  uint32_t FirstPointer;
  uint32_t NumPointers;
  uint32_t WhyNotSliceable; ///< string offset: user-readable reason, 0 = none
  /// Symbol of a copy that counts accesses to global memory; 0 = none. Six
  /// parameters follow those of the kernel:
  ///   uint32_t *counters   counters[(address - base) >> shift] is incremented
  ///   uint64_t base          in front of each access, where it is below
  ///   uint64_t count         counters[count], by a sample of the threads:
  ///   uint32_t shift
  ///   uint32_t blocks      of one in blocks + 1 blocks,
  ///   uint32_t lanes         one in lanes + 1 threads (powers of two less 1)
  uint32_t CountingName;
  /// Symbol of a copy that runs some iterations of one of its loops; 0 = none.
  /// Launched with ascending ranges that cover all iterations, it does what the
  /// kernel does. In code for GPUs its slice clone `__dragon_slice_<LoopName>`
  /// stands for it. Six parameters follow those of the kernel:
  ///   uint8_t *state   what is kept from one range to the next by the blocks
  ///                    [first, first + blocks), counted in x, then y, then z,
  ///                    of which some run: LoopThreadBytes for each
  ///                    thread, up to a multiple of 16; then for each block
  ///                    LoopBlockBytes and, with KernelLoopKeepsDynamic, its
  ///                    dynamic shared memory, up to a multiple of 16. Nothing
  ///                    is read from it in the first range. Aligned to 16 bytes
  ///   uint64_t begin   the range: [begin, end); UINT64_MAX: to the end, and
  ///   uint64_t end     with what comes behind the loop
  ///   uint64_t first
  ///   uint64_t blocks
  ///   uint32_t dynamic bytes of dynamic shared memory
  /// Of several loops the iterations are counted on, each loop's behind those
  /// of the one before; what stands between two is part of the later one's
  /// first iteration. For each of them another parameter follows:
  ///   uint64_t ends[]  where the range ends among its own iterations; 0: it
  ///                    does not get to them; UINT64_MAX: it leaves the loop,
  ///                    or has left it
  /// Loops may be inside of another one, which is walked through in rounds: the
  /// iterations of its loops are counted on from round to round. What is behind
  /// them in a round comes with the last iteration of the round, what is in
  /// front of them with the first one. For each such loop with its loops one
  /// more parameter follows:
  ///   uint64_t rounds[]  the range ends in that round: `ends` are of it; 0,
  ///                      with `ends` that are 0: it does not get there;
  ///                      UINT64_MAX: it leaves the loop around them
  uint32_t LoopName;
  uint32_t NumLoops;
  /// Imm of the Loop nodes that count their iterations.
  uint32_t LoopNumbers[MaxLoops];
  /// One more than the Imm of the Loop node that counts the rounds of the loop
  /// around each of them; 0: there is none. Those of one follow each other.
  uint32_t LoopRounds[MaxLoops];
  uint32_t LoopThreadBytes;
  uint32_t LoopBlockBytes; ///< a multiple of 16
};

/// Sizes are those of the arrays; offsets are bytes from the header.
struct SummaryHeader {
  uint32_t Magic;
  uint32_t Version;
  uint64_t TotalBytes;
  uint32_t NumKernels, KernelsOffset;
  uint32_t NumPointers, PointersOffset;
  uint32_t NumAccesses, AccessesOffset;
  uint32_t NumGuards, GuardsOffset;
  uint32_t NumExprs, ExprsOffset;
  uint32_t NumArgSizes, ArgSizesOffset; ///< uint32_t bytes per kernel argument
  uint32_t StringsBytes, StringsOffset; ///< offset 0 is the empty string
};

} // namespace dragon

#endif // DRAGON_KERNELSUMMARY_H
