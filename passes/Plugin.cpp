//===- Plugin.cpp - entry point of the compiler plugin --------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/KernelCopies.h"
#include "passes/Options.h"
#include "passes/Pipeline.h"
#include "passes/access/KernelAccessAnalysis.h"
#include "passes/codegen/BoundedLoads.h"
#include "passes/codegen/ConstantAddresses.h"
#include "passes/codegen/CostlySelects.h"
#include "passes/codegen/DeviceUnrolling.h"
#include "passes/codegen/EarlyLoads.h"
#include "passes/codegen/InvariantLoads.h"
#include "passes/codegen/LocalAlignment.h"
#include "passes/codegen/LocalFunctions.h"
#include "passes/codegen/MathFunctions.h"
#include "passes/codegen/PopulationCounts.h"
#include "passes/codegen/RelaxedExchanges.h"
#include "passes/codegen/Rematerialization.h"
#include "passes/codegen/SmallSwitches.h"
#include "passes/codegen/UndefinedValues.h"
#include "passes/counting/CountingCopies.h"
#include "passes/cpu/AccessTracing.h"
#include "passes/cpu/CpuLowering.h"
#include "passes/libraries/GivenLibraries.h"
#include "passes/lifetime/BufferProgramAnalysis.h"
#include "passes/paging/PagedCopies.h"
#include "passes/restrict/RestrictCopies.h"
#include "passes/rewrite/HostDirectives.h"
#include "passes/rewrite/LibraryResidency.h"
#include "passes/rewrite/UnitBitcode.h"
#include "passes/rewrite/WholeProgram.h"
#include "passes/slicing/GridSlicing.h"
#include "passes/support/RemovedInstructions.h"

#include "llvm/Passes/PassBuilder.h"
#include "llvm/Plugins/PassPlugin.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>

using namespace llvm;

/// `opt -passes=<name>` for the passes of PassRegistry.def.
static bool addNamedPass(StringRef Name, ModulePassManager &Manager,
                         ArrayRef<PassBuilder::PipelineElement>) {
#define MODULE_PASS(NAME, CREATE)                                              \
  if (Name == NAME) {                                                          \
    Manager.addPass(CREATE);                                                   \
    return true;                                                               \
  }
#include "passes/PassRegistry.def"
  return false;
}

static bool addNamedFunctionPass(StringRef Name, FunctionPassManager &Manager,
                                 ArrayRef<PassBuilder::PipelineElement>) {
#define FUNCTION_PASS(NAME, CREATE)                                            \
  if (Name == NAME) {                                                          \
    Manager.addPass(CREATE);                                                   \
    return true;                                                               \
  }
#include "passes/PassRegistry.def"
  return false;
}

static void registerModuleAnalyses(ModuleAnalysisManager &Manager) {
#define MODULE_ANALYSIS(NAME, CREATE)                                          \
  Manager.registerPass([&] { return CREATE; });
#include "passes/PassRegistry.def"
  (void)Manager;
}

static void registerFunctionAnalyses(FunctionAnalysisManager &Manager) {
#define FUNCTION_ANALYSIS(NAME, CREATE)                                        \
  Manager.registerPass([&] { return CREATE; });
#include "passes/PassRegistry.def"
  (void)Manager;
}

static void registerCallbacks(PassBuilder &Builder) {
  Builder.registerPipelineParsingCallback(addNamedPass);
  Builder.registerPipelineParsingCallback(addNamedFunctionPass);
  Builder.registerAnalysisRegistrationCallback(registerModuleAnalyses);
  Builder.registerAnalysisRegistrationCallback(registerFunctionAnalyses);
  // All are called at -O0 as well.
  Builder.registerVectorizerStartEPCallback([](FunctionPassManager &Manager,
                                               OptimizationLevel Level) {
    if (Level.getSpeedupLevel() < 2)
      return;
    Manager.addPass(dragon::SmallSwitchesPass());
    Manager.addPass(dragon::BoundedLoadsPass());
    if (dragon::options::unroll())
      Manager.addPass(
          dragon::DeviceUnrollingPass(dragon::options::approximateDivision()));
  });
  Builder.registerLateLoopOptimizationsEPCallback(
      [](LoopPassManager &Manager, OptimizationLevel Level) {
        if (Level.getSpeedupLevel() > 1)
          Manager.addPass(dragon::PopulationCountsPass());
      });
  // The first is called also for the pipeline that the last makes.
  auto Linking = std::make_shared<bool>(false);
  Builder.registerPipelineStartEPCallback(
      [Linking](ModulePassManager &Manager, OptimizationLevel Level) {
        Manager.addPass(dragon::UndefinedValuesPass());
        if (!*Linking)
          Manager.addPass(dragon::PipelinePass());
        if (Level.getSpeedupLevel() > 1) {
          Manager.addPass(dragon::LocalFunctionsPass());
          Manager.addPass(dragon::KeptMathPass());
        }
      });
  Builder.registerOptimizerEarlyEPCallback(
      [](ModulePassManager &Manager, OptimizationLevel, ThinOrFullLTOPhase) {
        Manager.addPass(dragon::InlinedMathPass());
      });
  Builder.registerOptimizerLastEPCallback([](ModulePassManager &Manager,
                                             OptimizationLevel Level,
                                             ThinOrFullLTOPhase) {
    Manager.addPass(dragon::RemovedInstructionsPass());
    FunctionPassManager Ends;
    Ends.addPass(dragon::RelaxedExchangesPass());
    Ends.addPass(dragon::LocalAlignmentPass());
    Ends.addPass(dragon::InvariantLoadsPass());
    Ends.addPass(
        dragon::CostlySelectsPass(dragon::options::approximateDivision()));
    Ends.addPass(dragon::ConstantAddressesPass());
    Ends.addPass(dragon::EarlyLoadsPass());
    Ends.addPass(dragon::ReleasedLoopsPass());
    Manager.addPass(createModuleToFunctionPassAdaptor(std::move(Ends)));
    Manager.addPass(
        dragon::KernelCopiesPass(dragon::options::accessCountLimit()));
    if (Level.getSpeedupLevel() > 1)
      Manager.addPass(
          createModuleToFunctionPassAdaptor(dragon::RematerializationPass()));
  });
  Builder.registerFullLinkTimeOptimizationEarlyEPCallback(
      [Linking, &Builder](ModulePassManager &Manager, OptimizationLevel Level) {
        Manager.addPass(dragon::WholeProgramPass([Linking, &Builder, Level] {
          *Linking = true;
          return Level == OptimizationLevel::O0
                     ? Builder.buildO0DefaultPipeline(
                           Level, ThinOrFullLTOPhase::FullLTOPreLink)
                     : Builder.buildLTOPreLinkDefaultPipeline(Level);
        }));
      });
}

extern "C" LLVM_ATTRIBUTE_WEAK
    LLVM_ATTRIBUTE_VISIBILITY_DEFAULT PassPluginLibraryInfo
    llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "dragon", "0.1", registerCallbacks};
}
