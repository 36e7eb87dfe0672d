package adapters

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/eclipse/paho.golang/autopaho"
	"github.com/eclipse/paho.golang/paho"

	"github.com/postbag/postbag"
	"github.com/postbag/postbag/broker/mqttbroker"
	"github.com/postbag/postbag/proof/chaos"
)

// mqttSubscriber takes what comes by the topic. The broker says no times, so a clock ticks into it as into the queue of RabbitMQ.
type mqttSubscriber struct {
	reader, ticker *autopaho.ConnectionManager
	cancel         context.CancelFunc
	ended          sync.WaitGroup
	came           chan *paho.Publish
	wanted         atomic.Bool // it shall be subscribed

	before        time.Time // of the last tick
	first, second []chaos.Arrival
	numbers       map[uint16]postbag.ID // of what came, by packet identifiers, which the session keeps
}

// subscribe begins to take. It is no clean start, for Mosquitto 2.0.11 saves no session that began with one.
func subscribe(ctx context.Context, address string) (_ *mqttSubscriber, err error) {
	s := &mqttSubscriber{came: make(chan *paho.Publish, 1<<16), numbers: map[uint16]postbag.ID{}, before: time.Now()}
	s.wanted.Store(true)
	always, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.cancel = cancel
	config := autopaho.ClientConfig{
		ServerUrls: []*url.URL{{Scheme: "mqtt", Host: address}}, KeepAlive: 10,
		ConnectUsername: mqttReader, ConnectPassword: []byte(mqttPassword),
		ReconnectBackoff: autopaho.NewConstantBackoff(50 * time.Millisecond),
	}
	config.ClientID = "ticker"
	if s.ticker, err = autopaho.NewConnection(always, config); err != nil {
		cancel()
		return nil, err
	}
	config.ClientID, config.SessionExpiryInterval = "reader", 86400
	config.OnConnectionUp = func(c *autopaho.ConnectionManager, _ *paho.Connack) {
		if s.wanted.Load() {
			_ = joinOver(always, c) // it is tried again with the next connection
		}
	}
	config.OnPublishReceived = []func(paho.PublishReceived) (bool, error){func(r paho.PublishReceived) (bool, error) {
		select {
		case s.came <- r.Packet:
		case <-always.Done():
		}
		return true, nil
	}}
	if s.reader, err = autopaho.NewConnection(always, config); err != nil {
		s.end()
		return nil, err
	}
	if err := patiently(ctx, func() error { return s.join(ctx) }); err != nil {
		s.end()
		return nil, err
	}
	s.ended.Go(func() { s.tick(always) })
	return s, nil
}

// end hangs up.
func (s *mqttSubscriber) end() {
	s.cancel()
	s.ended.Wait()
	for _, c := range []*autopaho.ConnectionManager{s.ticker, s.reader} {
		if c != nil {
			<-c.Done()
		}
	}
}

// join subscribes, and returns when the broker knows.
func (s *mqttSubscriber) join(ctx context.Context) error {
	s.wanted.Store(true)
	return joinOver(ctx, s.reader)
}

func joinOver(ctx context.Context, c *autopaho.ConnectionManager) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := c.AwaitConnection(ctx); err != nil {
		return err
	}
	_, err := c.Subscribe(ctx, &paho.Subscribe{Subscriptions: []paho.SubscribeOptions{{Topic: mqttTopic, QoS: 1}, {Topic: mqttBranch, QoS: 1}}})
	return err
}

// leave ends the subscription. What the broker keeps for it still comes.
func (s *mqttSubscriber) leave(ctx context.Context) error {
	s.wanted.Store(false)
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := s.reader.AwaitConnection(ctx); err != nil {
		return err
	}
	_, err := s.reader.Unsubscribe(ctx, &paho.Unsubscribe{Topics: []string{mqttTopic, mqttBranch}})
	return err
}

// tick sends the time until ctx ends, the next when the one before is confirmed.
func (s *mqttSubscriber) tick(ctx context.Context) {
	for chaos.Pause(ctx, tickEvery) == nil {
		short, cancel := context.WithTimeout(ctx, 5*time.Second)
		_, _ = s.ticker.Publish(short, &paho.Publish{ // the next one says more
			Topic: mqttTopic, QoS: 1, Payload: strconv.AppendInt(nil, time.Now().UnixMicro(), 10),
			Properties: &paho.PublishProperties{ContentType: tickType},
		})
		cancel()
	}
}

// More implements chaos.Place.
func (s *mqttSubscriber) More(ctx context.Context) ([]chaos.Arrival, error) {
	return gather(ctx, s.came, s.receive, s.readTo)
}

// readTo says whether everything was given out that was stored before a time.
func (s *mqttSubscriber) readTo(at time.Time) bool {
	return s.before.After(at) && len(s.first)+len(s.second) == 0
}

// receive takes what came, and returns what has its second tick by now.
func (s *mqttSubscriber) receive(p *paho.Publish) ([]chaos.Arrival, error) {
	if p.Properties != nil && p.Properties.ContentType == tickType {
		micros, err := strconv.ParseInt(string(p.Payload), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("adapters: a tick: %w", err)
		}
		at := time.UnixMicro(micros)
		if !at.After(s.before) {
			return nil, nil // it was sent again, and stored who knows when
		}
		s.before = at
		ready := s.second
		s.first, s.second = nil, s.first
		for i := range ready {
			ready[i].To = at
		}
		return ready, nil
	}
	m, err := mqttbroker.Message(p)
	if err != nil {
		return nil, err
	}
	if s.numbers[p.PacketID] == m.ID && p.Duplicate() {
		return nil, nil // the broker did not learn that it had come
	}
	s.numbers[p.PacketID] = m.ID
	s.first = append(s.first, chaos.Arrival{Key: m.Key, Headers: m.Headers, Payload: m.Payload, From: s.before})
	return nil, nil
}
