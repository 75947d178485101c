//===- PointerAccesses.h - accesses to the summary of a pointer -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The accesses that a front end has found through one pointer become its
// summary. Both front ends, of LLVM IR and of the gpu dialect, find accesses
// their own way; what follows is the same: whether a read may see old contents,
// which accesses say nothing new, which are one.
//
// What a kernel surely writes can replace a buffer's old contents only if no
// thread reads them before. Threads run in any order, so a read of the same
// pointer is safe only where the same thread has surely written the very bytes:
//
//   out[i] = 0;
//   for (k ...) out[i] += ...;    // reads what this thread wrote
//
// Everything else counts as a read of old contents. (A read of another pointer
// that overlaps is the runtime's to find: it sees the addresses.)
//
// A front end's accesses are of any type with a member Summary. It answers by
// an adapter:
//
//   std::optional<int64_t> distance(const Found &A, const Found &B);
//     How many bytes A's offset is behind B's, if that is always the same.
//   bool comesFirst(const Found &Write, const Found &Read);
//     Each thread that comes to Read has done Write before, with the same
//     values of all that Write's offset depends on.
//   bool alike(const Found &A, const Found &B);
//     Neither happens where, or more often than, the other does not.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_ACCESS_POINTERACCESSES_H
#define DRAGON_PASSES_ACCESS_POINTERACCESSES_H

#include "dragon/SummaryBuilder.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace dragon {

inline bool same(const GuardRecord &X, const GuardRecord &Y) {
  return X.Lhs == Y.Lhs && X.Rhs == Y.Rhs && X.Loop == Y.Loop &&
         X.Pred == Y.Pred;
}

inline bool sameGuards(const AccessSummary &A, const AccessSummary &B) {
  return std::equal(A.Guards.begin(), A.Guards.end(), B.Guards.begin(),
                    B.Guards.end(), same);
}

/// Whether all that B does A does as well: the same bytes under fewer
/// conditions, and not less surely.
inline bool covers(const AccessSummary &A, const AccessSummary &B) {
  constexpr uint8_t Apart =
      AccessExact | AccessIndirect | AccessConditional | AccessUnsaid;
  if ((A.Flags | Apart) != (B.Flags | Apart) ||
      (A.Flags & AccessExact) < (B.Flags & AccessExact) ||
      (A.Flags & AccessConditional) > (B.Flags & AccessConditional) ||
      (A.Flags & AccessUnsaid) > (B.Flags & AccessUnsaid) ||
      A.Offset != B.Offset || A.Width < B.Width || A.Place != B.Place ||
      !std::includes(B.Beside.begin(), B.Beside.end(), A.Beside.begin(),
                     A.Beside.end()))
    return false;
  return std::all_of(
      A.Guards.begin(), A.Guards.end(), [&](const GuardRecord &X) {
        return std::any_of(B.Guards.begin(), B.Guards.end(),
                           [&](const GuardRecord &Y) { return same(X, Y); });
      });
}

/// True if some access among them may read what none of them wrote before, in
/// the same thread.
template <typename Found, typename Adapter>
bool mayReadBeforeWrite(const std::vector<Found> &Accesses,
                        const Adapter &From) {
  constexpr uint8_t Kinds = AccessRead | AccessWrite | AccessUnbounded;
  auto IsWritten = [&](const Found &Read) {
    return std::any_of(
        Accesses.begin(), Accesses.end(), [&](const Found &Write) {
          if ((Write.Summary.Flags & Kinds) != AccessWrite ||
              !From.comesFirst(Write, Read))
            return false;
          const std::optional<int64_t> D = From.distance(Read, Write);
          return D && *D >= 0 &&
                 uint64_t(*D) + Read.Summary.Width <= Write.Summary.Width;
        });
  };
  return std::any_of(Accesses.begin(), Accesses.end(), [&](const Found &Read) {
    return (Read.Summary.Flags & AccessRead) &&
           ((Read.Summary.Flags & AccessUnbounded) || !IsWritten(Read));
  });
}

/// Leaves out accesses to bytes that another one touches in the same way under
/// fewer conditions.
template <typename Found> void dropCovered(std::vector<Found> &Accesses) {
  for (size_t I = 0; I < Accesses.size(); ++I)
    for (size_t J = Accesses.size(); J-- > 0;)
      if (I != J && covers(Accesses[I].Summary, Accesses[J].Summary)) {
        Accesses.erase(Accesses.begin() + ptrdiff_t(J));
        I -= J < I;
      }
}

/// Makes A the access to both, if their bytes touch or are unknown.
template <typename Found, typename Adapter>
bool join(Found &A, const Found &B, const Adapter &From) {
  constexpr int64_t MaxWidth = 1 << 20;
  if (A.Summary.Flags != B.Summary.Flags ||
      A.Summary.Beside != B.Summary.Beside ||
      !sameGuards(A.Summary, B.Summary) || !From.alike(A, B))
    return false;
  if (A.Summary.Flags & AccessUnbounded)
    return true;
  const std::optional<int64_t> D = From.distance(B, A);
  const int64_t Width = A.Summary.Width;
  if (!D || *D > Width || *D < -int64_t(B.Summary.Width))
    return false;
  const int64_t Begin = std::min<int64_t>(0, *D);
  const int64_t End = std::max(Width, *D + int64_t(B.Summary.Width));
  if (End - Begin >= MaxWidth)
    return false;
  if (*D < 0)
    A = B;
  A.Summary.Width = uint32_t(End - Begin);
  return true;
}

/// Joins accesses to neighbouring bytes under the same conditions: the fields
/// of a structure, the elements of a small vector.
template <typename Found, typename Adapter>
void joinNeighbours(std::vector<Found> &Accesses, const Adapter &From) {
  for (size_t I = 0; I < Accesses.size(); ++I)
    for (size_t J = I + 1; J < Accesses.size();) {
      if (!join(Accesses[I], Accesses[J], From)) {
        ++J;
        continue;
      }
      Accesses.erase(Accesses.begin() + ptrdiff_t(J));
      J = I + 1; // what did not touch the one before may do so now
    }
}

/// Fills in what \p S says of the accesses; whether the pointer escapes is in
/// its flags already.
template <typename Found, typename Adapter>
void summarizeAccesses(std::vector<Found> &Accesses, const Adapter &From,
                       PointerSummary &S) {
  const bool ReadFirst = mayReadBeforeWrite(Accesses, From);
  dropCovered(Accesses);
  joinNeighbours(Accesses, From);
  uint8_t All = 0;
  for (const Found &A : Accesses) {
    All |= A.Summary.Flags;
    S.Accesses.push_back(A.Summary);
  }
  if ((All & AccessWrite) && ReadFirst)
    S.Flags |= PointerReadBeforeWrite;
  S.Mode = S.Flags & PointerEscapes
               ? AccessMode::Any
               : AccessMode(All & (AccessRead | AccessWrite));
}

} // namespace dragon

#endif // DRAGON_PASSES_ACCESS_POINTERACCESSES_H
