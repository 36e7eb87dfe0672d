package source

import "context"

// Positions keeps how far groups have acked, for sources whose broker keeps no position: a
// stream of RabbitMQ over AMQP 0-9-1. Package inbox has one over any store
// (NewPositions). It is safe for concurrent use.
//
// Of a position it keeps a record, which means something to the source alone, and an epoch,
// which is another one after each opening. So a source that was frozen, and comes
// back when another one has taken over, changes nothing.
type Positions interface {
	// OpenPosition makes the caller the one who keeps the position of this name. It returns
	// a new epoch, above zero, which no opening of this name has had, and the record: nil if
	// none was kept. It waits for a KeepPosition that is under way. A name has 1 to 500
	// bytes, compared as bytes.
	OpenPosition(ctx context.Context, name string) (epoch int64, record []byte, err error)
	// KeepPosition replaces the record, if epoch is that of the last OpenPosition of this
	// name. Otherwise it changes nothing, and ours is false. When it returns true, the
	// record is as durable as an ack at a broker. After an error it is not known whether
	// the record was replaced; to call again is harmless. A record has up to 1,024 bytes.
	KeepPosition(ctx context.Context, name string, epoch int64, record []byte) (ours bool, err error)
}
