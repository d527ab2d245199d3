/*
 * The judgement behind memprof-gate: limits held against what a profile says,
 * alone or beside a baseline, with the errors of sampled numbers reckoned in.
 *
 * A limit fails only on what the errors exclude: with a value v of standard
 * error e and a limit L (of error f when it comes from a sampled baseline), it
 * fails when v - L > 1.645 * sqrt(e^2 + f^2), which a run at its limit does in
 * one of 20 cases at most (one-sided normal quantile, 5 %). It can't be judged
 * when v passes but what no sample showed could be more than L: a sum of bytes
 * without a sample is below 3 * rate with 95 % certainty (Poisson: e^-3 = 5 %).
 */
#ifndef ANALYZER_MODEL_GATE_H
#define ANALYZER_MODEL_GATE_H

#include "model/baseline.h"

#include <regex.h>

/* What can be limited; the table is in gate.c. */
struct gate_kind {
	const char *name;          /* "max-leaked", as option and in config files */
	const char *words;         /* "not freed at exit" */
	enum metric metric;
	bool by_count;
};

extern const struct gate_kind gate_kinds[];
extern const size_t gate_kind_count;
const struct gate_kind *gate_kind_find(const char *name);

enum gate_limit_form {
	GATE_ABSOLUTE, /* 24MB, 1000 */
	GATE_PERCENT,  /* +5%: above the baseline */
	GATE_MORE,     /* +64KiB, +10: above the baseline */
};

struct gate_limit {
	const struct gate_kind *kind;
	enum gate_limit_form form;
	double value;
	char *text;                /* as written */
	char *pattern;             /* sites whose name matches, together; NULL = everything */
	regex_t expression;        /* of pattern */
};

struct gate_limits {
	struct gate_limit *items;
	size_t count;
};

/* Adds a limit. @pattern (extended regular expression) may be NULL. */
int gate_limits_add(struct gate_limits *limits, const struct gate_kind *kind, const char *text,
		    const char *pattern, struct error *err);
/* Adds what a file says: lines "LIMIT VALUE" or "site PATTERN LIMIT VALUE", `#`
 * comments. An error names the line. */
int gate_limits_load(struct gate_limits *limits, const char *path, struct error *err);
bool gate_limits_need_baseline(const struct gate_limits *limits);
void gate_limits_release(struct gate_limits *limits);

enum gate_verdict { GATE_PASS, GATE_FAIL, GATE_UNKNOWN };

/* One limit, or several of the same kind and pattern (the largest relative
 * allowance wins, then the smallest absolute one), judged. */
struct gate_rule {
	const struct gate_kind *kind;
	const char *pattern;       /* NULL = everything */
	const char *text;          /* the limit that decided */
	double limit, limit_error;
	double value, value_error;
	double baseline;           /* NAN = none */
	enum gate_verdict verdict;
	double better_rate;        /* UNKNOWN: a rate that could judge; 0 = no rate helps */
};

enum gate_leak_status { GATE_LEAK_PRESENT, GATE_LEAK_NEW, GATE_LEAK_GROWN };

/* A stack that left more behind than it may. */
struct gate_leak {
	const struct baseline_entry *entry;
	struct number more;        /* beyond the baseline; all of it without one */
	enum gate_leak_status status;
};

struct gate {
	struct gate_rule *rules;
	size_t rule_count;
	struct gate_leak *leaks;   /* worst first; only when a rule on leaks failed */
	size_t leak_count;
	enum gate_verdict verdict; /* FAIL before UNKNOWN before PASS */
};

/* Judges @now by @limits, beside @baseline (may be NULL when no limit needs
 * one). The result borrows from all of them. */
int gate_judge(const struct baseline *now, const struct baseline *baseline,
	       const struct gate_limits *limits, struct gate **gate, struct error *err);
void gate_free(struct gate *gate);

extern const char *const gate_verdict_words[];     /* "passed", "failed", "can't judge" */
extern const char *const gate_leak_status_words[]; /* "not freed", "new", "grown" */

#endif
