package redact

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
)

// Mark stands in place of what is hidden.
const Mark = "***"

// Most rules of each kind.
const mostRules = 100

// Options are rules in text.
type Options struct {
	// Headers are names of headers whose values are hidden, whatever their case. * stands for any text.
	Headers []string
	// JSON are paths to values of payloads that are hidden.
	JSON []string
	// ShowOther: with rules in JSON, payloads that are no JSON are shown. Without it they are hidden: no path leads into them.
	ShowOther bool
}

// Rules hide parts of messages. Nil hides nothing. It may be used concurrently.
type Rules struct {
	headers   []string
	paths     []path
	showOther bool
}

// A RuleError is what is wrong with one of the options.
type RuleError struct {
	// Option is headers or json, and At the number of the rule.
	Option string
	At     int
	// Text says what is wrong with it, and what to do.
	Text string
}

// Error names the option.
func (f *RuleError) Error() string { return fmt.Sprintf("%s[%d] %s", f.Option, f.At, f.Text) }

// New reads rules. The error joins a *RuleError for each that is wrong. Without rules it returns nil.
func New(o Options) (*Rules, error) {
	r := &Rules{showOther: o.ShowOther}
	var faults []error
	say := func(option string, at int, text string) { faults = append(faults, &RuleError{option, at, text}) }
	for i, name := range o.Headers {
		if name == "" || strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c == ':' || c == 0x7f }) {
			say("headers", i, fmt.Sprintf("is %.80q, which is the name of no header; write one, with * for any text", name))
		}
		r.headers = append(r.headers, strings.ToLower(name))
	}
	for i, text := range o.JSON {
		p, err := parsePath(text)
		if err != nil {
			say("json", i, fmt.Sprintf("is %.80q, which %v", text, err))
		}
		r.paths = append(r.paths, p)
	}
	for option, n := range map[string]int{"headers": len(o.Headers), "json": len(o.JSON)} {
		if n > mostRules {
			say(option, mostRules, fmt.Sprintf("and those behind it are too many; write at most %d", mostRules))
		}
	}
	if len(faults) > 0 || len(r.headers)+len(r.paths) == 0 {
		return nil, errors.Join(faults...)
	}
	return r, nil
}

// Headers returns headers as they may be seen, and whether any is hidden. It leaves those of its caller as they are.
func (r *Rules) Headers(all map[string]string) (shown map[string]string, hidden bool) {
	if r == nil || len(r.headers) == 0 {
		return all, false
	}
	shown = maps.Clone(all)
	for name := range all {
		for _, pattern := range r.headers {
			if Matches(pattern, strings.ToLower(name)) {
				shown[name], hidden = Mark, true
			}
		}
	}
	return shown, hidden
}

// Payload returns a payload as it may be seen, and whether something of it is hidden. With paths, all of one that is no JSON is hidden,
// unless ShowOther: shown is nil then. An empty one has nothing to hide. A large one takes a while: if the context ends meanwhile,
// the error is that of the context, and nothing may be shown.
func (r *Rules) Payload(ctx context.Context, payload []byte) (shown []byte, hidden bool, err error) {
	if r == nil || len(r.paths) == 0 || len(payload) == 0 {
		return payload, false, nil
	}
	shown, hidden, ok, err := r.inJSON(ctx, payload)
	switch {
	case err != nil:
		return nil, true, err
	case ok:
		return shown, hidden, nil
	case r.showOther:
		return payload, false, nil
	}
	return nil, true, nil
}

// Matches says whether a name is of a pattern, in which * stands for any text: of a rule, and of what a right is about.
func Matches(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == name
	}
	rest, begins := strings.CutPrefix(name, parts[0])
	if !begins {
		return false
	}
	last := parts[len(parts)-1]
	for _, part := range parts[1 : len(parts)-1] {
		_, behind, found := strings.Cut(rest, part)
		if !found {
			return false
		}
		rest = behind
	}
	return strings.HasSuffix(rest, last)
}
