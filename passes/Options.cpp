//===- Options.cpp - every knob of the compiler plugin --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Options.h"

#include "llvm/Support/CommandLine.h"

using namespace llvm;

static cl::OptionCategory Category("dragon-cc options");

static cl::opt<bool>
    Pipeline("dragon-pipeline", cl::init(true), cl::cat(Category),
             cl::desc("Add the dragon passes to the optimisation pipeline"));
static cl::opt<std::string>
    SummaryFile("dragon-summary", cl::cat(Category), cl::value_desc("file"),
                cl::desc("Kernel summaries: device compilations write "
                         "<file>.<arch>, the host compilation reads them"));
static cl::list<std::string>
    SummaryArchs("dragon-summary-archs", cl::CommaSeparated, cl::cat(Category),
                 cl::value_desc("sm_90,..."),
                 cl::desc("Architectures whose summaries the host compilation "
                          "reads"));
static cl::opt<bool>
    Cpu("dragon-cpu", cl::init(false), cl::cat(Category),
        cl::desc("The object will carry kernels for the host processor"));
static cl::opt<std::string>
    CpuOut("dragon-cpu-out", cl::cat(Category), cl::value_desc("file.bc"),
           cl::desc("Where the device compilation writes the kernels lowered "
                    "to the host processor"));
static cl::opt<std::string>
    CpuArch("dragon-cpu-arch", cl::cat(Category), cl::value_desc("sm_90"),
            cl::desc("The architecture whose device compilation writes "
                     "-dragon-cpu-out"));
static cl::opt<bool>
    Bitcode("dragon-bitcode", cl::init(false), cl::cat(Category),
            cl::desc("Objects carry bitcode for the link to analyse"));
static cl::opt<std::string>
    CpuIn("dragon-cpu-in", cl::cat(Category), cl::value_desc("file.bc"),
          cl::desc("The kernels lowered to the host processor that "
                   "-dragon-bitcode adds"));
static cl::opt<bool> Relocatable(
    "dragon-relocatable", cl::init(false), cl::cat(Category),
    cl::desc("The device link will register the kernels of the unit"));
static cl::opt<std::string>
    FatBinary("dragon-fat-binary", cl::cat(Category), cl::value_desc("file"),
              cl::desc("The contents of @dragon.fat_binary"));
static cl::opt<std::string>
    ModuleId("dragon-module-id", cl::init("0"), cl::cat(Category),
             cl::value_desc("id"),
             cl::desc("A name for the translation unit, unique in the "
                      "program; letters, digits and underscores"));
static cl::opt<std::string>
    Source("dragon-source", cl::cat(Category), cl::value_desc("path"),
           cl::desc("The translation unit's name in messages"));
static cl::opt<std::string>
    StandIns("dragon-stand-ins", cl::cat(Category), cl::value_desc("file.s"),
             cl::desc("What stands in the object for the runtime's functions"));
static cl::opt<std::string> RuntimeLibrary("dragon-runtime-library",
                                           cl::cat(Category),
                                           cl::value_desc("libdragonrt.so"),
                                           cl::desc("What the stand-ins load"));
static cl::list<std::string>
    Notes("dragon-note", cl::cat(Category), cl::value_desc("text"),
          cl::desc("Lines that the object of the host compilation keeps for "
                   "dragon-info"));
static cl::opt<bool> Slicing("dragon-slicing", cl::init(true),
                             cl::cat(Category),
                             cl::desc("Clone kernels to run parts of a grid"));
static cl::opt<bool> AccessCounts(
    "dragon-access-counts", cl::init(true), cl::cat(Category),
    cl::desc("Copy kernels whose addresses are data, to count accesses"));
static cl::opt<bool>
    Paging("dragon-paging", cl::init(true), cl::cat(Category),
           cl::desc("Copy kernels whose addresses are data, to fetch pages"));
static cl::opt<bool> RestrictCopies(
    "dragon-restrict", cl::init(true), cl::cat(Category),
    cl::desc("Copy kernels whose loads wait for stores, for buffers that do "
             "not overlap"));
static cl::opt<bool>
    Unroll("dragon-unroll", cl::init(true), cl::cat(Category),
           cl::desc("Unroll loops of device code as NVIDIA's compiler does"));
static cl::opt<bool> ApproximateDivision(
    "dragon-approximate-division", cl::init(false), cl::cat(Category),
    cl::desc("Quotients of floats in device code are approximate"));
static cl::opt<bool> TraceAccesses(
    "dragon-trace-accesses", cl::init(false), cl::cat(Category),
    cl::desc("Kernels for the host processor tell their accesses"));
static cl::opt<bool>
    Lifetime("dragon-lifetime", cl::init(true), cl::cat(Category),
             cl::desc("Insert maps, discards and sinks into host code"));
static cl::opt<bool>
    Staging("dragon-staging", cl::init(true), cl::cat(Category),
            cl::desc("Elide host buffers that only stage files in and out"));
static cl::opt<bool>
    Wavefront("dragon-wavefront", cl::init(true), cl::cat(Category),
              cl::desc("Tell which launches another one follows at once, so "
                       "that both can run together, slice by slice"));
static cl::list<std::string> LibrarySummaryFiles(
    "dragon-library-summaries", cl::cat(Category), cl::value_desc("file.yaml"),
    cl::desc("What library functions do to buffers; later files replace what "
             "earlier ones say of the same function"));
static cl::opt<bool>
    GpuCode("dragon-gpu-code", cl::init(true), cl::cat(Category),
            cl::desc("Compile device code for a GPU, not just what is written "
                     "beside it"));
static cl::opt<unsigned> AccessCountLimit(
    "dragon-access-count-limit", cl::init(1000), cl::cat(Category),
    cl::desc("Instructions that an optimised kernel may have, with those of "
             "the functions it calls, to have a copy that counts accesses"));
static cl::alias OldAccessCountLimit("dragon-heat-limit",
                                     cl::aliasopt(AccessCountLimit),
                                     cl::desc("The former name of "
                                              "-dragon-access-count-limit"));
static cl::opt<unsigned> CpuAccessCountLimit(
    "dragon-cpu-access-count-limit", cl::init(500), cl::cat(Category),
    cl::desc("Instructions that a kernel may have, with those of the functions "
             "it calls, to count its accesses on the host processor"));
static cl::opt<std::string>
    Mistakes("dragon-mistakes", cl::Hidden, cl::cat(Category),
             cl::value_desc("kind:name,..."),
             cl::desc("For tests alone: what the analysis gets wrong, as in "
                      "placement/Mistakes.h and access/Mistakes.h"));
static cl::opt<unsigned> FlattenLimit(
    "dragon-flatten-limit", cl::init(20000), cl::cat(Category),
    cl::desc("Instructions that the analysis of a host function may take in "
             "from the functions it calls"));

namespace dragon::options {

bool pipeline() { return Pipeline; }
StringRef summaryFile() { return SummaryFile; }
std::vector<std::string> summaryArchs() { return SummaryArchs; }
bool cpu() { return Cpu; }
StringRef cpuOut() { return CpuOut; }
StringRef cpuArch() { return CpuArch; }
bool bitcode() { return Bitcode; }
StringRef cpuIn() { return CpuIn; }
bool relocatable() { return Relocatable; }
StringRef fatBinary() { return FatBinary; }
StringRef standIns() { return StandIns; }
StringRef runtimeLibrary() { return RuntimeLibrary; }
StringRef moduleId() { return ModuleId; }
StringRef source() { return Source; }
std::vector<std::string> notes() { return Notes; }
bool gpuCode() { return GpuCode; }
bool slicing() { return Slicing; }
bool accessCounts() { return AccessCounts; }
bool paging() { return Paging; }
bool restrictCopies() { return RestrictCopies; }
bool unroll() { return Unroll; }
bool approximateDivision() { return ApproximateDivision; }
unsigned accessCountLimit() { return AccessCountLimit; }
unsigned cpuAccessCountLimit() { return CpuAccessCountLimit; }
bool traceAccesses() { return TraceAccesses; }
StringRef mistakes() { return Mistakes; }
bool lifetime() { return Lifetime; }
bool staging() { return Staging; }
bool wavefront() { return Wavefront; }
std::vector<std::string> librarySummaries() { return LibrarySummaryFiles; }
unsigned flattenLimit() { return FlattenLimit; }

} // namespace dragon::options
