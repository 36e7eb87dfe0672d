// Package chaos is the fault harness: it starts a real database and a real broker, relays and producers as processes of their own,
// breaks them by a schedule that a seed draws, and lets package history judge what became of the promises.
//
// The servers are private children on folders of their own. Producers write down what they are about to publish and what became of
// it; a consumer reads the broker itself all the while; nothing that is judged comes from Postbag. When the faults end everything
// must be delivered, and the report shows the load, each fault with its time, the verdict on each promise, and a plot.
//
// A [Store] and a [Broker] are the adapters of the two halves, with the faults that they know. Package adapters has those of
// Postbag; a store or broker from elsewhere goes through the same by a program of a few lines:
//
//	func main() { os.Exit(chaos.Main(os.Args[1:], os.Stdout, os.Stderr, []chaos.Store{mine{}}, []chaos.Broker{adapters.NATS{}})) }
package chaos
