#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Training by two workers and one parameter server beside TensorFlow's grpc runtime: three processes on loopback.

    build/peers/venv/bin/python bench/cluster/beside_tensorflow.py build/release/bench/training_bench [--rounds 5]

The rounds alternate between the two, case by case. Prints medians: steps of the variables in a second, and the CPU time of the first
worker's process for each step of it.
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "peers"))
from common import free_ports

CASES = {  # the name in training_bench: workers, steps of the first one, in step, hidden layer
    "tiny, asynchronous": (1, 1000, False, False),
    "tiny, in step": (1, 1000, True, False),
    "784-100-10, two workers, asynchronous": (2, 300, False, True),
    "784-100-10, two workers, in step": (2, 300, True, True),
}


def train(job: str, task: int, case: str, ports: list[int]) -> None:
    """Runs one task of a case. The first worker prints its steps in a second and the CPU time of a step."""
    import numpy as np
    import tensorflow as tf
    v1 = tf.compat.v1
    v1.disable_eager_execution()
    workers, steps, in_step, layers = CASES[case]
    cluster = v1.train.ClusterSpec({"ps": [f"127.0.0.1:{ports[0]}"], "worker": [f"127.0.0.1:{p}" for p in ports[1:]]})
    server = v1.train.Server(cluster, job, task)
    if job == "ps":
        server.join()
    with v1.device(v1.train.replica_device_setter(cluster=cluster, worker_device=f"/job:worker/task:{task}")):
        counter = v1.train.get_or_create_global_step()
        if layers:
            image, label = v1.placeholder(tf.float32, [32, 784]), v1.placeholder(tf.int32, [32])
            w1 = v1.get_variable("w1", [784, 100], initializer=v1.glorot_uniform_initializer(1), use_resource=True)
            b1 = v1.get_variable("b1", [100], initializer=v1.zeros_initializer(), use_resource=True)
            w2 = v1.get_variable("w2", [100, 10], initializer=v1.glorot_uniform_initializer(2), use_resource=True)
            b2 = v1.get_variable("b2", [10], initializer=v1.zeros_initializer(), use_resource=True)
            logits = tf.matmul(tf.nn.relu(tf.matmul(image, w1) + b1), w2) + b2
            loss = tf.reduce_mean(v1.nn.sparse_softmax_cross_entropy_with_logits(labels=label, logits=logits))
            fed = {image: np.full([32, 784], 0.01, np.float32), label: np.full([32], 3, np.int32)}
            rate = 1e-3
        else:
            w = v1.get_variable("w", [], initializer=v1.ones_initializer(), use_resource=True)
            loss, fed, rate = tf.square(w), {}, 1e-6
        optimizer, hooks = v1.train.GradientDescentOptimizer(rate), []
        if in_step:
            optimizer = v1.train.SyncReplicasOptimizer(optimizer, replicas_to_aggregate=workers, total_num_replicas=workers)
            hooks.append(optimizer.make_session_run_hook(task == 0))
        step = optimizer.minimize(loss, global_step=counter)
    config = v1.ConfigProto(device_filters=["/job:ps", f"/job:worker/task:{task}"])
    with v1.train.MonitoredTrainingSession(server.target, task == 0, hooks=hooks, config=config, log_step_count_steps=None,
                                           save_summaries_steps=None, save_summaries_secs=None) as monitored:
        session = monitored._tf_sess()  # without the hooks of each step, which cost Python's time
        call = session.make_callable(step, list(fed))
        values = list(fed.values())
        count = session.make_callable(counter)
        if task != 0:
            while True:  # until the first worker ends all processes
                call(*values)
        while layers and workers > 1 and int(count()) == 0:
            call(*values) if not in_step else time.sleep(0.1) or call(*values)
        for _ in range(steps // 10 + 1):
            call(*values)
        first, begin, cpu = int(count()), time.perf_counter(), time.process_time()
        for _ in range(steps):
            call(*values)
        cpu, took = time.process_time() - cpu, time.perf_counter() - begin
        print("RESULT", (int(count()) - first) / took, 1e3 * cpu / steps, flush=True)
        os._exit(0)


def run_tensorflow(case: str) -> tuple[float, float]:
    ports = free_ports(1 + CASES[case][0])
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    words = lambda job, task: [sys.executable, "-B", __file__, "--task", job, str(task), case, *map(str, ports)]
    others = [subprocess.Popen(words(job, task), env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
              for job, task in [("ps", 0)] + [("worker", w) for w in range(1, CASES[case][0])]]
    try:
        said = subprocess.run(words("worker", 0), env=environment, capture_output=True, text=True, timeout=300)
    finally:
        for other in others:
            other.kill()
            other.wait()
    found = re.search(r"^RESULT (\S+) (\S+)", said.stdout, re.M)
    if not found:
        raise SystemExit(f"TensorFlow, {case}: {said.stderr[-2000:]}")
    return float(found[1]), float(found[2])


def run_rill(program: str, case: str) -> tuple[float, float]:
    said = subprocess.run([program, "--once", case], capture_output=True, text=True, timeout=300, check=True).stdout
    found = re.search(r"(\S+) steps/s, (\S+) ms of CPU time", said)
    if not found:
        raise SystemExit(f"rill, {case}: {said}")
    return float(found[1]), float(found[2])


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("program")
    arguments.add_argument("--rounds", type=int, default=5)
    asked = arguments.parse_args()
    print("| two processes or three | rill, steps/s | CPU time of a step | TensorFlow, steps/s | CPU time of a step | rill / TensorFlow |")
    print("|---|--:|--:|--:|--:|--:|")
    for case in CASES:
        rill, peer = [], []
        for _ in range(asked.rounds):
            rill.append(run_rill(asked.program, case))
            peer.append(run_tensorflow(case))
        (a, a_cpu), (b, b_cpu) = (tuple(map(statistics.median, zip(*all))) for all in (rill, peer))
        print(f"| {case} | {a:,.0f} | {a_cpu:.2f} ms | {b:,.0f} | {b_cpu:.2f} ms | {a / b:.2f} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--task"]:
        train(sys.argv[2], int(sys.argv[3]), sys.argv[4], [int(p) for p in sys.argv[5:]])
    else:
        main()
