package boxtest

import (
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/store"
)

// Messages makes n messages whose keys take turns.
func Messages(n int, keys ...string) []postbag.Message {
	out := make([]postbag.Message, n)
	for i := range out {
		out[i] = postbag.Message{
			ID: postbag.NewID(), Topic: "orders", Key: keys[i%len(keys)], Type: "order.created",
			Headers: map[string]string{"n": strconv.Itoa(i)}, Payload: fmt.Appendf(nil, "message %d", i),
		}
	}
	return out
}

// Tally counts records as of one fate, those of a span together that stand together.
func Tally(fate store.Fate, records ...store.Record) []store.Tally {
	var out []store.Tally
	for i := range records {
		r := &records[i]
		t := store.Tally{
			Span: (r.Seq - 1) / store.TallySpan, Fate: fate, Count: 1,
			SeqSum: uint64(r.Seq), IDSum: binary.BigEndian.Uint64(r.ID[8:]),
		}
		if n := len(out); n > 0 && out[n-1].Span == t.Span {
			out[n-1].Count++
			out[n-1].SeqSum += t.SeqSum
			out[n-1].IDSum += t.IDSum
			continue
		}
		out = append(out, t)
	}
	return out
}

// Less makes tallies such as are taken back.
func Less(all []store.Tally) []store.Tally {
	for i := range all {
		all[i].Count, all[i].SeqSum, all[i].IDSum = -all[i].Count, -all[i].SeqSum, -all[i].IDSum
	}
	return all
}
