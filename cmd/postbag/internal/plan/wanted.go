package plan

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/store"
)

// Wanted is what a configuration says of one store.
type Wanted struct {
	// Boxes are those that it names, by name.
	Boxes []Box
	// Subscriptions are those that it names, by box and name.
	Subscriptions []Subscription
	// Notes are what it says that no plan can bring about.
	Notes []Note
}

// Box is what a configuration says of a box.
type Box struct {
	Name      string
	Retention store.Lifetimes
}

// Subscription is what a configuration says of a subscription.
type Subscription struct {
	*config.Subscription
}

// Ref names the subscription.
func (s *Subscription) Ref() store.Ref {
	return store.Ref{Box: s.Box, Subscription: s.Name}
}

// spec is how a new one is declared.
func (s *Subscription) spec(now time.Time) (store.Spec, error) {
	spec := store.Spec{Ref: s.Ref(), Types: s.Types, Where: s.Filter().Where, Shards: s.Shards}
	if s.DeadTo != nil {
		spec.DeadTo = s.DeadTo.Box
	}
	switch s.From {
	case "", "first":
	case "now":
		spec.From.Now = true
	default:
		at, err := s.Begins(now)
		spec.From.At = at
		return spec, err
	}
	return spec, nil
}

// Of returns what a file says of the store of a name. It was checked when it was read.
func Of(file *config.File, name string) Wanted {
	var w Wanted
	boxes := make(map[string]bool)
	for i := range file.Subscriptions {
		s := &file.Subscriptions[i]
		if s.Store != name {
			continue
		}
		w.Subscriptions = append(w.Subscriptions, Subscription{s})
		boxes[s.Box] = true
		if s.DeadTo != nil {
			boxes[s.DeadTo.Box] = true
		}
	}
	for i := range file.Sources {
		if s := &file.Sources[i]; s.Store == name {
			boxes[s.Box] = true
		}
	}
	for box, settings := range file.Boxes {
		if settings.Unread {
			boxes[box] = true
		}
	}
	for _, box := range slices.Sorted(maps.Keys(boxes)) {
		w.addBox(file, box)
	}
	slices.SortFunc(w.Subscriptions, func(a, b Subscription) int {
		return cmp.Or(cmp.Compare(a.Box, b.Box), cmp.Compare(a.Name, b.Name))
	})
	return w
}

// addBox adds a box with its retention, as a relay says that: keep counts for boxes that are read.
func (w *Wanted) addBox(file *config.File, name string) {
	box := Box{Name: name}
	settings, said := file.Boxes[name]
	box.Retention = settings.Retention.Lifetimes()
	read := slices.ContainsFunc(w.Subscriptions, func(s Subscription) bool { return s.Box == name })
	switch {
	case box.Retention.Delivered != 0 || file.Keep == 0 || !read && !said:
	case file.Keep < store.LeastLifetime:
		w.Notes = append(w.Notes, Note{Box: name, Text: "keep is less than 10m, which only relays say; it is not compared"})
	default:
		box.Retention.Delivered = file.Keep
	}
	for _, d := range []*time.Duration{&box.Retention.Delivered, &box.Retention.Discarded, &box.Retention.Dead} {
		if *d != store.Forever {
			*d = d.Truncate(time.Microsecond)
		}
	}
	w.Boxes = append(w.Boxes, box)
}

// has says whether the configuration names the subscription.
func (w *Wanted) has(r store.Ref) bool {
	return slices.ContainsFunc(w.Subscriptions, func(s Subscription) bool { return s.Ref() == r })
}

// hasBox says whether the configuration names the box.
func (w *Wanted) hasBox(name string) bool {
	return slices.ContainsFunc(w.Boxes, func(b Box) bool { return b.Name == name })
}
