package natsbroker

import "testing"

func TestReplySubjectsHoldTheTokensOfTheirMessages(t *testing.T) {
	t.Parallel()
	const n = 3*repliesAtOnce + 5
	for name, skip := range map[string]func(i int) bool{
		"of all":         func(int) bool { return false },
		"of some":        func(i int) bool { return i%7 == 3 },
		"after a gap":    func(i int) bool { return i < 2*repliesAtOnce+1 },
		"of a last one":  func(i int) bool { return i < n-1 },
		"of none at all": func(int) bool { return true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var r replies
			for i := range n {
				if skip(i) {
					continue
				}
				want := string(appendToken([]byte("_INBOX.x."), 42, i))
				if got := r.next("_INBOX.x.", 42, i, n); got != want {
					t.Fatalf("message %d has the reply %q, want %q", i, got, want)
				}
			}
		})
	}
}
