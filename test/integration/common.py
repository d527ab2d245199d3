"""What the integration tests share: paths, runs bare and under the library,
the reports of their traces, and the lines that test/run counts."""
import glob
import json
import os
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
B = os.path.abspath(os.environ.get("B", os.path.join(TOP, "build")))
LIB = os.environ.get("LIB", os.path.join(B, "libmemprof.so"))
REPORT = os.path.join(B, "memprof-report")
COUNTER = os.path.join(B, "test", "libcounter.so")
LONG = bool(os.environ.get("LONG"))
FAILED = 0


def program(name):
    return os.path.join(B, "test", name)


def python3():
    """The system's own interpreter: a version manager's shim would be profiled instead."""
    return "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable


def sqlite3_work(rows):
    """sqlite3 in memory: rows, an index and a query over them."""
    return ["sqlite3", ":memory:",
            "create table t(a integer primary key, b text); "
            "with recursive n(i) as (select 1 union all select i+1 from n where i < %d) "
            "insert into t select i, printf('row %%d', i*7919%%10007) from n; create index tb on t(b); "
            "select b, count(*) from t group by b order by 2 desc limit 3;" % rows]


PYTHON_SETTINGS = {"PYTHONMALLOC": "malloc", "PYTHONHASHSEED": "0"}


def python3_work(records):
    """The interpreter with JSON: records made, written, read and copied. To be run with PYTHON_SETTINGS."""
    return [python3(), "-S", "-c",
            "import json; r=[{'id':i,'n':'n%%d'%%(i*31%%997),'t':['a']*(i%%5)} for i in range(%d)]; s=json.dumps(r); "
            "d=json.loads(s)\nk=[dict(x) for x in d]" % records]


def written(name, text):
    """The path of a file with this text, in a folder of its own."""
    path = os.path.join(folder(), name)
    with open(path, "w") as file:
        file.write(text)
    return path


def cc1plus(source):
    """The C++ compiler proper, compiling @source."""
    path = run(["g++", "-print-prog-name=cc1plus"]).out.strip()
    multiarch = run(["g++", "-print-multiarch"]).out.strip()
    return [path, "-quiet", "-imultiarch", multiarch, "-D_GNU_SOURCE", "-O1", "-o", "/dev/null", source]


def ok(holds, words, details=""):
    """One promise: prints its line, and what helps to understand why it failed."""
    global FAILED
    print("%s - %s" % ("ok" if holds else "not ok", words))
    if not holds:
        FAILED += 1
        for line in str(details).splitlines()[:60]:
            print("    # " + line)
    sys.stdout.flush()
    return bool(holds)


def skip(words, why):
    print("ok - %s # skip %s" % (words, why))


def finish():
    sys.exit(1 if FAILED else 0)


def folder(name="x"):
    return tempfile.mkdtemp(prefix=name + ".", dir=os.environ.get("TMPDIR"))


class Done:
    """How a command ended."""
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    def __repr__(self):
        return "status %s\nstdout: %s\nstderr: %s" % (self.status, self.out[-600:], self.err[-600:])


def run(command, env=None, cwd=None, stdin=None, timeout=100, **more):
    """Runs to the end; status is negative for a signal, None when it hung."""
    whole = dict(os.environ)
    whole.update(env or {})
    process = subprocess.Popen(command, env=whole, cwd=cwd, stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
    try:
        out, err = process.communicate(stdin, timeout)
        status = process.returncode
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        status = None
    return Done(status, out.decode(errors="replace"), err.decode(errors="replace"))


def preload(traces, rate="1", libraries=None, **settings):
    """The environment that records into the folder @traces."""
    env = {"LD_PRELOAD": " ".join(libraries or [LIB]), "MEMPROF_RATE": rate,
           "MEMPROF_OUTPUT": os.path.join(traces, "%e.%p.%n.trace"), "MEMPROF_LOG": "warn"}
    env.update({"MEMPROF_" + key: str(value) for key, value in settings.items()})
    return env


def traces_in(path):
    return sorted(glob.glob(os.path.join(path, "*.trace")))


def report(*arguments, timeout=100):
    return run([REPORT] + list(arguments), timeout=timeout)


def verify(trace):
    """Decodes and replays all of a trace."""
    return report("info", "--verify", trace)


def top_sites(trace, sites=0, stacks=0):
    """The top-sites report (0: all of it) as a dictionary; raises with the command's words."""
    done = report("top-sites", "--format", "json", "--limit", str(sites), "--stacks", str(stacks), "--keep-wrappers", trace,
                  timeout=250)
    if done.status != 0:
        raise RuntimeError("memprof-report top-sites %s: %r" % (trace, done))
    return json.loads(done.out)


# struct counter_file of test/programs/libcounter.c
COUNTER_FIELDS = ("magic pid allocated allocated_bytes freed freed_bytes inherited inherited_bytes unknown "
                  "live live_bytes peak_bytes site_count sites_lost").split()
COUNTER_VARIANCES = "allocated_variance allocated_bytes_variance live_variance live_bytes_variance".split()
COUNTER_HEAD = struct.Struct("<%dQ%dd" % (len(COUNTER_FIELDS), len(COUNTER_VARIANCES)))
COUNTER_MAGIC = 0x32746e756f436d6d
SITE = struct.Struct("<5Q2d")


def counter_read(path, with_sites=False):
    """One image's totals as a dictionary; with "sites": {pc: (allocated, bytes, live, live bytes, and the variances
    that estimates of the first two have)}."""
    with open(path, "rb") as file:
        head = file.read(COUNTER_HEAD.size)
        rest = file.read() if with_sites else b""
    counted = dict(zip(COUNTER_FIELDS + COUNTER_VARIANCES, COUNTER_HEAD.unpack(head)))
    if counted["magic"] != COUNTER_MAGIC:
        raise RuntimeError("%s: not a counter's file" % path)
    if with_sites:
        counted["sites"] = {s[0]: s[1:] for s in SITE.iter_unpack(rest) if s[0]}
    return counted


def counters_in(path):
    """All images' totals in a folder, {pid: [first image, second ...]}."""
    images = {}
    for name in os.listdir(path):
        pid, _, image = name.partition(".")
        if image.isdigit():
            images.setdefault(int(pid), []).append((int(image), counter_read(os.path.join(path, name))))
    return {pid: [counted for _, counted in sorted(all_of)] for pid, all_of in images.items()}
