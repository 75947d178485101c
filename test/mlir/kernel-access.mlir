// What kernels of the gpu dialect touch, as attributes.
// RUN: dragon-opt --dragon-kernel-access %s | FileCheck %s
// RUN: dragon-opt --dragon-kernel-access %s | dragon-opt | FileCheck %s
// RUN: dragon-opt --dragon-kernel-access --remark-format=emitRemark --remarks-filter=dragon %s 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

gpu.module @kernels {
  // A memref is seven arguments here: two pointers, an offset, one size, one stride.
  // CHECK-LABEL: gpu.func @add
  // CHECK-SAME: <sliceable|buffers_only arguments[8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8]
  // CHECK-SAME: <1 "a", read, streaming, none : <read|exact, 4 at <mul.nsw.nuw(add.nsw.nuw(mul.nsw.nuw(zext(bid.x, 64), zext(bdim.x, 64)), zext(tid.x, 64)), 4)> if[<slt(add.nsw.nuw(mul.nsw.nuw(zext(bid.x, 64), zext(bdim.x, 64)), zext(tid.x, 64)), arg(15, 64))>]>>
  // CHECK-SAME: <6 "b", read, streaming, none
  // CHECK-SAME: <11 "c", write, streaming, none : <write|exact, 4
  gpu.func @add(%a: memref<?xf32> loc("a"), %b: memref<?xf32> loc("b"), %c: memref<?xf32> loc("c"), %n: index) kernel {
    %bi = gpu.block_id x
    %d = gpu.block_dim x
    %t = gpu.thread_id x
    %p = arith.muli %bi, %d : index
    %i = arith.addi %p, %t : index
    %in = arith.cmpi slt, %i, %n : index
    scf.if %in {
      %v = memref.load %a[%i] : memref<?xf32>
      %u = memref.load %b[%i] : memref<?xf32>
      %w = arith.addf %v, %u : f32
      memref.store %w, %c[%i] : memref<?xf32>
    }
    gpu.return
  }

  // Reads of what the thread has written are no reads of old contents.
  // CHECK-LABEL: gpu.func @product
  // CHECK-SAME: read, reused, none : <read|exact, 4 at <mul.nsw.nuw(add.nsw.nuw(mul.nsw.nuw(zext(bid.x, 64), 128), loop(0, 127)), 4)>>
  // CHECK-SAME: <15 "arg2", read_write, streaming, none : <write|exact, 4 at <mul.nsw.nuw(add.nsw.nuw(mul.nsw.nuw(zext(bid.x, 64), 32), zext(tid.x, 64)), 4)>>, <read|exact
  gpu.func @product(%a: memref<64x128xf32>, %b: memref<128x32xf32>, %c: memref<64x32xf32>) kernel {
    %row = gpu.block_id x
    %col = gpu.thread_id x
    %zero = arith.constant 0.0 : f32
    affine.store %zero, %c[symbol(%row), symbol(%col)] : memref<64x32xf32>
    affine.for %k = 0 to 128 {
      %x = affine.load %a[symbol(%row), %k] : memref<64x128xf32>
      %y = affine.load %b[%k, symbol(%col)] : memref<128x32xf32>
      %s = affine.load %c[symbol(%row), symbol(%col)] : memref<64x32xf32>
      %m = arith.mulf %x, %y : f32
      %r = arith.addf %s, %m : f32
      affine.store %r, %c[symbol(%row), symbol(%col)] : memref<64x32xf32>
    }
    gpu.return
  }

  // But of what it writes later, they are.
  // CHECK-LABEL: gpu.func @scale
  // CHECK-SAME: read_write, streaming, read_first
  gpu.func @scale(%a: memref<1024xf32>) kernel {
    %i = gpu.global_id x
    %v = memref.load %a[%i] : memref<1024xf32>
    %w = arith.addf %v, %v : f32
    memref.store %w, %a[%i] : memref<1024xf32>
    gpu.return
  }

  // A loop with bounds that a launch decides: it runs at all where 0 < n.
  // CHECK-LABEL: gpu.func @rows
  // CHECK-SAME: at <mul.nsw(add(mul(add.nsw.nuw(mul.nsw.nuw(zext(bid.x, 64), zext(bdim.x, 64)), zext(tid.x, 64)), arg(5, 64)), loop(0, sub.nsw(smax(arg(7, 64), 1), 1))), 4)> if[<slt(0, arg(7, 64))>]
  gpu.func @rows(%a: memref<?x?xf32>, %n: index) kernel {
    %i = gpu.global_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    scf.for %k = %c0 to %n step %c1 {
      memref.store %zero, %a[%i, %k] : memref<?x?xf32>
    }
    gpu.return
  }

  // Guards that the bounds of loops say already are left out, and accesses that
  // no thread has.
  // CHECK-LABEL: gpu.func @tiled
  // CHECK-SAME: pointers[<1 "arg0", write, {{[a-z]+}}, none : <write|exact, 4 at <mul.nsw.nuw(add.nsw.nuw(mul.nsw.nuw(zext(bid.x, 64), 8), loop(0, 7)), 4)>>>]
  gpu.func @tiled(%a: memref<?xf32>) kernel {
    %b = gpu.block_id x
    %zero = arith.constant 0.0 : f32
    affine.for %k = 0 to 8 {
      affine.if affine_set<(d0) : (d0 >= 0, 10 - d0 >= 0)>(%k) {
        %i = affine.apply affine_map<(b, k) -> (b * 8 + k)>(%b, %k)
        memref.store %zero, %a[%i] : memref<?xf32>
      }
      affine.if affine_set<(d0) : (d0 - 8 >= 0)>(%k) {
        memref.store %zero, %a[%b] : memref<?xf32>
      }
    }
    gpu.return
  }

  // REMARK: kernel-access.mlir:[[# @LINE + 13]]:{{.*}} [Missed] KernelAccess {{.*}} Function=gather {{.*}}the index is loaded from memory
  // CHECK-LABEL: gpu.func @gather
  // CHECK-SAME: <1 "arg0", read, indirect, none : <read|anywhere|indirect, 4>>
  // CHECK-SAME: <6 "arg1", read, streaming
  // CHECK-SAME: <11 "arg2", read_write, {{[a-z]+}}, read_first : <write|conditional, 4
  // CHECK-SAME: <read|write|atomic|conditional, 4
  gpu.func @gather(%a: memref<1024xf32>, %index: memref<512xi32>, %sum: memref<512xf32>) kernel {
    %i = gpu.thread_id x
    %zero = arith.constant 0.0 : f32
    %k = memref.load %index[%i] : memref<512xi32>
    %l = arith.index_cast %k : i32 to index
    // The remark above is about this one.

    %q = memref.load %a[%l] : memref<1024xf32>
    %pos = arith.cmpf ogt, %q, %zero : f32
    scf.if %pos {
      memref.store %q, %sum[%i] : memref<512xf32>
      memref.atomic_rmw addf %q, %sum[%i] : (f32, memref<512xf32>) -> f32
    }
    gpu.return
  }

  // Parts of a buffer, vectors, and memory of the block.
  // CHECK-LABEL: gpu.func @parts
  // CHECK-SAME: <sliceable|barrier|buffers_only arguments
  // CHECK-SAME: <read|exact, 16 at <mul.nsw.nuw(add.nsw.nuw(256, mul.nsw.nuw(zext(tid.x, 64), 4)), 4)>>
  gpu.func @parts(%a: memref<1024xf32>) workgroup(%s: memref<64xf32, #gpu.address_space<workgroup>>) kernel {
    %t = gpu.thread_id x
    %c4 = arith.constant 4 : index
    %i = arith.muli %t, %c4 : index
    %part = memref.subview %a[256] [256] [1] : memref<1024xf32> to memref<256xf32, strided<[1], offset: 256>>
    %v = vector.load %part[%i] : memref<256xf32, strided<[1], offset: 256>>, vector<4xf32>
    %e = vector.extract %v[0] : f32 from vector<4xf32>
    memref.store %e, %s[%t] : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    gpu.return
  }

  // Reads of what the same thread has written before see no old contents, a
  // part of a vector as well.
  // CHECK-LABEL: gpu.func @part_of_a_vector
  // CHECK-SAME: <1 "arg0", read_write, {{[a-z]+}}, none : <write|exact, 16 at
  // CHECK-SAME: <read|exact, 4 at
  gpu.func @part_of_a_vector(%a: memref<1024xf32>) kernel {
    %t = gpu.thread_id x
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %i = arith.muli %t, %c4 : index
    %v = arith.constant dense<0.0> : vector<4xf32>
    vector.store %v, %a[%i] : memref<1024xf32>, vector<4xf32>
    %j = arith.addi %i, %c1 : index
    %e = memref.load %a[%j] : memref<1024xf32>
    memref.store %e, %a[%i] : memref<1024xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @behind_a_vector
  // CHECK-SAME: <1 "arg0", read_write, {{[a-z]+}}, read_first : <write|exact, 16 at
  // CHECK-SAME: <read|exact, 4 at
  gpu.func @behind_a_vector(%a: memref<1024xf32>) kernel {
    %t = gpu.thread_id x
    %c4 = arith.constant 4 : index
    %i = arith.muli %t, %c4 : index
    %v = arith.constant dense<0.0> : vector<4xf32>
    vector.store %v, %a[%i] : memref<1024xf32>, vector<4xf32>
    %j = arith.addi %i, %c4 : index
    %e = memref.load %a[%j] : memref<1024xf32>
    memref.store %e, %a[%i] : memref<1024xf32>
    gpu.return
  }

  // Neighbours are one access; others are not.
  // CHECK-LABEL: gpu.func @neighbours
  // CHECK-SAME: <read|exact, 8 at <mul.nsw.nuw(zext(tid.x, 64), 4)>>, <read|exact, 4 at <mul.nsw.nuw(add.nsw.nuw(zext(tid.x, 64), 3), 4)>>>
  gpu.func @neighbours(%a: memref<1024xf32>, %b: memref<1024xf32>) kernel {
    %t = gpu.thread_id x
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %i = arith.addi %t, %c1 : index
    %j = arith.addi %t, %c3 : index
    %x = memref.load %a[%t] : memref<1024xf32>
    %y = memref.load %a[%i] : memref<1024xf32>
    %z = memref.load %a[%j] : memref<1024xf32>
    %s = arith.addf %x, %y : f32
    %r = arith.addf %s, %z : f32
    memref.store %r, %b[%t] : memref<1024xf32>
    gpu.return
  }

  // REMARK: Function=calls {{.*}}it calls a function
  // REMARK: NotSliced {{.*}}kernel 'calls' does not run in slices: it calls a function that is not inlined
  // CHECK-LABEL: gpu.func @calls
  // CHECK-SAME: <touches_anything arguments{{.*}}unsliceable "it calls a function that is not inlined"
  func.func private @other(memref<8xf32>)
  gpu.func @calls(%a: memref<8xf32>) kernel {
    func.call @other(%a) : (memref<8xf32>) -> ()
    gpu.return
  }
}
