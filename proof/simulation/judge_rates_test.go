package simulation

import (
	"testing"

	"github.com/postbag/postbag/internal/engine"
	"github.com/postbag/postbag/store"
)

func TestARateOfOneRelayIsJudgedAcrossTakeovers(t *testing.T) {
	t.Parallel()
	for _, shared := range []bool{false, true} {
		r := &relay{tuned: engine.Config{Rate: engine.Rate{Messages: 10, Burst: 5, Shared: shared}}}
		r.sends.messages.add(1, 5, 10)
		r.otherShare()
		if begins := r.sends.messages.above == 0; begins != shared {
			t.Errorf("a rate that is shared (%v): its meter begins again when shards come or go: %v", shared, begins)
		}
	}
}

func TestAnOperatorsRateIsSharedAsInARelay(t *testing.T) {
	t.Parallel()
	r := &relay{}
	if p := r.policy([]store.Setting{{Name: store.SettingRate, Value: "10/s"}}); !p.Engine.Rate.Shared || p.Engine.Rate.Messages != 10 {
		t.Errorf("an operator's rate is %+v, want one that all relays share", p.Engine.Rate)
	}
}
