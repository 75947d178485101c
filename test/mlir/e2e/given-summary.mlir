// A summary that the program brings along, by the arguments that the lowered
// kernel has: 5 of each memref, then the number. 'b' is overwritten, so that
// nothing of it is fetched; the launch runs in slices.
// RUN: dragon-opt --dragon-pipeline="analysis=false" %s --emit-bytecode -o %t.mlirbc
// RUN: dragon-translate --dragon-to-summary %t.mlirbc -o %t.summary
// RUN: grep -a -q __dragon_slice_scale %t.summary
// What has been lowered, dragon-cc takes as well.
// RUN: %build %t.mlirbc %S/Inputs/print.c -o %t
// RUN: %plain %t | FileCheck %s
// RUN: %tight DRAGON_STATS=%t.json %t | FileCheck %s
// RUN: FileCheck %s --check-prefix=STATS < %t.json
// CHECK: 4194000 elements, sum 6291000
// STATS: "sliced_launches": {{[1-9]}}
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @scale(%a: memref<?xf32>, %b: memref<?xf32>, %s: f32) kernel attributes {
        dragon.summary = #dragon.summary<sliceable|buffers_only
            arguments[8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 4]
            pointers[
              <1 "a", read, streaming, read_first : <read|exact, 4 at
                  <mul(add(mul(zext(bid.x, 64), zext(bdim.x, 64)), zext(tid.x, 64)), 4)>
                  if [<ult(add(mul(zext(bid.x, 64), zext(bdim.x, 64)), zext(tid.x, 64)), arg(3, 64))>]>>,
              <6 "b", write, streaming, none : <write|exact, 4 at
                  <mul(add(mul(zext(bid.x, 64), zext(bdim.x, 64)), zext(tid.x, 64)), 4)>
                  if [<ult(add(mul(zext(bid.x, 64), zext(bdim.x, 64)), zext(tid.x, 64)), arg(3, 64))>]>>]>} {
      %c0 = arith.constant 0 : index
      %n = memref.dim %a, %c0 : memref<?xf32>
      %i = gpu.global_id x
      %inside = arith.cmpi ult, %i, %n : index
      scf.if %inside {
        %x = memref.load %a[%i] : memref<?xf32>
        %y = arith.mulf %x, %s : f32
        memref.store %y, %b[%i] : memref<?xf32>
      }
      gpu.return
    }
  }
  func.func private @print(memref<?xf32>)
  func.func @main() {
    %n = arith.constant 4194000 : index
    %c1 = arith.constant 1 : index
    %threads = arith.constant 256 : index
    %blocks = arith.ceildivsi %n, %threads : index
    %half = arith.constant 0.5 : f32
    %three = arith.constant 3.0 : f32
    %a = gpu.alloc (%n) : memref<?xf32>
    %b = gpu.alloc (%n) : memref<?xf32>
    gpu.memset %a, %half : memref<?xf32>, f32
    gpu.launch_func @kernels::@scale blocks in (%blocks, %c1, %c1) threads in (%threads, %c1, %c1)
        args(%a : memref<?xf32>, %b : memref<?xf32>, %three : f32)
    %h = memref.alloc(%n) : memref<?xf32>
    gpu.memcpy %h, %b : memref<?xf32>, memref<?xf32>
    func.call @print(%h) : (memref<?xf32>) -> ()
    return
  }
}
