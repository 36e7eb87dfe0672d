package main

import "context"

// rawSender is the least that publishes a page: all of it, and all of it confirmed.
type rawSender struct {
	send  func(rows []rawRow) error
	close func()
}

// copyRaw is the reference: rows read as in rawDrain, published as fast as the client can, a page confirmed before the next is
// settled.
func copyRaw(n int, open func(context.Context, *testbed) (rawSender, error)) func(context.Context, *testbed) (sample, error) {
	return func(ctx context.Context, l *testbed) (sample, error) {
		box, s, err := l.box(ctx)
		if err != nil {
			return sample{}, err
		}
		defer func() { _ = s.Close() }()
		if err := l.fill(ctx, s, box, n, 10_000); err != nil {
			return sample{}, err
		}
		to, err := open(ctx, l)
		if err != nil {
			return sample{}, err
		}
		defer to.close()
		w := l.start()
		if err := l.rawDrain(ctx, box, n, pageSize, to.send); err != nil {
			return sample{}, err
		}
		return w.stop(n), l.drop(ctx, box)
	}
}
