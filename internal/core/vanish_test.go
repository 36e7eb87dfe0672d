package core_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/postbag/postbag/internal/core"
)

// A subscription that an operator removes takes with it all that the relay has in hand of it. One that
// is declared again later is worked like a new one.
func TestASubscriptionThatVanishesIsLetGoAndWorkedAgainWhenItReturns(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.message()
	d.land(d.reads())
	d.until(core.Send)
	delete(d.owners, ref)
	d.now += ttl
	all := d.beaten()
	if !has(all, core.Vanished) || !has(all, core.EndCalls) {
		t.Fatalf("its operations are %+v", all)
	}
	if f := d.Flows[0]; !f.Gone() || len(f.Engine.Leases()) > 0 || f.Engine.Stats().Unsettled > 0 || f.Owner.Loading() {
		t.Errorf("the flow still has %d leases and %d messages", len(f.Engine.Leases()), f.Engine.Stats().Unsettled)
	}
	d.now += ttl
	if all := d.beaten(); has(all, core.Vanished) {
		t.Error("it vanishes twice")
	}
	d.owners[ref] = ""
	d.now += ttl
	if all := d.beaten(); !has(all, core.Returned) {
		t.Errorf("it returned, and the operations are %+v", all)
	}
	d.message()
	d.land(d.reads())
	d.until(core.Send)
}

// A filter that a later version wrote stops its own subscription alone. Its shards are free for relays that can read it.
func TestASubscriptionWhoseFilterCannotBeReadIsGivenBackAndWorkedAgainOnceItCan(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.message()
	d.land(d.reads())
	d.until(core.Send)
	d.unreadable = errors.New("an unknown field")
	d.now += ttl
	if all := d.beaten(); !has(all, core.Vanished) || !has(all, core.EndCalls) {
		t.Fatalf("its operations are %+v", all)
	}
	vanished := d.now
	if d.beaten(); d.now > vanished+ttl/10 {
		t.Error("others do not learn of it at once")
	}
	if d.owners[ref] == "" {
		t.Error("another relay may send what its calls still carry")
	}
	for d.now < vanished+ttl/5+100*time.Millisecond {
		d.beaten()
	}
	f := d.Flows[0]
	if !f.Gone() || f.Unreadable() == nil || len(f.Engine.Leases()) > 0 || d.owners[ref] != "" {
		t.Errorf("the flow still has %d leases, and the owner is %q", len(f.Engine.Leases()), d.owners[ref])
	}
	if d.owners[house] == "" {
		t.Error("the relay gave up housekeeping, too")
	}
	d.unreadable = nil
	d.now += ttl
	if all := d.beaten(); !has(all, core.Returned) || f.Unreadable() != nil {
		t.Errorf("it can be read, and the operations are %+v", all)
	}
	d.message()
	d.land(d.reads())
	d.until(core.Send)
}

// Others share the shards out by what a relay's heartbeat said last.
func TestARelayThatCanReadTheFilterAgainTellsOthersAtOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.owners[ref], d.unreadable = "another", errors.New("an unknown field")
	for d.now < ttl {
		d.beaten()
	}
	d.unreadable = nil
	for !has(d.beaten(), core.Returned) {
	}
	returned := d.now
	if d.beaten(); d.now > returned+ttl/10 {
		t.Errorf("its next heartbeat comes %v later", d.now-returned)
	}
}

// beaten answers all until a heartbeat was answered, and returns what that brings about.
func (d *desk) beaten() (brought []core.Operation) {
	d.t.Helper()
	for beaten := false; !beaten; d.now += 10 * time.Millisecond {
		for all := d.step(); len(all) > 0; all = all[1:] {
			beaten = beaten || all[0].Kind == core.Beat
			d.answer(&all[0])
			more := slices.Clone(d.Operations())
			brought, all = append(brought, more...), append(all, more...)
		}
	}
	return brought
}
