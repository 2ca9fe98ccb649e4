#pragma once
// Everything that emitted text calls: views, loads and stores, and the named operations over a scalar K.
#include "deltaloom/runtime/ops/channels.hpp"
#include "deltaloom/runtime/ops/csolve.hpp"
#include "deltaloom/runtime/ops/decay.hpp"
#include "deltaloom/runtime/ops/dots.hpp"
#include "deltaloom/runtime/ops/load_store.hpp"
#include "deltaloom/runtime/ops/matrix.hpp"
#include "deltaloom/runtime/ops/multiply.hpp"
#include "deltaloom/runtime/ops/reduce.hpp"
#include "deltaloom/runtime/ops/scratch.hpp"
#include "deltaloom/runtime/ops/solve.hpp"
#include "deltaloom/runtime/ops/spread.hpp"
#include "deltaloom/runtime/ops/vector_map.hpp"
