// Three layers of matmul, bias and relu, at a quarter of their footprint. What is announced of kernels that upstream's passes made is
// what they touch, byte by byte. Nothing moves but the input and the weights, once, and the result, once.
// RUN: %to-gpu %s -o %t.gpu.mlir
// RUN: %build -fdragon-trace-accesses %t.gpu.mlir -o %t
// RUN: %strict DRAGON_DEVICE_MEMORY=8M DRAGON_FOOTPRINTS=1 DRAGON_STATS=%t.json %t
// RUN: FileCheck %s < %t.json
// CHECK: "host_to_device": {
// CHECK-NEXT: "bytes": 8405248,
// CHECK: "device_to_host": {
// CHECK-NEXT: "bytes": 8388608,
// CHECK: "sliced_launches": 9
// CHECK: "footprints"
// CHECK-COUNT-9: "not_overwritten": 0
// RUN: FileCheck %s --check-prefix=NONE < %t.json
// NONE-NOT: "missed": {{[1-9]}}
// NONE-NOT: "in_vain": {{[1-9]}}

#elements = affine_map<(i, j) -> (i, j)>
#columns = affine_map<(i, j) -> (j)>

module {
  // out = relu(in * weights + bias)
  func.func private @layer(%in: memref<32768x64xf32>, %weights: memref<64x64xf32>, %bias: memref<64xf32>, %out: memref<32768x64xf32>) {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%out : memref<32768x64xf32>)
    linalg.matmul ins(%in, %weights : memref<32768x64xf32>, memref<64x64xf32>) outs(%out : memref<32768x64xf32>)
    linalg.generic {indexing_maps = [#columns, #elements], iterator_types = ["parallel", "parallel"]}
      ins(%bias : memref<64xf32>) outs(%out : memref<32768x64xf32>) {
    ^bb0(%b: f32, %sum: f32):
      %s = arith.addf %b, %sum : f32
      %r = arith.maximumf %s, %zero : f32
      linalg.yield %r : f32
    }
    return
  }

  // (3 i + 5 j) % 7 - 3
  func.func private @value(%i: index, %j: index) -> f32 {
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %c7 = arith.constant 7 : index
    %x = arith.muli %i, %c3 : index
    %y = arith.muli %j, %c5 : index
    %z = arith.addi %x, %y : index
    %m = arith.remui %z, %c7 : index
    %d = arith.subi %m, %c3 : index
    %n = arith.index_cast %d : index to i32
    %f = arith.sitofp %n : i32 to f32
    return %f : f32
  }

  func.func @main() -> i32 {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %columns = arith.constant 64 : index
    %rows = arith.constant 32768 : index
    %hx = memref.alloc() : memref<32768x64xf32>
    %hw = memref.alloc() : memref<64x64xf32>
    %hb = memref.alloc() : memref<64xf32>
    %hy = memref.alloc() : memref<32768x64xf32>
    scf.for %i = %c0 to %rows step %c1 {
      scf.for %j = %c0 to %columns step %c1 {
        %v = func.call @value(%i, %j) : (index, index) -> f32
        memref.store %v, %hx[%i, %j] : memref<32768x64xf32>
      }
    }
    scf.for %i = %c0 to %columns step %c1 {
      scf.for %j = %c0 to %columns step %c1 {
        %v = func.call @value(%j, %i) : (index, index) -> f32
        memref.store %v, %hw[%i, %j] : memref<64x64xf32>
      }
      %b = func.call @value(%i, %c1) : (index, index) -> f32
      memref.store %b, %hb[%i] : memref<64xf32>
    }
    %x = gpu.alloc () : memref<32768x64xf32>
    %w = gpu.alloc () : memref<64x64xf32>
    %b = gpu.alloc () : memref<64xf32>
    %h1 = gpu.alloc () : memref<32768x64xf32>
    %h2 = gpu.alloc () : memref<32768x64xf32>
    %y = gpu.alloc () : memref<32768x64xf32>
    gpu.memcpy %x, %hx : memref<32768x64xf32>, memref<32768x64xf32>
    gpu.memcpy %w, %hw : memref<64x64xf32>, memref<64x64xf32>
    gpu.memcpy %b, %hb : memref<64xf32>, memref<64xf32>
    func.call @layer(%x, %w, %b, %h1) : (memref<32768x64xf32>, memref<64x64xf32>, memref<64xf32>, memref<32768x64xf32>) -> ()
    func.call @layer(%h1, %w, %b, %h2) : (memref<32768x64xf32>, memref<64x64xf32>, memref<64xf32>, memref<32768x64xf32>) -> ()
    func.call @layer(%h2, %w, %b, %y) : (memref<32768x64xf32>, memref<64x64xf32>, memref<64xf32>, memref<32768x64xf32>) -> ()
    gpu.memcpy %hy, %y : memref<32768x64xf32>, memref<32768x64xf32>
    gpu.dealloc %x : memref<32768x64xf32>
    gpu.dealloc %w : memref<64x64xf32>
    gpu.dealloc %b : memref<64xf32>
    gpu.dealloc %h1 : memref<32768x64xf32>
    gpu.dealloc %h2 : memref<32768x64xf32>
    gpu.dealloc %y : memref<32768x64xf32>

    // Every 101st row, on the host.
    %c101 = arith.constant 101 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %zerof = arith.constant 0.0 : f32
    %from = memref.alloc() : memref<64xf32>
    %to = memref.alloc() : memref<64xf32>
    %bad = scf.for %i = %c0 to %rows step %c101 iter_args(%before = %zero) -> i32 {
      scf.for %j = %c0 to %columns step %c1 {
        %v = memref.load %hx[%i, %j] : memref<32768x64xf32>
        memref.store %v, %from[%j] : memref<64xf32>
      }
      scf.for %l = %c0 to %c3 step %c1 {
        scf.for %j = %c0 to %columns step %c1 {
          %sum = scf.for %k = %c0 to %columns step %c1 iter_args(%s = %zerof) -> f32 {
            %p = memref.load %from[%k] : memref<64xf32>
            %q = memref.load %hw[%k, %j] : memref<64x64xf32>
            %r = arith.mulf %p, %q : f32
            %t = arith.addf %s, %r : f32
            scf.yield %t : f32
          }
          %bias = memref.load %hb[%j] : memref<64xf32>
          %u = arith.addf %bias, %sum : f32
          %v = arith.maximumf %u, %zerof : f32
          memref.store %v, %to[%j] : memref<64xf32>
        }
        scf.for %j = %c0 to %columns step %c1 {
          %v = memref.load %to[%j] : memref<64xf32>
          memref.store %v, %from[%j] : memref<64xf32>
        }
      }
      %row = scf.for %j = %c0 to %columns step %c1 iter_args(%sofar = %before) -> i32 {
        %v = memref.load %from[%j] : memref<64xf32>
        %u = memref.load %hy[%i, %j] : memref<32768x64xf32>
        %differs = arith.cmpf une, %u, %v : f32
        %next = arith.select %differs, %one, %sofar : i32
        scf.yield %next : i32
      }
      scf.yield %row : i32
    }
    memref.dealloc %from : memref<64xf32>
    memref.dealloc %to : memref<64xf32>
    memref.dealloc %hx : memref<32768x64xf32>
    memref.dealloc %hw : memref<64x64xf32>
    memref.dealloc %hb : memref<64xf32>
    memref.dealloc %hy : memref<32768x64xf32>
    return %bad : i32
  }
}
