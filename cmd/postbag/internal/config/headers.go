package config

import (
	"fmt"
	"maps"
	"slices"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// checkBoxes adds every mistake in boxes.
func (f *File) checkBoxes() {
	for _, name := range slices.Sorted(maps.Keys(f.Boxes)) {
		where := below("boxes", name)
		if err := postbag.ValidBox(name); err != nil {
			f.problems.atf(where, "is wrong: %v", err)
			continue
		}
		box := f.Boxes[name]
		read := slices.ContainsFunc(f.Subscriptions, func(s Subscription) bool { return s.Box == name })
		switch {
		case !read && !box.Unread:
			f.problems.atf(where, "is a box that no subscription reads; correct the name, take it out, or write unread: true for postbag plan and apply")
		case read && box.Unread:
			f.problems.atf(below(where, "unread"), "is said of a box that a subscription reads; leave it out")
		case !read && len(box.Headers) > 0:
			f.problems.atf(below(where, "headers"), "are added at delivery, and no subscription reads the box; leave them out")
		}
		if err := store.SlotRule(box.Slots).Validate(); err != nil && !f.problems.isLater(below(where, "slots")) {
			f.problems.atf(below(where, "slots"), "is %.40q; choose one of hash, number, or leave it out", Redact(box.Slots))
		}
		checkHeaders(f.problems, below(where, "headers"), box.Headers)
		box.Retention.check(f.problems, below(where, "retention"), f.Keep)
	}
}

// boxesOnly says that the file is of boxes alone, which postbag plan and apply look after: it has no subscription, and says so.
func (f *File) boxesOnly() bool {
	unread := func(b Box) bool { return b.Unread }
	return f.Subscriptions != nil && len(f.Subscriptions) == 0 && slices.ContainsFunc(slices.Collect(maps.Values(f.Boxes)), unread)
}

// checkHeaders adds every mistake in default headers.
func checkHeaders(p *problems, where string, headers map[string]string) bool {
	err := postbag.ValidHeaders(headers)
	if err != nil {
		p.atf(where, "is wrong: %v", err)
	}
	return err == nil
}

// checkHeaders adds every mistake in the headers of s, by themselves and beside those of its box.
func (s *Subscription) checkHeaders(p *problems, where string, f *File) {
	where = below(where, "headers")
	box := f.Boxes[s.Box].Headers
	if !checkHeaders(p, where, s.Headers) || postbag.ValidHeaders(box) != nil {
		return
	}
	both := make(map[string]string, len(box)+len(s.Headers))
	maps.Copy(both, box)
	maps.Copy(both, s.Headers)
	if err := postbag.ValidHeaders(both); err != nil {
		p.atf(where, "is wrong beside %s: %v", fmt.Sprintf("boxes.%s.headers", s.Box), err)
	}
	maps.DeleteFunc(both, func(name, _ string) bool { // what a variable of another machine says is not known
		from := below(below("boxes", s.Box), "headers")
		if _, own := s.Headers[name]; own {
			from = where
		}
		return p.isLater(below(from, name))
	})
	if c, ok := f.Destinations[s.To].Settings.(HeaderChecker); ok {
		if err := c.CheckHeaders(both); err != nil {
			p.atf(where, "with those of its box has what %s rejects: %v", s.To, err)
		}
	}
}
