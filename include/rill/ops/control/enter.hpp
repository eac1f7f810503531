// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The former path of a public header.
#include <rill/ops/control/primitives/enter.hpp>
