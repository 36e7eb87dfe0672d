package console

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"

	"github.com/postbag/postbag/internal/operations"
)

// route is one address of the console.
type route struct {
	// method is how it is asked. Empty: GET, and HEAD with it. A POST is a command: it changes something.
	method string
	// path is below /, in the form of net/http.
	path string
	// page: it answers people, and so do its errors.
	page bool
	// about is what it answers with, for the OpenAPI document. Empty: it is no part of that.
	about string
	// takes are the parameters behind the question mark.
	takes []parameter
	// form are the fields of the form of a command.
	form []parameter
	// answer is a value of the type that it answers with.
	answer any
	// exports are the other types of content that it answers with, for the OpenAPI document.
	exports []string
	// needs is the least role: in the box that the path names, or over all boxes of the database that it names, or anywhere.
	// Nobody is a mistake, unless the route is open.
	needs Role
	// open: those who are not logged in may have it too.
	open bool
	// partly: of a database, those who may see only some of its boxes have it too. It leaves out the others.
	partly bool
	// repeats is the parameter that may be given several times. Empty: none.
	repeats string
	// live: it can be streamed. It asks nothing but the overview, or follows messages.
	live   bool
	handle func(*console, http.ResponseWriter, *http.Request) error
}

// verb is how the route is asked.
func (r *route) verb() string { return cmp.Or(r.method, http.MethodGet) }

// parameter is one behind the question mark, or of a form.
type parameter struct{ name, about string }

// filters select messages.
var filters = []parameter{
	{"subscription", "Only the copies of this subscription."},
	{"state", "Only messages in this state: pending, retrying, blocked, in-flight, held, dead, delivered, discarded, superseded, filtered or scheduled."},
	{"id", "The message with this id."},
	{"topic", "Only messages of exactly this topic."},
	{"key", "Only messages with exactly this key."},
	{"type", "Only messages of this type. order.* stands for all that begin with order. As part of the API it may be repeated: any of them."},
	{"after", "Stored at this time or later, as 2026-01-31T12:00:00Z."},
	{"before", "Stored before this time."},
	{"error", "The last error contains this text, whatever its case."},
	{"oldest", "true: the oldest first."},
	{"cursor", "Go on where an earlier answer ended, with the same filters and the same sequence."},
	{"limit", "Most messages: 1 to 500 as JSON (50), 1 to 100000 as NDJSON or CSV (100000)."},
}

// Parameters of several routes.
var (
	formats  = parameter{"format", "json, or ndjson or csv to stream an export. The trailer Postbag-Next is the cursor behind an export that has more. A connection that is cut off means that it failed."}
	trails   = parameter{"trail", "The cursors of the pages before, for the way back."}
	payloads = parameter{"payload", "true: with payload and headers, if the console shows them. base64: with the payload as payload_base64, byte by byte."}
	counts   = parameter{"count", "true: count all that match too, at most 500, for a command. It needs a state that takes one."}
	lines    = parameter{"limit", "Most lines, 1 to 1000 (50)."}
	records  = parameter{"limit", "Most operations, 1 to 1000 (50), of the latest 1,000 of the database."}
	streamed = parameter{"of", "The address of what to tell of, as seen from the console's first page: api/v1/overview if you do not say it, another address of the API for the state of a box, a subscription or the relays, or one of such a page."}
	ranges   = parameter{"range", "1h, 6h, 1d or 7d: from Prometheus, if the console has one. Without it, the console's own samples of the last hour."}
	follows  = parameter{"follow", "true: only what was stored in the last ten minutes, the newest first, which can be streamed."}
	readers  = parameter{"subscription", "Only this subscription."}
)

// routes are all that there are.
func routes() []route {
	return slices.Concat([]route{
		{path: "/style.css", handle: (*console).styleSheet, open: true},
		{path: "/console.js", handle: (*console).script, open: true},
		{path: "/icon.svg", handle: (*console).icon, open: true},
		{path: "/api/v1/openapi.json", handle: (*console).openAPI, needs: Viewer},
		{path: "/api/", handle: (*console).nowhere, needs: Viewer},
		{path: "/", page: true, handle: (*console).nowhere, needs: Viewer},
	}, databaseRoutes(), boxRoutes(), remoteRoutes(), pageRoutes(), commandRoutes(), operationRoutes(), replayRoutes())
}

// databaseRoutes are those of the API that are of databases.
func databaseRoutes() []route {
	const one = "/api/v1/databases/{database}"
	return []route{
		{
			path: "/api/v1/overview", handle: asJSON((*console).overview), answer: Overview{}, needs: Viewer, live: true,
			about: "The state of all databases and boxes. What needs a look comes first.",
		},
		{
			path: "/api/v1/events", handle: (*console).events, takes: []parameter{streamed}, needs: Viewer, exports: []string{eventStream},
			about: "A stream of server-sent events, until you close it or lose the right to it. state has the whole state again whenever it was read, failure says why it cannot be read, and end why this is the last event.",
		},
		{
			path: one + "/relays", handle: asJSON((*console).relays), answer: Relays{}, needs: Viewer, live: true,
			about: "The live relays of a database.",
		},
		{
			path: one + "/samples", handle: asJSON((*console).samples), answer: Samples{}, takes: []parameter{ranges}, needs: Viewer,
			about: "The last hour of all boxes of a database together, in samples.",
		},
		{
			path: one + "/audit", handle: asJSON((*console).audit), answer: Audit{}, takes: []parameter{lines}, needs: Operator,
			about: "What operators did, the latest first.",
		},
	}
}

// boxRoutes are those of the API that are of one box.
func boxRoutes() []route {
	const box = "/api/v1/databases/{database}/boxes/{box}"
	return []route{
		{
			path: box, handle: asJSON((*console).box), answer: BoxState{}, needs: Viewer, live: true,
			about: "The state of a box, with its subscriptions and shards.",
		},
		{
			path: box + "/samples", handle: asJSON((*console).samples), answer: Samples{}, takes: []parameter{ranges}, needs: Viewer,
			about: "The last hour of a box, in samples.",
		},
		{
			path: box + "/subscriptions/{subscription}", handle: asJSON((*console).subscription), answer: SubscriptionState{}, needs: Viewer, live: true,
			about: "The state of a subscription, with its settings and where they come from.",
		},
		{
			path: box + "/errors", handle: asJSON((*console).errors), answer: Errors{}, takes: []parameter{readers}, needs: Viewer,
			about: "Parked messages grouped by subscription, state and kind of error, with the notes of operators.",
		},
		{
			path: box + "/keys", handle: asJSON((*console).keys), answer: Keys{}, takes: []parameter{readers}, needs: Viewer,
			about: "Keys whose messages wait behind one, those with most of them first.",
		},
		{
			path: box + "/messages", handle: (*console).messages, answer: Messages{}, takes: append(slices.Clone(filters), formats, follows, counts), repeats: "type", needs: Viewer, live: true,
			about:   "Messages, the newest first, without payloads and headers.",
			exports: []string{ndjson, table},
		},
		{
			path: box + "/messages/{id}", handle: asJSON((*console).message), answer: Copies{}, takes: []parameter{payloads}, needs: Viewer,
			about: "One message as each subscription has it, with its latest attempts.",
		},
		{
			path: box + "/messages/{id}/key", handle: asJSON((*console).around), answer: Around{}, takes: []parameter{readers}, needs: Viewer,
			about: "What is parked of the key of one message, before and behind it.",
		},
	}
}

// pageRoutes are the pages. Each is where the API has the same, without /api/v1.
func pageRoutes() []route {
	const (
		one = "/databases/{database}"
		box = one + "/boxes/{box}"
	)
	return []route{
		{path: "/{$}", page: true, handle: asPage("overview", (*console).overview), takes: []parameter{ranges}, needs: Viewer, live: true},
		{path: one + "/relays", page: true, handle: asPage("relays", (*console).relays), needs: Viewer, live: true},
		{path: one + "/audit", page: true, handle: asPage("audit", (*console).audit), takes: []parameter{lines}, needs: Operator},
		{path: box, page: true, handle: asPage("box", (*console).box), takes: []parameter{ranges}, needs: Viewer, live: true},
		{path: box + "/subscriptions/{subscription}", page: true, handle: asPage("subscription", (*console).subscription), needs: Viewer, live: true},
		{path: box + "/errors", page: true, handle: asPage("errors", (*console).errors), takes: []parameter{readers}, needs: Viewer},
		{path: box + "/keys", page: true, handle: asPage("keys", (*console).keys), takes: []parameter{readers}, needs: Viewer},
		{path: box + "/messages", page: true, handle: asPage("messages", (*console).listed), takes: append(slices.Clone(filters), trails, follows, counts, chosenColumns), needs: Viewer, live: true},
		{path: box + "/messages/{id}", page: true, handle: asPage("message", (*console).message), takes: []parameter{payloads}, needs: Viewer},
		{path: box + "/messages/{id}/key", page: true, handle: asPage("around", (*console).around), takes: []parameter{readers}, needs: Viewer},
	}
}

// commandRoutes are the commands. A page sends each to where the API has the same, without /api/v1.
func commandRoutes() []route {
	const (
		box           = "/databases/{database}/boxes/{box}"
		messages      = box + "/messages/{id}/commands"
		subscriptions = box + "/subscriptions/{subscription}/commands"
		groups        = box + "/errors/commands"
		notes         = box + "/errors/notes"
		edits         = box + "/messages/{id}/edits"
		matching      = box + "/messages/commands"
	)
	return []route{
		{
			method: http.MethodPost, path: "/api/v1" + messages, handle: asJSON((*console).onMessage), form: messageForm, answer: Done{}, needs: Operator,
			about: "Retry or discard a message, or publish or cancel a scheduled one.",
		},
		{
			method: http.MethodPost, path: "/api/v1" + subscriptions, handle: asJSON((*console).onSubscription), form: subscriptionForm, answer: Done{}, needs: Operator,
			about: "Pause or resume a subscription, set or reset one of its settings, or change how many shards it has.",
		},
		{
			method: http.MethodPost, path: "/api/v1" + groups, handle: asJSON((*console).onGroup), form: groupForm, answer: Done{}, needs: Operator,
			about: "Retry or discard the messages of a kind of error: at most 500, the newest.",
		},
		{
			method: http.MethodPost, path: "/api/v1" + notes, handle: asJSON((*console).onNote), form: noteForm, answer: Done{}, needs: Operator,
			about: "Write a note on a kind of error of a subscription, or remove it. Housekeeping removes it 30 days after the last of the errors is gone.",
		},
		{
			method: http.MethodPost, path: "/api/v1" + edits, handle: asJSON((*console).onEdit), form: editForm, answer: Edited{}, needs: Operator,
			about: "Publish a message again as a new one, with another payload or other headers. It needs the right to see payloads.",
		},
		{
			method: http.MethodPost, path: "/api/v1" + matching, handle: asJSON((*console).onMatching), form: matchingForm, answer: Done{}, needs: Operator,
			about: "Retry or discard the messages that match filters: at most 500, the newest. It needs a state.",
		},
		{method: http.MethodPost, path: matching, page: true, handle: asMatching, form: matchingForm, needs: Operator},
		{method: http.MethodPost, path: edits, page: true, handle: asEdit, form: editForm, needs: Operator},
		{method: http.MethodPost, path: notes, page: true, handle: asCommand((*console).onNote), form: noteForm, needs: Operator},
		{method: http.MethodPost, path: groups, page: true, handle: asCommand((*console).onGroup), form: groupForm, needs: Operator},
		{method: http.MethodPost, path: messages, page: true, handle: asCommand((*console).onMessage), form: messageForm, needs: Operator},
		{method: http.MethodPost, path: subscriptions, page: true, handle: asCommand((*console).onSubscription), form: subscriptionForm, needs: Operator},
	}
}

// operationRoutes are those of long operations.
func operationRoutes() []route {
	const (
		api = "/api/v1"
		one = "/databases/{database}"
		box = one + "/boxes/{box}/operations"
	)
	return []route{
		{
			path: api + one + "/operations", handle: asJSON((*console).operations), answer: Operations{}, takes: []parameter{records}, needs: Viewer, live: true,
			about: "The latest long operations of a database: commands for many messages, and how far they are.",
		},
		{
			path: api + box, handle: asJSON((*console).operations), answer: Operations{}, takes: []parameter{records}, needs: Viewer, live: true,
			about: "The latest long operations of a box.",
		},
		{
			path: api + box + "/{operation}", handle: asJSON((*console).operation), answer: operations.Operation{}, needs: Viewer, live: true,
			about: "One long operation.",
		},
		{
			path: api + box + "/preview", handle: asJSON((*console).matched), answer: operations.Matched{}, takes: matchParameters, needs: Operator,
			about: "How many messages match filters, up to 100,000, for an operation. Without a state, dead ones.",
		},
		{
			method: http.MethodPost, path: api + box + "/commands", handle: asJSON((*console).onBegin), form: beginForm, answer: Begun{}, needs: Operator,
			about: "Begin a long operation: retry or discard all messages that match, as they were counted. The console works it in the background.",
		},
		{
			method: http.MethodPost, path: api + box + "/{operation}/commands", handle: asJSON((*console).onOperation), form: operationForm, answer: operations.Operation{}, needs: Operator,
			about: "Pause, resume or cancel a long operation.",
		},
		{path: one + "/operations", page: true, handle: asPage("operations", (*console).operations), takes: []parameter{records}, needs: Viewer, live: true},
		{path: box, page: true, handle: asPage("operations", (*console).operations), takes: []parameter{records}, needs: Viewer, live: true},
		{path: box + "/{operation}", page: true, handle: asPage("operation", (*console).operation), needs: Viewer, live: true},
		{path: box + "/preview", page: true, handle: asPage("preview", (*console).matched), takes: matchParameters, needs: Operator},
		{method: http.MethodPost, path: box + "/commands", page: true, handle: asBegin, form: beginForm, needs: Operator},
		{method: http.MethodPost, path: box + "/{operation}/commands", page: true, handle: asOperation, form: operationForm, needs: Operator},
	}
}

// replayRoutes are those of replays.
func replayRoutes() []route {
	const (
		api  = "/api/v1"
		box  = "/databases/{database}/boxes/{box}"
		plan = box + "/subscriptions/{subscription}/replay"
	)
	return []route{
		{
			path: api + box + "/replays", handle: asJSON((*console).replays), answer: Replays{}, needs: Viewer, live: true,
			about: "The replays of a box, and how far they are.",
		},
		{
			path: api + plan, handle: asJSON((*console).replayPreview), answer: ReplayPreview{}, takes: replayParameters, needs: Viewer,
			about: "What a replay of a subscription would do, and the command that begins it.",
		},
		{path: box + "/replays", page: true, handle: asPage("replays", (*console).replays), needs: Viewer, live: true},
		{path: plan, page: true, handle: asPage("replay", (*console).replayPreview), takes: replayParameters, needs: Viewer},
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
		case len(values) > 1 && name != r.repeats:
			return badRequestf("the parameter %s is given %d times; give it once", name, len(values))
		case slices.Contains(values, ""):
			return badRequestf("%s is empty; give it a value, or leave it out", name)
		}
	}
	return nil
}
