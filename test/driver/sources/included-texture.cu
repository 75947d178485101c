// Texture references in what a source includes.
// RUN: %cc -fsyntax-only -Wno-deprecated-declarations -I%S/Inputs/binds-texture %s

#include "binds.h"

__global__ void kernel(float *out) { *out = tex1Dfetch(reference, 0); }
