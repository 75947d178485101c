//===- DirectiveInserter.cpp - directives into a program ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/placement/DirectiveInserter.h"

using namespace llvm;

namespace dragon {

static bool isBelowCursor(const Directive &D) {
  const auto *Discard = D.as<DiscardDirective>();
  return Discard && Discard->of<BelowCursor>();
}

bool DirectiveInserter::run(Placement &Decisions) {
  std::vector<bool> Dropped(Decisions.Findings.size(), false);
  bool Changed = false;
  auto Insert = [&](const Directive &D) {
    if (D.is<MapDirective, ElideDirective, DeferDirective, ZeroDirective>() ||
        insert(D)) {
      Changed = true;
      return;
    }
    if (D.Finding < 0)
      return;
    const auto Finding = static_cast<size_t>(D.Finding);
    if (D.Otherwise)
      Decisions.Findings[Finding].Why = *D.Otherwise;
    else
      Dropped[Finding] = true;
  };
  // Those with cursors first: they are computed by what is known of the
  // function as it was.
  for (bool WithCursor : {true, false})
    for (const Directive &D : Decisions.Directives)
      if (isBelowCursor(D) == WithCursor && !D.is<SettleDirective>())
        Insert(D);
  // Behind the discards at the same place: what is dead is not copied.
  for (const Directive &D : Decisions.Directives)
    if (D.is<SettleDirective>())
      Insert(D);
  // These replace what the others refer to.
  elide(Decisions);
  for (const Directive &D : Decisions.Directives)
    if (const auto *Map = D.as<MapDirective>())
      map(D, *Map);

  std::vector<Finding> Kept;
  for (size_t I = 0; I < Dropped.size(); ++I)
    if (!Dropped[I])
      Kept.push_back(std::move(Decisions.Findings[I]));
  Decisions.Findings = std::move(Kept);
  return Changed;
}

} // namespace dragon
