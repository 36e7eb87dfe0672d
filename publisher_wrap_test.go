package postbag

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestJoinedWrapsRunInTheirSequenceAndEndInReverse(t *testing.T) {
	t.Parallel()
	var saw []string
	named := func(name string) func(PublishFunc) PublishFunc {
		return func(next PublishFunc) PublishFunc {
			return func(ctx context.Context, msgs []Message) error {
				saw = append(saw, name)
				err := next(ctx, msgs)
				saw = append(saw, name+" after")
				return err
			}
		}
	}
	p, r := newTestPublisher(t, PublisherOptions{Wrap: JoinWraps(named("a"), nil, named("b"))})
	if err := p.Publish(t.Context(), &testTx{}, Message{}, Message{}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"a", "b", "b after", "a after"}; !slices.Equal(saw, want) || len(r.only(t)) != 2 {
		t.Errorf("they ran as %v, want %v", saw, want)
	}
	if JoinWraps() != nil || JoinWraps(nil, nil) != nil {
		t.Error("no wraps make one")
	}
}

func TestAJoinedWrapThatReturnsNilIsAnErrorAndNoPanic(t *testing.T) {
	t.Parallel()
	none := func(PublishFunc) PublishFunc { return nil }
	whole := func(next PublishFunc) PublishFunc {
		return func(ctx context.Context, msgs []Message) error { return next(ctx, msgs) }
	}
	p, r := newTestPublisher(t, PublisherOptions{Wrap: JoinWraps(whole, none)})
	if err := p.Publish(t.Context(), &testTx{}, Message{}); err == nil || !strings.Contains(err.Error(), "Wrap returned nil") {
		t.Errorf("error is %v", err)
	}
	if len(r.appended) > 0 {
		t.Errorf("%v was written", r.appended)
	}
}

func TestWrapEachChangesMessagesOrRefusesThemAll(t *testing.T) {
	t.Parallel()
	bad := errors.New("no tenant")
	tenant := WrapEach(func(_ context.Context, m *Message) error {
		if m.ID.IsZero() || m.Headers["tenant"] == "" {
			return bad
		}
		m.Topic = "tenants." + m.Headers["tenant"]
		m.Headers["seen"] = "yes"
		return nil
	})
	p, r := newTestPublisher(t, PublisherOptions{Wrap: tenant})
	acme := Message{Headers: map[string]string{"tenant": "acme"}}
	if err := p.Publish(t.Context(), &testTx{}, acme); err != nil {
		t.Fatal(err)
	}
	if got := r.only(t)[0]; got.Topic != "tenants.acme" || got.Headers["seen"] != "yes" || len(acme.Headers) != 1 {
		t.Errorf("it wrote %+v of %+v", got, acme)
	}
	got := messageErrors(t, p.Publish(t.Context(), &testTx{}, Message{}, acme, Message{}))
	if len(got) != 2 || got[0].Index != 0 || got[1].Index != 2 || got[1].Field != "WrapEach" || !errors.Is(got[0], bad) {
		t.Errorf("faults are %v", got)
	}
	if got[0].Error() != "postbag: message 0: WrapEach refuses it: no tenant" || len(r.appended) != 1 {
		t.Errorf("the error says %q, and %d calls were written", got[0].Error(), len(r.appended))
	}
	if WrapEach(nil) != nil {
		t.Error("no function makes a wrap")
	}
}
