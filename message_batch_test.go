package postbag

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func faultsOfBatch(t *testing.T, msgs ...Message) []string {
	t.Helper()
	p, r := newTestPublisher(t, PublisherOptions{})
	err := p.Publish(t.Context(), &testTx{}, msgs...)
	if err != nil && len(r.calls) > 0 {
		t.Errorf("refused, but the store was called: %v", r.calls)
	}
	var got []string
	for _, e := range messageErrors(t, err) {
		got = append(got, fmt.Sprintf("%d %s", e.Index, e.Field))
		if strings.Contains(e.Error(), canary) {
			t.Errorf("error %q quotes the message", e)
		}
	}
	return got
}

func TestTwoMessagesWithOneIDAreRefused(t *testing.T) {
	t.Parallel()
	a, b := ID{15: 1}, ID{15: 2}
	for _, tc := range []struct {
		name string
		ids  []ID
		want []string
	}{
		{"distinct and growing", []ID{a, b}, nil},
		{"distinct and falling", []ID{b, a}, nil},
		{"drawn", []ID{{}, {}, {}}, nil},
		{"own before drawn ones", []ID{a, {}, b, {}}, nil},
		{"twice, side by side", []ID{a, a}, []string{"1 ID"}},
		{"twice, apart", []ID{a, {}, b, a}, []string{"3 ID"}},
		{"three times", []ID{b, b, a, b}, []string{"1 ID", "3 ID"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var msgs []Message
			for _, id := range tc.ids {
				msgs = append(msgs, Message{ID: id})
			}
			if got := faultsOfBatch(t, msgs...); !slices.Equal(got, tc.want) {
				t.Errorf("faults are %v, want %v", got, tc.want)
			}
		})
	}
}

func TestOneKeyWithTwoShardKeysIsRefused(t *testing.T) {
	t.Parallel()
	const k = canary
	for _, tc := range []struct {
		name string
		msgs []Message
		want []string
	}{
		{"none given", []Message{{Key: k}, {Key: k}}, nil},
		{"the same for all of a key", []Message{{Key: k, ShardKey: "s"}, {Key: k, ShardKey: "s"}}, nil},
		{"one for several keys", []Message{{Key: "a", ShardKey: "s"}, {Key: "b", ShardKey: "s"}}, nil},
		{"without a key there is nothing to keep together", []Message{{ShardKey: "s"}, {ShardKey: "t"}}, nil},
		{"the key itself is what none means", []Message{{Key: k}, {Key: k, ShardKey: k}}, nil},
		{"two", []Message{{Key: k, ShardKey: "s"}, {Key: "other"}, {Key: k, ShardKey: "t"}}, []string{"2 ShardKey"}},
		{"one and none", []Message{{Key: k, ShardKey: "s"}, {Key: k}}, []string{"1 ShardKey"}},
		{"none and one", []Message{{Key: k}, {Key: k, ShardKey: "s"}, {Key: k}}, []string{"1 ShardKey"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := faultsOfBatch(t, tc.msgs...); !slices.Equal(got, tc.want) {
				t.Errorf("faults are %v, want %v", got, tc.want)
			}
		})
	}
}

func TestErrorsOfABatchNameTheOtherMessage(t *testing.T) {
	t.Parallel()
	p, _ := newTestPublisher(t, PublisherOptions{})
	err := p.Publish(
		t.Context(), &testTx{},
		Message{ID: ID{1}, Key: "k", ShardKey: "s"}, Message{ID: ID{2}}, Message{ID: ID{1}, Key: "k", ShardKey: "t"},
	)
	for _, want := range []string{
		"message 2: ID is that of message 0 too; give each its own",
		"message 2: ShardKey differs from that of message 0, which has the same Key; derive it",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q lacks %q", err, want)
		}
	}
}

func TestOrderKeysAreSortedAndDistinct(t *testing.T) {
	t.Parallel()
	got := orderKeys([]Message{{Key: "b"}, {}, {Key: "a"}, {Key: "b"}, {Key: "B"}, {Key: "a"}})
	if want := []string{"B", "a", "b"}; !slices.Equal(got, want) {
		t.Errorf("orderKeys = %v, want %v", got, want)
	}
}
