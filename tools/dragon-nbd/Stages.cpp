//===- Stages.cpp - memory in which areas pass from place to place --------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dragon-nbd/Stages.h"

namespace dragon::nbd {

StatusOr<std::unique_ptr<Stages>>
Stages::create(SpareMemory &Memory, AreaFile &File, unsigned Count) {
  std::unique_ptr<Stages> All(new Stages(Memory, File));
  for (unsigned I = 0; I < Count; ++I) {
    DRAGON_ASSIGN(Physical Stage, Memory.makeStage());
    File.remember(Stage.hostView, Stage.bytes);
    All->Free.push_back(Stage);
  }
  return All;
}

Stages::~Stages() {
  for (const Physical &Stage : Free) {
    File.forget(Stage.hostView);
    Memory.dropStage(Stage);
  }
}

Stages::Use::Use(Stages &Of) : Of(Of) {
  std::unique_lock Guard(Of.Lock);
  Of.Given.wait(Guard, [&] { return !Of.Free.empty(); });
  Stage = Of.Free.back();
  Of.Free.pop_back();
}

Stages::Use::~Use() {
  {
    std::lock_guard Guard(Of.Lock);
    Of.Free.push_back(Stage);
  }
  Of.Given.notify_one();
}

} // namespace dragon::nbd
