//===- BufferProgramParser.h - text -> buffer program --------- -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What BufferProgramText.h promises, at work. Private to this folder: one class
// over two files, BufferProgramParser.cpp for declarations and blocks, and
// EventParser.cpp for what stands in blocks.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_PLACEMENT_BUFFERPROGRAMPARSER_H
#define DRAGON_PASSES_PLACEMENT_BUFFERPROGRAMPARSER_H

#include "passes/placement/BufferProgramText.h"

#include "llvm/ADT/StringMap.h"

#include <tuple>

namespace dragon {

class BufferProgramParser {
public:
  llvm::Expected<BufferProgram> parse(llvm::StringRef Text);

private:
  llvm::Error parseLine(llvm::ArrayRef<llvm::StringRef> Words,
                        llvm::StringRef Line);
  llvm::Error parseDeclaration(llvm::ArrayRef<llvm::StringRef> Words);
  llvm::Error parseCursor(llvm::ArrayRef<llvm::StringRef> Words);
  llvm::Error parseBlock(llvm::ArrayRef<llvm::StringRef> Words);
  llvm::Error parseSuccessors(llvm::StringRef Names);
  llvm::Error parseLoop(llvm::ArrayRef<llvm::StringRef> Words);
  llvm::Error finishSuccessors();
  llvm::Error finishCursors();

  // Events and pointers (EventParser.cpp).
  llvm::Error parseEvent(llvm::ArrayRef<llvm::StringRef> Words);
  llvm::Error parseAllocation(Event &E,
                              llvm::ArrayRef<llvm::StringRef> Operands);
  llvm::Error parseCopy(Event &E, llvm::ArrayRef<llvm::StringRef> Operands);
  llvm::Error parseFill(Event &E, llvm::ArrayRef<llvm::StringRef> Operands);
  llvm::Error parseFileEvent(Event &E,
                             llvm::ArrayRef<llvm::StringRef> Operands);
  llvm::Error parseTransfer(Event &E, llvm::ArrayRef<llvm::StringRef> Operands);
  llvm::Error parseHostAccess(Event &E,
                              llvm::ArrayRef<llvm::StringRef> Operands);
  llvm::Error parseOpaque(Event &E, llvm::ArrayRef<llvm::StringRef> Operands);
  llvm::Error parseBarrier(Event &E, llvm::ArrayRef<llvm::StringRef> Operands);
  llvm::Error parseLaunch(Event &E, llvm::ArrayRef<llvm::StringRef> Operands);
  llvm::Error parsePointer(llvm::ArrayRef<llvm::StringRef> Words,
                           llvm::StringRef Line);
  llvm::Error finishPointers();
  void noteSize(Event &E, llvm::StringRef Size) const;

  llvm::Error fail(const llvm::Twine &Message) const {
    return llvm::createStringError("line " + llvm::Twine(LineNumber) + ": " +
                                   Message);
  }
  SizeId sizeOf(llvm::StringRef Word) {
    return Word == "part"
               ? 0
               : Sizes.try_emplace(Word, Sizes.size() + 1).first->second;
  }
  /// Adds uses for `a|b`. Size: empty for the whole buffer.
  llvm::Error addUses(Event &E, llvm::StringRef Names, bool Reads, bool Writes,
                      llvm::StringRef Size = "");
  llvm::Error setFile(Event &E, llvm::StringRef Name);
  std::optional<Bound> bound(llvm::StringRef Word);
  std::optional<ElementIndex> element(llvm::StringRef Word);
  Block &current() { return Program.Blocks.back(); }

  BufferProgram Program;
  llvm::StringMap<unsigned> Buffers, Files, Blocks, Sizes, Streams, Cursors,
      Loops, Numbers, Pointers, Conditions;
  /// Of each pointer: line, where it comes from, names.
  std::vector<std::tuple<unsigned, std::string, std::string>> Incomings;
  std::vector<unsigned> IncomingOf;                      ///< pointer
  std::vector<std::pair<unsigned, std::string>> Headers; ///< line, block
  std::vector<std::pair<unsigned, std::pair<unsigned, std::string>>> Jumps;
  unsigned LineNumber = 0;
  bool Ended = false; ///< the current block has its successors
};

} // namespace dragon

#endif // DRAGON_PASSES_PLACEMENT_BUFFERPROGRAMPARSER_H
