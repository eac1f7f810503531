# SPDX-License-Identifier: BSD-3-Clause
"""A header-only program without control flow, queues, locks and tables has none of their code: its object names none of them."""
import subprocess
import sys

UNUSED = ["step_executor", "dataflow_executor", "functionalizer", "body_copy", "loop_kernel", "waited_resource", "element_queue", "table_state"]
USED = "segment"  # so that the check can fail

names = subprocess.run(["nm", "-C", sys.argv[1]], capture_output=True, text=True, check=True).stdout
assert USED in names, f"{sys.argv[1]} has no {USED}: is it a program that runs a session?"
found = [name for name in UNUSED if f"::{name}::" in names]
print("\n".join(f"{sys.argv[1]} has code of {name}" for name in found) or "what is not used is not there")
sys.exit(bool(found))
