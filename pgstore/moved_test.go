package pgstore_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/postbag/postbag/internal/sitetest"
	"github.com/postbag/postbag/store"
)

// The server is the same, with the same identifier, as that of a clone would be.
// The floor that the shards went back to was one of the old numbering: all that was written under the new one lay below it.
func TestADumpOfALogWhoseNumberingWasBegunAgainLosesNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.publish(sitetest.Messages(20, "a", "b")...)
	s.Deliver()
	s.exec("TRUNCATE postbag.outbox RESTART IDENTITY")
	fresh := s.publish(sitetest.Messages(10, "a", "b")...)
	file := filepath.Join(t.TempDir(), "dump")
	s.Must(shared.Server(t).Dump(t.Context(), s.name, file))
	dsn := shared.Database(t)
	config, err := pgx.ParseConfig(dsn)
	s.Must(err)
	s.Must(shared.Server(t).Restore(t.Context(), config.Database, file))
	copied := newFixture(t, dsn)
	if _, err := copied.Check(t.Context()); !errors.Is(err, store.ErrMoved) {
		t.Fatalf("a restored dump is checked with %v, not as one that has moved", err)
	}
	c := &site{TB: t, Site: sitetest.Of(t, copied), fixture: copied}
	c.Lease = c.Take("another relay", outbox)
	c.At = lease2position(c, outbox)
	got := map[string]bool{}
	for _, r := range c.Read() {
		got[r.ID.String()] = true
	}
	for _, m := range fresh {
		if !got[m.ID.String()] {
			t.Errorf("message %v, which was never delivered, does not come", m.ID)
		}
	}
}

func TestARestoredDumpIsAnotherDatabase(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.publish(sitetest.Messages(10, "a", "b")...)
	s.Deliver()
	late := s.publish(sitetest.Messages(10, "a", "b")...)
	file := filepath.Join(t.TempDir(), "dump")
	s.Must(shared.Server(t).Dump(t.Context(), s.name, file))
	dsn := shared.Database(t)
	config, err := pgx.ParseConfig(dsn)
	s.Must(err)
	s.Must(shared.Server(t).Restore(t.Context(), config.Database, file))
	copied := newFixture(t, dsn)

	if _, err := copied.Check(t.Context()); !errors.Is(err, store.ErrMoved) {
		t.Fatalf("a restored dump is checked with %v, not as one that has moved", err)
	}
	if _, err := copied.Check(t.Context()); err != nil {
		t.Fatalf("after its positions were reconciled it is checked with %v", err)
	}
	if o, err := copied.Overview(t.Context()); err != nil || len(o.Boxes[0].Notices) != 1 || !strings.Contains(o.Boxes[0].Notices[0].Why, "copied") {
		t.Errorf("the overview shows %+v (error: %v)", o.Boxes, err)
	}
	c := &site{TB: t, Site: sitetest.Of(t, copied), fixture: copied}
	c.Lease = c.Take("another relay", outbox)
	c.At = lease2position(c, outbox)
	got := map[string]bool{}
	for _, r := range c.Read() {
		got[r.ID.String()] = true
	}
	for _, m := range late {
		if !got[m.ID.String()] {
			t.Errorf("message %v, which was not delivered before the dump, does not come", m.ID)
		}
	}
	if info, err := s.Check(t.Context()); err != nil {
		t.Errorf("the database that was dumped is checked with %v (%q)", err, info.Identity)
	}
}
