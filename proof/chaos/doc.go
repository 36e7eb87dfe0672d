// Package chaos is the fault harness. It starts a real database and a real broker, and relays and producers as processes of their
// own. It breaks them by a schedule that a seed draws. Package history then judges whether the promises held.
//
// The servers are private children with folders of their own. Producers write down what they are about to publish, and what became
// of it. A consumer reads the broker itself all the time. No record that is judged comes from Postbag. When the faults end, everything
// must be delivered. The report shows the load, each fault with its time, the verdict on each promise, and a plot.
//
// A run of an inbox goes the other way: producers publish to the broker, and consumers apply in the database what they take in. Each
// message must have its effect once, and those of a key in their order.
//
// A [Store] and a [Broker] are the adapters of the two halves, with the faults that they know. Package adapters has those of
// Postbag. You can test a store or broker of your own in the same way, by a program of a few lines:
//
//	func main() { os.Exit(chaos.Main(os.Args[1:], os.Stdout, os.Stderr, []chaos.Store{mine{}}, []chaos.Broker{adapters.NATS{}})) }
package chaos
