package console

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
	"github.com/postbag/postbag/store/memstore"
)

// told reads an answer of the API as somebody gets it.
func told[T any](t *testing.T, h http.Handler, u *User, path string) (v T) {
	t.Helper()
	w := as(h, u, path)
	if w.Code != http.StatusOK {
		t.Fatalf("%s answers %d: %s", path, w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestAConsoleSaysWhatItIsAndWhichDatabasesYouMaySee(t *testing.T) {
	t.Parallel()
	h, _ := guardedBoxes(t)
	v := told[About](t, h, userWith(t, "viewer@shop/outbox"), "/api/v1/about")
	if v.Product != "postbag" || v.API != APIVersion || !slices.Equal(v.Databases, []string{"shop"}) || v.User != "ann" || !v.Commands || !v.Payloads {
		t.Errorf("it says %+v", v)
	}
	if v := told[About](t, h, userWith(t, "viewer"), "/api/v1/about"); !slices.Equal(v.Databases, []string{"shop", "hiddendb"}) {
		t.Errorf("of all databases it says %+v", v)
	}
}

func TestTheStatusOfADatabaseHasWhatWorksOnTheBoxesThatYouMaySee(t *testing.T) {
	t.Parallel()
	s := memstore.New(memstore.Options{})
	for _, box := range []string{"outbox", "hiddenbox"} {
		if err := s.CreateBox(t.Context(), box); err != nil {
			t.Fatal(err)
		}
		if err := s.Declare(t.Context(), []store.Spec{{Ref: store.Ref{Box: box, Subscription: "default"}, Shards: 2}}); err != nil {
			t.Fatal(err)
		}
	}
	beat := func(name string, works ...store.Ref) {
		t.Helper()
		if _, err := s.Beat(t.Context(), store.Beat{Relay: postbag.NewID().String(), Name: name, New: true, Works: works, TTL: time.Minute}); err != nil {
			t.Fatal(err)
		}
	}
	shown, hidden := store.Ref{Box: "outbox", Subscription: "default"}, store.Ref{Box: "hiddenbox", Subscription: "default"}
	beat("both", shown, hidden)
	beat("a-hidden-one", hidden)
	h, err := New(Options{Databases: []Database{{Name: "shop", Store: s}}, Stranger: http.NotFound})
	if err != nil {
		t.Fatal(err)
	}
	all := told[operations.Status](t, h, userWith(t, "viewer@shop"), "/api/v1/databases/shop/status")
	if len(all.Boxes) != 2 || len(all.Relays) != 2 {
		t.Errorf("who may see all boxes sees %+v", all)
	}
	for _, path := range []string{"/api/v1/databases/shop/status", "/api/v1/databases/shop/boxes/outbox/status"} {
		w := as(h, userWith(t, "viewer@shop/outbox"), path)
		some := told[operations.Status](t, h, userWith(t, "viewer@shop/outbox"), path)
		if len(some.Boxes) != 1 || len(some.Relays) != 1 || some.Relays[0].Name != "both" || !slices.Equal(some.Relays[0].Works, []string{"outbox/default"}) || strings.Contains(w.Body.String(), "hidden") {
			t.Errorf("%s answers %s", path, w.Body)
		}
	}
	if l := told[operations.SubscriptionList](t, h, userWith(t, "viewer@shop/outbox"), "/api/v1/databases/shop/subscriptions"); len(l.Subscriptions) != 1 || l.Subscriptions[0].Box != "outbox" {
		t.Errorf("the subscriptions are %+v", l)
	}
}

func TestAnOperationIsFoundWithoutItsBoxByThoseWhoMaySeeThat(t *testing.T) {
	t.Parallel()
	h, _ := guardedBoxes(t)
	for path, want := range map[string]int{"1": http.StatusOK, "2": http.StatusNotFound, "3": http.StatusNotFound, "x": http.StatusNotFound} {
		if w := as(h, userWith(t, "viewer@shop/outbox"), "/api/v1/databases/shop/operations/"+path); w.Code != want || strings.Contains(w.Body.String(), "hidden") {
			t.Errorf("operation %s answers %d: %s", path, w.Code, w.Body)
		}
	}
	if v := told[operations.Operation](t, h, userWith(t, "viewer@shop"), "/api/v1/databases/shop/operations/2"); v.Box != "hiddenbox" {
		t.Errorf("who may see all boxes sees %+v", v)
	}
}

func TestAFailureSaysInAWordOfWhatKindItIs(t *testing.T) {
	t.Parallel()
	h, id := guardedBoxes(t)
	const box = "/api/v1/databases/shop/boxes/outbox"
	for path, want := range map[string]string{
		"/api/v1/databases/none/relays":                             FailureDatabase,
		"/api/v1/databases/shop/boxes/none/status":                  FailureBox,
		"/api/v1/databases/shop/boxes/none/messages":                FailureBox,
		box + "/subscriptions/none":                                 FailureSubscription,
		box + "/messages?state=none":                                FailureInvalid,
		box + "/messages?cursor=none":                               FailureCursor,
		box + "/messages/" + postbag.NewID().String():               FailureNotFound,
		box + "/messages/" + id.String() + "?payload=true":          FailurePayloads,
		"/api/v1/databases/shop/audit":                              "",
		box + "/subscriptions/default/replay?last=1&destination=no": "",
	} {
		w := as(h, userWith(t, "viewer"), path)
		var f Failure
		if err := json.Unmarshal(w.Body.Bytes(), &f); err != nil || f.Kind != want {
			t.Errorf("%s answers %d %s, want the kind %q", path, w.Code, w.Body, want)
		}
	}
}

func TestAPayloadComesByteByByteAsBase64(t *testing.T) {
	t.Parallel()
	s := memstore.New(memstore.Options{})
	payload := []byte(`{"a":"<b>\u003c&amp;</b>"}`)
	id := postbag.NewID()
	err := s.CreateBox(t.Context(), "outbox")
	if err == nil {
		err = stored(t, s, postbag.Message{ID: id, Topic: "orders", Payload: payload})
	}
	if err != nil {
		t.Fatal(err)
	}
	h, err := New(Options{Databases: []Database{{Name: "shop", Store: s}}, Payloads: true})
	if err != nil {
		t.Fatal(err)
	}
	v := told[Copies](t, h, nil, "/api/v1/databases/shop/boxes/outbox/messages/"+id.String()+"?payload=base64")
	if got, err := v.Copies[0].Body.Bytes(); err != nil || string(got) != string(payload) {
		t.Errorf("the payload is %s: %v", got, err)
	}
}

func TestSeveralTypesSelectTheMessagesOfEach(t *testing.T) {
	t.Parallel()
	s := memstore.New(memstore.Options{})
	err := s.CreateBox(t.Context(), "outbox")
	for _, typ := range []string{"order.paid", "invoice.sent", "order.sent"} {
		if err == nil {
			err = stored(t, s, postbag.Message{Topic: "orders", Type: typ, Payload: []byte("x")})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	h, err := New(Options{Databases: []Database{{Name: "shop", Store: s}}})
	if err != nil {
		t.Fatal(err)
	}
	const list = "/api/v1/databases/shop/boxes/outbox/messages"
	if got := told[Messages](t, h, nil, list+"?type=invoice.*&type=order.sent").Messages; len(got) != 2 {
		t.Errorf("two types select %+v", got)
	}
	if w := as(h, nil, list+"?type=a&type=b*c"); w.Code != http.StatusBadRequest {
		t.Errorf("a type with a star in it answers %d", w.Code)
	}
	if w := as(h, nil, list+"?topic=a&topic=b"); w.Code != http.StatusBadRequest {
		t.Errorf("two topics answer %d", w.Code)
	}
}

// stored writes a message to outbox, which a subscription reads.
func stored(t *testing.T, s *memstore.Store, m postbag.Message) error {
	t.Helper()
	if m.ID.IsZero() {
		m.ID = postbag.NewID()
	}
	if err := s.Declare(t.Context(), []store.Spec{{Ref: store.Ref{Box: "outbox", Subscription: "default"}, Shards: 1}}); err != nil {
		return err
	}
	return s.InTx(t.Context(), func(ctx context.Context, tx *memstore.Tx) error {
		return s.Append(ctx, tx, "outbox", []postbag.Message{m})
	})
}
