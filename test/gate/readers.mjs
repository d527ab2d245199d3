// The gate's reports, read by other people's readers:
//
//	node readers.mjs sarif REPORT [REPORT]...     ajv with the official schema
//	node readers.mjs schema SCHEMA DOCUMENT...    ajv with one of ours
//	node readers.mjs junit REPORT                 junit2json; prints what it understood
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import Ajv2020 from 'ajv/dist/2020.js'
import Ajv4 from 'ajv-draft-04'
import formats from 'ajv-formats'
import { parse } from 'junit2json'

const json = path => JSON.parse(readFileSync(path, 'utf8'))

function validate(ajv, schema, documents) {
	const holds = formats.default(ajv).compile(schema)
	for (const path of documents)
		if (!holds(json(path))) {
			console.error(`${path}: ${ajv.errorsText(holds.errors, { separator: '\n' })}`)
			process.exitCode = 1
		}
}

const readers = {
	// One pattern of the schema is no regular expression with /u. The schema as OASIS published it
	// travels with a package of SARIF's makers.
	sarif: (...reports) =>
		validate(new Ajv4({ allErrors: true, unicodeRegExp: false }),
			json(createRequire(import.meta.url).resolve('@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json')),
			reports),
	schema: (schema, ...documents) => validate(new Ajv2020({ allErrors: true }), json(schema), documents),
	junit: async report => {
		const all = await parse(readFileSync(report, 'utf8'))
		for (const suite of all.testsuite)
			for (const test of suite.testcase ?? [])
				console.log([suite.name, test.name, test.failure ? 'failure' : test.error ? 'error' : 'passed',
					(test.failure ?? test.error)?.[0].message ?? ''].join('\t'))
	},
}

const [reader, ...files] = process.argv.slice(2)
await readers[reader](...files)
