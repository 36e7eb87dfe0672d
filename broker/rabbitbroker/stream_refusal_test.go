package rabbitbroker_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/broker/rabbitbroker"
	"github.com/postbag/postbag/inbox"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/store/memstore"
)

func TestStreamOptionsNameEveryFault(t *testing.T) {
	t.Parallel()
	good := rabbitbroker.StreamOptions{URL: "amqp://host", Stream: "s", Consumer: "c", Positions: positions(t)}
	declared := good
	declared.Topology.Queues = []rabbitbroker.Queue{{Name: "s", Type: "stream"}}
	declared.From = time.Now()
	for name, o := range map[string]rabbitbroker.StreamOptions{"a stream": good, "a stream of the topology": declared} {
		if err := o.Validate(); err != nil {
			t.Errorf("good options of %s: %v", name, err)
		}
	}
	for name, c := range map[string]struct {
		set  func(o *rabbitbroker.StreamOptions)
		want []string
	}{
		"nothing": {
			func(o *rabbitbroker.StreamOptions) { *o = rabbitbroker.StreamOptions{} },
			[]string{"URL", "StreamOptions.Stream has 0 bytes", "StreamOptions.Consumer has 0 bytes", "StreamOptions.Positions is nil"},
		},
		"all at once": {
			func(o *rabbitbroker.StreamOptions) {
				*o = rabbitbroker.StreamOptions{
					URL: "amqp://u:secret-word@", Stream: strings.Repeat("s", 256), Consumer: strings.Repeat("c", 101), Life: strings.Repeat("l", 101),
					Positions: (*inbox.Positions[*memstore.Tx])(nil), Begin: 7, Prefetch: 65_536, Login: rabbitbroker.Login{Password: "secret-word"},
					Topology: rabbitbroker.Topology{Queues: []rabbitbroker.Queue{{Name: ""}}},
				}
			},
			[]string{
				"URL", "Stream has 256 bytes", "Consumer has 101 bytes", "Life has 101 bytes", "Positions is nil", "Begin is 7", "Prefetch is 65536",
				"StreamOptions.Login.Password", "StreamOptions.Topology.Queues[0]",
			},
		},
		"a queue": {
			func(o *rabbitbroker.StreamOptions) {
				o.Topology.Queues = []rabbitbroker.Queue{{Name: "s"}}
			},
			[]string{`Stream "s" is no stream in StreamOptions.Topology`},
		},
		"two beginnings": {
			func(o *rabbitbroker.StreamOptions) { o.Begin, o.From = rabbitbroker.BeginNext, time.Now() },
			[]string{"From and StreamOptions.Begin are both set"},
		},
		"a beginning before all": {
			func(o *rabbitbroker.StreamOptions) { o.From = time.Unix(-1, 0) },
			[]string{"From is before 1970"},
		},
		"a negative prefetch": {func(o *rabbitbroker.StreamOptions) { o.Prefetch = -1 }, []string{"Prefetch is -1"}},
	} {
		o := good
		c.set(&o)
		err := o.Validate()
		if err == nil {
			t.Errorf("%s: no fault", name)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: no fault says %q: %v", name, want, err)
			}
		}
		if strings.Contains(err.Error(), "secret-word") {
			t.Errorf("%s: a fault quotes the login", name)
		}
		if s, err := rabbitbroker.OpenStream(t.Context(), o); s != nil || err == nil {
			t.Errorf("%s: OpenStream opens it: %v", name, err)
		}
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := rabbitbroker.OpenStream(over, good); !errors.Is(err, context.Canceled) {
		t.Errorf("OpenStream with a context that is over: %v", err)
	}
}

// names are those of the positions that groups open.
func TestNoTwoGroupsShareAPositionHoweverLongTheirNamesAre(t *testing.T) {
	t.Parallel()
	node := shared(t)
	long := strings.Repeat("x", 100)
	p := newPlace(t, node, "stream", false)
	p.queue = strings.Repeat("s", 200) + p.queue
	p.create(t, nil).store(t, 0, 1)
	names := map[string]int{}
	for i, c := range [][2]string{{"a", ""}, {"a ", ""}, {"a", "b"}, {"ab", ""}, {long, long}, {long[1:] + "y", long}, {long, long[1:] + "y"}, {`a"`, `" "`}, {"\x00\xff" + long[2:], "\n"}} {
		kept := &watched{Positions: positions(t)}
		o := p.reading(kept)
		o.Consumer, o.Life = c[0], c[1]
		fetched(t, openedStream(t, o), 1) // all read beside each other: none stands by for another
		names[kept.name] = i
		if n := len(kept.name); n == 0 || n > 500 {
			t.Errorf("the name of a position has %d bytes", n)
		}
	}
	if len(names) != 9 {
		t.Errorf("nine groups have the positions %q", slices.Collect(maps.Keys(names)))
	}
}

func TestAStreamThatDoesNotExistIsWaitedForAndMadeByItsTopology(t *testing.T) {
	t.Parallel()
	node := shared(t)
	p := newPlace(t, node, "stream", false)
	s := openedStream(t, p.reading(positions(t)))
	says(t, s, source.ErrMisconfigured, "the stream does not exist (404 NOT_FOUND); create it")
	p.create(t, nil).store(t, 0, 2)
	publishtest.Eventually(t, "its messages come", func() bool {
		batch, err := s.Fetch(publishtest.Timeout(t, 5*time.Second), source.Limits{})
		return err == nil && len(batch.Messages) > 0
	})
	p = newPlace(t, node, "stream", false)
	o := p.reading(positions(t))
	o.Topology.Queues = []rabbitbroker.Queue{{Name: p.queue, Type: "stream"}}
	s = openedStream(t, o)
	nothing(t, s, 2*time.Second)
	p.store(t, 0, 2)
	fetched(t, s, 2)
}

func TestAQueueIsNoStreamForASource(t *testing.T) {
	t.Parallel()
	node := shared(t)
	eachQueue(t, func(t *testing.T, kind string) {
		p := newPlace(t, node, kind, false).create(t, nil)
		p.store(t, 0, 2)
		says(t, openedStream(t, p.reading(positions(t))), source.ErrMisconfigured, "OpenSource")
		if n := p.ready(t, channel(t, p.url)); n != 2 {
			t.Errorf("%d messages wait in the queue, want 2", n)
		}
	})
}

func TestASourceOfAStreamNeedsTheRightsToReadItAndToItsLock(t *testing.T) {
	t.Parallel()
	node := shared(t)
	const reader = "reader-of-streams"
	p := stream(t, 3)
	if err := node.AddUser(t.Context(), reader, password); err != nil {
		t.Fatal(err)
	}
	allow := func(configure, read string) {
		t.Helper()
		if err := node.Allow(t.Context(), "/", reader, configure, "^$", read); err != nil {
			t.Fatal(err)
		}
	}
	allow("^$", "^"+p.queue+"$")
	o := p.reading(positions(t))
	o.URL = node.URLAs(reader, password, "/")
	s := openedStream(t, o)
	says(t, s, source.ErrMisconfigured, `grant the permissions to configure and to read queues that match ^postbag\.lock\.`)
	allow(`^postbag\.lock\.`, `^postbag\.lock\.`)
	says(t, s, source.ErrMisconfigured, "the server forbids this user to read the stream (403 ACCESS_REFUSED); grant the permission to read it")
	allow(`^postbag\.lock\.`, `^(postbag\.lock\..*|`+p.queue+`)$`)
	publishtest.Eventually(t, "its messages come", func() bool {
		batch, err := s.Fetch(publishtest.Timeout(t, 5*time.Second), source.Limits{})
		return err == nil && len(batch.Messages) > 0
	})
}

func TestALoginOfAStreamThatIsRefusedNamesItsOptions(t *testing.T) {
	t.Parallel()
	o := stream(t, 0).reading(positions(t))
	o.URL = shared(t).URLAs(user, "wrong-word", "/")
	says(t, openedStream(t, o), source.ErrMisconfigured, "refuses the login (403 ACCESS_REFUSED)")
}

func TestAStreamWhosePositionCannotBeReadIsUnavailableAndGoesOnAfterIt(t *testing.T) {
	t.Parallel()
	p, kept := stream(t, 2), &mortal{Positions: positions(t)}
	kept.dead.Store(true)
	s := openedStream(t, p.reading(kept))
	says(t, s, source.ErrUnavailable, "its store does not give it (the process is dead); look at that database")
	kept.dead.Store(false)
	publishtest.Eventually(t, "its messages come", func() bool {
		batch, err := s.Fetch(publishtest.Timeout(t, 5*time.Second), source.Limits{})
		return err == nil && len(batch.Messages) > 0
	})
}

func TestAStreamWhoseServerDoesNotAnswerHoldsCloseNoLongerThanItsContext(t *testing.T) {
	t.Parallel()
	p, kept := stream(t, 3), &watched{Positions: positions(t)}
	line := servertest.Proxy(t, address(t, p.url))
	o := p.reading(kept)
	o.URL = via(t, p.url, line.Addr())
	s := openedStream(t, o)
	msgs, _ := fetched(t, s, 3)
	line.BlackHole(0)
	line.BlackHole(1)
	acked(t, s, 0, msgs[:2]...)
	began := time.Now()
	_ = s.Close(publishtest.Timeout(t, time.Second))
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("Close took %v", took)
	}
	kept.is(t, `"next":2,`) // the position is not kept at the server
}
