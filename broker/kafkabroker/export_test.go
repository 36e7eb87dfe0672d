package kafkabroker

import (
	"context"
	"time"
)

// Translate and Murmur2 are for table tests.
var (
	Translate     = translateError
	Murmur2       = murmur2
	Partition     = partitionOf
	SourceFailure = sourceFailure
)

// CommittingEvery has a source gather acks for that long.
func (o SourceOptions) CommittingEvery(d time.Duration) SourceOptions {
	o.commitEvery = d
	return o
}

// Crash ends the source as the death of its process would: without a word to the brokers.
func (s *Source) Crash() {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	s.mu.Lock()
	if s.member != nil {
		s.member.abort()
	}
	s.mu.Unlock()
	_ = s.Close(over)
}

// MemberID is the id that the group knows this member by.
func (s *Source) MemberID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.member == nil {
		return ""
	}
	id, _ := s.member.client.GroupMetadata()
	return id
}

// Kept returns the bytes of messages that the source has read and not returned.
func (s *Source) Kept() (bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.parts {
		bytes += int64(p.bytes)
	}
	if s.member != nil {
		bytes += s.member.client.BufferedFetchBytes()
	}
	return bytes
}
