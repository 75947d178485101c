//===- Plugin.cpp - the block device as a plugin of nbdkit ----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// nbdkit's callbacks. It calls pread and the like from several threads, also
// for one connection. What needs threads or the GPU begins after nbdkit has
// forked: a context of CUDA does not survive that.
//
// Source: nbdkit-plugin(3).
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-nbd/Server.h"

#include <cerrno>

#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>
#define THREAD_MODEL NBDKIT_THREAD_MODEL_PARALLEL

namespace {

using dragon::Status;
using dragon::nbd::Server;

dragon::nbd::Parameters All;
std::unique_ptr<Server> Served;

int fail(const Status &Failed) {
  ::nbdkit_error("%s", Failed.message().c_str());
  const bool Full = Failed.code() == DRAGON_ERROR_NO_SPACE;
  ::nbdkit_set_error(Full ? ENOSPC : EIO);
  return -1;
}

int answer(const Status &Done) { return Done.ok() ? 0 : fail(Done); }

int configure(const char *Key, const char *Value) {
  return dragon::nbd::setParameter(All, Key, Value) ? 0 : -1;
}

int configured() { return dragon::nbd::checkParameters(All) ? 0 : -1; }

int getReady() {
  auto Made = Server::create(
      All, [](const std::string &Line) { ::nbdkit_error("%s", Line.c_str()); });
  if (!Made.ok())
    return fail(Made.takeStatus());
  Served = std::move(*Made);
  return 0;
}

int afterFork() { return answer(Served->start()); }

void cleanUp() {
  if (Served)
    (void)answer(Served->stop());
}

void unload() { Served.reset(); }

void *openConnection(int) { return NBDKIT_HANDLE_NOT_NEEDED; }
int64_t getSize(void *) { return int64_t(Served->store().size()); }
int yes(void *) { return 1; }
int canFua(void *) { return NBDKIT_FUA_NATIVE; }

int blockSize(void *, uint32_t *Minimum, uint32_t *Preferred,
              uint32_t *Maximum) {
  *Minimum = 1;
  *Preferred = 4096;
  *Maximum = 0xffffffff;
  return 0;
}

int save(uint64_t Bytes, uint64_t Begin) {
  return Served->flushesToFile() ? answer(Served->store().save(Bytes, Begin))
                                 : 0;
}

/// After a change: 0, or what the flags ask for beside it.
int changed(const Status &Done, uint32_t Flags, uint64_t Bytes,
            uint64_t Begin) {
  if (!Done.ok())
    return fail(Done);
  return Flags & NBDKIT_FLAG_FUA ? save(Bytes, Begin) : 0;
}

int readAt(void *, void *To, uint32_t Bytes, uint64_t Begin, uint32_t) {
  return answer(Served->store().read(To, Bytes, Begin));
}

int writeAt(void *, const void *From, uint32_t Bytes, uint64_t Begin,
            uint32_t Flags) {
  return changed(Served->store().write(From, Bytes, Begin), Flags, Bytes,
                 Begin);
}

int flushAll(void *, uint32_t) { return save(Served->store().size(), 0); }

int trimAt(void *, uint32_t Bytes, uint64_t Begin, uint32_t Flags) {
  return changed(Served->store().trim(Bytes, Begin), Flags, Bytes, Begin);
}

int zeroAt(void *, uint32_t Bytes, uint64_t Begin, uint32_t Flags) {
  return changed(
      Served->store().zero(Bytes, Begin, Flags & NBDKIT_FLAG_MAY_TRIM), Flags,
      Bytes, Begin);
}

int extentsOf(void *, uint32_t Bytes, uint64_t Begin, uint32_t Flags,
              struct nbdkit_extents *Extents) {
  int Result = 0;
  Served->store().eachExtent(
      Bytes, Begin, [&](uint64_t At, uint64_t Length, bool Data) {
        Result = ::nbdkit_add_extent(
            Extents, At, Length,
            Data ? 0 : NBDKIT_EXTENT_HOLE | NBDKIT_EXTENT_ZERO);
        return Result == 0 && !(Flags & NBDKIT_FLAG_REQ_ONE);
      });
  return Result;
}

struct nbdkit_plugin describe() {
  struct nbdkit_plugin Own = {};
  Own.name = "dragon";
  Own.longname = "nbdkit dragon plugin";
  Own.version = DRAGON_VERSION;
  Own.description = "spare GPU memory as a block device";
  Own.unload = unload;
  Own.config = configure;
  Own.config_complete = configured;
  Own.config_help = dragon::nbd::ParametersHelp;
  Own.magic_config_key = "size";
  Own.get_ready = getReady;
  Own.after_fork = afterFork;
  Own.cleanup = cleanUp;
  Own.open = openConnection;
  Own.get_size = getSize;
  Own.block_size = blockSize;
  Own.can_multi_conn = yes;
  Own.can_write = yes;
  Own.can_flush = yes;
  Own.can_trim = yes;
  Own.can_zero = yes;
  Own.can_fua = canFua;
  Own.can_extents = yes;
  Own.pread = readAt;
  Own.pwrite = writeAt;
  Own.flush = flushAll;
  Own.trim = trimAt;
  Own.zero = zeroAt;
  Own.extents = extentsOf;
  return Own;
}

struct nbdkit_plugin Callbacks = describe();

} // namespace

NBDKIT_REGISTER_PLUGIN(Callbacks)
