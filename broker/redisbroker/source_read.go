package redisbroker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/postbag/postbag/source"
)

// hashTag is the part of a stream's name that decides its slot in a cluster.
func hashTag(name string) string {
	_, behind, open := strings.Cut(name, "{")
	tag, _, closed := strings.Cut(behind, "}")
	if open && closed && tag != "" {
		return tag
	}
	return name
}

// oneNode says whether one command can name all streams.
func (s *Source) oneNode() bool {
	if _, cluster := s.client.(*redis.ClusterClient); !cluster {
		return true
	}
	first := hashTag(s.streams[0].name)
	return !slices.ContainsFunc(s.streams, func(of sourceStream) bool { return hashTag(of.name) != first })
}

// readGroup reads streams from ids on: ">" is what nobody got, any other is of this
// consumer's history. It waits for so long if there is nothing, which only one command can.
func (s *Source) readGroup(ctx context.Context, from map[int]string, count int, wait time.Duration) (map[int][]read, error) {
	var parts [][]int
	if s.together {
		parts = [][]int{nil}
	}
	for i := range s.streams {
		switch {
		case from[i] == "":
		case s.together:
			parts[0] = append(parts[0], i)
		default:
			parts = append(parts, []int{i})
		}
	}
	asks := make([]ask, 0, len(parts))
	for _, part := range parts {
		args := []any{"xreadgroup", "group", s.options.Group, s.consumer, "count", count}
		if wait > 0 {
			args = append(args, "block", wait.Milliseconds())
		}
		args = append(args, "streams")
		for _, i := range part {
			args = append(args, s.streams[i].name)
		}
		for _, i := range part {
			args = append(args, from[i])
		}
		asks = append(asks, newAsk(ctx, args...))
	}
	whole := s.do(ctx, asks...)
	all := map[int][]read{}
	var faults []error
	for k, part := range parts {
		answer, err := asks[k].answer(whole)
		if errors.Is(err, redis.Nil) {
			continue
		}
		var found map[string][]read
		if err == nil {
			found, err = readStreams(answer)
		}
		if err != nil {
			faults = append(faults, err)
			continue
		}
		for _, i := range part {
			all[i] = found[s.streams[i].name]
		}
	}
	return all, first(faults)
}

// first is the first of errors, nil if there is none.
func first(faults []error) error {
	if len(faults) == 0 {
		return nil
	}
	return faults[0]
}

// readNew reads what no member got yet.
func (s *Source) readNew(ctx context.Context, limits source.Limits) error {
	wait := time.Duration(0)
	if s.together {
		wait = max(min(s.longest, time.Until(s.nextScan)), time.Millisecond)
	}
	from := map[int]string{}
	for i := range s.streams {
		from[i] = ">"
	}
	found, err := s.readGroup(ctx, from, s.count(limits), wait)
	if err != nil {
		return err
	}
	var all []arrived
	now := time.Now()
	for i := range s.streams {
		for _, r := range found[i] {
			if r.gone {
				continue // no answer to this question has one
			}
			all = append(all, arrived{spot: spot{i, r.id}, fields: r.fields, deliveries: 1, at: now})
			s.delivered(i, r.id)
		}
	}
	s.came(all)
	s.misses = 0
	if len(all) == 0 && wait == 0 {
		s.rest = now.Add(readPause)
	}
	return nil
}

func (s *Source) came(all []arrived) {
	s.learn(all)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.push(all)
}

// delivered notes how far the group got in a stream.
func (s *Source) delivered(stream int, id string) {
	if below(s.known[stream], id) {
		s.known[stream] = id
	}
}

// readHistory reads a part of what the server thinks is at work here. What is not was
// given to this name before the source was opened, or in an answer that got lost.
func (s *Source) readHistory(ctx context.Context, limits source.Limits) error {
	count := s.count(limits)
	found, err := s.readGroup(ctx, s.history, count, 0)
	if err != nil {
		return err
	}
	var all []arrived
	var gone []spot
	now := time.Now()
	for i, reads := range found {
		for _, r := range reads {
			e := spot{i, r.id}
			if r.gone {
				gone = append(gone, e)
				continue
			}
			s.mu.Lock()
			here := s.queued[e] || s.work.Has(e)
			s.mu.Unlock()
			if !here {
				all = append(all, arrived{spot: e, fields: r.fields, at: now})
			}
		}
		if len(reads) < count {
			delete(s.history, i)
		} else {
			s.history[i] = reads[len(reads)-1].id
		}
	}
	if err := s.ackAll(ctx, gone); err != nil {
		return err
	}
	s.tellDeleted(gone)
	if err := s.countDeliveries(ctx, all); err != nil {
		return err
	}
	s.came(all)
	return nil
}

// scan takes a page of what has been at work for too long, or was given back, in each
// stream. It also looks how far the group got.
func (s *Source) scan(ctx context.Context, limits source.Limits) error {
	count := s.count(limits)
	claims, groups := make([]ask, len(s.streams)), make([]ask, len(s.streams))
	for i, of := range s.streams {
		claims[i] = newAsk(ctx, "xautoclaim", of.name, s.options.Group, s.consumer, s.options.AckWait.Milliseconds(), s.cursors[i], "count", count)
		groups[i] = newAsk(ctx, "xinfo", "groups", of.name)
	}
	whole := s.do(ctx, slices.Concat(claims, groups)...)
	var all []arrived
	var gone []spot
	var faults []error
	more := false
	for i := range s.streams {
		group, _, err := s.groupOf(groups[i], whole)
		if err == nil && group != nil {
			last, _ := group["last-delivered-id"].(string)
			s.delivered(i, last)
		}
		claimed, deleted, err := s.claimed(i, claims[i], whole)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		all, gone = append(all, claimed...), append(gone, deleted...)
		more = more || s.cursors[i] != firstCursor
	}
	if !more {
		s.nextScan = time.Now().Add(s.scanEvery)
	}
	s.tellDeleted(gone)
	if err := s.countDeliveries(ctx, all); err != nil {
		faults = append(faults, err)
		all = nil // the history has them
	}
	s.came(all)
	return first(faults)
}

// firstCursor is where a scan begins, and what it says at its end.
const firstCursor = "0-0"

// claimed reads an answer of XAUTOCLAIM.
func (s *Source) claimed(stream int, a ask, whole error) (all []arrived, deleted []spot, err error) {
	answer, err := a.answer(whole)
	if err != nil {
		return nil, nil, err
	}
	parts, err := list(answer, 3)
	if err != nil {
		return nil, nil, s.misconfigured("fetch", "the server is older than Redis 7, and does not say which messages were deleted", "use Redis 7 or later")
	}
	reads, err := readItems(parts[1])
	if err != nil {
		return nil, nil, err
	}
	ids, err := list(parts[2], 0)
	if err != nil {
		return nil, nil, err
	}
	s.cursors[stream], _ = parts[0].(string)
	now := time.Now()
	for _, r := range reads {
		if e := (spot{stream, r.id}); r.gone {
			deleted = append(deleted, e)
		} else {
			all = append(all, arrived{spot: e, fields: r.fields, at: now})
		}
	}
	for _, id := range ids {
		text, _ := id.(string)
		deleted = append(deleted, spot{stream, text})
	}
	return all, deleted, nil
}

// countDeliveries asks how often messages were delivered that somebody had before.
func (s *Source) countDeliveries(ctx context.Context, all []arrived) error {
	asks := make([]ask, len(all))
	for k, a := range all {
		asks[k] = newAsk(ctx, "xpending", s.streams[a.stream].name, s.options.Group, a.id, a.id, 1)
	}
	whole := s.do(ctx, asks...)
	for k := range all {
		answer, err := asks[k].answer(whole)
		if err != nil {
			return err
		}
		all[k].deliveries = 2 // somebody had it, and this is another time
		if pending, err := list(answer, 1); err == nil {
			if facts, err := list(pending[0], 4); err == nil {
				n, _ := number(facts[3])
				all[k].deliveries = int(min(max(n, 2), 1<<30))
			}
		}
	}
	return nil
}

// tellDeleted tells of messages that were deleted before they were acked.
func (s *Source) tellDeleted(gone []spot) {
	if len(gone) == 0 {
		return
	}
	s.deleted.Add(int64(len(gone)))
	s.options.OnFault(fmt.Errorf("redisbroker: fetch, group %.64q: %d messages were deleted or trimmed before they were acked, the first is %s of stream %.64q; trim by what groups have acked",
		s.options.Group, len(gone), gone[0].id, s.streams[gone[0].stream].name))
}
