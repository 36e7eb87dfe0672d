package config

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store/storekit"
)

// addLetters adds the subscriptions that dead_to.to makes: default of the box of the letters. Several
// that say the same make one. A second time it changes nothing.
func (f *File) addLetters() {
	made := make(map[[2]string]string) // the destination, by store and box
	for _, s := range f.Subscriptions {
		if s.letters {
			made[[2]string{s.Store, s.Box}] = s.To
		}
	}
	for i := range f.Subscriptions {
		s := &f.Subscriptions[i]
		if s.DeadTo == nil || s.DeadTo.To == "" {
			continue
		}
		key := [2]string{s.Store, s.DeadTo.Box}
		if to, is := made[key]; is && to == s.DeadTo.To {
			continue
		}
		made[key] = s.DeadTo.To
		one := Subscription{Store: s.Store, Box: s.DeadTo.Box, To: s.DeadTo.To, at: cmp.Or(s.at, fmt.Sprintf("subscriptions[%d]", i)) + ".dead_to", letters: true}
		one.fillSizes()
		fill(reflect.ValueOf(&one).Elem())
		f.Subscriptions = append(f.Subscriptions, one)
	}
}

// check adds every mistake. Dead letters that are not set have none.
func (d *DeadTo) check(p *problems, where, box string) {
	if d == nil || p.isLater(where) || p.laterBelow(where) {
		return
	}
	switch err := postbag.ValidBox(d.Box); {
	case d.Box == "":
		p.atf(where, "names no box; write its name, or {box: NAME, to: DESTINATION}")
	case err != nil:
		p.atf(where, "is wrong: %v", err)
	case d.Box == box:
		p.atf(where, "is the box that the messages are in; write the name of another box")
	}
	if len(d.Topic) > postbag.MaxName || strings.IndexByte(d.Topic, 0) >= 0 {
		p.atf(where+".topic", "is no topic; use at most %d bytes without a NUL byte", postbag.MaxName)
	}
}

// checkLetterTopics adds a mistake where a destination of dead letters rejects their topic: they would die in their turn.
func (f *File) checkLetterTopics() {
	for i := range f.Subscriptions {
		s := &f.Subscriptions[i]
		if s.DeadTo == nil || s.DeadTo.Topic == "" {
			continue
		}
		where := cmp.Or(s.at, fmt.Sprintf("subscriptions[%d]", i)) + ".dead_to.topic"
		said := map[string]bool{}
		for k := range f.Subscriptions {
			to := &f.Subscriptions[k]
			c, checks := f.Destinations[to.To].Settings.(TopicChecker)
			if !checks || to.Store != s.Store || to.Box != s.DeadTo.Box || said[to.To] || f.problems.laterBelow(below("destinations", to.To)) ||
				!storekit.MayTakeTopic(to.Filter(), s.DeadTo.Topic) {
				continue
			}
			said[to.To] = true
			if err := c.CheckTopic(s.DeadTo.Topic); err != nil {
				f.problems.atf(where, "is one that %s rejects: %v", to.To, err)
			}
		}
	}
}

// checkLetters adds a mistake where dead letters come back to the box that they are from: a letter
// that dies would be copied for ever.
func (f *File) checkLetters() {
	type road struct{ store, box string }
	next := make(map[road][]road)
	for i := range f.Subscriptions {
		s := &f.Subscriptions[i]
		if s.DeadTo == nil || s.DeadTo.Box == s.Box {
			continue
		}
		from, to := road{s.Store, s.Box}, road{s.Store, s.DeadTo.Box}
		var leads func(at road) bool
		leads = func(at road) bool { return at == from || slices.ContainsFunc(next[at], leads) }
		if leads(to) {
			where := cmp.Or(s.at, fmt.Sprintf("subscriptions[%d]", i))
			f.problems.atf(where+".dead_to", "names the box %s, whose dead letters come back to the box %s; leave dead_to out in one of them", to.box, from.box)
			continue
		}
		next[from] = append(next[from], to)
	}
}
