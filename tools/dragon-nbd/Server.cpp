//===- Server.cpp - a block device and its neighbours ---------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-nbd/Server.h"

#include "runtime/trace/Log.h"

#include <cerrno>
#include <cstring>
#include <fstream>

namespace dragon::nbd {

namespace {

constexpr auto LookEvery = std::chrono::milliseconds(250);
constexpr auto QuietAfter = std::chrono::seconds(1);

/// All of the process's memory stays in host memory (mlockall, nbdkit --swap).
bool memoryIsLocked() {
  std::ifstream Status("/proc/self/status");
  for (std::string Line; std::getline(Status, Line);)
    if (Line.starts_with("VmLck:"))
      return Line.find_first_of("123456789") != std::string::npos;
  return false;
}

} // namespace

StatusOr<std::unique_ptr<Server>> Server::create(const Parameters &All,
                                                 Report Tell) {
  DRAGON_ASSIGN(Settings Own, settingsFor(All));
  std::unique_ptr<Server> Made(
      new Server(All, std::move(Own), std::move(Tell)));
  auto File = AreaFile::create(Made->Own, *Made->Own.chunkBytes);
  if (!File.ok())
    return File.takeStatus().within("dir (or DRAGON_SWAP_DIR)");
  Made->File = std::move(*File);
  if (const std::string &Path = All.StatisticsFile;
      !Path.empty() && !std::ofstream(Path))
    return Status::error(DRAGON_ERROR_FILE, "statsfile '{}': {}", Path,
                         std::strerror(errno));
  return Made;
}

Status Server::start() {
  const uint64_t AreaBytes = *Own.chunkBytes;
  setLogLevel(Own.log.empty()      ? LogLevel::Silent
              : Own.log == "debug" ? LogLevel::Debug
                                   : LogLevel::Info);
  // The simulated device's windows would be locked with the rest.
  if (memoryIsLocked() && Own.backend.empty())
    Own.backend = "vmm";
  if (memoryIsLocked() && Own.backend == "cpu")
    return Status::error(DRAGON_ERROR_SETTING,
                         "device=cpu does not go with --swap: it is host "
                         "memory, all of which would be locked");
  DRAGON_TRY(File->start(Own));
  std::string Notes;
  DRAGON_ASSIGN(std::unique_ptr<Device> Found, createDevice(Own, Notes));
  if (!Notes.empty())
    log(LogLevel::Info, "{}", Notes.substr(0, Notes.size() - 1));
  DRAGON_ASSIGN(Memory, SpareMemory::create(
                            std::move(Found), Own, All.Limits, AreaBytes,
                            (All.Size + AreaBytes - 1) / AreaBytes, Tell));
  DRAGON_ASSIGN(Store, AreaStore::create(All.Size, AreaBytes, All.ReserveFile,
                                         *Memory, *File, Tell));
  Memory->start([this] { return follow(); });
  Keeper = startThread([this] { keep(); });
  return {};
}

bool Server::follow() {
  if (Memory->held() > Memory->limit()) {
    std::lock_guard Guard(Lock);
    LastWanted = std::chrono::steady_clock::now();
  }
  return Store->giveBack();
}

bool Server::isQuiet() {
  std::lock_guard Guard(Lock);
  return !Ends && std::chrono::steady_clock::now() - LastWanted > QuietAfter;
}

void Server::keep() {
  std::unique_lock Guard(Lock);
  while (!Wake.wait_for(Guard, LookEvery, [this] { return Ends; })) {
    Guard.unlock();
    Memory->look();
    follow();
    while (isQuiet() && Store->bringBack())
      ;
    Guard.lock();
  }
}

Status Server::stop() {
  if (!Keeper.joinable())
    return {};
  {
    std::lock_guard Guard(Lock);
    Ends = true;
  }
  Wake.notify_all();
  Store->stop();
  Keeper.join();
  Memory->stop();
  if (All.StatisticsFile.empty())
    return {};
  std::ofstream Out(All.StatisticsFile);
  Out << statistics() << std::flush;
  return Out ? Status()
             : Status::error(DRAGON_ERROR_FILE, "statsfile '{}': {}",
                             All.StatisticsFile, std::strerror(errno));
}

Server::~Server() { stop().ignore(); }

std::string Server::statistics() const {
  const StoreCounts &Counts = Store->counts();
  const uint64_t AreaBytes = *Own.chunkBytes;
  return fmt::format("{{\"size\": {}, \"area\": {}, \"held\": {}, "
                     "\"used\": {}, \"lost\": {}, \"moved_out\": {}, "
                     "\"dropped\": {}, \"saved\": {}, \"moved_in\": {}, "
                     "\"freed\": {}, \"made_in_file\": {}}}\n",
                     All.Size, AreaBytes, Memory->held(),
                     Counts.Used * AreaBytes, Counts.Lost * AreaBytes,
                     Counts.MovedOut * AreaBytes, Counts.Dropped * AreaBytes,
                     Counts.Saved * AreaBytes, Counts.MovedIn * AreaBytes,
                     Counts.Freed * AreaBytes, Counts.MadeInFile * AreaBytes);
}

} // namespace dragon::nbd
