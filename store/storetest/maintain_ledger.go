package storetest

import (
	"github.com/postbag/postbag/store"
)

// ledgerCases are about the ledger, without which nothing is dropped.
func ledgerCases() []scenario {
	return []scenario{
		{name: "Nothing is dropped while the ledger counts too few, and that is said", run: ledgerFew},
		{name: "Nothing is dropped while the ledger counts another message", run: ledgerOther},
		{name: "A ledger of every fate agrees", run: ledgerFates},
		{name: "A repeated settlement is in the ledger once", run: ledgerRepeat},
		{name: "A lost settlement is not in the ledger", run: ledgerLost},
		{name: "A subscription that began later has nothing to account for before", run: ledgerLater},
		{name: "A ledger agrees through changes of hands and of shards", run: ledgerReshaped},
	}
}

// faulty fails the case unless the ledger's fault is told and nothing dropped.
func (h *history) faulty(why string) {
	h.Helper()
	h.eventually("the ledger's fault is told", func() bool {
		h.round()
		return len(h.total.Faults) > 0
	})
	h.kept(why)
	h.total.Faults = nil
}

func ledgerFew(e *env) {
	h := e.history(1)
	h.settleAll(store.Settlement{Tally: tally(store.TallyDelivered, h.records[1:]...)})
	h.faulty("the ledger lacks one")
	e.settle(&h.leases[0], store.Settlement{Tally: tally(store.TallyDiscarded, h.records[0])})
	h.dropped()
}

func ledgerOther(e *env) {
	h := e.history(1)
	wrong := h.records[0]
	wrong.ID[15] ^= 1
	h.settleAll(store.Settlement{Tally: append(tally(store.TallyDelivered, h.records[1:]...), tally(store.TallyDelivered, wrong)...)})
	h.faulty("the ledger has the id of another")
	fix := append(less(tally(store.TallyDelivered, wrong)), tally(store.TallyDelivered, h.records[0])...)
	e.settle(&h.leases[0], store.Settlement{Tally: fix})
	h.dropped()
}

func ledgerFates(e *env) {
	h := e.history(1)
	var st store.Settlement
	for _, r := range h.records[4:8] {
		st.Park = append(st.Park, loose(park(r, store.ParkRetrying)))
	}
	for i, fate := range []store.Fate{store.TallyFiltered, store.TallyParked, store.TallyDelivered} {
		st.Tally = append(st.Tally, tally(fate, h.records[4*i:4*i+4]...)...)
	}
	st.Tally = append(st.Tally, tally(store.TallyDelivered, h.records[12:]...)...)
	h.settleAll(st)
	var done store.Settlement
	for _, r := range h.records[4:8] {
		done.Resolve = append(done.Resolve, store.Resolved{Seq: r.Seq, Hash: r.Hash})
	}
	done.Tally = append(less(tally(store.TallyParked, h.records[4:8]...)), tally(store.TallyDelivered, h.records[4:6]...)...)
	done.Tally = append(done.Tally, tally(store.TallyDiscarded, h.records[6:8]...)...)
	e.settle(&h.leases[0], done)
	h.dropped()
}

func ledgerRepeat(e *env) {
	h := e.history(2)
	for i := range h.leases {
		st := store.Settlement{Lease: h.leases[i], To: h.next, Tally: tally(store.TallyDelivered, h.of(i)...)}
		for range 3 {
			if v := e.turn(store.Turn{Settle: []store.Settlement{st}}).Verdicts[0]; !v.Applied {
				e.Fatal("a settlement, or its repeat, is lost")
			}
		}
	}
	h.dropped()
}

func ledgerLost(e *env) {
	h := e.history(1)
	st := store.Settlement{Lease: h.leases[0], To: h.next, Tally: tally(store.TallyDelivered, h.records...)}
	st.Token += 1000
	e.turn(store.Turn{Settle: []store.Settlement{st}})
	h.settleAll()
	h.dropped()
}

func ledgerLater(e *env) {
	h := e.history(1)
	h.settleAll()
	late := store.Ref{Box: box, Subscription: "late"}
	e.declare(store.Spec{Ref: late, From: store.Start{Now: true}, Shards: 1})
	first := store.Ref{Box: box, Subscription: "first"}
	e.declareFirst(first)
	before := h.records
	h.records = nil
	h.fill(10)
	h.settleAll()
	leases := []store.Lease{e.relay("late", late).take(late)[0], e.relay("first", first).take(first)[0]}
	e.settle(&leases[0], store.Settlement{To: h.next, Tally: tally(store.TallyDelivered, h.records...)})
	e.settle(&leases[1], store.Settlement{To: h.next, Tally: tally(store.TallyDelivered, append(before, h.records...)...)})
	h.dropped()
}

func ledgerReshaped(e *env) {
	h := e.history(2)
	h.settleAll()
	r := &relay{env: e, s: e.Store, id: "r", works: []store.Ref{ref}}
	h.leases = r.reshape(ref, 3, h.leases)
	h.records = nil
	h.fill(15)
	h.settleAll()
	r.beat(store.Beat{Leave: true})
	h.leases = e.relay("heir").take(ref)
	h.records = nil
	h.fill(15)
	h.settleAll()
	h.dropped()
}
