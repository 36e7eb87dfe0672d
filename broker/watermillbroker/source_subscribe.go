package watermillbroker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/postbag/postbag/source"
	"github.com/postbag/postbag/source/sourcekit"
)

// Pauses before a topic is subscribed to again: the first, and the longest. Each is twice
// the one before, until a message comes.
const (
	firstPause = 100 * time.Millisecond
	mostPause  = 5 * time.Second
)

// link keeps one topic subscribed until Close. It gives the first answer to opened.
func (s *Source) link(topic string, opened chan<- error) {
	pause := firstPause
	messages, err := s.subscribe(topic)
	opened <- err
	for {
		if err == nil {
			if s.pump(topic, messages) {
				pause = firstPause
			}
			err = &sourcekit.Error{
				Text:  fmt.Sprintf("watermillbroker: the subscription of topic %q has ended; it is made again after a pause, look at the subscriber", topic),
				Class: source.ErrUnavailable,
			}
		}
		s.trouble(err)
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-s.closing:
			timer.Stop()
			return
		}
		pause = min(2*pause, mostPause)
		messages, err = s.subscribe(topic)
	}
}

// subscribe makes the call. A panic is an error.
func (s *Source) subscribe(topic string) (messages <-chan *message.Message, err error) {
	defer func() {
		if v := recover(); v != nil { // its value may hold anything
			err = unsubscribed(topic, fmt.Errorf("it panicked (%T)", v), source.ErrUnavailable)
		}
	}()
	messages, err = s.from.Subscribe(s.ctx, topic)
	switch {
	case errors.Is(err, source.ErrMisconfigured):
		return nil, unsubscribed(topic, err, source.ErrMisconfigured)
	case err != nil:
		return nil, unsubscribed(topic, err, source.ErrUnavailable)
	case messages == nil:
		return nil, unsubscribed(topic, errors.New("it gave no channel"), source.ErrMisconfigured)
	}
	return messages, nil
}

func unsubscribed(topic string, err, class error) error {
	return &sourcekit.Error{
		Text:  fmt.Sprintf("watermillbroker: topic %q cannot be subscribed to: %v; look at the subscriber, and at what it connects to", topic, err),
		Class: class,
	}
}

// trouble has the next Fetch return an error. It keeps no more than one for each topic.
func (s *Source) trouble(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.shut && len(s.troubles) < len(s.options.Topics) {
		s.troubles = append(s.troubles, err)
	}
	s.wake()
}

// wake makes the Fetch that waits look again.
func (s *Source) wake() {
	select {
	case s.arrived <- struct{}{}:
	default:
	}
}

// pump takes what a subscription gives while there is room for it. It returns when the
// subscription has ended, and says whether a message came.
func (s *Source) pump(topic string, messages <-chan *message.Message) (came bool) {
	for s.waitForRoom() {
		select {
		case m, open := <-messages:
			if !open {
				return came
			}
			came = true
			s.arrive(topic, m)
		case <-s.closing:
		}
	}
	<-s.draining // before that it would give what is nacked again, and again
	for m := range messages {
		if m != nil {
			m.Nack()
		}
	}
	return came
}

// waitForRoom waits until another message may be taken. It returns false after Close.
func (s *Source) waitForRoom() bool {
	for {
		s.mu.Lock()
		room := len(s.inHand) < s.options.Messages && s.bytes < s.options.Bytes
		freed, shut := s.freed, s.shut
		s.mu.Unlock()
		switch {
		case shut:
			return false
		case room:
			return true
		}
		select {
		case <-freed:
		case <-s.closing:
		}
	}
}

// arrive puts a message into the queue.
func (s *Source) arrive(topic string, m *message.Message) {
	if m == nil {
		s.options.OnFault(fmt.Errorf("watermillbroker: the subscriber gave a message of topic %q that is nil; look at the subscriber", topic))
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shut {
		m.Nack()
		return
	}
	s.number++
	a := &arrival{number: s.number, topic: topic, m: m, ctx: m.Context(), size: size(m)}
	s.inHand[a.number] = a
	s.bytes += a.size
	s.queue = append(s.queue, a)
	// A context that never ends says nothing, nor does one that has ended before.
	if a.ctx.Done() != nil && a.ctx.Err() == nil {
		a.unwatch = context.AfterFunc(a.ctx, func() { s.ended(a) })
	}
	s.wake()
}
