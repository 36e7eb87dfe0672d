package mqttbroker_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/eclipse/paho.golang/packets"

	"github.com/postbag/postbag/broker/mqttbroker"
	"github.com/postbag/postbag/internal/publishtest"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
	"github.com/postbag/postbag/source"
)

// reads fetches and acks until each of the messages 0 to n-1 came, making faults on the way. Errors of an outage are borne. It
// returns how often a message came again.
func reads(t *testing.T, s *mqttbroker.Source, n, faults int, fault func()) (repeats int) {
	t.Helper()
	ctx := publishtest.Timeout(t, 3*time.Minute)
	came := map[int]bool{}
	last, made := -1, 0
	pause := time.NewTicker(20 * time.Millisecond)
	defer pause.Stop()
	for len(came) < n {
		if made < faults && len(came) >= (made+1)*n/(faults+1) {
			made++
			fault()
		}
		within := publishtest.Timeout(t, 2*time.Second)
		batch, err := s.Fetch(within, source.Limits{Messages: 20})
		switch {
		case ctx.Err() != nil:
			t.Fatalf("%d of %d messages came: %v", len(came), n, err)
		case errors.Is(err, source.ErrMisconfigured), errors.Is(err, source.ErrClosed):
			t.Fatalf("Fetch: %v", err)
		case errors.Is(err, source.ErrUnavailable):
			if strings.Contains(err.Error(), "the session no more") {
				t.Fatalf("Fetch: %v", err)
			}
			<-pause.C
			continue
		}
		if len(batch.Lost) > 0 {
			last = -1
		}
		for _, m := range batch.Messages {
			i, err := strconv.Atoi(string(m.Payload))
			if err != nil {
				t.Fatal(err)
			}
			if s.Features().Order == source.OrderStream {
				if i <= last {
					t.Fatalf("message %d came after message %d of its assignment", i, last)
				}
				if i > 0 && !came[i-1] {
					t.Fatalf("message %d came, and the one before it never did", i)
				}
				last = i
			}
			if came[i] {
				repeats++
				if s.Features().Counts && m.Deliveries < 2 {
					t.Errorf("message %d came again and has %d deliveries", i, m.Deliveries)
				}
			}
			came[i] = true
		}
		if _, err := s.Ack(ctx, receiptsOf(batch.Messages)); err != nil {
			t.Fatalf("Ack: %v", err)
		}
	}
	return repeats
}

// eachKind runs for QoS 1, QoS 2 and a shared subscription.
func eachKind(t *testing.T, run func(t *testing.T, qos byte, change func(o *mqttbroker.SourceOptions))) {
	t.Helper()
	for _, group := range []string{"", "g"} {
		for qos := byte(1); qos <= 2; qos++ {
			t.Run(fmt.Sprintf("QoS %d, group %q", qos, group), func(t *testing.T) {
				t.Parallel()
				run(t, qos, func(o *mqttbroker.SourceOptions) { o.QoS, o.Group, o.MaxUnacked = int(qos), group, 50 })
			})
		}
	}
}

func TestAConnectionThatIsCutTakesNoMessageAwayFromASource(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	eachKind(t, func(t *testing.T, qos byte, change func(o *mqttbroker.SourceOptions)) {
		line := servertest.Proxy(t, server.Addr())
		s, _, topic := reader(t, server, func(o *mqttbroker.SourceOptions) {
			change(o)
			o.URL = "mqtt://" + line.Addr()
		})
		newSender(t, server.Addr(), qos).send(t, numbered(topic, 0, 800)...)
		t.Logf("%d messages came again", reads(t, s, 800, 6, line.Cut)) // ten would be a rival's doing
	})
}

func TestABrokerThatIsRestartedTakesNoMessageAwayFromASource(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, qos byte, change func(o *mqttbroker.SourceOptions)) {
		server := own(t, nil)
		s, _, topic := reader(t, server, change)
		newSender(t, server.Addr(), qos).send(t, numbered(topic, 0, 400)...)
		t.Logf("%d messages came again", reads(t, s, 400, 2, func() {
			if err := server.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
		}))
	})
}

// The next process has the same client id. Nothing of the first is in memory.
func TestWhatAProcessThatDiedHadAtWorkComesAgainToTheNextOne(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	eachKind(t, func(t *testing.T, qos byte, change func(o *mqttbroker.SourceOptions)) {
		line := servertest.Proxy(t, server.Addr())
		first, o, topic := reader(t, server, func(o *mqttbroker.SourceOptions) {
			change(o)
			o.URL = "mqtt://" + line.Addr()
		})
		send := newSender(t, server.Addr(), qos)
		send.send(t, numbered(topic, 0, 10)...)
		msgs, _ := fetched(t, first, 10)
		acked(t, first, 0, msgs[:4]...)
		acked(t, first, 0, msgs[6:8]...) // behind two that are not
		word := map[byte]string{1: "PUBACK from " + o.Login.ClientID + " (Mid: 4,", 2: "PUBREC from " + o.Login.ClientID + " (Mid: 4)"}[qos]
		publishtest.Eventually(t, "acked at the broker", func() bool { return strings.Contains(server.Log(), word) })
		sever(t, line)
		send.send(t, numbered(topic, 10, 2)...) // while nobody is there
		o.URL = "mqtt://" + server.Addr()
		second := opened(t, o)
		again, lost := fetched(t, second, 8)
		wantPayloads(t, again, numbers(4, 12))
		if len(lost) > 0 {
			t.Errorf("a source that had nothing tells the losses %q", lost)
		}
		if second.Features().Counts && (again[0].Deliveries != 2 || again[7].Deliveries != 1) {
			t.Errorf("what comes again has %d deliveries, what is new %d", again[0].Deliveries, again[7].Deliveries)
		}
		acked(t, second, 0, again...)
		closed(t, second)
		nothing(t, opened(t, o), time.Second)
	})
}

// A broker without persistence, which is killed.
func TestASessionThatTheBrokerLostIsSaidLoudly(t *testing.T) {
	t.Parallel()
	for _, heard := range []bool{false, true} {
		t.Run(fmt.Sprintf("OnFault %v", heard), func(t *testing.T) {
			t.Parallel()
			server := own(t, func(o *testserver.MosquittoOptions) { o.Settings["persistence"] = "false" })
			told := make(chan error, 10)
			s, _, topic := reader(t, server, func(o *mqttbroker.SourceOptions) {
				if heard {
					o.OnFault = func(err error) { told <- err }
				}
			})
			newSender(t, server.Addr(), 1).send(t, numbered(topic, 0, 3)...)
			before, _ := fetched(t, s, 3)
			if err := errors.Join(server.Kill(t.Context()), server.Start(t.Context())); err != nil {
				t.Fatal(err)
			}
			var lost []source.Partition
			said := 0
			publishtest.Eventually(t, "the loss of both is told", func() bool {
				batch, err := s.Fetch(publishtest.Timeout(t, time.Second), source.Limits{})
				lost = append(lost, batch.Lost...)
				if len(told) > 0 {
					err = <-told
				}
				if err != nil && strings.Contains(err.Error(), "the broker has the session no more, and began a new one: what was not acked is lost") {
					said++
				}
				return len(lost) > 0 && said > 0
			})
			if len(lost) != 1 || said != 1 {
				t.Errorf("the losses %q are told, and %d times that the session is lost", lost, said)
			}
			acked(t, s, 3, before...)
			nothing(t, s, 500*time.Millisecond) // and is told once
			newSender(t, server.Addr(), 1).send(t, numbered(topic, 10, 2)...)
			msgs, _ := fetched(t, s, 2)
			wantPayloads(t, msgs, numbers(10, 12))
		})
	}
}

func TestASourceWhoseBrokerIsAwayIsUnavailableAndGoesOnAfterIt(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	line := servertest.Proxy(t, server.Addr())
	sever(t, line)
	name := fmt.Sprintf("r%d", placeCount.Add(1))
	o := taking(line.Addr(), name, name+"/#")
	s := opened(t, o)
	says(t, s, source.ErrUnavailable, line.Addr()+": the broker cannot be reached; wait")
	if err := line.Resume(); err != nil {
		t.Fatal(err)
	}
	subscribed(t, server, o)
	newSender(t, server.Addr(), 1).send(t, numbered(name+"/x", 0, 1)...)
	comes(t, s)
}

func TestABrokerThatFallsSilentIsNoticedAndTheConnectionMadeAgain(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	line := servertest.Proxy(t, server.Addr())
	s, _, topic := reader(t, server, func(o *mqttbroker.SourceOptions) { o.URL, o.KeepAlive = "mqtt://"+line.Addr(), time.Second })
	newSender(t, server.Addr(), 1).send(t, numbered(topic, 0, 2)...)
	fetched(t, s, 2)
	line.BlackHole(testserver.Down)
	says(t, s, source.ErrUnavailable, "the broker did not answer the connection")
	line.Cut()
	if err := line.Resume(); err != nil {
		t.Fatal(err)
	}
	again, _ := fetchedBeyondErrors(t, s, 2)
	wantPayloads(t, again, numbers(0, 2))
}

func TestAConnectionWithNothingToDoIsKeptAlive(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	s, o, topic := reader(t, server, func(o *mqttbroker.SourceOptions) { o.KeepAlive = time.Second })
	nothing(t, s, 4*time.Second)
	newSender(t, server.Addr(), 1).send(t, numbered(topic, 0, 1)...)
	fetched(t, s, 1)
	if n := strings.Count(server.Log(), " as "+o.Login.ClientID+" "); n != 1 {
		t.Errorf("there were %d connections, want one", n)
	}
}

// fetchedBeyondErrors is fetched, while the errors of an outage go by.
func fetchedBeyondErrors(t *testing.T, s *mqttbroker.Source, n int) (msgs []source.Message, lost []source.Partition) {
	t.Helper()
	publishtest.Eventually(t, fmt.Sprint(n, " messages come"), func() bool {
		batch, _ := s.Fetch(publishtest.Timeout(t, time.Second), source.Limits{})
		msgs, lost = append(msgs, batch.Messages...), append(lost, batch.Lost...)
		return len(msgs) >= n
	})
	return msgs, lost
}

func TestCloseInAnOutageSaysThatAcksMayNotHaveArrived(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	for _, acks := range []int{0, 2} {
		line := servertest.Proxy(t, server.Addr())
		s, _, topic := reader(t, server, func(o *mqttbroker.SourceOptions) { o.URL = "mqtt://" + line.Addr() })
		newSender(t, server.Addr(), 1).send(t, numbered(topic, 0, 3)...)
		msgs, _ := fetched(t, s, 3)
		line.BlackHole(testserver.Up) // the acks are under way for ever
		acked(t, s, 0, msgs[:acks]...)
		sever(t, line)
		says(t, s, source.ErrUnavailable, "the broker cannot be reached")
		err := s.Close(publishtest.Timeout(t, 5*time.Second))
		if unsure := errors.Is(err, source.ErrUnavailable) && strings.Contains(err.Error(), "acked to come again"); unsure != (acks > 0) || !unsure && err != nil {
			t.Errorf("after %d acks Close says %v", acks, err)
		}
	}
}

func TestCloseWaitsForAnAnswerToItsAcksNoLongerThanItsContext(t *testing.T) {
	t.Parallel()
	b, s := scripted(t, &packets.Connack{}, nil, 1)
	b.write(t, publish(1, 1))
	msgs, _ := fetched(t, s, 1)
	acked(t, s, 0, msgs...)
	began := time.Now()
	err := s.Close(publishtest.Timeout(t, 500*time.Millisecond)) // the broker never answers the question behind the ack
	if took := time.Since(began); err == nil || !strings.Contains(err.Error(), "not sure that the broker has the acks") || took < 400*time.Millisecond || took > 5*time.Second {
		t.Errorf("Close says %v after %v", err, took)
	}
}

// Mosquitto 2.0.11 closes the connection of the first without a word.
func TestTwoSourcesWithOneClientIDSayItAndLeaveEachOtherAlone(t *testing.T) {
	t.Parallel()
	server := own(t, nil)
	first, o, topic := reader(t, server, nil)
	second := opened(t, o)
	send := newSender(t, server.Addr(), 1)
	came, told, total, seen := map[*mqttbroker.Source]int{}, map[*mqttbroker.Source]int{}, 0, map[string]bool{}
	read := func(s *mqttbroker.Source) {
		t.Helper()
		batch, err := s.Fetch(publishtest.Timeout(t, 50*time.Millisecond), source.Limits{})
		if errors.Is(err, source.ErrMisconfigured) {
			if !strings.Contains(err.Error(), "another client connects with the client id") {
				t.Fatalf("Fetch says %v", err)
			}
			told[s]++
		}
		for _, m := range batch.Messages {
			came[s]++
			seen[string(m.Payload)] = true
		}
		if _, err := s.Ack(t.Context(), receiptsOf(batch.Messages)); err != nil {
			t.Fatal(err)
		}
	}
	publishtest.Eventually(t, "each told of the other", func() bool {
		send.send(t, numbered(topic, total, 1)...)
		total++
		read(first)
		read(second)
		return told[first] > 1 && told[second] > 1 && came[first] > 1 && came[second] > 1
	})
	if n := strings.Count(server.Log(), " as "+o.Login.ClientID+" "); n > 60 {
		t.Errorf("there were %d connections", n)
	}
	if err := first.Close(t.Context()); err != nil && !errors.Is(err, source.ErrUnavailable) {
		t.Fatal(err)
	}
	publishtest.Eventually(t, "all came to one of the two", func() bool {
		read(second)
		return len(seen) == total
	})
}
