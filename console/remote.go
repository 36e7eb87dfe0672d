package console

import (
	"net/http"
	"slices"
	"strings"

	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// APIVersion is that of the API below /api/v1. It changes when a client of before would take an answer for what it is not.
const APIVersion = 1

// About is what a console is and has, in JSON: what a client asks first.
type About struct {
	// postbag: it is a console of Postbag.
	Product string `json:"product"`
	// The version of the API below /api/v1.
	API int `json:"api"`
	// The names of the databases that you may see something of.
	Databases []string `json:"databases"`
	// Who you are; none: there is no login.
	User string `json:"user,omitempty"`
	// It takes commands.
	Commands bool `json:"commands"`
	// It shows payloads and headers to those who may see them.
	Payloads bool `json:"payloads"`
}

// remoteRoutes are those of the API that the command line needs beside the others: with them it shows the same as with a database.
func remoteRoutes() []route {
	const (
		one = "/api/v1/databases/{database}"
		box = one + "/boxes/{box}"
	)
	return []route{
		{
			path: "/api/v1/about", handle: asJSON((*console).about), answer: About{}, needs: Viewer,
			about: "What this console is, and the databases of which you may see something. No database is asked.",
		},
		{
			path: one + "/status", handle: asJSON((*console).status), answer: operations.Status{}, takes: []parameter{rates}, needs: Viewer, partly: true,
			about: "The state of a database, as postbag status --json has it: of the boxes that you may see, with what works on them.",
		},
		{
			path: box + "/status", handle: asJSON((*console).status), answer: operations.Status{}, takes: []parameter{rates}, needs: Viewer,
			about: "The same of one box.",
		},
		{
			path: one + "/subscriptions", handle: asJSON((*console).subscriptions), answer: operations.SubscriptionList{}, needs: Viewer, partly: true,
			about: "The subscriptions of the boxes of a database that you may see, as postbag subscriptions list --json has them.",
		},
		{
			path: box + "/subscriptions", handle: asJSON((*console).subscriptions), answer: operations.SubscriptionList{}, needs: Viewer,
			about: "The subscriptions of a box.",
		},
		{
			path: one + "/operations/{operation}", handle: asJSON((*console).anyOperation), answer: operations.Operation{}, needs: Viewer, partly: true,
			about: "One long operation of a box that you may see, whichever it is.",
		},
	}
}

var rates = parameter{"rates", "true: with how much was published and delivered a second, if the console read the database a moment before too."}

func (c *console) about(r *http.Request) (About, error) {
	v := About{Product: "postbag", API: APIVersion, Databases: []string{}, Commands: c.commands, Payloads: c.payloads}
	for _, d := range c.databases {
		if c.rights(r).Anywhere(d.name) >= Viewer {
			v.Databases = append(v.Databases, d.name)
		}
	}
	if u := userOf(r.Context()); u != nil {
		v.User = u.Name
	}
	return v, nil
}

// narrowed returns the overview of the database that the path names, with the one before it: of all boxes, or of the one that is named.
func (c *console) narrowed(r *http.Request) (now store.Overview, before *store.Overview, err error) {
	d, err := c.database(r)
	if err != nil {
		return now, nil, err
	}
	all, before, err := d.overview(r.Context())
	if err != nil {
		return now, nil, err
	}
	now = *all // nobody changes it
	if box := r.PathValue("box"); box != "" {
		if now, err = operations.OfBox(now, box); err != nil {
			return now, nil, errNoBox
		}
	}
	return now, before, nil
}

func (c *console) status(r *http.Request) (*operations.Status, error) {
	rated, err := flag(r, rates.name)
	if err != nil {
		return nil, err
	}
	now, before, err := c.narrowed(r)
	if err != nil {
		return nil, err
	}
	if !rated {
		before = nil
	}
	rights, database := c.rights(r), r.PathValue("database")
	return rights.worked(database, rights.visible(database, operations.StatusOf(&now, before))), nil
}

// worked leaves of the relays of a status what is about boxes that may be seen.
func (r Rights) worked(database string, s *operations.Status) *operations.Status {
	if r.Over(database) >= Viewer {
		return s
	}
	owned := make(map[string]int)
	for i := range s.Boxes {
		for j := range s.Boxes[i].Subscriptions {
			for _, shard := range s.Boxes[i].Subscriptions[j].Detail {
				owned[shard.Owner]++
			}
		}
	}
	s.Relays = slices.DeleteFunc(s.Relays, func(relay operations.Relay) bool {
		return !slices.ContainsFunc(relay.Works, func(ref string) bool { return r.seesRef(database, ref) })
	})
	for i := range s.Relays {
		relay := &s.Relays[i]
		relay.Works = slices.DeleteFunc(relay.Works, func(ref string) bool { return !r.seesRef(database, ref) })
		relay.Shards = owned[relay.ID]
	}
	return s
}

// seesRef says whether the box of a subscription, written as box/subscription, may be seen.
func (r Rights) seesRef(database, ref string) bool {
	box, _, _ := strings.Cut(ref, "/")
	return r.In(database, box) >= Viewer
}

func (c *console) subscriptions(r *http.Request) (*operations.SubscriptionList, error) {
	now, _, err := c.narrowed(r)
	if err != nil {
		return nil, err
	}
	rights, database := c.rights(r), r.PathValue("database")
	l := operations.Subscriptions(&now)
	l.Subscriptions = slices.DeleteFunc(l.Subscriptions, func(d operations.SubscriptionDetail) bool { return rights.In(database, d.Box) < Viewer })
	l.Removed = slices.DeleteFunc(l.Removed, func(gone operations.RemovedSubscription) bool { return rights.In(database, gone.Box) < Viewer })
	return l, nil
}

// anyOperation returns an operation of whichever box it is, if that may be seen.
func (c *console) anyOperation(r *http.Request) (v operations.Operation, err error) {
	d, err := c.database(r)
	if err != nil {
		return v, err
	}
	id, err := operationOf(r)
	if err != nil {
		return v, err
	}
	v, err = d.oneOperation(r.Context(), id)
	if err == nil && c.rights(r).In(d.name, v.Box) < Viewer {
		return operations.Operation{}, operations.NoOperation(id)
	}
	return v, err
}
