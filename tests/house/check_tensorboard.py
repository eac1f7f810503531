# SPDX-License-Identifier: BSD-3-Clause
"""TensorBoard reads what examples/tensorboard writes: its loader in Python, the one in its data server where that is installed, and its HTTP
answers with either. check_tensorboard.py PROGRAM"""
import json
import subprocess
import sys
import tempfile
import time
import urllib.parse
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


def check_http(directory, load_fast):
    board = program.TensorBoard()
    board.configure(argv=[None, "--logdir", str(directory), "--port", "0", "--load_fast", load_fast])
    address = board.launch()

    def get(path, **query):
        with urllib.request.urlopen(address + path + ("?" + urllib.parse.urlencode(query) if query else "")) as answer:
            return answer.read()

    def say(what):
        return f"{what} by HTTP, --load_fast {load_fast}"

    def tags_of(plugin):
        return next(iter(json.loads(get(f"data/plugin/{plugin}/tags")).values()), {})

    for _ in range(120):  # until all of the file is read
        if "loss" in tags_of("scalars") and "picture" in tags_of("images") and "notes" in str(get("data/plugin/text/tags")):
            break
        time.sleep(0.5)
    run = next(iter(json.loads(get("data/plugin/scalars/tags"))))
    check(len(json.loads(get("data/plugin/scalars/scalars", tag="loss/each", run=run))) > 100, say("scalars"))
    check(json.loads(get("data/plugin/histograms/histograms", tag="w", run=run)), say("histograms"))
    pictures = json.loads(get("data/plugin/images/images", tag="picture", run=run, sample=0))
    check(get("data/plugin/images/individualImage?" + pictures[0]["query"]).startswith(b"\x89PNG"), say("a picture"))
    check(b"identity" in get("data/plugin/text/text", tag="notes", run=run), say("text"))
    check(b"layer/w" in get("data/plugin/graphs/graph", run=run, conceptual="false"), say("the graph"))
    metadata = get("data/plugin/graphs/run_metadata", tag="step 200", run=run)
    check(b"loss/matmul" in metadata and b"device:CPU:0" in metadata, say("the traced step"))
    check(b"DT_FLOAT" in metadata, say("the types of its outputs"))


def has_data_server():
    try:
        import tensorboard_data_server
    except ImportError:
        return False
    return tensorboard_data_server.server_binary() is not None


with tempfile.TemporaryDirectory() as directory:
    subprocess.run([sys.argv[1], directory], check=True)
    check_accumulator(directory)
    check_multiplexer(directory)
    check_http(directory, "false")
    if has_data_server():
        check_http(directory, "true")
print("tensorboard reads all kinds" + ("" if has_data_server() else "; its data server is not installed"))
