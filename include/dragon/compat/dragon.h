/*===- dragon.h - the API of DRAGON's artifact -------------------*- C -*-===*\
|*                                                                            *|
|* Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.     *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* For programs written for the library that came with DRAGON (Markthub et    *|
|* al., SC'18): its names, on every back end of ours. With this folder in the *|
|* path, -I<prefix>/include/dragon/compat, their `#include <dragon.h>` finds  *|
|* it and they compile unchanged; docs/artifact.md says what is different.    *|
|* New programs use <dragon/dragon.h>, which has offsets and dragon_sync. A   *|
|* source file includes one of the two: functions of both have the same       *|
|* names, but not the same symbols, so a program may have files of each kind. *|
|* Those of this one are the artifact's: its own header does as well.         *|
|*                                                                            *|
|* All functions are thread-safe. What went wrong is said on stderr.          *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/
#ifndef DRAGON_COMPAT_DRAGON_H
#define DRAGON_COMPAT_DRAGON_H

#include <stddef.h>
#include <stdio.h> /* as the artifact's header does: programs rely on it */

#define D_F_READ 0x01       /* contents come from the file */
#define D_F_WRITE 0x02      /* contents reach the file, at dragon_unmap */
#define D_F_CREATE 0x04     /* makes the file, or empties it: `size` zeros */
#define D_F_DONTTRASH 0x08  /* no effect, as there */
#define D_F_VOLATILE 0x10   /* intermediate data: begin as zeros, are dropped */
#define D_F_USEHOSTBUF 0x20 /* only the patched driver heeds it */

typedef enum {
  D_OK = 0,
  D_ERR_FILE,           /* a file cannot be opened, read or written */
  D_ERR_IOCTL,          /* the driver has refused */
  D_ERR_UVM,            /* any other error of the device */
  D_ERR_INTVAL,         /* a bad flag, size or address */
  D_ERR_MEM,            /* no memory, or no space in a file system */
  D_ERR_NOT_IMPLEMENTED /* this back end cannot do it */
} dragonError_t;

#ifndef DRAGON_COMPAT_TYPES_ONLY /* the runtime has both headers */

#ifdef DRAGON_DRAGON_H
#error "include either <dragon/dragon.h> or the artifact's <dragon.h>"
#endif
#define DRAGON_DRAGON_H

#ifdef __cplusplus
extern "C" {
#endif

/* Maps the file's first `size` bytes. */
dragonError_t dragon_map(const char *filename, size_t size,
                         unsigned short flags, void **addr);

/* Waits for the device and gives the map other flags. What was D_F_WRITE is in
 * the file then, and what was D_F_VOLATILE is gone. */
dragonError_t dragon_remap(void *addr, unsigned short flags);

/* Makes what was written to a D_F_WRITE map durable. (Does nothing there.) */
dragonError_t dragon_flush(void *addr);

/* The same, and frees the map. */
dragonError_t dragon_unmap(void *addr);

/* D_ERR_NOT_IMPLEMENTED, as there; DRAGON_NR_RESERVED_PAGES sets the second. */
dragonError_t dragon_trash_set_num_blocks(unsigned long nrblocks);
dragonError_t
dragon_trash_set_num_reserved_sys_cache_pages(unsigned long nrpages);

#ifdef __cplusplus
}
#endif
#endif /* DRAGON_COMPAT_TYPES_ONLY */
#endif /* DRAGON_COMPAT_DRAGON_H */
