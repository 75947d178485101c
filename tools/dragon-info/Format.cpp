//===- Format.cpp - a machine for people and for programs -----------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/trace/Bytes.h"
#include "tools/dragon-info/Machine.h"

#include <iterator>
#include <nlohmann/json.hpp>

namespace dragon::info {

namespace {

std::string version(int Cuda) {
  return fmt::format("{}.{}", Cuda / 1000, Cuda % 1000 / 10);
}

/// How kernels reach memory that is not CUDA's.
const char *pageableBy(const Gpu &Each) {
  if (!Each.Pageable)
    return "none";
  return Each.HostPageTables ? "ATS" : "HMM";
}

std::string yesNo(bool Is) { return Is ? "yes" : "no"; }

double gigabytes(double Rate) { return Rate / 1e9; }

} // namespace

std::string formatText(const Machine &All) {
  std::string Text;
  auto Line = [&Text](std::string_view Head, const std::string &Rest) {
    fmt::format_to(std::back_inserter(Text), "{:<11}{}\n", Head, Rest);
  };
  const Driver &Nvidia = All.Driver;
  const std::string Module = Nvidia.Module.empty()
                                 ? "no kernel module"
                                 : "kernel module " + Nvidia.Module;
  if (!Nvidia.Missing.empty()) {
    Line("driver", "none: " + Nvidia.Missing + " (" + Module + ")");
  } else {
    Line("driver", fmt::format("CUDA {}, {}", version(Nvidia.Cuda), Module));
    Line("discard", Nvidia.Discard == "yes" ? "yes" : "no: " + Nvidia.Discard);
  }
  for (const Gpu &Each : Nvidia.Gpus)
    Line("GPU", fmt::format(
                    "{}, compute capability {}.{}; virtual memory management "
                    "{}, of host memory {}; managed memory {}, paged on "
                    "faults {}; HMM or ATS: {}",
                    Each.Name, Each.Capability[0], Each.Capability[1],
                    yesNo(Each.Vmm), yesNo(Each.VmmOnHost), yesNo(Each.Managed),
                    yesNo(Each.ManagedPages), pageableBy(Each)));
  if (Nvidia.Gpus.empty())
    Line("GPU", "none");
  Line("host",
       fmt::format("{} processors; {} of memory, {} available; {}",
                   All.Host.Processors, formatBytes(All.Host.Memory),
                   formatBytes(All.Host.Available),
                   All.Host.LockLimit
                       ? formatBytes(*All.Host.LockLimit) + " may be locked"
                       : "all may be locked"));
  const Choice &Chosen = All.Choice;
  std::string Memory;
  if (All.DeviceRoom)
    Memory = fmt::format(": {} of device memory, {} free",
                         formatBytes(All.DeviceRoom->total),
                         formatBytes(All.DeviceRoom->free));
  Line("back end", Chosen.Taken ? Chosen.Taken->caps().name + Memory
                                : "none: " + Chosen.Error);
  for (const BackEnd &Other : Chosen.Others)
    Line("", Other.Name + " " + Other.Note);
  auto Rates = [](const LinkRates &Link) {
    return Link.BothWays > 0
               ? fmt::format("{:.1f} GB/s to the device, {:.1f} GB/s from "
                             "it, {:.1f} GB/s both ways together",
                             gigabytes(Link.ToDevice),
                             gigabytes(Link.FromDevice),
                             gigabytes(Link.BothWays))
               : "not measured: " + Link.WhyNot;
  };
  Line("link", Rates(All.Link));
  for (const Peer &Each : All.Peers)
    Line("peer",
         fmt::format("{}: {}; link {}", Each.Name,
                     Each.Room
                         ? formatBytes(Each.Room->total) + " of memory, " +
                               formatBytes(Each.Room->free) + " free"
                         : Each.Error,
                     Rates(Each.Link)));
  for (const Disk &Each : All.Disks) {
    std::string Rest = Each.Path + ": ";
    if (!Each.FileSystem.empty())
      Rest += fmt::format("{}, {} free, O_DIRECT {}", Each.FileSystem,
                          formatBytes(Each.Free), yesNo(Each.Direct));
    if (Each.Read > 0)
      Rest += fmt::format("; written at {:.2f} GB/s, read at {:.2f} GB/s",
                          gigabytes(Each.Write), gigabytes(Each.Read));
    if (!Each.Error.empty())
      Rest += (Each.FileSystem.empty() ? "" : "; ") + Each.Error;
    Line("swap", Rest);
  }
  return Text;
}

std::string formatJson(const Machine &All) {
  using Json = nlohmann::ordered_json;
  auto OrNull = [](const std::string &Text) {
    return Text.empty() ? Json() : Json(Text);
  };
  auto Rate = [](double Value) { return Value > 0 ? Json(Value) : Json(); };
  Json Root;
  Root["version"] = 1;
  const Driver &Nvidia = All.Driver;
  Root["driver"] = {{"kernel_module", OrNull(Nvidia.Module)},
                    {"cuda", Nvidia.Cuda ? Json(version(Nvidia.Cuda)) : Json()},
                    {"error", OrNull(Nvidia.Missing)},
                    {"discard", Nvidia.Discard == "yes"},
                    {"why_no_discard", Nvidia.Discard == "yes"
                                           ? Json()
                                           : OrNull(Nvidia.Discard)}};
  Root["gpus"] = Json::array();
  for (const Gpu &Each : Nvidia.Gpus)
    Root["gpus"].push_back(
        {{"name", Each.Name},
         {"compute_capability",
          fmt::format("{}.{}", Each.Capability[0], Each.Capability[1])},
         {"vmm", Each.Vmm},
         {"vmm_of_host_memory", Each.VmmOnHost},
         {"managed", Each.Managed},
         {"managed_paged_on_faults", Each.ManagedPages},
         {"pageable_access", pageableBy(Each)}});
  Root["host"] = {
      {"processors", All.Host.Processors},
      {"memory", All.Host.Memory},
      {"available", All.Host.Available},
      {"lock_limit", All.Host.LockLimit ? Json(*All.Host.LockLimit) : Json()}};
  const Choice &Chosen = All.Choice;
  Json &Back = Root["back_end"];
  Back["taken"] = Chosen.Taken ? Json(Chosen.Taken->caps().name) : Json();
  Back["error"] = OrNull(Chosen.Error);
  Back["device_memory"] = All.DeviceRoom ? Json(All.DeviceRoom->total) : Json();
  Back["device_memory_free"] =
      All.DeviceRoom ? Json(All.DeviceRoom->free) : Json();
  Back["others"] = Json::array();
  for (const BackEnd &Other : Chosen.Others)
    Back["others"].push_back({{"name", Other.Name}, {"note", Other.Note}});
  auto Rates = [&](const LinkRates &Link) {
    return Json{{"to_device", Rate(Link.ToDevice)},
                {"from_device", Rate(Link.FromDevice)},
                {"both_ways", Rate(Link.BothWays)},
                {"not_measured", OrNull(Link.WhyNot)}};
  };
  Root["link"] = Rates(All.Link);
  Root["peers"] = Json::array();
  for (const Peer &Each : All.Peers)
    Root["peers"].push_back(
        {{"name", Each.Name},
         {"memory", Each.Room ? Json(Each.Room->total) : Json()},
         {"memory_free", Each.Room ? Json(Each.Room->free) : Json()},
         {"error", OrNull(Each.Error)},
         {"link", Rates(Each.Link)}});
  Root["swap"] = Json::array();
  for (const Disk &Each : All.Disks)
    Root["swap"].push_back({{"path", Each.Path},
                            {"file_system", OrNull(Each.FileSystem)},
                            {"free", Each.Free},
                            {"direct", Each.Direct},
                            {"write", Rate(Each.Write)},
                            {"read", Rate(Each.Read)},
                            {"error", OrNull(Each.Error)}});
  return Root.dump(1) + "\n";
}

} // namespace dragon::info
