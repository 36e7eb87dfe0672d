package console

import (
	"context"
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
	// Why it could not be read; none: it was.
	Error string `json:"error,omitempty"`
	// When it was, by the database's clock.
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

// state reads one database. An error is part of the answer: the others are there.
func (d *database) state(ctx context.Context) DatabaseState {
	v := DatabaseState{Name: d.name, Good: true, Boxes: []BoxState{}, Pauses: []operations.Pause{}}
	s, err := d.status(ctx)
	if err != nil {
		_, v.Error = statusOf(err)
		v.Good = false
		return v
	}
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

// look reads all databases side by side: none waits for another.
func (c *console) look(ctx context.Context) Overview {
	v := Overview{Databases: make([]DatabaseState, len(c.databases))}
	var all sync.WaitGroup
	for i, d := range c.databases {
		all.Go(func() { v.Databases[i] = d.state(ctx) })
	}
	all.Wait()
	slices.SortStableFunc(v.Databases, func(a, b DatabaseState) int { return badFirst(a.Good, b.Good) })
	return v
}

func (c *console) overview(w http.ResponseWriter, r *http.Request) error {
	return answer(w, c.look(r.Context()))
}
