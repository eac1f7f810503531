// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The main header: graph construction, the ops, sessions and training.

// Included first, so that compiler errors in expressions and calls start with a short include list.
#include <rill/expr/apply.hpp>
#include <rill/session/session.hpp>

#include <rill/core/allocator.hpp>
#include <rill/core/array_text.hpp>
#include <rill/core/error.hpp>
#include <rill/core/log.hpp>
#include <rill/data/csv.hpp>
#include <rill/data/dataset.hpp>
#include <rill/data/input_producers.hpp>
#include <rill/data/progress.hpp>
#include <rill/eager/eager_variable.hpp>
#include <rill/eager/evaluate.hpp>
#include <rill/eager/value_and_grad.hpp>
#include <rill/estimator/canned.hpp>
#include <rill/graph/serialization/dot.hpp>
#include <rill/io/idx.hpp>
#include <rill/ops/catalogue.hpp>
#include <rill/ops/control/assert.hpp>
#include <rill/ops/control/print.hpp>
#include <rill/ops/image/image_adjustments.hpp>
#include <rill/ops/math/add_check_numerics.hpp>
#include <rill/ops/math/confusion_matrix.hpp>
#include <rill/ops/state/partitioned_variable.hpp>
#include <rill/ops/state/writes.hpp>
#include <rill/summary/event_writer.hpp>
#include <rill/summary/merged_summaries.hpp>
#include <rill/train/all_reduce_gradients.hpp>
#include <rill/train/any_variable.hpp>
#include <rill/train/attention.hpp>
#include <rill/train/bounded_staleness.hpp>
#include <rill/train/catalogue.hpp>
#include <rill/train/cell_wrappers.hpp>
#include <rill/train/cells.hpp>
#include <rill/train/clipping.hpp>
#include <rill/train/compare_values.hpp>
#include <rill/train/coordinator.hpp>
#include <rill/train/dense.hpp>
#include <rill/train/eager_optimizer.hpp>
#include <rill/train/freeze.hpp>
#include <rill/train/frozen_check.hpp>
#include <rill/train/get_variable.hpp>
#include <rill/train/global_step.hpp>
#include <rill/train/initializers.hpp>
#include <rill/train/layer_norm_lstm_cell.hpp>
#include <rill/train/layers.hpp>
#include <rill/train/losses.hpp>
#include <rill/train/metrics.hpp>
#include <rill/train/monitored_session.hpp>
#include <rill/train/parameter_table.hpp>
#include <rill/train/prefetched_parameters.hpp>
#include <rill/train/recurrent.hpp>
#include <rill/train/recurrent_layer.hpp>
#include <rill/train/replica_device_setter.hpp>
#include <rill/train/saver.hpp>
#include <rill/train/schedules.hpp>
#include <rill/train/sequence_loss.hpp>
#include <rill/train/sequential.hpp>
#include <rill/train/start_queue_runners.hpp>
#include <rill/train/sync_replicas.hpp>
