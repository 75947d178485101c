// A program with arguments, as in C.
// RUN: %build %s -o %t
// RUN: not %plain %t
// RUN: %plain %t one
func.func @main(%n: i32, %values: !llvm.ptr) {
  %two = arith.constant 2 : i32
  %bad = arith.cmpi ne, %n, %two : i32
  scf.if %bad {
    %one = arith.constant 1 : i32
    func.call @exit(%one) : (i32) -> ()
  }
  return
}
func.func private @exit(i32)
