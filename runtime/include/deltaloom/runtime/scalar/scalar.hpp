#pragma once
// The scalars that emitted text and bodies are evaluated over: float, double, the field, and dual numbers over any of
// them.
#include "deltaloom/runtime/scalar/dual.hpp"
#include "deltaloom/runtime/scalar/field.hpp"
#include "deltaloom/runtime/scalar/function.hpp"
#include "deltaloom/runtime/scalar/gate.hpp"
#include "deltaloom/runtime/scalar/maps.hpp"
