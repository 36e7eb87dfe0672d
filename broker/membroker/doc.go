// Package membroker is a destination in memory: the smallest complete adapter,
// and the model to read before writing one.
//
// It is a broker to test against. It records what it takes, in order and with
// times, and misbehaves on request: a whole broker that is down or whose answers
// are lost, a topic that is missing, a payload that is too large, or anything at
// all with one message, by [Options.Decide]:
//
//	dest := membroker.New(membroker.Options{
//		Decide: func(m broker.Delivery, try int) membroker.Act {
//			if m.Type == "order.poisoned" {
//				return membroker.Fail(broker.Rejected, "poisoned")
//			}
//			return membroker.Act{}
//		},
//	})
//	...
//	err := dest.WaitFor(ctx, 100)
//	if dest.Inversions() > 0 {
//
// [Null] is the opposite: it takes everything, keeps nothing and costs nothing,
// for benchmarks of what lies in front of it.
package membroker
