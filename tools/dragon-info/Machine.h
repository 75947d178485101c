//===- Machine.h - what dragon-info says of a machine -----------*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_TOOLS_DRAGON_INFO_MACHINE_H
#define DRAGON_TOOLS_DRAGON_INFO_MACHINE_H

#include "runtime/base/Settings.h"
#include "runtime/device/Device.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dragon::info {

struct Gpu {
  std::string Name;
  int Capability[2]; ///< 9, 0
  bool Vmm;          ///< virtual memory management: the vmm back end
  bool VmmOnHost;    ///< and of host memory, which kernels then reach
  bool Managed;
  bool ManagedPages;   ///< ... on faults: concurrentManagedAccess
  bool Pageable;       ///< reaches all of the process's memory ...
  bool HostPageTables; ///< ... by the host's page tables (ATS), else by HMM
};

struct Driver {
  std::string Module;  ///< version of the kernel module; empty: not loaded
  std::string Missing; ///< why there is no CUDA driver; empty: there is
  int Cuda = 0;        ///< 1000 * major + 10 * minor
  std::string Discard; ///< "yes", or why not
  std::vector<Gpu> Gpus;
};

struct Host {
  unsigned Processors;
  uint64_t Memory, Available;        ///< bytes
  std::optional<uint64_t> LockLimit; ///< bytes; none: no limit
};

struct BackEnd {
  std::string Name;
  std::string Note; ///< why it is not the one
};

struct Choice {
  std::unique_ptr<Device> Taken; ///< null: none can be had
  std::string Error;             ///< and why
  std::vector<BackEnd> Others;
};

/// Bytes a second; 0: not measured.
struct LinkRates {
  double ToDevice = 0, FromDevice = 0, BothWays = 0;
  std::string WhyNot;
};

struct Disk {
  std::string Path, FileSystem;
  uint64_t Free = 0;
  bool Direct = false;
  double Write = 0, Read = 0; ///< bytes a second; 0: not measured
  std::string Error;
};

/// Another device whose memory DRAGON_PEERS names.
struct Peer {
  std::string Name;
  std::optional<DeviceMemory> Room;
  LinkRates Link; ///< between the two
  std::string Error;
};

struct Machine {
  info::Driver Driver;
  info::Host Host;
  info::Choice Choice;
  std::optional<DeviceMemory> DeviceRoom;
  LinkRates Link;
  std::vector<Peer> Peers;
  std::vector<Disk> Disks;
};

Driver findDriver();
Host findHost();
/// `Bytes`: memory to measure the links with; 0: they are not measured.
std::vector<Peer> findPeers(Device &Dev, uint64_t Bytes);
Choice chooseBackEnd(const Settings &Set);
/// The disk of a directory for swap. `Bytes`: what is written and read to
/// measure it; 0: nothing.
Disk findDisk(const std::string &Path, const Settings &Set, uint64_t Bytes);
/// Between the device and host memory, or a peer's.
LinkRates measureLink(Device &Dev, uint64_t Bytes,
                      std::optional<unsigned> Peer = std::nullopt);

std::string formatText(const Machine &All);
std::string formatJson(const Machine &All);

} // namespace dragon::info

#endif // DRAGON_TOOLS_DRAGON_INFO_MACHINE_H
