// A runtime for rewritten host code that takes the compiler at its word, so that
// a wrong directive changes the result: staging calls move nothing and poison
// the buffer, discards poison device memory, and hints are checked against the
// write that follows. Device memory is host memory; the program under test
// brings its kernels (runKernel).
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void runKernel(const void *stub, void **args);

static void fail(const char *what) {
  fprintf(stderr, "fake runtime: %s\n", what);
  _exit(3);
}

// -- Deferred contents of staging buffers, byte ranges.
struct Range {
  char *begin, *end;
  const char *device; // or null: a file
  int fd;
  long offset;
};
static struct Range Ranges[4096];
static int NumRanges;

static void addRange(struct Range r) {
  if (r.begin == r.end)
    return;
  int slot = 0;
  while (slot < NumRanges && Ranges[slot].begin != Ranges[slot].end)
    ++slot;
  if (slot == 4096)
    fail("too many ranges");
  if (slot == NumRanges)
    ++NumRanges;
  Ranges[slot] = r;
}

// -- Deferred copies: made when something next looks at device memory, or when
// the program is about to change what they copy.
static struct {
  char *to;
  const char *from;
  size_t bytes;
} Copies[64];
static int NumCopies;

static void makeCopies(const char *begin, const char *end) {
  for (int i = 0; i < NumCopies; ++i)
    if (Copies[i].from < end && begin < Copies[i].from + Copies[i].bytes) {
      memcpy(Copies[i].to, Copies[i].from, Copies[i].bytes);
      Copies[i].bytes = 0;
    }
  while (NumCopies && !Copies[NumCopies - 1].bytes)
    --NumCopies;
}

static void makeAllCopies(void) { makeCopies(NULL, (char *)UINTPTR_MAX); }

int __dragon_zero_memcpy(void *to, const void *from, size_t bytes, int kind) {
  (void)from;
  if (kind != 1)
    fail("a copy to the device was expected");
  makeAllCopies(); // what is overwritten comes first
  memset(to, 0, bytes);
  return 0;
}

int __dragon_defer_memcpy(void *to, const void *from, size_t bytes, int kind) {
  if (kind != 1)
    fail("a copy to the device was expected");
  makeAllCopies(); // what is overwritten comes first
  memset(to, 0xCD, bytes);
  Copies[NumCopies].to = to;
  Copies[NumCopies].from = from;
  Copies[NumCopies++].bytes = bytes;
  return 0;
}

// -- Places of results: poisoned until the copy, or until they are settled.
static struct {
  char *to;
  size_t bytes;
} Places[64];
static int NumPlaces;

void __dragon_will_copy_out(const void *device, size_t bytes, void *to) {
  (void)device;
  if (!to)
    return;
  if (NumPlaces == 64)
    fail("too many places");
  Places[NumPlaces].to = to;
  Places[NumPlaces++].bytes = bytes;
  makeCopies(to, (char *)to + bytes);
  memset(to, 0xBC, bytes);
}

static void endPlaces(const char *begin, const char *end) {
  for (int i = 0; i < NumPlaces; ++i)
    if (Places[i].to < end && begin < Places[i].to + Places[i].bytes)
      Places[i--] = Places[--NumPlaces];
}

void __dragon_settle(const void *memory, size_t bytes) {
  makeCopies(memory, (const char *)memory + bytes);
  endPlaces(memory, (const char *)memory + bytes);
}

// Takes [begin, end) out of all ranges; fills it first if asked to.
static void removeRanges(char *begin, char *end, int fill) {
  if (fill)
    makeAllCopies();
  for (int i = 0; i < NumRanges; ++i) {
    struct Range r = Ranges[i];
    char *lo = r.begin > begin ? r.begin : begin;
    char *hi = r.end < end ? r.end : end;
    if (lo >= hi)
      continue;
    if (fill && r.device)
      memcpy(lo, r.device + (lo - r.begin), hi - lo);
    else if (fill &&
             pread(r.fd, lo, hi - lo, r.offset + (lo - r.begin)) != hi - lo)
      fail("file is gone");
    struct Range left = r, right = r;
    left.end = lo;
    right.begin = hi;
    if (right.device)
      right.device += hi - r.begin;
    right.offset += hi - r.begin;
    Ranges[i] = left;
    addRange(right);
  }
}

// The bytes as the program would see them, in memory of its own.
static char *contents(const void *buffer, size_t bytes) {
  makeAllCopies();
  char *copy = malloc(bytes + 1);
  memcpy(copy, buffer, bytes);
  for (int i = 0; i < NumRanges; ++i) {
    struct Range r = Ranges[i];
    const char *begin = buffer, *end = begin + bytes;
    const char *lo = r.begin > begin ? r.begin : begin;
    const char *hi = r.end < end ? r.end : end;
    if (lo >= hi)
      continue;
    if (r.device)
      memcpy(copy + (lo - begin), r.device + (lo - r.begin), hi - lo);
    else if (pread(r.fd, copy + (lo - begin), hi - lo,
                   r.offset + (lo - r.begin)) != hi - lo)
      fail("file is gone");
  }
  return copy;
}

// What stands for device memory is filled before that changes.
static void beforeDeviceChange(void) {
  makeAllCopies();
  for (int i = 0; i < NumRanges; ++i)
    if (Ranges[i].device)
      removeRanges(Ranges[i].begin, Ranges[i].end, 1);
}

static void defer(void *buffer, size_t bytes, struct Range r) {
  r.begin = buffer;
  r.end = r.begin + bytes;
  removeRanges(r.begin, r.end, 0);
  memset(buffer, 0xAB, bytes);
  addRange(r);
}

// -- Hints.
static struct {
  FILE *file;
  const char *device;
  size_t bytes;
} Sinks[64];
static int NumSinks;

void __dragon_will_fwrite(const void *device, size_t bytes, FILE *file) {
  int slot = 0;
  while (slot < NumSinks && Sinks[slot].file)
    ++slot;
  if (slot == 64)
    fail("too many hints");
  if (slot == NumSinks)
    ++NumSinks;
  Sinks[slot].file = file;
  Sinks[slot].device = device;
  Sinks[slot].bytes = bytes;
}

/* Of no file that can be looked at yet. */
void __dragon_will_create(const void *device, size_t bytes, const char *path) {
  (void)device, (void)bytes, (void)path;
}

void __dragon_sink_ends(const void *device, size_t bytes, int dead) {
  (void)bytes, (void)dead;
  for (int i = 0; i < NumSinks; ++i)
    if (Sinks[i].device == device)
      Sinks[i].file = NULL;
}

FILE *__dragon_fopen(const char *path, const char *mode) {
  return fopen(path, mode);
}

static void checkSinks(const char *data, size_t bytes, FILE *file) {
  for (int i = 0; i < NumSinks; ++i) {
    if (Sinks[i].file != file)
      continue;
    if (Sinks[i].bytes != bytes || memcmp(Sinks[i].device, data, bytes))
      fail("another write than was announced");
    Sinks[i].file = NULL;
  }
}

// -- Staging calls.
size_t __dragon_stage_fread(void *buffer, size_t size, size_t count,
                            FILE *file) {
  long at = ftell(file);
  fseek(file, 0, SEEK_END);
  size_t left = ftell(file) - at;
  size_t bytes = size * count < left ? size * count : left;
  fseek(file, at + bytes, SEEK_SET);
  static struct {
    FILE *file;
    int fd;
  } last;
  if (last.file != file) // open files may be closed before they are read
    last.fd = dup(fileno(file));
  last.file = file;
  struct Range r = {NULL, NULL, NULL, last.fd, at};
  defer(buffer, bytes, r);
  return bytes / size;
}

int __dragon_stage_memcpy(void *to, const void *from, size_t bytes, int kind) {
  if (kind == 1) {
    char *data = contents(from, bytes);
    beforeDeviceChange();
    memcpy(to, data, bytes);
    free(data);
    return 0;
  }
  struct Range r = {NULL, NULL, from, -1, 0};
  defer(to, bytes, r);
  return 0;
}

size_t __dragon_stage_fwrite(const void *buffer, size_t size, size_t count,
                             FILE *file) {
  char *data = contents(buffer, size * count);
  checkSinks(data, size * count, file);
  size_t result = fwrite(data, size, count, file);
  free(data);
  return result;
}

void __dragon_stage_forget(const void *buffer, size_t bytes) {
  char *end = bytes == SIZE_MAX ? (char *)UINTPTR_MAX : (char *)buffer + bytes;
  if (bytes == SIZE_MAX) // one piece
    for (int i = 0; i < NumRanges; ++i)
      if (Ranges[i].begin <= (char *)buffer && (char *)buffer < Ranges[i].end)
        end = Ranges[i].end;
  if (end != (char *)UINTPTR_MAX)
    removeRanges((char *)buffer, end, 0);
}

void __dragon_stage_materialise(const void *buffer, size_t bytes) {
  removeRanges((char *)buffer, (char *)buffer + bytes, 1);
}

// -- Device memory.
static struct {
  char *base;
  size_t bytes;
} Allocations[4096];
static int NumAllocations;

int cudaMalloc(void **pointer, size_t bytes) {
  int slot = 0;
  while (slot < NumAllocations && Allocations[slot].base)
    ++slot;
  if (slot == 4096)
    fail("too many allocations");
  if (slot == NumAllocations)
    ++NumAllocations;
  *pointer = Allocations[slot].base = malloc(bytes);
  Allocations[slot].bytes = bytes;
  memset(*pointer, 0xCD, bytes);
  return 0;
}

int __dragon_malloc(void **pointer, size_t bytes, uint32_t flags,
                    const void *where) {
  (void)flags, (void)where;
  return cudaMalloc(pointer, bytes);
}

void __dragon_discard(const void *pointer, size_t bytes, void *stream) {
  makeAllCopies();
  (void)stream;
  if (!pointer) // nothing is dead on this path
    return;
  for (int i = 0; i < NumAllocations; ++i)
    if (Allocations[i].base == pointer) {
      size_t all = Allocations[i].bytes;
      memset(Allocations[i].base, 0xEF, bytes < all ? bytes : all);
      return;
    }
  fail("discard of what is not allocated");
}

int cudaFree(void *pointer) {
  if (!pointer)
    return 0;
  beforeDeviceChange();
  for (int i = 0; i < NumAllocations; ++i)
    if (Allocations[i].base == pointer) {
      Allocations[i].base = NULL;
      memset(pointer, 0xEF, Allocations[i].bytes);
      free(pointer);
      return 0;
    }
  fail("free of what is not allocated");
  return 1;
}

int cudaMemcpy(void *to, const void *from, size_t bytes, int kind) {
  makeAllCopies();
  if (kind != 2)
    beforeDeviceChange();
  memmove(to, from, bytes);
  return 0;
}

int cudaMemset(void *to, int value, size_t bytes) {
  beforeDeviceChange();
  memset(to, value, bytes);
  return 0;
}

int __cudaPushCallConfiguration(unsigned long a, int b, unsigned long c, int d,
                                size_t e, void *f) {
  (void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
  return 0;
}

static struct {
  const void *pointer;
  size_t bytes;
} LastUses[64];
static int NumLastUses;

void __dragon_last_use(int condition, const void *pointer, size_t bytes) {
  if (!condition)
    return;
  if (NumLastUses == 64)
    fail("too many last uses");
  LastUses[NumLastUses].pointer = pointer;
  LastUses[NumLastUses++].bytes = bytes;
}

void __dragon_last_use_eagerly(int condition, const void *pointer,
                               size_t bytes) {
  __dragon_last_use(condition, pointer, bytes);
}

void __dragon_discard_eagerly(const void *pointer, size_t bytes, void *stream) {
  __dragon_discard(pointer, bytes, stream);
}

void __dragon_launch_follows(void) {}

void __dragon_because(const void *reason) { (void)reason; }

void __dragon_next_use(const void *pointer, uint32_t launches) {
  (void)pointer, (void)launches;
}

void __dragon_discard_if(int condition, const void *pointer, size_t bytes,
                         void *stream) {
  if (condition)
    __dragon_discard(pointer, bytes, stream);
}

// Kernels are opaque here: nothing is known to be overwritten.
uint64_t __dragon_overwritten(const void *kernel, uint64_t grid_xy,
                              uint32_t grid_z, uint64_t block_xy,
                              uint32_t block_z, void **args,
                              const void *pointer) {
  (void)kernel, (void)grid_xy, (void)grid_z, (void)block_xy, (void)block_z;
  (void)args, (void)pointer;
  return 0;
}

// Nor that a kernel reads nothing below its pointer.
int __dragon_reads_upwards(const void *kernel, uint64_t grid_xy,
                           uint32_t grid_z, uint64_t block_xy, uint32_t block_z,
                           void **args, uint32_t argument, uint32_t field) {
  (void)kernel, (void)grid_xy, (void)grid_z, (void)block_xy, (void)block_z;
  (void)args, (void)argument, (void)field;
  return 0;
}

int cudaLaunchKernel(const void *stub, void **args) {
  beforeDeviceChange();
  runKernel(stub, args);
  while (NumLastUses--)
    __dragon_discard(LastUses[NumLastUses].pointer,
                     LastUses[NumLastUses].bytes, 0);
  NumLastUses = 0;
  return 0;
}
