package effectstest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/store"
)

// RunFullHeaders has a consumer park messages whose headers leave no room for the reason, or little. Each is parked: whole
// with what fits of the reason, or with a fault.
func RunFullHeaders[Tx any](t *testing.T, open func(t *testing.T) Redriven[Tx]) {
	t.Helper()
	w := newTaken(t, open(t))
	const others = len(`{"h":""}`)
	room := len(`,"":""`) + len(inbox.FailedHeader)
	for id, value := range map[string]string{
		"none":    strings.Repeat("x", postbag.MaxHeader-others),
		"quotes":  strings.Repeat(`"`, (postbag.MaxHeader-others)/2),
		"little":  strings.Repeat("x", postbag.MaxHeader-others-room-20),
		"nothing": strings.Repeat("x", postbag.MaxHeader-others-room),
		"alike":   strings.Repeat("x", postbag.MaxHeader-others-room),
	} {
		headers := source.Headers{{Name: "h", Value: value}}
		if id == "alike" { // a name that differs by one letter is as long
			headers = append(headers, source.Header{Name: "X" + inbox.FailedHeader[1:]})
		}
		w.must(w.from.Publish(source.Message{MessageID: id, Payload: []byte(id), Headers: headers}))
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- w.consumer(nil)(ctx) }()
	w.must(w.from.WaitUntilAcked(ctx, "billing"))
	stop()
	w.must(<-ended)
	items, _, err := w.store.List(context.Background(), store.Query{Ref: store.Ref{Box: w.box}, Limit: 10})
	w.must(err)
	if len(items) != 5 {
		w.Fatalf("%d messages are parked, want 5", len(items))
	}
	for _, it := range items {
		reason, whole := it.Headers[inbox.FailedHeader]
		switch id := string(it.Payload); id {
		case "none", "quotes", "alike":
			if whole || it.Err == nil || !strings.Contains(it.Err.Error(), "it was rejected") {
				t.Errorf("%s is parked with the fault %v, and whole: %v", id, it.Err, whole)
			}
		default:
			if !whole || it.Err != nil || (reason != "") != (id == "little") {
				t.Errorf("%s is parked with the fault %v, whole: %v, with the reason %q", id, it.Err, whole, reason)
			}
		}
	}
}
