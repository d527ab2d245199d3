"""What the programs of cases.c print about themselves, held against reports."""
import re

import common


def documents_in(traces):
    documents = [common.top_sites(trace) for trace in common.traces_in(traces)]
    return sorted(documents, key=lambda document: document["trace"]["start_unix_ns"])


def has(frame, name):
    return re.search(r"(?<!\w)%s(?!\w)" % re.escape(name), frame["function"] or "") is not None


def at_site(document, name):
    """Sums over all stacks that hold the function: allocations, bytes, live, live bytes."""
    sums = [0, 0, 0, 0]
    for site in document["sites"]:
        for stack in site["stacks"]:
            if any(has(frame, name) for frame in stack["frames"]):
                for i, key in enumerate(("allocated", "live")):
                    sums[2 * i] += stack[key]["count"]
                    sums[2 * i + 1] += stack[key]["bytes"]
    return sums


def check_site(documents, words):
    name, numbers = " ".join(words[:-4]), [int(word) for word in words[-4:]]
    got = at_site(documents[0], name.split("(")[0])
    return "" if got == numbers else "%s: report %s, truth %s" % (name, got, numbers)


def check_children(documents, words):
    processes, allocations, size = (int(word) for word in words[1:])
    rows = [at_site(document, words[0]) for document in documents]
    got = [sum(1 for row in rows if row[0]), sum(row[0] for row in rows), sum(row[1] for row in rows)]
    return "" if got == [processes, allocations, size] else "%s: report %s, truth %s" % (words[0], got, words[1:])


def check_mapped(documents, words):
    got = documents[0]["mapped"]["live"]["bytes"]
    return "" if got == int(words[0]) else "mapped: report %d, truth %s" % (got, words[0])


def check_peak(documents, words):
    got = documents[0]["totals"]["peak"]["bytes"]
    return "" if int(words[0]) <= got < int(words[0]) + 65536 else "peak: report %d, truth %s" % (got, words[0])


FACTS = {"site": check_site, "children": check_children, "mapped": check_mapped, "peak": check_peak}


def inconsistent(document):
    """What can't be true: sites that don't add up, more freed than allocated, something lost."""
    lines = []
    for key in ("allocated", "live"):
        total = sum(site[key]["bytes"] for site in document["sites"] if site["kind"] == "malloc")
        if total != document["totals"][key]["bytes"]:
            lines.append("%s: sites add up to %d, total is %d" % (key, total, document["totals"][key]["bytes"]))
    if any(document["trace"]["dropped"].values()):
        lines.append("dropped: %s" % document["trace"]["dropped"])
    return lines


def check_facts(out, traces):
    documents = documents_in(traces)
    if not documents:
        return ["no trace"]
    lines = [line for document in documents for line in inconsistent(document)]
    for line in out.splitlines():
        words = line.split()
        if words and words[0] in FACTS:
            lines.append(FACTS[words[0]](documents, words[1:]))
    return [line for line in lines if line]
