package rabbitbroker

import (
	"context"
	"errors"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/postbag/postbag/broker"
)

// Probe implements broker.Prober: it looks for the connection, whether it is
// blocked, and asks the server for the exchange if that is always the same one.
func (d *Destination) Probe(ctx context.Context) error {
	return adapter.Probe(ctx, &d.calls.CallGuard, "server", d.probe)
}

func (d *Destination) probe(context.Context) *broker.Error {
	line, f := d.link.present()
	if f != nil {
		d.link.askForRetry()
		return f
	}
	ch, err := line.conn.Channel()
	if err != nil {
		return translateProbe(err)
	}
	defer func() { _ = ch.Close() }() // an error closed it already
	exchange, constant := d.router.constantExchange()
	if !constant || exchange == "" {
		return nil
	}
	// The kind is not looked at where an exchange is only asked for.
	err = ch.ExchangeDeclarePassive(exchange, amqp.ExchangeDirect, true, false, false, false, nil)
	if why, ok := errors.AsType[*amqp.Error](err); ok && why.Code == amqp.NotFound {
		d.link.redeclare()
	}
	return translateProbe(err)
}

func translateProbe(err error) *broker.Error {
	if err == nil {
		return nil
	}
	why, ok := errors.AsType[*amqp.Error](err)
	if ok && why.Server && (why.Code == amqp.NotFound || why.Code == amqp.AccessRefused) {
		f := verdict(why)
		return &broker.Error{Outcome: f.Outcome, Err: f.Err} // it is the exchange of all messages
	}
	return adapter.Failure(broker.Unavailable, "the server does not answer", "wait, or look whether it runs")
}
