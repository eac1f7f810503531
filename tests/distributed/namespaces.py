# SPDX-License-Identifier: BSD-3-Clause
"""Runs two tasks in network namespaces of their own, whose link one of them cuts (namespaces.cpp). No privileges are needed where the
machine lets users make namespaces; elsewhere the test is skipped (exit status 77), and says why.

    namespaces.py PROGRAM"""
import os
import shutil
import subprocess
import sys
import time

PATIENCE = 200  # seconds
LINK = ["ip", "link", "add", "rill0", "type", "veth", "peer", "name", "rill1"]
CASES = ("the link is down", "nothing gets to the server")


def skip(why):
    print(f"SKIPPED: {why}")
    sys.exit(77)


def enter_namespace(program):
    """Starts this script again as the root of a user namespace."""
    for tool in ("unshare", "nsenter", "ip"):
        if not shutil.which(tool):
            skip(f"there is no '{tool}' (util-linux, iproute2)")
    tried = subprocess.run(["unshare", "-Urnm", *LINK], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if tried.returncode != 0:
        skip(f"this machine allows no network namespaces with links: {tried.stdout.strip()}")
    os.execvp("unshare", ["unshare", "-Urnm", sys.executable, "-B", os.path.abspath(__file__), program, "inside"])


def network_of(process):
    return os.readlink(f"/proc/{process}/ns/net")


def holder():
    """Starts a process that keeps a new network namespace alive."""
    held = subprocess.Popen(["unshare", "-n", "sleep", str(PATIENCE)])
    while network_of(held.pid) == network_of("self"):
        time.sleep(0.01)
    return held


def run_inside(program):
    held = [holder(), holder()]

    def within(which, *command):
        return ["timeout", str(PATIENCE), "nsenter", "-t", str(held[which].pid), "-n", *command]

    server = None
    try:
        command = list(LINK)
        command[command.index("type"):command.index("type")] = ["netns", str(held[0].pid)]
        subprocess.run([*command, "netns", str(held[1].pid)], check=True)
        for which in (0, 1):
            for words in (f"addr add 10.77.0.{which + 1}/24 dev rill{which}", f"link set rill{which} up", "link set lo up"):
                subprocess.run(within(which, "ip", *words.split()), check=True)
        environment = {**os.environ, "RILL_TEST_PS": "10.77.0.1:2222", "RILL_TEST_WORKER": "10.77.0.2:2222"}
        server = subprocess.Popen(within(0, program, "namespaces: the parameter server of the other test"), env=environment, stdout=subprocess.DEVNULL)
        worker = subprocess.run(within(1, program, "namespaces: a worker whose link is cut"), env=environment, stdout=subprocess.PIPE, text=True)
        print(worker.stdout)
        missing = [name for name in CASES if f"passed: {name}" not in worker.stdout]
        return worker.returncode or bool(missing) or (server.poll() is not None and "the server has ended")
    finally:
        for process in [server, *held]:
            if process:
                process.terminate()  # `timeout` passes it on
                process.wait()


if __name__ == "__main__":
    if len(sys.argv) == 2:
        enter_namespace(sys.argv[1])
    sys.exit(run_inside(sys.argv[1]))
