// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>

#include <rill/core/log.hpp>
#include <rill/device/cuda/gpu_card.hpp>
#include <rill/device/recorded_loop.hpp>

namespace rill { inline namespace RILL_ABI { namespace detail {

/// Decides whether the body of a WHILE node runs again.
static __global__ void decide_loop(cudaGraphConditionalHandle body, loop_decision decision) {
    cudaGraphSetConditional(body, decision.next() ? 1u : 0u);
}

/// Throws if a call for a capture failed.
inline void check_capture(const gpu_card& card, cudaError_t result) { check_cuda(result, card.name() + ": a capture"); }

/// A stream in which this thread captures kernels of the current GPU for graphs. It is not the card's, in which other threads start work.
class graph_capture {
public:
    explicit graph_capture(const gpu_card& card) : card_(card) {
        check(cudaStreamCreateWithFlags(&into_, cudaStreamNonBlocking));
    }
    ~graph_capture() { cudaStreamDestroy(into_); }
    graph_capture(const graph_capture&) = delete;

    /// Adds the kernels that start() starts to a graph, one after another. Returns the last of them.
    template <class Start> std::vector<cudaGraphNode_t> add(cudaGraph_t graph, const Start& start) const {
        check(cudaStreamBeginCaptureToGraph(into_, graph, nullptr, nullptr, 0, cudaStreamCaptureModeThreadLocal));
        std::vector<cudaGraphNode_t> last;
        try {
            const captured_stream stream(card_.number(), into_);
            start();
            cudaStreamCaptureStatus status{};
            const cudaGraphNode_t* nodes = nullptr;
            const cudaGraphEdgeData* edges = nullptr;
            std::size_t count = 0;
            check(cudaStreamGetCaptureInfo(into_, &status, nullptr, nullptr, &nodes, &edges, &count));
            last.assign(nodes, nodes + count);
        } catch (...) {
            cudaStreamEndCapture(into_, &graph);
            throw;
        }
        check(cudaStreamEndCapture(into_, &graph));
        return last;
    }
    /// Adds a loop to an empty graph.
    void add_loop(cudaGraph_t graph, const recorded_loop& loop) const {
        cudaGraphNodeParams node{};
        node.type = cudaGraphNodeTypeConditional;
        node.conditional.type = cudaGraphCondTypeWhile;
        node.conditional.size = 1;
        check(cudaGraphConditionalHandleCreate(&node.conditional.handle, graph, 0, 0));
        const auto decide = [&] {
            loop.condition();
            decide_loop<<<1, 1, 0, into_>>>(node.conditional.handle, loop.decision);
            check(cudaPeekAtLastError());
        };
        const auto first = add(graph, decide);
        cudaGraphNode_t made = nullptr;
        check(cudaGraphAddNode(&made, graph, first.data(), nullptr, first.size(), &node));
        add(node.conditional.phGraph_out[0], [&] {
            loop.iteration();
            decide();
        });
    }

private:
    void check(cudaError_t result) const { check_capture(card_, result); }

    const gpu_card& card_;
    cudaStream_t into_ = nullptr;
};

/// Kernels that were captured as a CUDA graph, which one call starts. The graph belongs to the driver, which keeps it while it runs.
class captured_kernels {
public:
    captured_kernels(const gpu_card& card, cudaGraphExec_t graph) : card_(card), graph_(graph) {}
    ~captured_kernels() { cudaGraphExecDestroy(graph_); }
    captured_kernels(const captured_kernels&) = delete;

    void start() const {
        const selected_gpu here(card_.number());
        check_cuda(cudaGraphLaunch(graph_, card_.stream()), card_.name() + ": captured kernels could not start");
    }

    /// Captures the kernels that start() starts in this thread. Returns an empty function if CUDA refuses, and logs the reason: runs then
    /// start them one by one.
    static std::function<void()> capture(const gpu_card& card, const std::function<void()>& start) {
        return made(card, [&](const graph_capture& into, cudaGraph_t graph) { into.add(graph, start); });
    }
    /// Captures a loop, likewise. The graph has a WHILE node.
    static std::function<void()> capture(const gpu_card& card, const recorded_loop& loop) {
        return made(card, [&](const graph_capture& into, cudaGraph_t graph) { into.add_loop(graph, loop); });
    }

private:
    template <class Fill> static std::function<void()> made(const gpu_card& card, const Fill& fill) {
        const selected_gpu here(card.number());
        cudaGraph_t graph = nullptr;
        cudaGraphExec_t made = nullptr;
        std::function<void()> start;
        try {
            check_capture(card, cudaGraphCreate(&graph, 0));
            fill(graph_capture(card), graph);
            check_capture(card, cudaGraphInstantiate(&made, graph, 0));
            auto all = std::make_shared<const captured_kernels>(card, made);
            check_capture(card, cudaGraphUpload(made, card.stream())); // takes the memory of the card now
            start = [all = std::move(all)] { all->start(); };
        } catch (const std::exception& problem) {
            cudaGetLastError(); // a refused capture is not sticky
            log_message(log_level::info, std::string("kernels are started one by one: ") + problem.what());
        }
        if (graph) cudaGraphDestroy(graph);
        return start;
    }

    const gpu_card& card_;
    const cudaGraphExec_t graph_;
};

}}} // namespace rill::RILL_ABI::detail
