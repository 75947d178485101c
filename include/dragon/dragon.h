/*===- dragon.h - GPU memory over storage ------------------------*- C -*-===*\
|*                                                                            *|
|* Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.     *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* The public API, for C11 and C++. Programs compiled by dragon-cc need none  *|
|* of it: the compiler inserts what these calls do. It is for programs that   *|
|* map files themselves, as DRAGON's users did (SC'18, section 3:             *|
|* dragon_map, dragon_sync, dragon_unmap), and for those that know more than  *|
|* a compiler can find out.                                                   *|
|*                                                                            *|
|* Addresses returned here are valid in kernels and on the host: a chunk      *|
|* moves to the side that touches it. Host access during a kernel that        *|
|* touches the same buffer is a race, as with CUDA managed memory without     *|
|* concurrent access. All sizes and offsets are bytes. All functions are      *|
|* thread-safe; calls on one buffer from several threads are serialised.      *|
|* No function aborts the program.                                            *|
|*                                                                            *|
|* The symbols dragon_map and dragon_unmap are those of the SC'18 artifact,   *|
|* which has other parameters (dragon/compat/dragon.h): objects compiled for  *|
|* it find them.                                                              *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/
#ifndef DRAGON_DRAGON_H
#define DRAGON_DRAGON_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Result of a call. DRAGON_OK is 0. */
typedef enum dragon_error {
  DRAGON_OK = 0,
  DRAGON_ERROR_INVALID_ARGUMENT = 1, /**< a bad flag, size, offset or pointer */
  DRAGON_ERROR_FILE = 2,             /**< open, stat, read or write failed */
  DRAGON_ERROR_NO_SPACE = 3,         /**< file system, swap or budget is full */
  DRAGON_ERROR_OUT_OF_MEMORY = 4,    /**< addresses or bookkeeping memory */
  DRAGON_ERROR_FILE_CHANGED = 5, /**< the file shrank or changed while mapped */
  DRAGON_ERROR_DEVICE = 6,       /**< the device reported an error */
  DRAGON_ERROR_NO_DEVICE = 7,    /**< no usable device or driver */
  DRAGON_ERROR_UNSUPPORTED = 8,  /**< not possible with this back end */
  DRAGON_ERROR_SETTING = 9       /**< a DRAGON_ variable is malformed */
} dragon_error;

/** What the program does with a map. At least one of D_READ and D_WRITE for
 *  maps of files. */
enum dragon_flags {
  D_READ = 0x01,    /**< contents come from the file */
  D_WRITE = 0x02,   /**< contents reach the file, at dragon_sync or unmap */
  D_CREATE = 0x04,  /**< create the file; its size becomes offset + size */
  D_VOLATILE = 0x10 /**< intermediate data: never reach the file; without
                         D_READ they start undefined */
};

/** Maps bytes [offset, offset + size) of a file.
 *  @param filename  the file; may be null for D_VOLATILE maps without D_READ
 *  @param size      > 0; with D_READ the file must be at least offset + size
 *                   long; with D_WRITE it is extended to that if shorter
 *  @param offset    >= 0; any alignment (multiples of 4096 are faster)
 *  @param flags     dragon_flags; D_WRITE without D_READ does not read the
 *                   file: bytes that are not written are zero
 *  @param addr      receives the address; untouched on failure
 *  D_READ alone: writes by kernels or the host stay private to the map.
 *  The map keeps the file open. Freed by dragon_unmap. */
dragon_error dragon_map(const char *filename, size_t size, int64_t offset,
                        unsigned flags, void **addr) __asm__("dragon_map_file");

/** Makes what was written to a D_WRITE map durable (fdatasync). Waits for the
 *  work that was issued before. addr is what dragon_map returned. */
dragon_error dragon_sync(void *addr);

/** Syncs a D_WRITE map (unless volatile) and frees the address range. The map
 *  is freed even if the sync fails; the error says what was lost. */
dragon_error dragon_unmap(void *addr) __asm__("dragon_unmap_file");

/** A volatile buffer without a file, accessible from host and device. Freed by
 *  dragon_free. Contents start undefined. */
dragon_error dragon_malloc(size_t size, void **addr);
dragon_error dragon_free(void *addr);

/** Starts to bring [addr, addr + bytes) to the device. A hint: DRAGON_OK also
 *  where there is no room. */
dragon_error dragon_prefetch(const void *addr, size_t bytes);

/** Declares the contents of [addr, addr + bytes) dead: they are undefined until
 *  written again, and are never transferred (UVM Discard, IISWC'22). */
dragon_error dragon_discard(void *addr, size_t bytes);

typedef enum dragon_advice {
  DRAGON_ADVISE_READ_MOSTLY = 1, /**< prefer dropping over writing back */
  DRAGON_ADVISE_KEEP_DEVICE = 2, /**< evict last */
  DRAGON_ADVISE_KEEP_HOST = 3,   /**< leave in host memory, mapped */
  DRAGON_ADVISE_NORMAL = 4
} dragon_advice;
dragon_error dragon_advise(const void *addr, size_t bytes,
                           dragon_advice advice);

/** Bytes moved and avoided since the program started. Grows at the end in
 *  later versions: set `size` to sizeof(dragon_stats_t) before the call. */
/* The program waits for something else than the device (a message, a file, its
   user): until its next launch, other programs that share the device come first
   for its memory (DRAGON_SHARE). Nothing moves before one of them wants it.
   Programs that do not use the device for a second do this by themselves. */
dragon_error dragon_yield(void);

typedef struct dragon_stats_t {
  size_t size;
  uint64_t file_to_host, host_to_device, device_to_host, host_to_file;
  uint64_t swap_in, swap_out; /**< parts of file_to_host and host_to_file */
  uint64_t avoided_read_only, avoided_write_only, avoided_discard,
      avoided_clean, avoided_staging;
  uint64_t launches, sliced_launches, slices, host_mapped_launches;
} dragon_stats_t;
dragon_error dragon_stats(dragon_stats_t *stats);

/** A static string for an error code; for the last failing call of the calling
 *  thread dragon_last_error_message has the details (which file, which value,
 *  what to do). Both are valid until the thread's next dragon call. */
const char *dragon_error_string(dragon_error error);
const char *dragon_last_error_message(void);

#ifdef __cplusplus
}
#endif
#endif /* DRAGON_DRAGON_H */
