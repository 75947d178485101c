//===- TransferCalls.cpp - calls of MPI by which data go ------------------===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cudart/front/Front.h"
#include "runtime/cudart/mpi/CallTable.h"
#include "runtime/cudart/mpi/Calls.h"
#include "runtime/cudart/mpi/Requests.h"
#include "runtime/cudart/mpi/Waits.h"

#include <array>
#include <iterator>
#include <utility>

namespace dragon::mpi {

namespace {

/// As the program would have called them.
std::array<void *, std::size(Calls)> real;

/// One call of MPI on its way.
class Transfer {
public:
  Transfer(const Library &library, const Call &call, Word *words)
      : Mpi(library), Which(call), Words(words) {}

  /// Puts host memory in the place of buffers.
  Status stage();
  bool any() const { return !Operands.empty(); }
  Status after(int result);

private:
  int number(int8_t parameter) const { return int(Words[parameter]); }
  bool isHere(const Operand &operand) const;
  Status stageOperand(const Operand &operand, int8_t peer);
  Status layOut(const Operand &operand, Layout &layout) const;
  Status layOutRanks(const Operand &operand, Layout &layout) const;
  int ranks() const;
  int ownRank() const;

  const Library &Mpi;
  const Call &Which;
  Word *const Words;
  bool InPlace = false;
  std::vector<Staged> Operands;
  alignas(8) char OwnStatus[MostStatusBytes];
};

int Transfer::ranks() const {
  int size = 0;
  Mpi.calls().Comm_size(Words[Which.communicator], &size);
  return size;
}

int Transfer::ownRank() const {
  int rank = 0;
  Mpi.calls().Comm_rank(Words[Which.communicator], &rank);
  return rank;
}

/// The call uses this buffer in this process.
bool Transfer::isHere(const Operand &operand) const {
  if (operand.access == Access::None)
    return false;
  return operand.at == At::All ||
         (operand.at == At::Root) == (ownRank() == number(Which.root));
}

Status Transfer::layOutRanks(const Operand &operand, Layout &layout) const {
  const auto *counts = reinterpret_cast<const int *>(Words[operand.count]);
  const auto *places =
      reinterpret_cast<const int *>(Words[operand.displacements]);
  for (int rank = 0, all = ranks(); rank < all; ++rank) {
    const bool byType = operand.extent == Extent::ByType;
    const Word type =
        byType
            ? Mpi.handleAt(reinterpret_cast<const void *>(Words[operand.type]),
                           size_t(rank))
            : Words[operand.type];
    if (counts[rank] == 0)
      continue;
    const int64_t unit = byType ? 1 : extentOf(Mpi, type);
    DRAGON_TRY(
        addElements(Mpi, layout, places[rank] * unit, counts[rank], type));
  }
  return {};
}

Status Transfer::layOut(const Operand &operand, Layout &layout) const {
  int64_t count = 0;
  switch (operand.extent) {
  case Extent::Once:
    count = number(operand.count);
    break;
  case Extent::Ranks:
    count = int64_t(number(operand.count)) * ranks();
    break;
  case Extent::Sum: {
    const auto *counts = reinterpret_cast<const int *>(Words[operand.count]);
    for (int rank = 0, all = ranks(); rank < all; ++rank)
      count += counts[rank];
    break;
  }
  case Extent::Own:
    count = reinterpret_cast<const int *>(Words[operand.count])[ownRank()];
    break;
  case Extent::Bytes:
    layout.add(0, uint64_t(number(operand.count)));
    return {};
  case Extent::Varying:
  case Extent::ByType:
    return layOutRanks(operand, layout);
  }
  return addElements(Mpi, layout, 0, count, Words[operand.type]);
}

Status Transfer::stageOperand(const Operand &operand, int8_t peer) {
  const Word buffer = Words[operand.buffer];
  // MPI_BOTTOM is 0: the type has the addresses.
  if (buffer && !mustBeStaged(buffer))
    return {};
  if (peer != NoParameter && number(peer) == Mpi.interface().nullProcess)
    return {};
  if (Which.root != NoParameter || operand.extent != Extent::Once) {
    int inter = 0;
    Mpi.calls().Comm_test_inter(Words[Which.communicator], &inter);
    if (inter)
      return Status::error(DRAGON_ERROR_UNSUPPORTED,
                           "the buffer is on the device and the communicator "
                           "is an intercommunicator: copy it to host memory");
  }
  Layout layout;
  DRAGON_TRY(layOut(operand, layout));
  if (layout.empty() || !mustBeStaged(buffer + Word(layout.begin())))
    return {};
  const bool exact =
      Which.status != NoParameter ||
      (Which.kind != Kind::Blocks && Which.second.access == Access::None);
  DRAGON_ASSIGN(Staged staged,
                Staged::make(buffer, std::move(layout),
                             InPlace ? Access::Changes : operand.access,
                             exact));
  if (Which.kind != Kind::Persistent)
    DRAGON_TRY(staged.copyIn());
  Words[operand.buffer] = staged.stands();
  Operands.push_back(std::move(staged));
  return {};
}

Status Transfer::stage() {
  const auto isInPlace = [&](const Operand &operand) {
    return operand.access != Access::None &&
           Words[operand.buffer] == Mpi.interface().inPlace;
  };
  InPlace = isInPlace(Which.first) || isInPlace(Which.second);
  const std::pair<const Operand &, int8_t> both[] = {
      {Which.first, Which.peer}, {Which.second, Which.source}};
  for (const auto &[operand, peer] : both) {
    if (isInPlace(operand))
      continue;
    if (isHere(operand))
      DRAGON_TRY(stageOperand(operand, peer));
  }
  if (any() && Which.status != NoParameter &&
      Words[Which.status] == Mpi.interface().ignoredStatus)
    Words[Which.status] = reinterpret_cast<Word>(OwnStatus);
  return {};
}

Status Transfer::after(int result) {
  if (result != 0) // MPI_SUCCESS
    return {};
  if (Which.kind != Kind::Blocks) {
    const Word request = Mpi.handleAt(
        reinterpret_cast<const void *>(Words[Which.parameters - 1]), 0);
    requests().add(request,
                   {std::move(Operands), Which.kind == Kind::Persistent});
    return {};
  }
  for (const Staged &staged : Operands)
    DRAGON_TRY(staged.copyOut(
        staged.wantsReceived() && staged.writes()
            ? receivedBytes(Mpi,
                            reinterpret_cast<const void *>(Words[Which.status]))
            : UINT64_MAX));
  return {};
}

template <typename Make>
int transfer(size_t index, Word *words, Make makeCall) {
  const Call &call = Calls[index];
  Front *front = Front::existing();
  const Library *library = front ? Library::get(real[index]) : nullptr;
  if (!library)
    return makeCall();
  const bool blocks = call.kind == Kind::Blocks;
  // What waits to be launched with others runs while we wait.
  if (blocks)
    (void)Front::enter(front);
  Transfer data(*library, call, words);
  if (Status status = data.stage(); !status.ok())
    return failed(*library, call.name, status);
  int result;
  if (blocks) {
    const Waiting waiting(call.name);
    result = makeCall();
  } else {
    result = makeCall();
  }
  if (data.any())
    if (Status status = data.after(result); !status.ok())
      return failed(*library, call.name, status);
  return result;
}

template <size_t> using WordOf = Word;

/// In front of MPI's function, with as many parameters.
template <size_t Index, size_t... Parameter>
LedCall ledCall(std::index_sequence<Parameter...>) {
  using Function = int(WordOf<Parameter>...);
  Function *ours = [](WordOf<Parameter>... arguments) {
    Word words[] = {arguments..., 0};
    return transfer(Index, words, [&] {
      return reinterpret_cast<Function *>(real[Index])(words[Parameter]...);
    });
  };
  return {Calls[Index].name, reinterpret_cast<void *>(ours), &real[Index],
          Library::fits};
}

template <size_t... Index> auto ledCalls(std::index_sequence<Index...>) {
  return std::array{
      ledCall<Index>(std::make_index_sequence<Calls[Index].parameters>())...};
}

} // namespace

std::span<const LedCall> transferCalls() {
  static const auto Led =
      ledCalls(std::make_index_sequence<std::size(Calls)>());
  return Led;
}

} // namespace dragon::mpi
