"""calls.py FILE REQUESTS ROUNDS KEPT N: compares the trace in FILE with the client's requests.

The trace must have REQUESTS requests: ROUNDS rounds, which create a znode each, and N more
creates of znodes that remain; KEPT is the number of the first of them.
"""
import json
import sys

PING = -2  # the xid of pings, which a waiting client sends

file, requests, rounds, kept, n = sys.argv[1], *map(int, sys.argv[2:])
calls = {"processRequest": [], "<init>": [], "createNode": []}
with open(file) as lines:
    for line in lines:
        call = json.loads(line)
        calls[call["method"].partition("(")[0].rpartition(".")[2]].append(call)

xids = [call["args"][0] for call in calls["<init>"]]
pings = xids.count(PING)
xids = [xid for xid in xids if xid != PING]
assert len(calls["processRequest"]) == requests + pings, (len(calls["processRequest"]), pings)
assert xids == list(range(xids[0], xids[0] + requests)), (len(xids), xids[:5], xids[-5:])

paths = [call["args"][0] for call in calls["createNode"]]
assert paths == [f"/busy/main-{i}" for i in range(rounds)] + \
    [f"/kept/{i}" for i in range(kept, kept + n)], (len(paths), paths[:2], paths[-2:])
lengths = [call["args"][1]["length"] for call in calls["createNode"]]
assert lengths == rounds * [100] + n * [1000], lengths

every = [call for some in calls.values() for call in some]
assert {call["returned"] for call in every} == {"void"}
assert {call["thread"] for call in every} == {"SyncThread:0"}
within = {name: sum(call["nanos"] for call in some) for name, some in calls.items()}
assert 0 < within["createNode"] < within["processRequest"], within
print("as the client knows")
