//===- Reporter.cpp - what is told of a run that goes on ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/Reporter.h"

#include "runtime/base/ThreadPool.h"
#include "runtime/core/PageFiles.h"
#include "runtime/trace/Log.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace dragon {

namespace {

constexpr std::chrono::milliseconds Tick{500};
/// Shorter runs are over before anybody wonders.
constexpr std::chrono::seconds Lasting{2};
constexpr std::chrono::milliseconds Patience{500};
constexpr size_t UsualColumns = 80;

/// The line is rewritten.
bool isTerminal() {
  const char *kind = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && kind &&
         kind != std::string_view("dumb");
}

/// In the background it belongs to others.
bool ownsTerminal() {
  return ::isatty(STDERR_FILENO) == 1 &&
         ::tcgetpgrp(STDERR_FILENO) == ::getpgrp();
}

size_t terminalColumns() {
  winsize size{};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0;
  // The last one is left free: some terminals begin a new line behind it.
  return (known && size.ws_col > 1 ? size.ws_col : UsualColumns) - 1;
}

/// 0, or what errno says.
int writeFile(const std::string &path, int flags, const std::string &text) {
  const int file =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);
  if (file < 0)
    return errno;
  int code = writeText(file, text);
  if (::close(file) != 0 && code == 0)
    code = errno;
  return code;
}

} // namespace

void Reporter::start() {
  const Settings &config = Ctx.config;
  Limits = Ctx.limits;
  const bool toFile = !config.stats.empty() && config.stats != "-";
  if (toFile) {
    std::error_code error;
    Path = std::filesystem::absolute(config.stats, error);
    // A device or a pipe would be replaced by a file.
    struct stat there;
    Rewrites = config.statsSeconds &&
               (::stat(Path.c_str(), &there) != 0 || S_ISREG(there.st_mode));
  }
  Shows = (config.progress == ShowProgress::Always ||
           (config.progress == ShowProgress::Auto && !config.quiet)) &&
          isTerminal();
  if (!Rewrites && !Shows)
    return;
  if (Shows)
    Ctx.progress.watch();
  try {
    Thread = startThread([this] { run(); });
  } catch (const std::system_error &error) {
    log(LogLevel::Info, "no thread that tells where the run is: {}",
        error.what());
  }
}

void Reporter::stop() {
  {
    const std::lock_guard guard(Lock);
    Stopping = true;
  }
  Changed.notify_all();
  if (Thread.joinable())
    Thread.join();
  eraseStatusLine();
}

void Reporter::silence() {
  Silent = true;
  const std::unique_lock guard(Writing, Patience);
  eraseStatusLine();
}

void Reporter::run() {
  const std::chrono::seconds period(Ctx.config.statsSeconds);
  Clock::time_point nextStats = Begun + period;
  std::unique_lock guard(Lock);
  while (true) {
    Clock::time_point next =
        Shows ? Clock::now() + Tick : Clock::time_point::max();
    if (Rewrites)
      next = std::min(next, nextStats);
    if (Changed.wait_until(guard, next, [this] { return Stopping; }))
      return;
    const std::lock_guard writing(Writing);
    if (Silent)
      return;
    const Clock::time_point now = Clock::now();
    if (Shows)
      show(now);
    if (Rewrites && now >= nextStats) {
      rewriteStats();
      nextStats = now + period;
    }
  }
}

int Reporter::writeStats(const Stats &stats) const {
  return writeFile(Path, O_TRUNC, formatStatsJson(stats));
}

/// Whoever reads the file sees all of one state.
void Reporter::rewriteStats() {
  const Stats stats = statistics(Limits, /*ended=*/false);
  // What a link leads to is what is written; if there is nothing yet, it is
  // made in its place.
  std::error_code error;
  std::string target = std::filesystem::canonical(Path, error);
  int code = 0;
  if (error && std::filesystem::is_symlink(Path, error)) {
    code = writeStats(stats);
  } else {
    if (target.empty())
      target = Path;
    const std::string name = fmt::format("{}.{}", target, ::getpid());
    code = writeFile(name, O_EXCL, formatStatsJson(stats));
    if (code == 0 && ::rename(name.c_str(), target.c_str()) != 0)
      code = errno;
    if (code && code != EEXIST)
      ::unlink(name.c_str());
  }
  if (code)
    log(LogLevel::Info, "DRAGON_STATS: cannot write '{}' meanwhile: {}",
        Ctx.config.stats, std::strerror(code));
}

Reporter::Moved Reporter::movedByNow() const {
  Moved moved;
  for (unsigned d = 0; d < NumDirections; ++d)
    for (unsigned c = 0; c < NumCauses; ++c) {
      moved.bytes[d] += Ctx.ledger.bytes(Direction(d), Cause(c));
      moved.nanoseconds[d] += Ctx.ledger.nanoseconds(Direction(d), Cause(c));
    }
  return moved;
}

ProgressFigures Reporter::figures(Clock::time_point now) {
  auto seconds = [](Clock::duration time) {
    return std::chrono::duration<double>(time).count();
  };
  ProgressFigures figures;
  figures.seconds = seconds(now - Begun);
  figures.launch = Ctx.ledger.counter(Counter::Launches);
  figures.place = Ctx.progress.place();
  figures.placeSeconds = seconds(now - figures.place.begun);
  const double passed = seconds(now - LastShown.value_or(Begun));
  const Moved moved = movedByNow();
  auto rate = [&](Direction a, std::optional<Direction> b, double *most) {
    uint64_t bytes = 0, busy = 0;
    for (std::optional<Direction> one : {std::optional(a), b})
      if (one) {
        bytes += moved.bytes[unsigned(*one)] - Last.bytes[unsigned(*one)];
        busy += moved.nanoseconds[unsigned(*one)] -
                Last.nanoseconds[unsigned(*one)];
      }
    const double now = passed > 0 ? double(bytes) / passed : 0;
    if (most && busy)
      *most = std::max(*most, double(bytes) / double(busy) * 1e9);
    return ProgressFigures::Rate{now, most ? *most : 0};
  };
  figures.toDevice = rate(Direction::HostToDevice, {}, nullptr);
  figures.fromDevice = rate(Direction::DeviceToHost, {}, nullptr);
  figures.diskRead =
      rate(Direction::FileToHost, Direction::SwapToHost, &DiskRead);
  figures.diskWrite =
      rate(Direction::HostToFile, Direction::HostToSwap, &DiskWrite);
  const CopyRates link = Ctx.device->knownCopyRates();
  figures.toDevice.most = link.toDevice;
  figures.fromDevice.most = link.toHost;
  figures.deviceHeld = OnDevice.held();
  figures.hostHeld = OnHost.Pool.held();
  Last = moved;
  LastShown = now;
  return figures;
}

void Reporter::show(Clock::time_point now) {
  if (Ctx.config.progress == ShowProgress::Auto) {
    if (!OutSince && Ctx.progress.isOutOfCore())
      OutSince = now;
    if (!OutSince || now - *OutSince < Lasting)
      return;
  }
  if (ownsTerminal())
    showStatusLine(progressLine(figures(now), terminalColumns()));
}

} // namespace dragon
