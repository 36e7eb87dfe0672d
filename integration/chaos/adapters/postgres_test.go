package adapters

import "testing"

func TestProducersReachThePrimaryOverAnotherWireAfterEachPromotion(t *testing.T) {
	t.Parallel()
	p, ok := begin(t, Postgres{}, promotion).(*postgres)
	if !ok || len(p.producers) != 2 {
		t.Fatal("there is no standby")
	}
	for n := range 3 {
		if p.leading() != p.producers[n%2] {
			t.Errorf("after %d promotions the wire leads to the standby", n)
		}
		if n < 2 {
			if err := p.promote(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
}
