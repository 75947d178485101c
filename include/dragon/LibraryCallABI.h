/*===- LibraryCallABI.h - calls around those of libraries --------*- C -*-===*\
|*                                                                            *|
|* Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.     *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* The part of CompilerABI.h for functions that work on device memory by      *|
|* themselves, such as cuBLAS's. Not for users. All functions are             *|
|* thread-safe.                                                               *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/
#ifndef DRAGON_LIBRARYCALLABI_H
#define DRAGON_LIBRARYCALLABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A call in the user's source. Static data. */
typedef struct dragon_library_call {
  const char *function; /* as the user knows it */
  const char *symbol;
  const char *file; /* or null */
  uint32_t line;    /* or 0 */
  uint32_t column;
} dragon_library_call;

enum {
  DRAGON_LIBRARY_NOTHING = 0,
  DRAGON_LIBRARY_READ = 1,
  DRAGON_LIBRARY_WRITE = 2,     /* reads as well, perhaps */
  DRAGON_LIBRARY_OVERWRITE = 3, /* all bytes, before any is read */
  DRAGON_LIBRARY_KEEP = 4,      /* all of the buffer, at any time from now on */
  DRAGON_LIBRARY_ARRAY = 5,     /* see below */
  DRAGON_LIBRARY_PIECES = 6     /* see below */
};

/* In front of a call that has a summary: `count` uses follow, each as
   (const void *pointer, int64_t bytes, uint32_t mode); bytes < 0: unknown.
   (array, number, DRAGON_LIBRARY_ARRAY) says that the next use, which has the
   same pointer, is of what each of so many pointers points to, which lie there
   in device memory; number < 0: unknown, and what can be reached from there
   stays in device memory. Pointers into no buffer are of no interest. The
   buffers are in device memory until the end. The function will work in the
   stream `handle` if `stream` is 1, in any if it is 0. Returns what
   __dragon_library_end is given after the call, or null if the buffers do not
   fit: the call must not be made then, and the error has been told.

   (pieces, 0, DRAGON_LIBRARY_PIECES), a dragon_library_pieces, says that the
   call may be made in pieces. If not all of it fits, the runtime changes
   `begin` and `count` and returns DRAGON_LIBRARY_AGAIN: the caller computes the
   uses for these and asks again. When it has made the call for a piece, it
   asks __dragon_library_next in place of __dragon_library_end. */
void *__dragon_library_begin(const dragon_library_call *call, uint32_t stream,
                             void *handle, uint32_t count, ...);
void __dragon_library_end(void *token);

/* A call along a number of its parameters: in the order in which the last one
   changes soonest. The caller's memory; thread-safe as the call is. */
enum { DRAGON_LIBRARY_MOST_PIECES = 4 };
typedef struct dragon_library_range {
  int64_t begin, count; /* of this piece; at first all: 0 and the parameter */
  /* Not null: pieces with begin > 0 add to what those before have written, by a
     scalar in place of this one, if the library reads it during the call. */
  const void *scalar;
  int64_t cut; /* DRAGON_LIBRARY_CUT_... */
} dragon_library_range;
enum {
  DRAGON_LIBRARY_CUT_FREELY = 0,
  DRAGON_LIBRARY_CUT_NEVER = 1,
  DRAGON_LIBRARY_CUT_LAST = 2 /* if it does not fit otherwise */
};
typedef struct dragon_library_pieces {
  void *plan; /* the runtime's; at first null */
  int64_t ranges;
  dragon_library_range range[DRAGON_LIBRARY_MOST_PIECES];
} dragon_library_pieces;

enum { DRAGON_LIBRARY_AGAIN_NUMBER = 1 };
#define DRAGON_LIBRARY_AGAIN ((void *)DRAGON_LIBRARY_AGAIN_NUMBER)
/* The call for a piece has returned; failed: with an error. Returns 1 if
   `pieces` is the next one now, 0 if there is none. */
uint32_t __dragon_library_next(void *token, dragon_library_pieces *pieces,
                               uint32_t failed);

/* The bytes from a matrix's pointer on that a layout of cublasLt's
   (cublasLtMatrixLayout_t) describes; -1: not known. */
int64_t __dragon_matrix_bytes(const void *layout);
/* cublasLtMatmul, and in its place: makes the call itself, with what is around
   it, in pieces if not all of it fits. `layout...` and `product` are
   cublasLtMatrixLayout_t and cublasLtMatmulDesc_t, which know more than
   parameters tell. */
typedef int dragon_light_matmul(void *handle, const void *product,
                                const void *alpha, const void *a,
                                const void *layoutA, const void *b,
                                const void *layoutB, const void *beta,
                                const void *c, const void *layoutC, void *d,
                                const void *layoutD, const void *algorithm,
                                void *workspace, size_t workspaceBytes,
                                void *stream);
int __dragon_light_matmul(const dragon_library_call *call,
                          dragon_light_matmul *matmul, void *handle,
                          const void *product, const void *alpha, const void *a,
                          const void *layoutA, const void *b,
                          const void *layoutB, const void *beta, const void *c,
                          const void *layoutC, void *d, const void *layoutD,
                          const void *algorithm, void *workspace,
                          size_t workspaceBytes, void *stream);
/* 1 if the bytes of a scalar are all 0 and lie in host memory that is not
   pinned: a library is given no other by its address, unless it reads it during
   the call. */
uint32_t __dragon_host_zero(const void *scalar, uint64_t bytes);

/* In front of a call that has no summary, with its pointers, each as
   (const void *pointer, uint64_t bytes): bytes of the caller's own memory
   there, which may hold pointers, or 0. What can be reached from them stays in
   device memory from now on, unless the function is the program's own or a
   system library's (sure = 0). */
void __dragon_library_unknown(const dragon_library_call *call, uint32_t sure,
                              uint32_t count, ...);

#ifdef __cplusplus
}
#endif
#endif
