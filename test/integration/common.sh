# What the integration tests in shell share: lines that test/run counts.
TOP=${TOP:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
B=${B:-$TOP/build}
LIB=${LIB:-$B/libmemprof.so}
TMPDIR=${TMPDIR:-/tmp}
failed=0

ok() { echo "ok - $1"; }

not_ok() # WORDS [DETAILS]
{
	echo "not ok - $1"
	failed=1
	[ -z "${2:-}" ] || head -60 <<<"$2" | sed 's/^/    # /'
}

nothing() # WORDS LINES: holds when there are none
{
	if [ -z "$2" ]; then ok "$1"; else not_ok "$1" "$2"; fi
}

same() # WORDS EXPECTED GOT
{
	if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "$(diff <(echo "$2") <(echo "$3"))"; fi
}

check() # WORDS COMMAND...: holds when it ends with 0
{
	local words=$1 said
	shift
	if said=$("$@" 2>&1); then ok "$words"; else not_ok "$words" "$*
$said"; fi
}

skip() # WORDS WHY
{
	echo "ok - $1 # skip $2"
}

done_testing() { exit $failed; }
