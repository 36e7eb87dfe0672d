// Package membroker is a destination in memory: the smallest complete adapter,
// and the model to read before writing one.
//
// Use it as a broker in tests. It records what it takes, in order and with times. It also
// fails on request: the whole broker is down or loses its answers, a topic is missing, a
// payload is too large. [Options.Decide] says what happens to one message:
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
// [Null] is the opposite: it takes everything, keeps nothing and costs nothing. Use it to
// benchmark what comes before it.
package membroker
