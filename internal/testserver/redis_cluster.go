package testserver

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// clusterSlots is how many slots a Redis cluster has.
const clusterSlots = 16384

// RedisCluster is a private cluster: some primaries that share the slots, and replicas of them.
type RedisCluster struct {
	// Primaries and Replicas, as they were made: replica i copies primary i modulo the number of primaries. A fail-over
	// changes who is what.
	Primaries, Replicas []*Redis
}

// StartRedisCluster starts a cluster and returns when every node finds it whole and every replica is connected. opts is for
// each node; Cluster is set.
func StartRedisCluster(ctx context.Context, primaries, replicas int, opts RedisOptions) (*RedisCluster, error) {
	opts.Cluster = true
	c := &RedisCluster{}
	for i := range primaries + replicas {
		node, err := StartRedis(ctx, opts)
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
		if i < primaries {
			c.Primaries = append(c.Primaries, node)
		} else {
			c.Replicas = append(c.Replicas, node)
		}
	}
	if err := c.join(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("testserver: the Redis cluster was not made: %w", err), c.Close())
	}
	return c, nil
}

// join has the nodes meet, gives out the slots and waits.
func (c *RedisCluster) join(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for i, node := range c.Nodes() {
		if _, err := node.Do(ctx, "CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(i+1)); err != nil {
			return err
		}
		for _, other := range c.Nodes()[:i] { // all, since hearsay takes seconds
			if _, err := node.Do(ctx, "CLUSTER", "MEET", "127.0.0.1", strconv.Itoa(other.port), strconv.Itoa(other.bus)); err != nil {
				return err
			}
		}
	}
	for i, node := range c.Primaries {
		from, to := i*clusterSlots/len(c.Primaries), (i+1)*clusterSlots/len(c.Primaries)-1
		if _, err := node.Do(ctx, "CLUSTER", "ADDSLOTSRANGE", strconv.Itoa(from), strconv.Itoa(to)); err != nil {
			return err
		}
	}
	for i, node := range c.Replicas {
		if err := c.follow(ctx, node, c.Primaries[i%len(c.Primaries)]); err != nil {
			return err
		}
	}
	for _, node := range c.Replicas {
		if err := node.awaitLink(ctx); err != nil {
			return err
		}
	}
	return c.AwaitWhole(ctx)
}

// follow makes node a replica of primary, once it has heard of it.
func (c *RedisCluster) follow(ctx context.Context, node, primary *Redis) error {
	id, err := primary.Do(ctx, "CLUSTER", "MYID")
	if err != nil {
		return err
	}
	var last error
	err = node.proc.until(ctx, func() bool {
		_, last = node.Do(ctx, "CLUSTER", "REPLICATE", id)
		return last == nil
	})
	if err != nil {
		return errors.Join(err, last)
	}
	return nil
}

// AwaitWhole waits until every node that runs finds all slots served and knows all nodes.
func (c *RedisCluster) AwaitWhole(ctx context.Context) error {
	for _, node := range c.Nodes() {
		if !node.Running() {
			continue
		}
		err := node.proc.until(ctx, func() bool {
			info, err := node.Do(ctx, "CLUSTER", "INFO")
			return err == nil && strings.Contains(info, "cluster_state:ok") &&
				strings.Contains(info, fmt.Sprintf("cluster_known_nodes:%d", len(c.Nodes())))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Nodes are all of them, primaries first.
func (c *RedisCluster) Nodes() []*Redis {
	return append(append([]*Redis{}, c.Primaries...), c.Replicas...)
}

// Addrs are the nodes' addresses, as host:port.
func (c *RedisCluster) Addrs() []string {
	addrs := make([]string, 0, len(c.Primaries)+len(c.Replicas))
	for _, node := range c.Nodes() {
		addrs = append(addrs, node.Addr())
	}
	return addrs
}

// Owner returns the node that serves a key's slot now, as the first node that runs knows it.
func (c *RedisCluster) Owner(ctx context.Context, key string) (*Redis, error) {
	for _, node := range c.Nodes() {
		if !node.Running() {
			continue
		}
		_, err := node.Do(ctx, "TYPE", key)
		if err == nil {
			return node, nil
		}
		_, addr, moved := strings.Cut(err.Error(), "MOVED ")
		if !moved {
			return nil, err
		}
		_, addr, _ = strings.Cut(addr, " ")
		for _, owner := range c.Nodes() {
			if owner.Addr() == addr {
				return owner, nil
			}
		}
		return nil, fmt.Errorf("testserver: slot owner %s is no node of the cluster", addr)
	}
	return nil, errState("the Redis cluster", "ask", "no node runs: Start one")
}

// LogTail returns the last lines of each node's log.
func (c *RedisCluster) LogTail(lines int) string {
	var b strings.Builder
	for _, node := range c.Nodes() {
		fmt.Fprintf(&b, "%s:\n%s\n", node.Addr(), node.LogTail(lines))
	}
	return b.String()
}

// Close kills the nodes and removes their files. It may be called twice.
func (c *RedisCluster) Close() error {
	var errs []error
	for _, node := range c.Nodes() {
		errs = append(errs, node.Close())
	}
	return errors.Join(errs...)
}
