//===- RuntimeSingleton.cpp - the process's runtime -----------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/Runtime.h"
#include "runtime/oracle/Judge.h"
#include "runtime/oracle/Observer.h"
#include "runtime/trace/Log.h"

namespace dragon {

namespace {

StatusOr<std::unique_ptr<Runtime>> createForProcess() {
  DRAGON_ASSIGN(Settings settings, Settings::fromEnvironment());
  const std::optional<uint64_t> memory = settings.deviceMemory;
  if (!settings.pager.empty()) {
    if (!memory)
      return Status::error(DRAGON_ERROR_SETTING,
                           "DRAGON_PAGER needs DRAGON_DEVICE_MEMORY: the "
                           "memory that the driver has");
    settings.deviceMemory.reset(); // the pager's, not ours
  }
  if (settings.judged() && settings.stats.empty())
    settings.stats = "-";
  std::string notes;
  DRAGON_ASSIGN(std::unique_ptr<Device> device, createDevice(settings, notes));
  DRAGON_ASSIGN(std::unique_ptr<Observer> judge,
                makeJudge(settings, device->caps(),
                          memory.value_or(device->caps().totalMemory)));
  DRAGON_ASSIGN(std::unique_ptr<Runtime> runtime,
                Runtime::create(std::move(settings), std::move(device),
                                std::move(judge)));
  for (const std::string &line : unknownVariables())
    notice("warning: {}", line);
  if (!notes.empty())
    log(LogLevel::Info, "{}",
        notes.substr(0, notes.find_last_not_of('\n') + 1));
  return runtime;
}

} // namespace

StatusOr<Runtime *> Runtime::get() {
  // Never destroyed: programs call us from destructors of static objects.
  static auto *instance =
      new StatusOr<std::unique_ptr<Runtime>>(createForProcess());
  if (instance->ok())
    return (**instance).get();
  return instance->copyStatus();
}

} // namespace dragon
