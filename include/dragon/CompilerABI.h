/*===- CompilerABI.h - calls that dragon-cc inserts --------------*- C -*-===*\
|*                                                                            *|
|* Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.     *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* What compiled code and the runtime (libdragonrt) agree on besides the      *|
|* kernel summary: the module descriptor of a translation unit, the entry of  *|
|* a kernel lowered to the host processor, and the entry points behind the    *|
|* directives. Not for users: dragon.h is. All functions are thread-safe.     *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/
#ifndef DRAGON_COMPILERABI_H
#define DRAGON_COMPILERABI_H

#include "dragon/LibraryCallABI.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* -- Kernels on the host processor ---------------------------------------- */

/* What a running thread of a kernel sees of its launch. One per block being
   run; `tid` changes as threads are run. Laid out for the lowering pass, which
   addresses fields by the offsets checked in runtime/device/cpu. */
typedef struct dragon_cpu_context {
  uint32_t tid[3];
  uint32_t ctaid[3];
  uint32_t ntid[3];
  uint32_t nctaid[3];
  void *shared; /* static shared memory, then dynamic; 128-byte aligned */
  uint32_t
      static_bytes; /* where dynamic shared memory begins (rounded to 128) */
  uint32_t dynamic_bytes;
  void *block;  /* the runtime's own state of the block: barriers, warps */
  void *thread; /* the runtime's own state of the running thread, or null */
  void *grid;   /* in a cooperative launch, 16 bytes that all blocks share and
                   that begin with zeros (%envreg1 and 2); else null */
} dragon_cpu_context;

/* Kernels in which no thread waits for others, or that take care of it: runs
   all threads of the block ctx->ctaid (sets ctx->tid itself). Others: runs the
   one thread ctx->tid, on a fiber; calls dragon_cpu_barrier and friends to let
   the others run. args[i] points at argument i. */
typedef void (*dragon_cpu_entry)(dragon_cpu_context *ctx, void *const *args);

enum {
  DRAGON_CPU_NEEDS_FIBERS = 1,
  DRAGON_CPU_TRACED = 2, /* calls dragon_cpu_access */
  /* Above this bit: the most threads that a block may have
     (__launch_bounds__), or 0. */
  DRAGON_CPU_MAX_THREADS_SHIFT = 16
};

typedef struct dragon_cpu_kernel {
  const char *name; /* device symbol */
  dragon_cpu_entry entry;
  uint32_t flags;
  uint32_t static_shared_bytes;
} dragon_cpu_kernel;

/* A __device__ or __constant__ variable and its storage on the host. */
typedef struct dragon_cpu_variable {
  const char *name; /* device symbol */
  void *address;
  uint64_t bytes;
} dragon_cpu_variable;

/* The lowered module defines one, named dragon_cpu_module_<module id>. */
typedef struct dragon_cpu_module {
  uint32_t version; /* DRAGON_CPU_MODULE_VERSION */
  uint32_t num_kernels;
  const dragon_cpu_kernel *kernels;
  uint64_t num_variables;
  const dragon_cpu_variable *variables;
  /* What the code is for: "x86-64-v3", or null for any processor of the
     architecture. Kernels must not run where dragon_cpu_runs_on is 0. */
  const char *processor;
  /* That of the GPU whose code it stands for, as 90; 0: not known. */
  uint64_t architecture;
} dragon_cpu_module;
enum { DRAGON_CPU_MODULE_VERSION = 3 };

/* Called by lowered code. `kind`: 0 plain, 1 popc, 2 and, 3 or. Returns the
   reduction of `predicate` over the block (0 for plain). All threads of the
   block that have not exited take part. */
uint32_t dragon_cpu_barrier(dragon_cpu_context *ctx, uint32_t kind,
                            uint32_t predicate);
/* Named barriers (bar.sync id, count): count 0 means all threads. */
void dragon_cpu_named_barrier(dragon_cpu_context *ctx, uint32_t id,
                              uint32_t count);
/* bar.arrive id, count: counts as `arrived` without waiting. */
void dragon_cpu_named_arrive(dragon_cpu_context *ctx, uint32_t id,
                             uint32_t count);
/* Lanes of `mask` meet. */
void dragon_cpu_warp_sync(dragon_cpu_context *ctx, uint32_t mask);
enum {
  DRAGON_SHFL_IDX = 0,
  DRAGON_SHFL_UP = 1,
  DRAGON_SHFL_DOWN = 2,
  DRAGON_SHFL_BFLY = 3
};
/* PTX shfl.sync on 32 bits; *in_range (may be null) is its predicate. */
uint32_t dragon_cpu_shuffle(dragon_cpu_context *ctx, uint32_t mode,
                            uint32_t mask, uint32_t value, uint32_t lane,
                            uint32_t clamp, uint32_t *in_range);
enum {
  DRAGON_VOTE_ALL = 0,
  DRAGON_VOTE_ANY = 1,
  DRAGON_VOTE_UNI = 2,
  DRAGON_VOTE_BALLOT = 3
};
uint32_t dragon_cpu_vote(dragon_cpu_context *ctx, uint32_t mode, uint32_t mask,
                         uint32_t predicate);
/* match.any (all = 0) and match.all (all = 1, *matched may be null). */
uint32_t dragon_cpu_match(dragon_cpu_context *ctx, uint32_t mask,
                          uint64_t value, uint32_t all, uint32_t *matched);
enum {
  DRAGON_REDUX_ADD = 0,
  DRAGON_REDUX_MIN = 1,
  DRAGON_REDUX_MAX = 2,
  DRAGON_REDUX_UMIN = 3,
  DRAGON_REDUX_UMAX = 4,
  DRAGON_REDUX_AND = 5,
  DRAGON_REDUX_OR = 6,
  DRAGON_REDUX_XOR = 7
};
uint32_t dragon_cpu_redux(dragon_cpu_context *ctx, uint32_t op, uint32_t mask,
                          uint32_t value);
uint32_t dragon_cpu_activemask(dragon_cpu_context *ctx);
/* Lets other threads of the block run, if there are fibers; other threads of
   the processor have their turn anyway. In loops that wait for memory to change
   (`waits` = 1: only another thread can end the loop) and for nanosleep. */
void dragon_cpu_yield(dragon_cpu_context *ctx, uint32_t waits);
/* CUDA's vprintf: arguments packed with their natural alignment. */
int32_t dragon_cpu_vprintf(dragon_cpu_context *ctx, const char *format,
                           const void *arguments);
/* These end the thread, with and without fibers, and the first three the launch
   with an error: they do not return. */
void dragon_cpu_assert_fail(dragon_cpu_context *ctx, const char *message,
                            const char *file, uint32_t line,
                            const char *function);
void dragon_cpu_trap(dragon_cpu_context *ctx);
/* The thread reached code that cannot run on the host processor; `what` says
   which construct, where and in which kernel. */
void dragon_cpu_unsupported(dragon_cpu_context *ctx, const char *what);
/* The thread ends here (PTX exit). Called only by kernels on fibers. */
void dragon_cpu_exit_thread(dragon_cpu_context *ctx);
/* Memory for what a thread of a kernel without fibers keeps from barrier to
   barrier: `bytes`, aligned to 64, the same for all threads of the block, of
   which this is number `thread` (0 is the first one to ask). It lasts as long
   as the block. */
void *dragon_cpu_frame(uint32_t thread, uint64_t bytes);
/* The context of the running thread, where no hidden argument reaches. */
dragon_cpu_context *dragon_cpu_current(void);
/* Device-side malloc and free. */
void *dragon_cpu_malloc(uint64_t bytes);
void dragon_cpu_free(void *pointer);
/* 1 if this machine runs code for `processor` (see dragon_cpu_module). */
int dragon_cpu_runs_on(const char *processor);
/* Called by kernels compiled with -fdragon-trace-accesses in front of each
   access to memory that may be global; atomic operations do both. */
enum { DRAGON_CPU_READ = 1, DRAGON_CPU_WRITE = 2 };
void dragon_cpu_access(const void *address, uint64_t bytes, uint32_t kind);
/* A texture's texel, four words: floats, or integers if the texture is read as
   such. at[0..2]: x, y, z, floats unless DRAGON_TEXTURE_INTEGER; at[3]: the
   layer; from at[4] on the level (a float), or the gradients by x and y. */
enum {
  DRAGON_TEXTURE_DIMENSIONS = 7, /* 1 to 3, or */
  DRAGON_TEXTURE_CUBE = 4,
  DRAGON_TEXTURE_LAYERED = 8,
  DRAGON_TEXTURE_INTEGER = 16,
  DRAGON_TEXTURE_LEVEL = 32,
  DRAGON_TEXTURE_GRADIENTS = 64,
  /* One component (shifted by 8) of the four texels around. */
  DRAGON_TEXTURE_GATHER = 128,
  DRAGON_TEXTURE_COMPONENT_SHIFT = 8
};
void dragon_cpu_texture(uint64_t object, uint32_t kind, const uint32_t *at,
                        uint32_t *texel);
/* Reads or writes `bytes` of a surface at byte at[0] of row at[1] of plane
   at[2], layer at[3]; kind: as above, and what happens outside. */
enum {
  DRAGON_SURFACE_STORE = 16,
  DRAGON_SURFACE_CLAMP = 32,
  DRAGON_SURFACE_ZERO = 64 /* neither: the kernel fails */
};
void dragon_cpu_surface(uint64_t object, uint32_t kind, const int32_t *at,
                        uint32_t bytes, void *data);
/* Products of matrices by a warp (wmma). A lane's fragment holds elements lane,
   lane + 32, ... of the matrix, row by row, and then the same again up to the
   length that it has on a GPU (`slots` elements). */
enum {
  DRAGON_MATRIX_F16 = 0,
  DRAGON_MATRIX_F32 = 1, /* tf32 as well */
  DRAGON_MATRIX_F64 = 2,
  DRAGON_MATRIX_BF16 = 3,
  DRAGON_MATRIX_S8 = 4,
  DRAGON_MATRIX_U8 = 5,
  DRAGON_MATRIX_S32 = 6
};
/* shape: rows | columns << 8 | slots << 16 | column by column << 24; `stride`
   elements from one row (or column) in memory to the next. */
void dragon_cpu_matrix_load(dragon_cpu_context *ctx, uint32_t shape,
                            uint32_t type, const void *from, uint32_t stride,
                            void *fragment);
void dragon_cpu_matrix_store(dragon_cpu_context *ctx, uint32_t shape,
                             uint32_t type, void *to, uint32_t stride,
                             const void *fragment);
/* d = a * b + c. shape: m | n << 8 | k << 16; types: of a and b, of c << 4, of
   d << 8; 1 << 12: sums of integers stay in their range. */
void dragon_cpu_matrix_multiply(dragon_cpu_context *ctx, uint32_t shape,
                                uint32_t types, const void *a, const void *b,
                                const void *c, void *d);
uint64_t dragon_cpu_clock(void);       /* ticks, for clock() and clock64() */
uint64_t dragon_cpu_globaltimer(void); /* nanoseconds */

/* -- Modules -------------------------------------------------------------- */

typedef struct dragon_module {
  uint32_t version; /* DRAGON_MODULE_VERSION */
  uint32_t reserved;
  const void *fatbin_wrapper; /* what __cudaRegisterFatBinary is given */
  const void *summary;        /* SummaryHeader */
  uint64_t summary_bytes;
  const dragon_cpu_module *cpu; /* null: built without the cpu target */
  const char *source;           /* the translation unit, for messages */
} dragon_module;
enum { DRAGON_MODULE_VERSION = 12 };

/* Called by a constructor of the translation unit, before its fat binary is
   registered. The descriptor stays valid until it is unregistered. */
void __dragon_register_module(const dragon_module *module);

/* -- Directives ----------------------------------------------------------- */

/* A place in the user's source. Static data; any field may be null or 0. */
typedef struct dragon_source {
  const char *buffer; /* "d_A" */
  const char *file;
  uint32_t line;
  uint32_t column;
} dragon_source;

/* A decision of the compiler: the remark that tells of it, as "Discarded", and
   what buffer and line of the source it is about. Static data. */
typedef struct dragon_reason {
  const char *remark;
  dragon_source where;
} dragon_reason;

/* Why the calling thread makes the call of the runtime that follows. Only in
   programs that were compiled with -fdragon-trace-accesses, for DRAGON_CHECK.
 */
void __dragon_because(const dragon_reason *reason);
/* Host code at that line is about to access [memory, memory + bytes); `kind` is
   that of dragon_cpu_access. Only there, too, in units with staging twins. */
void __dragon_host_access(const void *memory, uint64_t bytes, uint32_t kind,
                          const char *file, uint32_t line);

/* cudaMalloc with what the compiler knows: `flags` are those of dragon_map
   (D_READ, D_WRITE, D_VOLATILE), and whether the host may access the buffer, as
   if cudaMallocManaged had made it. Returns a cudaError_t. */
enum { DRAGON_HOST_ACCESS = 0x100 };
int __dragon_malloc(void **pointer, size_t bytes, uint32_t flags,
                    const dragon_source *where);

/* The contents of [pointer, pointer + bytes) are dead: the next access on
   every path overwrites them all, or they are freed. Never fails; ranges that
   are no device buffer are ignored. In the order of `stream` (a cudaStream_t;
   null = the legacy default stream). bytes = SIZE_MAX: to the buffer's end. */
void __dragon_discard(const void *pointer, size_t bytes, void *stream);

/* The same if `condition` is not 0: the product of the tests below for all the
   launches that may be the first to touch the contents again. */
void __dragon_discard_if(int condition, const void *pointer, size_t bytes,
                         void *stream);

/* The launch that the calling thread makes next is the last to need the
   contents of [pointer, pointer + bytes): a discard after it, but one that lets
   each part die with the slice of the launch that used it last. Only if
   `condition` is not 0, as above. bytes = SIZE_MAX: to the buffer's end. */
void __dragon_last_use(int condition, const void *pointer, size_t bytes);

/* The same for contents whose memory is not used again soon: on the device, on
   the host and in swap it is free as soon as queued work is done with it. */
void __dragon_discard_eagerly(const void *pointer, size_t bytes, void *stream);
void __dragon_last_use_eagerly(int condition, const void *pointer,
                               size_t bytes);

/* The launch that the calling thread makes next is followed, on the likeliest
   path, by another one in the same stream, with nothing in between that waits
   for the device or takes long: the runtime may keep it back and run both
   together, slice by slice. A hint, for one launch. */
void __dragon_launch_follows(void);

/* How many bytes from the beginning of the buffer at `pointer` a launch of the
   kernel (its host stub) with this grid and block (x and y in the lower and
   upper half of a word, as in __cudaPushCallConfiguration) and these arguments
   (as in cudaLaunchKernel) would surely overwrite before any read: the bytes of
   a discard in front of it, if it is the next to touch the buffer. SIZE_MAX:
   all. 0 as well if that is not known, or if nothing is out of core, so that it
   makes no difference. Arguments that the answer does not depend on may be
   zero, pointers to other buffers must be. */
uint64_t __dragon_overwritten(const void *kernel, uint64_t grid_xy,
                              uint32_t grid_z, uint64_t block_xy,
                              uint32_t block_z, void **args,
                              const void *pointer);

/* The device needs the contents of the buffer at `pointer` again after
   `launches` other launches: 0, by the next one (what fits comes to the device
   now); UINT32_MAX, never (but the host does). On the likeliest path; a hint.
 */
void __dragon_next_use(const void *pointer, uint32_t launches);

/* 1 if no launch of the kernel (its host stub) with this block and with a grid
   of at most this size reads anything below the pointer that it is given
   `field` bytes into its argument number `argument`; 0 if one may, if that is
   not known, or if nothing is out of core. args as above, but null for
   arguments that may have any value. A kernel that asks for the size of its
   grid must be given exactly this grid. */
int __dragon_reads_upwards(const void *kernel, uint64_t grid_xy,
                           uint32_t grid_z, uint64_t block_xy, uint32_t block_z,
                           void **args, uint32_t argument, uint32_t field);

/* The contents of [pointer, pointer + bytes) will be written to `file` at its
   present position by the next write to it, nobody looks at the file before,
   and the contents are dead after: evicted chunks may go to their place in the
   file, and need not be kept once the write has happened. A hint. */
void __dragon_will_fwrite(const void *pointer, size_t bytes, FILE *file);
void __dragon_will_write(const void *pointer, size_t bytes, int fd);
void __dragon_will_pwrite(const void *pointer, size_t bytes, int fd,
                          int64_t offset);

/* The same of a file that __dragon_fopen is yet to make: the write will be at
   its beginning. The path is only compared with that of the later call: it may
   be another one, and the pointer need not lead to a string. */
void __dragon_will_create(const void *pointer, size_t bytes, const char *path);
/* fopen(path, "w") or "wb". */
FILE *__dragon_fopen(const char *path, const char *mode);

/* The program may use the file on a path that does not come to the write which
   was announced for [pointer, pointer + bytes): the file is what the program
   made of it from now on. `dead`: nobody needs the contents. */
void __dragon_sink_ends(const void *pointer, size_t bytes, int dead);

/* -- Programs in MLIR ------------------------------------------------------ */

/* Operations have no error codes: if that of the call is none, prints what
   failed and where, and ends the program with 1. The first is for functions of
   the CUDA runtime API, the second for those of dragon.h. */
void __dragon_require_cuda(int error, const char *function,
                           const dragon_source *where);
void __dragon_require(int error, const char *function,
                      const dragon_source *where);

/* Waits for the stream if the host may look at the memory at `pointer`, which a
   launch, fill or copy in it may have changed: all but what cudaMalloc gives.
   Returns a cudaError_t. */
int __dragon_wait_if_visible(const void *pointer, void *stream);

/* cudaMemsetAsync with a value of `width` bytes, at `value`. */
int __dragon_fill(void *to, const void *value, size_t width, size_t count,
                  void *stream);

/* cudaHostRegister and cudaHostUnregister for the buffer of an unranked memref:
   `descriptor` holds two pointers, an offset, sizes and strides. */
int __dragon_host_register(int64_t rank, const void *descriptor,
                           uint64_t element_bytes);
int __dragon_host_unregister(int64_t rank, const void *descriptor,
                             uint64_t element_bytes);

/* -- Staging elision ------------------------------------------------------ */
/* The compiler calls these in place of the calls they are named after, for a
   host buffer (the staging buffer) whose contents nobody looks at but these
   calls. They have the same arguments, results, errno and effect on files and
   positions, and need not move the bytes through the staging buffer. If a call
   cannot be elided (a pipe, a file that the process may write to, an unaligned
   situation), the runtime does what the original would have done. The runtime
   materialises the deferred contents of a staging buffer when something that
   they stem from is about to change. */
size_t __dragon_stage_fread(void *buffer, size_t size, size_t count,
                            FILE *file);
int64_t __dragon_stage_read(int fd, void *buffer, size_t bytes);
int64_t __dragon_stage_pread(int fd, void *buffer, size_t bytes,
                             int64_t offset);
size_t __dragon_stage_fwrite(const void *buffer, size_t size, size_t count,
                             FILE *file);
int64_t __dragon_stage_write(int fd, const void *buffer, size_t bytes);
int64_t __dragon_stage_pwrite(int fd, const void *buffer, size_t bytes,
                              int64_t offset);
/* cudaMemcpy with one side in the staging buffer; kind as in cudaMemcpy. */
int __dragon_stage_memcpy(void *to, const void *from, size_t bytes, int kind);
int __dragon_stage_memcpy_async(void *to, const void *from, size_t bytes,
                                int kind, void *stream);
/* The staging buffer [buffer, buffer + bytes) is about to be freed or its
   contents are dead: what was deferred for it is forgotten.
   bytes = SIZE_MAX: all that was deferred at or above buffer in one piece. */
void __dragon_stage_forget(const void *buffer, size_t bytes);
/* Makes [buffer, buffer + bytes) what it would be without elision. */
void __dragon_stage_materialise(const void *buffer, size_t bytes);

/* -- Copies of nothing ----------------------------------------------------- */
/* In place of cudaMemcpy and cudaMemcpyAsync to the device, with their
   arguments and results, where nothing has been written to the memory at `from`
   since it was allocated: they fill [to, to + bytes) with zeros. */
int __dragon_zero_memcpy(void *to, const void *from, size_t bytes, int kind);
int __dragon_zero_memcpy_async(void *to, const void *from, size_t bytes,
                               int kind, void *stream);

/* -- Deferred copies ------------------------------------------------------- */
/* In place of cudaMemcpy and cudaMemcpyAsync to the device, with their
   arguments and results, where all that can change or free the memory at `from`
   comes after a call of the last function: the bytes may be fetched when
   kernels need them, and more than once. */
int __dragon_defer_memcpy(void *to, const void *from, size_t bytes, int kind);
int __dragon_defer_memcpy_async(void *to, const void *from, size_t bytes,
                                int kind, void *stream);
/* [memory, memory + bytes) is about to be changed or freed: what deferred
   copies need of it is copied now, and no results come there any more. Null and
   0 bytes are no memory. */
void __dragon_settle(const void *memory, size_t bytes);
/* The contents of the device buffer [pointer, pointer + bytes) will be copied
   to `to` by the next copy there, and until then, or until that is settled,
   nobody looks at it: evicted chunks may go to their place there. */
void __dragon_will_copy_out(const void *pointer, size_t bytes, void *to);

#ifdef __cplusplus
}
#endif
#endif /* DRAGON_COMPILERABI_H */
