//===- BufferProgramText.h - buffer programs as text ---------- -*- C++ -*-===//
//
// Part of dragon-cc, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The text form, for tests, both ways. One statement a line, `#` starts a
// comment; positions are the lines of the text itself.
//
//   buffer d 1G [managed] [escapes]     device memory and its size: any word;
//   staging h 1G [escapes] [summary]    equal words are equal sizes
//   cursor c d block                    moves up through the loop with this
//   header file f [escapes]
//
//   block name [loop l from a up to b] [fails]
//                                       the entry needs no `block`
//   alloc d                free d
//   copy-in d h [size]     copy-out h d [size]     copy to from [size]
//                                                         (- host memory)
//   fill d [size]
//   open f                 use-file f
//   file-read h f [size]   file-write f h [size]
//   launch kernel read(a) write(b) read-write(c) must-write(d) [stream s]
//                                                              [unsliceable]
//   host-access x [repeated] [reads]
//   opaque name x y        barrier name
//   pointer p a from x, b|q from y      an address that comes by each edge
//   pointer p a if c else b             or by a condition
//   -> name, name          successors; else `return`, `exit`, or the next block
//
// `loop l from a up to b`: the header of a loop with the counter a, ..., b - 1;
// `down to b`: a, ..., b. A successor `name at l=a` leaves the loop in that
// iteration. Bounds are numbers or words, or a word plus or minus a number. A
// buffer declared `array` has elements: `d[l]`, `d[l-1]`, `d[n-1]`.
//
// A size left out means the whole buffer; `part` is less; whether another one
// than the buffer's is as much can be tested when it is known. `a|b` is a
// pointer to either, `stream ?` one that is not known, `d@c` one to where d's
// cursor c is, the name of a `pointer` the one that it is.
//
//===----------------------------------------------------------------------===//
#ifndef DRAGON_PASSES_PLACEMENT_BUFFERPROGRAMTEXT_H
#define DRAGON_PASSES_PLACEMENT_BUFFERPROGRAMTEXT_H

#include "passes/placement/Directive.h"

#include "llvm/Support/Error.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace dragon {

/// Errors name the line.
llvm::Expected<BufferProgram> parseBufferProgram(llvm::StringRef Text);

void printBufferProgram(const BufferProgram &Program, llvm::raw_ostream &Out);

/// "after k1: discard a", one line each; then the findings, "line 3: remark:
/// ...".
void printPlacement(const BufferProgram &Program, const Placement &Result,
                    llvm::raw_ostream &Out);

} // namespace dragon

#endif // DRAGON_PASSES_PLACEMENT_BUFFERPROGRAMTEXT_H
