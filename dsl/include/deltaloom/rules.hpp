#pragma once
// The rules that come with Deltaloom, one declaration each.
#include <deltaloom/rules/delta.hpp>
#include <deltaloom/rules/gated.hpp>
#include <deltaloom/rules/gated_delta.hpp>
#include <deltaloom/rules/sum.hpp>
