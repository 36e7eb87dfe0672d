package console

import (
	"net/http"
	"net/url"
	"slices"
)

// route is one address of the console.
type route struct {
	// path is below /, in the form of net/http. All routes take GET, and HEAD with it.
	path string
	// about is what it answers with, for the OpenAPI document. Empty: it is no part of that.
	about string
	// takes are the parameters behind the question mark.
	takes []parameter
	// answer is a value of the type that it answers with.
	answer any
	// exports are the other types of content that it answers with, for the OpenAPI document.
	exports []string
	// needs is the least role: in the box that the path names, or over all boxes of the database that it names, or anywhere.
	// Nobody is a mistake, unless the route is open.
	needs Role
	// open: those who are not logged in may have it too.
	open   bool
	handle func(*console, http.ResponseWriter, *http.Request) error
}

// parameter is one behind the question mark.
type parameter struct{ name, about string }

// filters select messages.
var filters = []parameter{
	{"subscription", "Only the copies of this subscription."},
	{"state", "Only messages in this state: pending, retrying, blocked, in-flight, held, dead, delivered, discarded, superseded, filtered or scheduled."},
	{"id", "The message with this id."},
	{"topic", "Only messages of exactly this topic."},
	{"key", "Only messages with exactly this key."},
	{"type", "Only messages of this type. order.* stands for all that begin with order."},
	{"after", "Stored at this time or later, as 2026-01-31T12:00:00Z."},
	{"before", "Stored before this time."},
	{"error", "The last error contains this text, whatever its case."},
	{"oldest", "true: the oldest first."},
	{"cursor", "Go on where an earlier answer ended, with the same filters and the same sequence."},
	{"limit", "Most messages: 1 to 200 as JSON (50), 1 to 100000 as NDJSON or CSV (100000)."},
	{"format", "json, or ndjson or csv to stream an export. The trailer Postbag-Next is the cursor behind an export that has more. A connection that is cut off means that it failed."},
}

// routes are all that there are.
func routes() []route {
	const (
		one = "/api/v1/databases/{database}"
		box = one + "/boxes/{box}"
	)
	return []route{
		{path: "/{$}", handle: (*console).overviewPage, needs: Viewer},
		{path: "/style.css", handle: (*console).styleSheet, open: true},
		{path: "/api/v1/openapi.json", handle: (*console).openAPI, needs: Viewer},
		{
			path: "/api/v1/overview", handle: (*console).overview, answer: Overview{}, needs: Viewer,
			about: "The state of all databases and boxes. What needs a look comes first.",
		},
		{
			path: one + "/relays", handle: (*console).relays, answer: Relays{}, needs: Viewer,
			about: "The live relays of a database.",
		},
		{
			path: one + "/audit", handle: (*console).audit, answer: Audit{}, needs: Operator,
			about: "What operators did, the latest first.",
			takes: []parameter{{"limit", "Most lines, 1 to 1000 (50)."}},
		},
		{
			path: box, handle: (*console).box, answer: BoxState{}, needs: Viewer,
			about: "The state of a box, with its subscriptions and shards.",
		},
		{
			path: box + "/subscriptions/{subscription}", handle: (*console).subscription, answer: SubscriptionState{}, needs: Viewer,
			about: "The state of a subscription, with its settings and where they come from.",
		},
		{
			path: box + "/messages", handle: (*console).messages, answer: Messages{}, takes: filters, needs: Viewer,
			about:   "Messages, the newest first, without payloads and headers.",
			exports: []string{ndjson, table},
		},
		{
			path: box + "/messages/{id}", handle: (*console).message, answer: Copies{}, needs: Viewer,
			about: "One message as each subscription has it, with its latest attempts.",
			takes: []parameter{{"payload", "true: with payload and headers, if the console shows them."}},
		},
	}
}

// check refuses parameters that are malformed, that the route does not know, that are empty, or that are given twice: a filter
// with a slip in it would select everything.
func (r *route) check(req *http.Request) error {
	given, err := url.ParseQuery(req.URL.RawQuery)
	if err != nil { // r.URL.Query leaves out what it cannot read
		return badRequestf("the part behind the question mark is malformed; write %% as %%25, and & between parameters")
	}
	for name, values := range given {
		switch {
		case !slices.ContainsFunc(r.takes, func(p parameter) bool { return p.name == name }):
			return badRequestf("there is no parameter %.40q here; leave it out, or see api/v1/openapi.json", name)
		case len(values) > 1:
			return badRequestf("the parameter %s is given %d times; give it once", name, len(values))
		case values[0] == "":
			return badRequestf("%s is empty; give it a value, or leave it out", name)
		}
	}
	return nil
}
