//===- StartAhead.cpp - the driver starts beside the program --------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/process/StartAhead.h"

#include "runtime/base/Imports.h"
#include "runtime/base/Settings.h"
#include "runtime/base/ThreadPool.h"
#include "runtime/device/cuda/CudaDevice.h"
#include "runtime/device/cuda/CudaDriver.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <dlfcn.h>
#include <mutex>
#include <pthread.h>
#include <string_view>
#include <sys/auxv.h>
#include <system_error>
#include <thread>

using namespace dragon;

namespace {

/// A program that only prints how to use it has ended by then.
constexpr std::chrono::milliseconds AtOnce(5);

/// Calls that do other things, or have other effects, beside a running driver.
constexpr std::string_view Noticing[] = {
    "_Fork",     "__environ",   "_environ",  "chroot",     "clearenv",
    "clone",     "close_range", "closefrom", "daemon",     "dlopen",
    "environ",   "fork",        "forkpty",   "initgroups", "putenv",
    "setegid",   "setenv",      "seteuid",   "setgid",     "setgroups",
    "setns",     "setregid",    "setresgid", "setresuid",  "setreuid",
    "setrlimit", "setrlimit64", "setuid",    "syscall",    "unsetenv",
    "unshare",   "vfork"};

bool notices(std::string_view name) {
  return name.starts_with("MPI_") ||
         std::find(std::begin(Noticing), std::end(Noticing), name) !=
             std::end(Noticing);
}

/// Libraries that call these only when the program asks for it, or for the
/// driver's sake.
bool isSystemsOrNvidias(const dl_phdr_info &object) {
  std::string_view file = object.dlpi_name ? object.dlpi_name : "";
  file = file.substr(file.rfind('/') + 1);
  for (std::string_view prefix :
       {"ld-linux", "libc.", "libcu", "libdl.", "libdragonrt.", "libgcc_s.",
        "libgomp.", "libiomp5.", "libm.", "libnccl", "libnpp", "libnv",
        "libomp.", "libpthread.", "librt.", "libstdc++.", "linux-vdso"})
    if (file.starts_with(prefix))
      return true;
  return false;
}

bool programNotices() {
  bool noticed = false;
  ::dl_iterate_phdr(
      [](dl_phdr_info *object, size_t, void *to) {
        if (isSystemsOrNvidias(*object) || !importsAny(*object, notices))
          return 0;
        *static_cast<bool *>(to) = true;
        return 1;
      },
      &noticed);
  return noticed;
}

class StartAhead {
public:
  StartAhead();
  /// The driver's exit handlers must not run while it starts.
  ~StartAhead();

private:
  /// True if the program ends.
  bool ends(std::chrono::milliseconds within);
  void startDriver();

  std::mutex Lock;
  std::condition_variable Changed;
  bool Ends = false;
  std::thread Thread;
};

StartAhead::StartAhead() {
  StatusOr<Settings> settings = Settings::fromEnvironment();
  if (!settings.ok()) {
    settings.takeStatus().ignore(); // the first call tells
    return;
  }
  if (!settings->startAhead || settings->backend == "cpu" || programNotices())
    return;
  try {
    // It and the driver's threads, which inherit its mask, leave signals to the
    // program's.
    Thread = startThread([this] {
      ::pthread_setname_np(::pthread_self(), "dragon-start");
      startDriver();
    });
  } catch (const std::system_error &) {
    return; // the first call starts the driver
  }
}

StartAhead::~StartAhead() {
  if (!Thread.joinable())
    return;
  {
    std::lock_guard<std::mutex> guard(Lock);
    Ends = true;
  }
  Changed.notify_all();
  Thread.join();
}

bool StartAhead::ends(std::chrono::milliseconds within) {
  std::unique_lock<std::mutex> guard(Lock);
  return Changed.wait_for(guard, within, [this] { return Ends; });
}

void StartAhead::startDriver() {
  if (ends(AtOnce))
    return;
  StatusOr<const CudaDriver *> driver = CudaDriver::load();
  if (!driver.ok()) {
    driver.takeStatus().ignore();
    return;
  }
  if (ends(std::chrono::milliseconds(0)))
    return;
  // Held until the process ends, as the runtime's own.
  if (StatusOr<CudaContext> context = CudaContext::retain(**driver);
      !context.ok())
    context.takeStatus().ignore();
}

/// The executable's program headers are where it is loaded.
bool isInExecutable(const void *data) {
  Dl_info of, program;
  return ::dladdr(data, &of) &&
         ::dladdr(reinterpret_cast<const void *>(::getauxval(AT_PHDR)),
                  &program) &&
         of.dli_fbase == program.dli_fbase;
}

} // namespace

void dragon::startAheadOf(const dragon_module *unit) {
  static bool asked = false;
  if (asked || !isInExecutable(unit))
    return;
  asked = true;
  // exit() destroys the objects of its thread before any exit handler runs.
  static thread_local StartAhead ofFirstThread;
  (void)&ofFirstThread;
}
