# SPDX-License-Identifier: BSD-3-Clause
"""TensorBoard reads what examples/tensorboard writes: both of its loaders, and its HTTP answers. check_tensorboard.py PROGRAM"""
import json
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

try:
    from tensorboard.backend.event_processing import event_accumulator, plugin_event_multiplexer
    from tensorboard import program
except ImportError:
    print("tensorboard can't be imported: its check is skipped")
    sys.exit(77)


def check(holds, what):
    if not holds:
        sys.exit(f"tensorboard: {what}")


def check_accumulator(directory):
    events = event_accumulator.EventAccumulator(str(directory), size_guidance={})
    events.Reload()
    tags = events.Tags()
    check("loss" in tags["scalars"] and "loss/each" in tags["scalars"], f"scalars: {tags['scalars']}")
    check(tags["histograms"] == ["w"] and tags["images"] == ["picture"], f"histograms and images: {tags}")
    check("notes/text_summary" in tags["tensors"] or "notes" in tags["tensors"], f"text: {tags['tensors']}")
    check(tags["graph"] and tags["run_metadata"] == ["step 200"], f"graph and metadata: {tags}")
    losses = events.Scalars("loss/each")
    check(len(losses) == 200 and losses[-1].step == 199 and losses[-1].value < losses[0].value, "the curve of the loss")
    histogram = events.Histograms("w")[-1].histogram_value
    check(histogram.num == 64 and sum(histogram.bucket) == 64, "a histogram of 64 elements")
    image = events.Images("picture")[-1]
    check((image.width, image.height) == (8, 8) and image.encoded_image_string.startswith(b"\x89PNG"), "a picture")
    nodes = {n.name: n for n in events.Graph().node}
    check("layer/w" in nodes and nodes["layer/w"].op == "VariableV2", "the graph's variable")
    check(events.RunMetadata("step 200").step_stats.dev_stats[0].node_stats, "the traced step")


def check_multiplexer(directory):
    all_runs = plugin_event_multiplexer.EventMultiplexer()
    all_runs.AddRunsFromDirectory(str(directory))
    all_runs.Reload()
    run = next(iter(all_runs.Runs()))
    check("loss" in all_runs.PluginRunToTagToContent("scalars")[run], "scalars by plugin")
    check("w" in all_runs.PluginRunToTagToContent("histograms")[run], "histograms by plugin")
    check("picture" in all_runs.PluginRunToTagToContent("images")[run], "images by plugin")
    check("notes" in all_runs.PluginRunToTagToContent("text")[run], "text by plugin")
    check(all_runs.Graph(run) is not None, "the graph")


def check_http(directory):
    board = program.TensorBoard()
    board.configure(argv=[None, "--logdir", str(directory), "--port", "0", "--load_fast", "false"])
    address = board.launch()

    def get(path):
        with urllib.request.urlopen(address + path) as answer:
            return answer.read()

    for _ in range(60):
        tags = json.loads(get("data/plugin/scalars/tags"))
        if tags and "loss" in next(iter(tags.values())):
            break
        import time
        time.sleep(0.5)
    run = next(iter(tags))
    check(len(json.loads(get(f"data/plugin/scalars/scalars?tag=loss/each&run={run}"))) > 100, "scalars by HTTP")
    check(json.loads(get(f"data/plugin/histograms/histograms?tag=w&run={run}")), "histograms by HTTP")
    pictures = json.loads(get(f"data/plugin/images/images?tag=picture&run={run}&sample=0"))
    check(get("data/plugin/images/individualImage?" + pictures[0]["query"]).startswith(b"\x89PNG"), "a picture by HTTP")
    check(b"identity" in get(f"data/plugin/text/text?tag=notes&run={run}"), "text by HTTP")
    check(b"layer/w" in get(f"data/plugin/graphs/graph?run={run}&conceptual=false"), "the graph by HTTP")


with tempfile.TemporaryDirectory() as directory:
    subprocess.run([sys.argv[1], directory], check=True)
    check_accumulator(directory)
    check_multiplexer(directory)
    check_http(directory)
print("tensorboard reads all kinds")
