//===- ArtifactApi.cpp - the API of DRAGON's artifact ---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What include/dragon/compat/dragon.h declares, in terms of the runtime. The
// artifact's library leaves most to its driver; docs/artifact.md puts the two
// side by side. Like it, this one says on stderr what went wrong, since the API
// has no other place for it.
//
//===----------------------------------------------------------------------===//

#define DRAGON_COMPAT_TYPES_ONLY
#include "dragon/compat/dragon.h"
#include "runtime/cudart/api/ApiCalls.h"
#include "runtime/tier/FileTier.h"
#include "runtime/trace/Log.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <unistd.h>

using namespace dragon;

namespace {

constexpr unsigned AllFlags = D_F_READ | D_F_WRITE | D_F_CREATE |
                              D_F_DONTTRASH | D_F_VOLATILE | D_F_USEHOSTBUF;

/// The maps that there are: their files, by address. Held during calls on them,
/// so those from several threads run one after the other.
struct Maps {
  std::mutex lock;
  std::map<void *, std::string> paths;
};
Maps &maps() {
  static Maps *all = new Maps; // programs unmap in their destructors
  return *all;
}

dragonError_t codeOf(dragon_error error) {
  switch (error) {
  case DRAGON_OK:
    return D_OK;
  case DRAGON_ERROR_FILE:
  case DRAGON_ERROR_FILE_CHANGED:
    return D_ERR_FILE;
  case DRAGON_ERROR_NO_SPACE:
  case DRAGON_ERROR_OUT_OF_MEMORY:
    return D_ERR_MEM;
  case DRAGON_ERROR_INVALID_ARGUMENT:
  case DRAGON_ERROR_SETTING:
    return D_ERR_INTVAL;
  case DRAGON_ERROR_UNSUPPORTED:
    return D_ERR_NOT_IMPLEMENTED;
  case DRAGON_ERROR_DEVICE:
  case DRAGON_ERROR_NO_DEVICE:
    break;
  }
  return D_ERR_UVM;
}

template <typename Body> dragonError_t call(const char *name, Body &&body) {
  const dragon_error error = apiCall(std::forward<Body>(body));
  if (error != DRAGON_OK)
    detail::printLine(fmt::format("{}: {}", name, lastApiMessage()));
  return codeOf(error);
}

Status invalid(const char *what) {
  return Status::error(DRAGON_ERROR_INVALID_ARGUMENT, "{}", what);
}

Status failed(const char *path, const char *what) {
  return Status::error(DRAGON_ERROR_FILE, "file '{}': {}: {}", path, what,
                       std::strerror(errno));
}

/// The same flags in dragon.h. A map that neither reads nor writes is one for
/// intermediate data, whatever it is called.
unsigned flagsOf(unsigned short flags) {
  if ((flags & D_F_VOLATILE) || !(flags & (D_F_READ | D_F_WRITE)))
    return D_VOLATILE;
  return flags & (D_READ | D_WRITE);
}

/// D_F_CREATE: the file is there and holds `bytes` zeros.
Status makeFile(const char *path, size_t bytes) {
  const int fd =
      ::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (fd < 0)
    return failed(path, "cannot create");
  Status status;
  if (::ftruncate(fd, off_t(bytes)) != 0)
    status = failed(path, "cannot set its size");
  ::close(fd);
  return status;
}

Status isMap(void *addr) {
  return maps().paths.count(addr)
             ? Status()
             : Status::error(DRAGON_ERROR_INVALID_ARGUMENT,
                             "{} was not mapped by dragon_map", addr);
}

} // namespace

extern "C" {

// The header of the other API, which is included here, has the same names for
// functions with other symbols.
dragonError_t dragon_artifact_map(const char *filename, size_t size,
                                  unsigned short flags,
                                  void **addr) __asm__("dragon_map");
dragonError_t
dragon_artifact_remap(void *addr, unsigned short flags) __asm__("dragon_remap");
dragonError_t dragon_artifact_flush(void *addr) __asm__("dragon_flush");
dragonError_t dragon_artifact_unmap(void *addr) __asm__("dragon_unmap");
dragonError_t dragon_artifact_trash_set_num_blocks(unsigned long) __asm__(
    "dragon_trash_set_num_blocks");
dragonError_t dragon_artifact_trash_set_num_reserved_sys_cache_pages(
    unsigned long) __asm__("dragon_trash_set_num_reserved_sys_cache_pages");

dragonError_t dragon_artifact_map(const char *filename, size_t size,
                                  unsigned short flags, void **addr) {
  return call("dragon_map", [&](Front &front) -> Status {
    if (!addr)
      return invalid("addr is null");
    if (!filename)
      return invalid("filename is null");
    if (size == 0 || size > size_t(INT64_MAX))
      return invalid("a size of 0, or beyond the largest file");
    if (flags & ~AllFlags)
      return invalid("unknown flags");
    std::lock_guard<std::mutex> guard(maps().lock);
    if (flags & D_F_CREATE)
      DRAGON_TRY(makeFile(filename, size));
    const unsigned ours = flagsOf(flags);
    uintptr_t base = 0;
    if (ours == D_VOLATILE) {
      if (::access(filename, F_OK) != 0)
        return failed(filename, "cannot open");
      AllocateOptions options;
      options.flags = ours;
      options.hostAccessible = true;
      DRAGON_ASSIGN(base, front.runtime.buffers().allocate(size, options));
      if (Status status = front.runtime.buffers().clear(base, size);
          !status.ok()) {
        front.runtime.buffers().free(base).ignore();
        return status;
      }
    } else {
      static_assert(D_F_USEHOSTBUF == MapHostBuffer);
      DRAGON_ASSIGN(
          base, front.runtime.files().mapFile(filename, size, 0,
                                              ours | (flags & D_F_USEHOSTBUF)));
    }
    *addr = reinterpret_cast<void *>(base);
    maps().paths[*addr] = filename;
    return {};
  });
}

dragonError_t dragon_artifact_remap(void *addr, unsigned short flags) {
  return call("dragon_remap", [&](Front &front) -> Status {
    if (flags & ~AllFlags)
      return invalid("unknown flags");
    std::lock_guard<std::mutex> guard(maps().lock);
    DRAGON_TRY(isMap(addr));
    const unsigned ours = flagsOf(flags);
    std::shared_ptr<BackingFile> file;
    if (ours != D_VOLATILE) {
      DRAGON_ASSIGN(file, BackingFile::open(maps().paths[addr], ours & D_WRITE,
                                            /*create=*/false));
    }
    DRAGON_TRY(front.device.synchronizeAll());
    return front.runtime.files().remapFile(reinterpret_cast<uintptr_t>(addr),
                                           ours, file);
  });
}

dragonError_t dragon_artifact_flush(void *addr) {
  return call("dragon_flush", [&](Front &front) -> Status {
    std::lock_guard<std::mutex> guard(maps().lock);
    DRAGON_TRY(isMap(addr));
    DRAGON_TRY(front.device.synchronizeAll());
    return front.runtime.files().sync(reinterpret_cast<uintptr_t>(addr));
  });
}

dragonError_t dragon_artifact_unmap(void *addr) {
  return call("dragon_unmap", [&](Front &front) -> Status {
    std::lock_guard<std::mutex> guard(maps().lock);
    DRAGON_TRY(isMap(addr));
    maps().paths.erase(addr);
    return front.runtime.buffers().free(reinterpret_cast<uintptr_t>(addr));
  });
}

dragonError_t dragon_artifact_trash_set_num_blocks(unsigned long) {
  return D_ERR_NOT_IMPLEMENTED;
}

dragonError_t
dragon_artifact_trash_set_num_reserved_sys_cache_pages(unsigned long) {
  return D_ERR_NOT_IMPLEMENTED;
}

} // extern "C"
