/*
 * Taking part from C++: scopes that end with their block, snapshots, an event.
 *
 *	memprof run -o traces -- scoped-work
 *	memprof-report top-sites --by scope traces    who allocates: parsing, the index?
 *	memprof-diff TRACE@loaded TRACE@asked         what stayed of the questions
 *
 * Without memprof the calls do nothing.
 */
#include <memprof/memprof.h>

#include <map>
#include <string>
#include <vector>

/* What this thread allocates up to the end of the block belongs to @name. */
class scope {
public:
	explicit scope(const char *name) { memprof_scope_begin(name); }
	~scope() { memprof_scope_end(); }
	scope(const scope &) = delete;
	scope &operator=(const scope &) = delete;
};

using words = std::vector<std::string>;
using index = std::map<std::string, std::vector<unsigned>>;

static words parse(unsigned line)
{
	scope here("parse");
	words found;

	for (unsigned i = 0; i < 8; i++)
		found.push_back("a word long enough for the heap, number " + std::to_string(line * 7 + i * i));
	return found;
}

static void add(index &all, const words &found, unsigned line)
{
	scope here("index");

	for (const auto &word : found)
		all[word].push_back(line);
}

static unsigned ask(const index &all, const std::string &word, std::vector<std::string> &asked)
{
	scope here("ask");
	auto at = all.find(word);

	asked.push_back(word);
	return at == all.end() ? 0 : static_cast<unsigned>(at->second.size());
}

int main()
{
	std::vector<std::string> asked;
	unsigned hits = 0;
	index all;

	for (unsigned line = 0; line < 2000; line++)
		add(all, parse(line), line);
	memprof_event("loaded", std::to_string(all.size()).c_str());
	memprof_snapshot("loaded");
	for (unsigned i = 0; i < 3000; i++)
		hits += ask(all, "a word long enough for the heap, number " + std::to_string(i), asked);
	memprof_snapshot("asked");
	return hits == 0;
}
