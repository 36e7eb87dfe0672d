package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// queryFlags select messages.
type queryFlags struct {
	ref           refFlags
	id            string
	state         string
	topic, key    string
	types         []string
	after, before string
	err           string
}

func (f *queryFlags) add(cmd *cobra.Command, subscription, state string) {
	f.ref.add(cmd, subscription)
	flags := cmd.Flags()
	flags.StringVar(&f.id, "id", "", "`UUID` of the message")
	flags.StringVar(&f.state, "state", state, "`state`: "+strings.Join(stateNames(operations.States()), ", "))
	flags.StringVar(&f.topic, "topic", "", "`topic`, exactly")
	flags.StringVar(&f.key, "key", "", "`key`, exactly")
	flags.StringArrayVar(&f.types, "type", nil, "`type`, exactly, or a prefix and .*, such as order.*; may be repeated: any of them")
	flags.StringVar(&f.after, "after", "", "stored at this `time` or later; or a span ago, such as 2h or 7d")
	flags.StringVar(&f.before, "before", "", "stored before this `time`; or a span ago")
	flags.StringVar(&f.err, "error", "", "the last error contains this `text`, whatever its case")
	_ = cmd.RegisterFlagCompletionFunc("state", words(stateNames(operations.States())...)) // the flag is there
}

// filter is what the flags select by, for the audit log. A key is not told.
func (f *queryFlags) filter(all bool) string {
	var words []string
	if all {
		words = append(words, "--all")
	}
	say := func(flag string, values ...string) {
		for _, value := range values {
			if value != "" {
				words = append(words, fmt.Sprintf("--%s %q", flag, value))
			}
		}
	}
	say("state", f.state)
	say("topic", f.topic)
	say("type", f.types...)
	say("after", f.after)
	say("before", f.before)
	say("error", f.err)
	if f.key != "" {
		words = append(words, "--key")
	}
	return strings.Join(words, " ")
}

func stateNames(list []store.State) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}

// stateOf reads a state; the empty text is none.
func stateOf(text string, allowed []store.State) (store.State, error) {
	s := store.State(text)
	if s == "" || slices.Contains(allowed, s) {
		return s, nil
	}
	return "", exit.Usagef("--state is no state that fits here; choose one of %s", strings.Join(stateNames(allowed), ", "))
}

// query checks the flags. now is what spans are measured from.
func (f *queryFlags) query(now time.Time, allowed []store.State) (store.Query, error) {
	ref, err := f.ref.ref()
	if err != nil {
		return store.Query{}, err
	}
	q := store.Query{Ref: ref, Topic: f.topic, Key: f.key, Types: f.types, Error: f.err}
	if q.State, err = stateOf(f.state, allowed); err != nil {
		return q, err
	}
	if f.id != "" {
		if q.ID, err = messageID("--id", f.id); err != nil {
			return q, err
		}
	}
	if f.after != "" {
		if q.After, err = moment("after", f.after, now, -1); err != nil {
			return q, err
		}
	}
	if f.before != "" {
		if q.Before, err = moment("before", f.before, now, -1); err != nil {
			return q, err
		}
	}
	if !q.After.IsZero() && !q.Before.IsZero() && !q.After.Before(q.Before) {
		return q, exit.Usagef("--after is not before --before, so that nothing lies between; exchange them")
	}
	return q, f.fit(&q)
}

// fit refuses what no message can have.
func (f *queryFlags) fit(q *store.Query) error {
	for _, one := range []struct {
		flag, text string
		most       int
	}{
		{"topic", q.Topic, postbag.MaxName},
		{"key", q.Key, postbag.MaxKey},
		{"error", q.Error, postbag.MaxKey},
	} {
		if err := fitText(one.flag, one.text, one.most); err != nil {
			return err
		}
	}
	return fitTypes(q.Types)
}

// fitTypes refuses types that no message can have, and an empty one, which would select nothing beside others and
// everything alone.
func fitTypes(types []string) error {
	if len(types) > store.MaxConditions {
		return exit.Usagef("--type is given %d times, at most %d are taken; give a prefix and .*", len(types), store.MaxConditions)
	}
	for _, typ := range types {
		if err := fitText("type", typ, postbag.MaxName+2); err != nil {
			return err
		}
		switch {
		case typ == "":
			return exit.Usagef("--type is empty; give it a value, or leave it out")
		case strings.Contains(strings.TrimSuffix(typ, ".*"), "*"):
			return exit.Usagef("--type has a star that does not end it as .*; write it out, or a prefix and .*")
		}
	}
	return nil
}

func fitText(flag, text string, most int) error {
	if len(text) > most || strings.ContainsRune(text, 0) || strings.ToValidUTF8(text, "") != text {
		return exit.Usagef("--%s is no text of at most %d bytes; no message has it", flag, most)
	}
	return nil
}

// messageID reads an id. It is not quoted: it may be something else.
func messageID(what, text string) (postbag.ID, error) {
	id, err := postbag.ParseID(text)
	if err != nil || id.IsZero() {
		return id, exit.Usagef("%s is no id of a message; write it as 01234567-89ab-7cde-8f01-23456789abcd", what)
	}
	return id, nil
}
