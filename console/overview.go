package console

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/postbag/postbag/internal/operations"
)

// Overview is the state of all databases in JSON: what needs a look comes first.
type Overview struct {
	// The databases.
	Databases []DatabaseState `json:"databases"`
}

// DatabaseState is the state of one database in JSON.
type DatabaseState struct {
	// Its name in addresses.
	Name string `json:"name"`
	// Whether nothing needs a look.
	Good bool `json:"good"`
	// Where it was read from; none: it has no replica.
	Read *ReadFrom `json:"read,omitempty"`
	// Why it could not be read; none: it was. If it only answers too late, the rest is of the last time that it did.
	Error string `json:"error,omitempty"`
	// When it was read, by the database's clock.
	Now time.Time `json:"now,omitzero"`
	// The boxes.
	Boxes []BoxState `json:"boxes"`
	// How many relays live.
	Relays int `json:"relays"`
	// What operators hold, oldest first.
	Pauses []operations.Pause `json:"pauses"`
}

// BoxState is the state of one box in JSON.
type BoxState struct {
	operations.Box

	// Whether nothing needs a look.
	Good bool `json:"good"`
	// What needs one, and what to do.
	Troubles []string `json:"troubles"`
}

// boxState says how a box is. Of a box alone, the troubles are its own.
func boxState(b *operations.Box) BoxState {
	alone := operations.Status{Boxes: []operations.Box{*b}}
	troubles := alone.Troubles()
	if troubles == nil {
		troubles = []string{}
	}
	return BoxState{Box: *b, Good: len(troubles) == 0, Troubles: troubles}
}

// state reads one database. An error is part of the answer: the others are there. So is the mistake of a program.
func (d *database) state(ctx context.Context, rights Rights) (v DatabaseState) {
	defer func() {
		if mistake := recover(); mistake != nil { // net/http takes those of its own goroutine alone
			v = unread(d.name, rights.reason(d.name, mistakeError(mistake).Error()))
		}
	}()
	now, before, err := d.overview(ctx)
	if err == nil {
		v = stateOf(d.name, rights.visible(d.name, operations.StatusOf(now, before)))
		v.Read = readOf(ctx, d.name).readFrom()
		if v.Read != nil && v.Read.From == "replica" && v.Read.Why != "" { // it is read although it may be old
			v.Good, v.Error = false, v.Read.Why
		}
		return v
	}
	_, text := statusOf(err)
	text = rights.reason(d.name, text)
	if errors.Is(err, errBusy) || errors.Is(err, context.DeadlineExceeded) {
		if now, before = d.last(); now != nil {
			v = stateOf(d.name, rights.visible(d.name, operations.StatusOf(now, before)))
			v.Good, v.Error = false, text
			return v
		}
	}
	return unread(d.name, text)
}

// unread is the state of a database that could not be read.
func unread(name, why string) DatabaseState {
	return DatabaseState{Name: name, Error: why, Boxes: []BoxState{}, Pauses: []operations.Pause{}}
}

func stateOf(name string, s *operations.Status) DatabaseState {
	v := DatabaseState{Name: name, Good: true, Boxes: []BoxState{}, Pauses: []operations.Pause{}}
	v.Now, v.Relays = s.Now, len(s.Relays)
	v.Pauses = append(v.Pauses, s.Pauses...)
	for i := range s.Boxes {
		b := boxState(&s.Boxes[i])
		v.Good = v.Good && b.Good
		v.Boxes = append(v.Boxes, b)
	}
	slices.SortStableFunc(v.Boxes, func(a, b BoxState) int { return badFirst(a.Good, b.Good) })
	return v
}

func badFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// Good says whether nothing of any database needs a look.
func (v Overview) Good() bool {
	return !slices.ContainsFunc(v.Databases, func(d DatabaseState) bool { return !d.Good })
}

// look reads all databases that may be seen side by side: none waits for another.
func (c *console) look(ctx context.Context, rights Rights) Overview {
	seen := slices.DeleteFunc(slices.Clone(c.databases), func(d *database) bool { return rights.Anywhere(d.name) < Viewer })
	v := Overview{Databases: make([]DatabaseState, len(seen))}
	var all sync.WaitGroup
	for i, d := range seen {
		all.Go(func() {
			v.Databases[i] = d.state(ctx, rights)
			v.Databases[i].Error = c.words(v.Databases[i].Error)
		})
	}
	all.Wait()
	slices.SortStableFunc(v.Databases, func(a, b DatabaseState) int { return badFirst(a.Good, b.Good) })
	return v
}

func (c *console) overview(r *http.Request) (Overview, error) {
	return c.look(r.Context(), c.rights(r)), nil
}
