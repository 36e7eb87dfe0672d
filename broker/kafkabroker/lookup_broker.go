package kafkabroker

import (
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// A broker closes the connection on a request above its socket.request.max.bytes, and
// says nothing. The client sends it again for ever. So brokers are asked for it, and no
// request is made larger. Where the user may not ask, the destination learns it from
// what becomes of its requests.

const (
	settingRequest = "socket.request.max.bytes"
	// requestFrame is room in a request for all that is not the batch.
	requestFrame = 4096
	// leastRequest is what a client takes for the largest request at the least.
	leastRequest = 2 * requestFrame
)

// requests are the largest requests that brokers take.
type requests map[int32]int

// smallest is what all of them take, zero if nobody said.
func (r requests) smallest() (least int) {
	for _, n := range r {
		if least == 0 || n < least {
			least = n
		}
	}
	return least
}

// askBrokers adds the question for the brokers that lead a topic's partitions.
func (t *target) askBrokers(req *kmsg.DescribeConfigsRequest) {
	for _, id := range t.leaders {
		r := kmsg.NewDescribeConfigsRequestResource()
		r.ResourceType, r.ResourceName, r.ConfigNames = kmsg.ConfigResourceTypeBroker, strconv.Itoa(int(id)), []string{settingRequest}
		req.Resources = append(req.Resources, r)
	}
}

// learnBrokers takes what brokers answered to askBrokers.
func (s *topics) learnBrokers(t *target, answer *kmsg.DescribeConfigsResponse) {
	own := requests{}
	for _, r := range answer.Resources {
		id, err := strconv.ParseInt(r.ResourceName, 10, 32)
		if r.ResourceType != kmsg.ConfigResourceTypeBroker || r.ErrorCode != 0 || err != nil {
			continue
		}
		for _, c := range r.Configs {
			if c.Name != settingRequest || c.Value == nil {
				continue
			}
			if n, err := strconv.Atoi(*c.Value); err == nil && n > 0 {
				own[int32(id)] = n
			}
		}
	}
	t.request = own.smallest()
	s.mu.Lock()
	before := s.requests.smallest()
	if s.requests == nil || len(s.requests) > 1000 {
		s.requests = requests{}
	}
	maps.Copy(s.requests, own)
	changed := before != s.requests.smallest()
	s.mu.Unlock()
	if changed {
		s.renew()
	}
}

// largestRequest is what a producer may write at a time, in bytes.
func (s *topics) largestRequest() int32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	most := maxRequest + requestFrame
	if n := s.requests.smallest(); n > 0 {
		most = min(most, max(n, leastRequest))
	}
	return int32(most)
}

// lead notes a broker that leads a partition.
func (t *target) lead(id int32) {
	if !slices.Contains(t.leaders, id) {
		t.leaders = append(t.leaders, id)
	}
}

const (
	// enoughCuts is how often in a row a broker hangs up on a request with messages
	// before its size is taken for the reason.
	enoughCuts = 3
	// leastBatch is the smallest batch that such a size leads to, in bytes.
	leastBatch = 16 << 10
)

// cuts are the requests with messages on which a broker has hung up in a row. It is
// safe for concurrent use.
type cuts struct {
	mu    sync.Mutex
	row   int
	bytes int // written of the last
}

var _ kgo.HookBrokerE2E = (*cuts)(nil)

// OnBrokerE2E implements kgo.HookBrokerE2E.
func (c *cuts) OnBrokerE2E(_ kgo.BrokerMetadata, key int16, e2e kgo.BrokerE2E) {
	if kmsg.Key(key) != kmsg.Produce {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case e2e.Err() != nil && e2e.BytesWritten > 0:
		c.row++
		c.bytes = e2e.BytesWritten
	case e2e.Err() == nil && e2e.BytesWritten >= c.bytes:
		c.row, c.bytes = 0, 0
	case c.row < enoughCuts:
		c.row = 0
	}
}

// reset forgets: it is for another reason that brokers hang up.
func (c *cuts) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.row, c.bytes = 0, 0
}

// size is that of requests on which brokers hang up, in bytes, zero for not known.
func (c *cuts) size() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.row < enoughCuts {
		return 0
	}
	return c.bytes
}

// batch is most, or less if brokers hang up on requests of that size.
func (c *cuts) batch(most int) int {
	if size := c.size(); size > 0 {
		return min(most, max(size/2, leastBatch))
	}
	return most
}
