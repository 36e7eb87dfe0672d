package console

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// Done is what a command did, in JSON.
type Done struct {
	// For how many messages a relay is to carry it out.
	Queued int `json:"queued"`
	// How many were changed at once: scheduled messages.
	Changed int `json:"changed"`
	// What you should know.
	Notes []string `json:"notes,omitempty"`
}

// largestForm is the size of the largest form of a command, in bytes.
const largestForm = 16 << 10

// Forms of commands.
var (
	why         = parameter{"why", "Why, for the audit log."}
	messageForm = []parameter{
		{"do", "retry or discard. A scheduled message is published now, or cancelled."},
		{"subscription", "The subscription whose copy it is; empty for a scheduled message."},
		{"state", "The state that you saw, such as dead. In another one nothing is done. Empty: in any that takes the command."},
		why,
	}
	groupForm = []parameter{
		{"do", "retry or discard."},
		{"subscription", "The subscription."},
		{"state", "The state of the group, such as dead."},
		{"kind", "The kind of error, as it is shown."},
		{"scope", "The parameter subscription with which the groups were asked for, if there was one."},
		{"messages", "How many messages were counted. If there are others by now, nothing is done. Empty: as many as there are."},
		{"id", "The newest of them. If it is another by now, nothing is done. Empty: whichever it is."},
		why,
	}
	subscriptionForm = []parameter{
		{"do", "pause, resume, shards, set or reset. Of a setting that is reset, what its deployment says holds again."},
		{"for", "The pause ends by itself after this span, such as 2h. Empty: when somebody resumes it."},
		{"shards", "How many shards it is to have."},
		{"setting", "The setting to set or reset, such as batch. Each takes the values that postbag subscriptions set does, but spans are written as 72h."},
		{"value", "The value to set."},
		why,
	}
)

// What a form can ask to do with a message.
const (
	doRetry   = "retry"
	doDiscard = "discard"
)

// form reads the form of a command.
func form(r *http.Request, fields []parameter) (url.Values, error) {
	return readForm(r, fields, largestForm)
}

// readForm reads the form of a request of at most so many bytes, and refuses what the route does not know or gets twice.
func readForm(r *http.Request, fields []parameter, most int64) (url.Values, error) {
	r.Body = http.MaxBytesReader(nil, r.Body, most)
	if err := r.ParseForm(); err != nil {
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			return nil, badRequestf("the form has more than %d bytes; shorten why, or what it is about", most)
		}
		return nil, badRequestf("the form is malformed; send it as application/x-www-form-urlencoded")
	}
	for name, values := range r.PostForm {
		if !slices.ContainsFunc(fields, func(p parameter) bool { return p.name == name }) {
			return nil, badRequestf("there is no field %.40q here; leave it out, or see api/v1/openapi.json", name)
		}
		if len(values) > 1 {
			return nil, badRequestf("the field %s is given %d times; give it once", name, len(values))
		}
	}
	return r.PostForm, nil
}

// signed says who gives a command, and why.
func (c *console) signed(r *http.Request, f url.Values) (store.Audit, error) {
	a := store.Audit{Who: c.nameOf(r), Why: strings.TrimSpace(f.Get("why"))}
	return a, operations.ValidAudit(a)
}

// onMessage gives a command for one message.
func (c *console) onMessage(r *http.Request) (v Done, err error) {
	f, err := form(r, messageForm)
	if err != nil {
		return v, err
	}
	choice := operations.Choice{
		Ref: store.Ref{Box: r.PathValue("box"), Subscription: f.Get("subscription")}, Only: store.State(f.Get("state")),
	}
	if choice.Kind, err = kindOf(f.Get("do")); err != nil {
		return v, err
	}
	if choice.Only != "" && !slices.Contains(operations.States(), choice.Only) {
		return v, badRequestf("state is no state of messages; write the one that you saw, such as dead, or leave it out")
	}
	id, err := idOf(r.PathValue("id"))
	if err != nil {
		return v, err
	}
	choice.IDs = []postbag.ID{id}
	a, err := c.signed(r, f)
	if err != nil {
		return v, err
	}
	v, err = c.run(r, a, func(ctx context.Context, ops operations.Store) (*operations.Preview, error) {
		return ops.Preview(ctx, choice)
	})
	return v, late(id, err)
}

// run gives a command to the messages of a preview.
func (c *console) run(r *http.Request, a store.Audit, look func(context.Context, operations.Store) (*operations.Preview, error)) (v Done, err error) {
	err = c.change(r, func(ctx context.Context, ops operations.Store) error {
		p, err := look(ctx, ops)
		if err != nil {
			return err
		}
		did, err := ops.Run(p, a).Do(ctx)
		v.Queued, v.Changed = did.Queued, did.Done
		return err
	})
	return v, err
}

// kindOf reads what is to be done with messages.
func kindOf(do string) (store.CommandKind, error) {
	switch do {
	case doRetry:
		return store.Retry, nil
	case doDiscard:
		return store.Discard, nil
	}
	return 0, badRequestf("do is neither retry nor discard; write one of them")
}

// onGroup gives a command for the messages of a kind of error that the page of errors counts: at most operations.MostParked.
func (c *console) onGroup(r *http.Request) (v Done, err error) {
	f, err := form(r, groupForm)
	if err != nil {
		return v, err
	}
	kind, err := kindOf(f.Get("do"))
	if err != nil {
		return v, err
	}
	ref, g, err := groupOf(r, f)
	if err != nil {
		return v, err
	}
	a, err := c.signed(r, f)
	if err != nil {
		return v, err
	}
	return c.run(r, a, func(ctx context.Context, ops operations.Store) (*operations.Preview, error) {
		return ops.PreviewGroup(ctx, ref, kind, g)
	})
}

// groupOf reads of which group a command is, and of what the groups were asked for.
func groupOf(r *http.Request, f url.Values) (ref store.Ref, g operations.ErrorGroup, err error) {
	ref = store.Ref{Box: r.PathValue("box"), Subscription: f.Get("scope")}
	g = operations.ErrorGroup{
		Subscription: f.Get("subscription"), State: store.State(f.Get("state")),
		Kind: strings.ReplaceAll(f.Get("kind"), "\r\n", "\n"), // a browser writes line ends so
	}
	if postbag.ValidSubscription(g.Subscription) != nil || ref.Subscription != "" && ref.Subscription != g.Subscription {
		return ref, g, store.ErrNoSubscription
	}
	if text := f.Get("messages"); text != "" {
		if g.Messages, err = strconv.Atoi(text); err != nil || g.Messages < 1 {
			return ref, g, badRequestf("messages is no number above zero; write how many were counted, or leave it out")
		}
	}
	if text := f.Get("id"); text != "" {
		g.ID, err = idOf(text)
	}
	return ref, g, err
}

// onSubscription gives a command for one subscription.
func (c *console) onSubscription(r *http.Request) (v Done, err error) {
	f, err := form(r, subscriptionForm)
	if err != nil {
		return v, err
	}
	a, err := c.signed(r, f)
	if err != nil {
		return v, err
	}
	ref := store.Ref{Box: r.PathValue("box"), Subscription: r.PathValue("subscription")}
	give, err := subscriptionCommand(f, a, ref, &v)
	if err == nil {
		err = c.change(r, give)
	}
	return v, err
}

// spanOf reads how long a pause is. Empty: zero, without an end.
func spanOf(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	span, err := time.ParseDuration(text)
	if err != nil || span <= 0 {
		return 0, badRequestf("for is no span above zero; write 90m or 2h, or leave it out")
	}
	return span, nil
}

// change carries out a command in the database that the path names, in the place of the questions to it. The next look then
// reads the database again.
func (c *console) change(r *http.Request, give func(context.Context, operations.Store) error) error {
	d, err := c.database(r)
	if err != nil {
		return err
	}
	if postbag.ValidBox(r.PathValue("box")) != nil {
		return errNoBox
	}
	defer d.forget()
	return grantable(d.ask(r.Context(), func(ctx context.Context) error { return give(ctx, d.ops) }))
}

// asCommand gives a command, and sends the browser back to the page with its form.
func asCommand(give func(*console, *http.Request) (Done, error)) func(*console, http.ResponseWriter, *http.Request) error {
	return func(c *console, w http.ResponseWriter, r *http.Request) error {
		done, err := give(c, r)
		if err != nil {
			return err
		}
		to := "../" + path.Base(path.Dir(r.URL.EscapedPath()))
		if done.Changed > 0 && r.PostForm.Get("do") == doDiscard { // a cancelled message has no page any more
			to = "../../messages?state=scheduled"
		}
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusSeeOther)
		return nil
	}
}

// button is one of a form of commands.
type button struct{ Do, Label string }

// Buttons are the commands that a message in a state takes.
func (*sheet) Buttons(state store.State) (all []button) {
	retry, discard := button{doRetry, "Retry"}, button{doDiscard, "Discard"}
	if state == store.StateScheduled {
		retry.Label, discard.Label = "Publish now", "Cancel"
	}
	if slices.Contains(operations.CommandStates(store.Retry), state) {
		all = append(all, retry)
	}
	if slices.Contains(operations.CommandStates(store.Discard), state) {
		all = append(all, discard)
	}
	return all
}
